"""Values for property tests, and what the documented rules say they come back as."""

from __future__ import annotations

import enum
import math
import uuid
from datetime import UTC, date, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from penstock.tables.plain import plain, text_of

# For children. Their getrusage begins with the parent's peak; this line of Linux does not.
PEAK = """
def peak():
    import pathlib, re, resource
    status = pathlib.Path("/proc/self/status")
    if status.exists():
        return int(re.search(r"VmHWM:\\s+([0-9]+) kB", status.read_text())[1]) >> 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 20
"""


class Colour(enum.Enum):
    RED = "red"


any_text = st.text(st.characters(exclude_categories=()), max_size=12)
texts = st.text(max_size=12)
# Without the two characters that xml cannot hold.
names = st.text(min_size=1, max_size=8).filter(
    lambda name: bool(name.strip()) and not {"\ufffe", "\uffff"} & set(name)
)
whole = st.integers(-(2**53), 2**53)
floats = st.floats(allow_nan=False)
moments = st.datetimes()
zoned = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-5))]))
decimals = st.decimals(allow_nan=False, allow_infinity=False)

plain_atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**66), 2**66),
    st.floats(),
    any_text,
    st.binary(max_size=8),
    st.dates(),
    moments,
    zoned,
    st.times(),
    st.timedeltas(),
    st.decimals(),
)
odd_atoms = st.sampled_from(
    [(1, "a"), {3, 1}, Colour.RED, uuid.UUID(int=5), object, 10**5000, bytearray(b"x"), ()]
)
plain_values = st.recursive(
    plain_atoms,
    lambda inside: (
        st.lists(inside, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "", "\ud800", "\n", "ä"]), inside, max_size=4)
    ),
    max_leaves=8,
)
any_values = plain_values | odd_atoms
columns = st.sampled_from(["a", "b", "c", "d d", "", "\udc80", "ö"])
any_rows = st.lists(st.dictionaries(columns, any_values, max_size=4), max_size=12)


def same(given: Any, got: Any) -> bool:
    """Whether a value came back as the rules say; `given` is plain."""
    if given is None or got is None:
        return given is None and got is None
    if isinstance(given, dict) and isinstance(got, dict):
        return all(key in got and same(value, got[key]) for key, value in given.items()) and all(
            value is None for key, value in got.items() if key not in given
        )
    if isinstance(given, list) and isinstance(got, list):
        return len(given) == len(got) and all(map(same, given, got))
    if isinstance(got, str) and not isinstance(given, str):
        return got == text_of(given) or _same_number(given, got)
    if isinstance(given, bool) is not isinstance(got, bool):
        return False
    if isinstance(given, float) and isinstance(got, float) and math.isnan(given):
        return math.isnan(got)
    return bool(given == got)


def _same_number(given: Any, got: str) -> bool:
    if isinstance(given, Decimal):
        return Decimal(got) == given
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return float(got) == given or (given != given and got == "nan")
    return False


def column_name(name: str) -> str:
    return str(plain(name))


_TYPED = st.sampled_from(
    [
        st.booleans(),
        whole,
        st.integers(-(2**63), 2**63 - 1),
        floats,
        texts,
        st.binary(max_size=8),
        st.dates(),
        moments,
        zoned.filter(lambda value: 1 < value.year < 9999),
        st.times(),
        st.timedeltas(timedelta(days=-99_999_999), timedelta(days=99_999_999)),
        st.decimals(-(10**9), 10**9, places=3),
        st.lists(whole | st.none(), max_size=3),
        st.fixed_dictionaries({"x": whole, "y": texts | st.none()}),
        st.lists(st.fixed_dictionaries({"z": st.lists(texts, max_size=2)}), max_size=2),
    ]
)


@st.composite
def typed_tables(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Rows with the same columns, each of one type, with gaps."""
    kinds = draw(st.dictionaries(names, _TYPED, min_size=1, max_size=4))
    row = st.fixed_dictionaries({name: kind | st.none() for name, kind in kinds.items()})
    return draw(st.lists(row, min_size=1, max_size=8))


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def earliest() -> date:
    return date(1900, 3, 1)
