"""Numbers as people read them, whatever their size; and no number said as what it is."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TypeAlias

__all__ = ["NOTHING", "Number", "compact", "number", "percent"]

Number: TypeAlias = int | float | Decimal
NOTHING = "–"
_DIGITS = 4
_LARGEST = 1e15
_SMALLEST = 1e-4
_STEPS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def number(value: Number | None) -> str:
    """About four digits, more where the number is whole: 1,234,567, 0.7312, 2.5e-7."""
    if value is None:
        return NOTHING
    size = _size(value)
    if math.isnan(size):
        return "n/a"
    if math.isinf(size) and not isinstance(value, int):
        return "∞" if value > 0 else "-∞"
    if size and not _SMALLEST <= size < _LARGEST:
        return _scientific(value)
    if value == int(value):
        return f"{int(value):,}"
    places = max(0, _DIGITS - 1 - math.floor(math.log10(size)))
    shown = f"{value:,.{places}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def compact(value: Number | None) -> str:
    """As short as it goes, for an axis or a bar: 12.3k, 4.5M."""
    size = math.nan if value is None else _size(value)
    if value is None or not 1e4 <= size < _LARGEST:
        return number(value)
    unit, letter = next(step for step in _STEPS if size >= step[0])
    shown = f"{float(value) / unit:.4g}" if size >= 999.5 * unit else f"{float(value) / unit:.3g}"
    return shown + letter


def percent(value: Number | None) -> str:
    """A share of one: 73.1 %."""
    if value is None or not math.isfinite(_size(value)):
        return number(value)
    return f"{100 * float(value):.1f}".removesuffix(".0") + " %"


def _size(value: Number) -> float:
    try:
        return abs(float(value))
    except OverflowError:  # a whole number may be larger than any float
        return math.inf


def _scientific(value: Number) -> str:
    mantissa, _, exponent = f"{Decimal(value):.3e}".partition("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
