"""What tokens cost, in exact dollars, with the source of every price.

Prices of different tables disagree, so the nearest one wins: the endpoint's own, then the user's
table, then the packaged one (genai-prices, never updated over the network). Where none of them
knows, the price is None and never a guess: a server at a foreign address is not priced like the
provider whose protocol it speaks.

`cost` runs once for every answer: rates are whole numbers of a fixed fraction of a dollar, made
once, and a cost is one sum of products, exact whatever the thread's decimal context is.

Traded away: cache writes are priced by the short-lived rate (usage does not tell the two apart);
a user's own prices have no rate for cache writes, which then cost as much as other input; what is
not counted in text tokens (audio, searches, surcharges for a region) is not in a cost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime, time
from decimal import Context, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from penstock import yamlfile
from penstock.endpoint import Endpoint, Prices
from penstock.errors import EndpointError, InputError, SettingsError
from penstock.outcome import Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice, PriceCalculation

__all__ = ["Lane", "Price", "PriceList", "Tier"]

Lane: TypeAlias = Literal["online", "batch"]

_EXACT: Final = Context(prec=100)
_HIGHEST: Final = 10**9
_FINEST: Final = -30
_MOST_CACHED: Final = 1000
_HALF: Final = Decimal("0.5")

# Ours: theirs, and the hosts where their prices hold.
_PACKAGED: Final = {
    "openai": ("openai", re.compile(r"([a-z]{2}\.)?api\.openai\.com")),
    "anthropic": ("anthropic", re.compile(r"api\.anthropic\.com")),
    "gemini": ("google", re.compile(r"generativelanguage\.googleapis\.com")),
    "deepseek": ("deepseek", re.compile(r"api\.deepseek\.com")),
    "groq": ("groq", re.compile(r"api\.groq\.com")),
    "mistral": ("mistral", re.compile(r"api\.mistral\.ai")),
    "openrouter": ("openrouter", re.compile(r"openrouter\.ai")),
    "together": ("together", re.compile(r"api\.together\.(ai|xyz)")),
}
_FREE: Final = {
    "simulated": "simulated: no cost",
    "llamacpp": "local model: no cost",
    "transformers": "local model: no cost",
}


class _Rates(NamedTuple):
    """Dollars per million tokens."""

    input: Decimal
    output: Decimal
    cached_input: Decimal
    cache_write: Decimal

    def halved(self) -> _Rates:
        return _Rates(*(_EXACT.multiply(rate, _HALF) for rate in self))


_NOTHING: Final = _Rates(*(Decimal(0),) * 4)


@dataclass(frozen=True, slots=True)
class Tier:
    """Other rates for all tokens of a question with more input tokens than `above`."""

    input: Decimal
    output: Decimal
    cached_input: Decimal
    cache_write: Decimal
    above: int


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens of one endpoint in one lane, and who says so."""

    input: Decimal
    output: Decimal
    cached_input: Decimal
    cache_write: Decimal
    source: str
    tiers: tuple[Tier, ...] = ()
    _unit: int = field(init=False, repr=False, compare=False)
    _base: tuple[int, ...] = field(init=False, repr=False, compare=False)
    _steps: tuple[tuple[int, tuple[int, ...]], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        every = [_rates(self), *map(_rates, self.tiers)]
        for rate in (rate for rates in every for rate in rates):
            if _exponent(rate) < _FINEST or not 0 <= rate <= _HIGHEST:
                raise SettingsError(f"{self.source}: no price is {rate} dollars per million tokens")
        places = max(0, *(-_exponent(rate) for rates in every for rate in rates))
        whole = [tuple(int(_EXACT.scaleb(rate, places)) for rate in rates) for rates in every]
        steps = zip((tier.above for tier in self.tiers), whole[1:], strict=True)
        object.__setattr__(self, "_unit", -places - 6)
        object.__setattr__(self, "_base", whole[0])
        object.__setattr__(self, "_steps", tuple(sorted(steps, reverse=True)))

    def cost(self, usage: Usage) -> Decimal:
        """Dollars for this usage, exact to the last digit."""
        asked = usage.input_tokens
        for above, higher in self._steps:
            if asked > above:
                of_input, of_output, of_cached, of_written = higher
                break
        else:
            of_input, of_output, of_cached, of_written = self._base
        cached, written = usage.cached_tokens, usage.cache_write_tokens
        # A server that reports more cached tokens than it was asked must not earn us money.
        plain = max(asked - cached - written, 0)
        total = (
            plain * of_input
            + usage.output_tokens * of_output
            + cached * of_cached
            + written * of_written
        )
        return _EXACT.scaleb(total, self._unit)


class PriceList:
    """The user's own prices over the packaged ones.

    `own` maps a model, or `provider/model`, to its prices; `*` stands for any characters. An
    exact name wins over a pattern, a pattern with more letters over one with fewer.
    """

    def __init__(
        self,
        own: Mapping[str, Prices | Mapping[str, Any]] | None = None,
        *,
        name: str = "own prices",
        today: Callable[[], date] | None = None,
    ) -> None:
        self._name = name
        self._today = today or _utc_today
        rows = [(_Pattern(key), prices) for key, prices in _table(own, name).items()]
        self._own = sorted(rows, key=lambda row: row[0].rank)
        self._found: dict[object, Price | None] = {}

    @classmethod
    def load(cls, path: str | Path) -> PriceList:
        """The list with the prices of a YAML file over the packaged ones."""
        path = Path(path)
        return cls(_table(_read(path), str(path)), name=path.name)

    def price(self, endpoint: Endpoint, lane: Lane = "online") -> Price | None:
        """The price of an endpoint's tokens, or None where nobody knows it."""
        key = (
            endpoint.provider,
            endpoint.model,
            endpoint.url,
            endpoint.prices,
            lane,
            self._today(),
        )
        try:
            return self._found[key]
        except KeyError:
            if len(self._found) >= _MOST_CACHED:
                self._found.clear()
            found = self._found[key] = self._look_up(endpoint, lane, key[-1])
            return found

    def _look_up(self, endpoint: Endpoint, lane: Lane, day: date) -> Price | None:
        if endpoint.prices is not None:
            return _from_prices(endpoint.prices, "endpoint", lane)
        names = (f"{endpoint.provider}/{endpoint.model}".lower(), endpoint.model.lower())
        for pattern, prices in self._own:
            if any(pattern.matches(name) for name in names):
                return _from_prices(prices, f"{self._name}: {pattern.text}", lane)
        if endpoint.provider in _FREE:
            return Price(*_NOTHING, _FREE[endpoint.provider])
        if not _at_home(endpoint):
            return None
        return _packaged(_PACKAGED[endpoint.provider][0], endpoint.model, lane, day)


class _Pattern:
    """A model's name in the user's table."""

    def __init__(self, text: str) -> None:
        self.text = text
        literals = text.lower().split("*")
        self._regex = re.compile(".*".join(map(re.escape, literals)), re.DOTALL)
        self.rank = (len(literals) > 1, -sum(map(len, literals)))

    def matches(self, name: str) -> bool:
        return self._regex.fullmatch(name) is not None


def _utc_today() -> date:
    return datetime.now(UTC).date()


def _exponent(rate: Decimal) -> int:
    exponent = rate.as_tuple().exponent
    return exponent if isinstance(exponent, int) else _FINEST - 1


def _rates(of: Price | Tier) -> _Rates:
    return _Rates(of.input, of.output, of.cached_input, of.cache_write)


def _halved(price: Price) -> Price:
    return Price(
        *_rates(price).halved(),
        f"half of {price.source}, published batch discount",
        tuple(Tier(*_rates(tier).halved(), tier.above) for tier in price.tiers),
    )


def _from_prices(prices: Prices, source: str, lane: Lane) -> Price:
    cached = prices.input if prices.cached_input is None else prices.cached_input
    online = Price(prices.input, prices.output, cached, prices.input, source)
    if lane == "online":
        return online
    half = _halved(online)
    if prices.batch_input is None and prices.batch_output is None:
        return half
    asked = half.input if prices.batch_input is None else prices.batch_input
    said = half.output if prices.batch_output is None else prices.batch_output
    whole = prices.batch_input is not None and prices.batch_output is not None
    # Nobody charges more for cached input than for fresh; a lower rate may not be halved again.
    return Price(asked, said, min(cached, asked), asked, source if whole else half.source)


def _at_home(endpoint: Endpoint) -> bool:
    known = _PACKAGED.get(endpoint.provider)
    if known is None:
        return False
    host = (urlsplit(endpoint.url).hostname or "").rstrip(".")
    return not endpoint.url or known[1].fullmatch(host) is not None


def _packaged(provider: str, model: str, lane: Lane, day: date) -> Price | None:
    from genai_prices import Usage as TheirUsage
    from genai_prices import __version__, calc_price

    source = f"genai-prices {__version__}"
    moment = datetime.combine(day, time(), UTC)
    try:
        found = calc_price(
            TheirUsage(),
            model.removeprefix("models/"),
            provider_id=provider,
            genai_request_timestamp=moment,
            price_context={"processing": "batch"} if lane == "batch" else None,
        )
    except LookupError:
        return None
    price = _from_theirs(found.model_price, source)
    if lane == "online" or price is None or _knows_batch(found, moment):
        return price
    return _halved(price)


def _knows_batch(found: PriceCalculation, moment: datetime) -> bool:
    return any(
        variant.when == {"processing": "batch"}
        and (variant.constraint is None or variant.constraint.active(moment))
        for variant in found.model.price_variants or ()
    )


def _from_theirs(price: ModelPrice, source: str) -> Price | None:
    from genai_prices.types import TieredPrices

    known: dict[str, Decimal | TieredPrices]
    known = {name: rate for name, rate in vars(price).items() if rate is not None}
    if not known:  # listed without any price: free of charge
        return Price(*_NOTHING, source)
    speaks_otherwise = any(name.startswith("output_") for name in known)
    if "input_mtok" not in known or ("output_mtok" not in known and speaks_otherwise):
        return None

    def at(name: str, asked: int, otherwise: Decimal) -> Decimal:
        rate = known.get(name, otherwise)
        if not isinstance(rate, TieredPrices):
            return rate
        passed = [tier.price for tier in rate.tiers if asked > tier.start]
        return passed[-1] if passed else rate.base

    def rates(asked: int) -> _Rates:
        whole = at("input_mtok", asked, Decimal(0))
        return _Rates(
            whole,
            at("output_mtok", asked, Decimal(0)),
            at("cache_read_mtok", asked, whole),
            at("cache_write_mtok", asked, whole),
        )

    used = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok")
    tiered = [rate for name in used if isinstance(rate := known.get(name), TieredPrices)]
    starts = sorted({tier.start for rate in tiered for tier in rate.tiers})
    tiers = tuple(Tier(*rates(start + 1), start) for start in starts)
    return Price(*rates(0), source, tiers)


def _table(own: object, where: str) -> dict[str, Prices]:
    if own is None:
        return {}
    if not isinstance(own, Mapping):
        raise SettingsError(f"{where}: a table of models and their prices is wanted")
    return {str(key): _own_prices(f"{where}: {key}", given) for key, given in own.items()}


def _own_prices(where: str, given: object) -> Prices:
    if isinstance(given, Prices):
        return given
    allowed = [each.name for each in fields(Prices)]
    if not isinstance(given, Mapping):
        raise SettingsError(
            f"{where}: prices are wanted, not {given!r}",
            remedy=f"Write {', '.join(allowed)}, in dollars per million tokens.",
        )
    for key in given:
        if key not in allowed:
            raise SettingsError(f"{where}: unknown key {key!r}; allowed are {', '.join(allowed)}")
    for key in ("input", "output"):
        if key not in given:
            raise SettingsError(f"{where}: {key} is missing")
    try:
        prices = Prices(**given)
        _from_prices(prices, where, "batch")
    except EndpointError as error:
        raise SettingsError(f"{where}: {error.message}") from None
    return prices


def _read(path: Path) -> Any:
    try:
        return yamlfile.read(path, numbers=False).data
    except InputError as error:
        raise SettingsError(error.message, remedy=error.remedy) from None
