"""The tables of the metrics' page, made from what the metrics declare of themselves."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from importlib.metadata import entry_points
from typing import Any

from penstock.bench.importing.metricmap import METRICS
from penstock.metrics import Metric

__all__ = ["FAMILIES", "family", "registered"]

FAMILIES: dict[str, tuple[str, ...]] = {
    "metrics-equal": ("text", "pattern"),
    "metrics-overlap": ("overlap", "rouge", "semantic"),
    "metrics-extracted": ("choice", "numeric", "squad"),
    "metrics-form": ("structure", "jsonmatch", "readability"),
    "metrics-safety": ("refusal", "leakage"),
    "metrics-judges": ("judge", "judges", "pairwise"),
    "metrics-resources": ("resources",),
}
"""Each table, and the rooms whose metrics stand in it."""

_HEADINGS = (
    *("metric", "what it measures", "range", "better", "needs", "version"),
    *("parameters", "Moonshot's id"),
)


def registered() -> dict[str, type[Metric]]:
    """The metrics that the package registers, by name."""
    found = entry_points(group="penstock.metrics")
    ours = [entry for entry in found if entry.value.startswith("penstock.metrics.")]
    return {entry.name: entry.load() for entry in sorted(ours, key=lambda entry: entry.name)}


def family(table: str) -> str:
    """One table, and below it what there is to say about each metric."""
    rooms = FAMILIES[table]
    made = [m for m in registered().values() if m.__module__.rpartition(".")[2] in rooms]
    made.sort(key=lambda metric: rooms.index(metric.__module__.rpartition(".")[2]))
    lines = [_HEADINGS, ("---",) * len(_HEADINGS), *map(_row, made)]
    rows = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"{rows}\n{''.join(_said(made))}"


def _row(metric: type[Metric]) -> tuple[str, ...]:
    return (
        f"`{metric.name}`",
        metric.summary.removesuffix("."),
        _range(metric),
        metric.direction,
        ", ".join(sorted(metric.needs)),
        str(metric.version),
        ", ".join(f"`{each}`" for each in _parameters(metric)),
        ", ".join(f"`{each}`" for each in _moonshot(metric.name)),
    )


def _range(metric: type[Metric]) -> str:
    if math.isinf(metric.high):
        return f"{metric.low:g} and more"
    low = "up" if math.isinf(metric.low) else f"{metric.low:g}"
    return f"{low} to {metric.high:g}"


def _parameters(metric: type[Metric]) -> Iterator[str]:
    for each in inspect.signature(metric).parameters.values():
        usual = each.default
        yield each.name if usual is each.empty else f"{each.name}={_written(usual)}"


def _written(value: Any) -> str:
    """A default as people write it."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return f"[{', '.join(map(_written, value))}]"
    return repr(value)


def _moonshot(name: str) -> Iterator[str]:
    return (each for each, known in METRICS.items() if any(u.metric == name for u in known.uses))


def _said(metrics: Sequence[type[Metric]]) -> Iterator[str]:
    """What their docstrings say, each apart, then what several of them share."""
    shared: dict[str, list[str]] = {}
    for metric in metrics:
        yield f"* `{metric.name}`: {_text(metric)}\n"
        for base in metric.__mro__[1:]:
            kind, _, rest = _text(base).partition(". ")
            if base.__name__.startswith("_") and kind.startswith("What ") and rest:
                shared.setdefault(rest, []).append(f"`{metric.name}`")
    for rest, names in shared.items():
        yield f"* {', '.join(names)}: {rest}\n"


def _text(kind: type) -> str:
    """Its own docstring, in one line."""
    return " ".join(str(vars(kind).get("__doc__") or "").split())
