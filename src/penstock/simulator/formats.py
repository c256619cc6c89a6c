"""Strings of the formats that JSON Schema and Pydantic name."""

from __future__ import annotations

import base64
from collections.abc import Callable

from penstock.simulator.dice import Dice
from penstock.simulator.vocabulary import FIRST_NAMES, LAST_NAMES, NOUNS, TOP_DOMAINS

__all__ = ["FORMATS"]

_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _date(dice: Dice) -> str:
    month = dice.between(1, 12)
    day = dice.between(1, _DAYS[month - 1])
    return f"{dice.between(1970, 2030)}-{month:02}-{day:02}"


def _clock(dice: Dice) -> str:
    return f"{dice.below(24):02}:{dice.below(60):02}:{dice.below(60):02}"


def _time(dice: Dice) -> str:
    return _clock(dice) + "Z"


def _date_time(dice: Dice) -> str:
    return f"{_date(dice)}T{_clock(dice)}Z"


def _duration(dice: Dice) -> str:
    kind = dice.below(3)
    if kind == 0:
        return f"PT{dice.between(1, 59)}M"
    if kind == 1:
        return f"P{dice.between(1, 30)}DT{dice.between(1, 23)}H"
    return f"PT{dice.between(1, 23)}H{dice.between(1, 59)}M{dice.between(1, 59)}S"


def _email(dice: Dice) -> str:
    first, last = dice.pick(FIRST_NAMES).lower(), dice.pick(LAST_NAMES).lower()
    return f"{first}.{last}@{dice.pick(TOP_DOMAINS)}"


def _hostname(dice: Dice) -> str:
    return f"{dice.pick(NOUNS)}.{dice.pick(TOP_DOMAINS)}"


def _uri(dice: Dice) -> str:
    return f"https://{_hostname(dice)}/{dice.pick(NOUNS)}/{dice.between(1, 9999)}"


def _hex(dice: Dice, digits: int) -> str:
    return "".join([f"{dice.below(16):x}" for _ in range(digits)])


def _uuid(version: int) -> Callable[[Dice], str]:
    def make(dice: Dice) -> str:
        head, middle = _hex(dice, 8), _hex(dice, 4)
        variant = f"{8 + dice.below(4):x}"
        return f"{head}-{middle}-{version}{_hex(dice, 3)}-{variant}{_hex(dice, 3)}-{_hex(dice, 12)}"

    return make


def _ipv4(dice: Dice) -> str:
    return f"{dice.pick(('192.0.2', '198.51.100', '203.0.113'))}.{dice.between(1, 254)}"


def _ipv6(dice: Dice) -> str:
    return "2001:db8:" + ":".join([f"{dice.between(1, 65535):x}" for _ in range(6)])


def _words(dice: Dice) -> str:
    return f"{dice.pick(NOUNS)} {dice.pick(NOUNS)}"


def _base64(dice: Dice) -> str:
    return base64.b64encode(_words(dice).encode()).decode()


def _base64url(dice: Dice) -> str:
    return base64.urlsafe_b64encode(_words(dice).encode()).decode()


def _path(dice: Dice) -> str:
    return f"/data/{dice.pick(NOUNS)}/{dice.pick(NOUNS)}.txt"


def _network(dice: Dice) -> str:
    return f"10.{dice.below(256)}.{dice.below(256)}.0/24"


def _colour(dice: Dice) -> str:
    return "#" + _hex(dice, 6)


FORMATS: dict[str, Callable[[Dice], str]] = {
    "date": _date,
    "time": _time,
    "date-time": _date_time,
    "duration": _duration,
    "email": _email,
    "idn-email": _email,
    "name-email": lambda dice: f"{dice.pick(FIRST_NAMES)} <{_email(dice)}>",
    "hostname": _hostname,
    "idn-hostname": _hostname,
    "uri": _uri,
    "url": _uri,
    "iri": _uri,
    "multi-host-uri": lambda dice: f"postgresql://{_hostname(dice)}:5432/{dice.pick(NOUNS)}",
    "uri-reference": lambda dice: f"/{dice.pick(NOUNS)}/{dice.between(1, 99)}",
    "iri-reference": lambda dice: f"/{dice.pick(NOUNS)}/{dice.between(1, 99)}",
    "uri-template": lambda dice: f"https://{_hostname(dice)}/{{id}}",
    "json-pointer": lambda dice: f"/{dice.pick(NOUNS)}/{dice.below(10)}",
    "relative-json-pointer": lambda dice: f"{dice.below(3)}/{dice.pick(NOUNS)}",
    "regex": lambda dice: f"^{dice.pick(NOUNS)}[0-9]+$",
    "uuid": _uuid(4),
    "uuid1": _uuid(1),
    "uuid3": _uuid(3),
    "uuid4": _uuid(4),
    "uuid5": _uuid(5),
    "uuid6": _uuid(6),
    "uuid7": _uuid(7),
    "uuid8": _uuid(8),
    "ipv4": _ipv4,
    "ipv6": _ipv6,
    "ipvanyaddress": _ipv4,
    "ipvanyinterface": _network,
    "ipvanynetwork": _network,
    "ipv4network": _network,
    "ipv4interface": _network,
    "ipv6network": lambda dice: f"2001:db8:{dice.between(1, 65535):x}::/48",
    "ipv6interface": lambda dice: f"2001:db8:{dice.between(1, 65535):x}::1/48",
    "base64": _base64,
    "base64url": _base64url,
    "binary": _words,
    "byte": _base64,
    "path": _path,
    "file-path": _path,
    "directory-path": lambda dice: f"/data/{dice.pick(NOUNS)}",
    "password": lambda dice: _hex(dice, 12),
    "json-string": lambda dice: f'"{dice.pick(NOUNS)}"',
    "color": _colour,
    "decimal": lambda dice: f"{dice.between(0, 9999)}.{dice.between(0, 99):02}",
}
