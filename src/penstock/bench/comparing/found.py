"""What a comparison found: as values, as plain data, and in lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from penstock.bench.comparing.flips import Flip
from penstock.bench.comparing.matching import Incomparable
from penstock.bench.comparing.recipe import Compared, OnlyIn
from penstock.logs import inert
from penstock.metrics.statistics import Comparison
from penstock.metrics.statistics.interval import percent

__all__ = ["BenchComparison"]

_WIDE = 100
"""Characters of a prompt or an answer that are shown."""


@dataclass(frozen=True)
class BenchComparison:
    """b against a; `str()` says it in words."""

    names: tuple[str, str]
    level: float
    comparisons: tuple[Compared, ...]
    """Every metric of every recipe that both have; p values corrected for their number."""
    flips: tuple[Flip, ...]
    """Items that changed by the first metric of their recipe: those that changed most."""
    flipped: int
    """How many such items there are in all."""
    only: tuple[OnlyIn, ...]
    incomparable: tuple[Incomparable, ...]
    notes: tuple[str, ...]
    """What else differs between the two."""

    @property
    def better(self) -> tuple[Compared, ...]:
        """What became better beyond chance; so with worse."""
        return self._with("better")

    @property
    def worse(self) -> tuple[Compared, ...]:
        return self._with("worse")

    @property
    def unclear(self) -> tuple[Compared, ...]:
        """What chance alone can explain."""
        return self._with("unclear")

    def _with(self, verdict: str) -> tuple[Compared, ...]:
        return tuple(one for one in self.comparisons if one.comparison.verdict == verdict)

    def to_dict(self) -> dict[str, Any]:
        """As plain data; items that changed are counted, and the ones in `flips` told."""
        return {
            "names": list(self.names),
            "level": self.level,
            "comparisons": [
                {"recipe": one.recipe, "metric": one.metric, **_plain(one.comparison)}
                for one in self.comparisons
            ],
            "flips": [flip.to_dict() for flip in self.flips],
            "flipped": self.flipped,
            "only": [one._asdict() for one in self.only],
            "incomparable": [one._asdict() for one in self.incomparable],
            "notes": list(self.notes),
        }

    def lines(self) -> list[str]:
        """For a terminal, which obeys nothing in them."""
        return [inert(line) for line in _lines(self)]

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _plain(found: Comparison) -> dict[str, Any]:
    """All but the items, of which there may be many: those are counted."""
    interval = {name: asdict(getattr(found, name)) for name in ("a", "b", "difference")}
    return {
        "kind": found.kind,
        "direction": found.direction,
        **interval,
        "verdict": found.verdict,
        "significant": found.significant,
        "p": found.p,
        "adjusted": found.adjusted,
        "family": found.family,
        "tests": [asdict(test) for test in found.tests],
        "pairs": found.pairs,
        "better": len(found.better),
        "worse": len(found.worse),
        "same": found.same,
        "missing_a": found.missing_a,
        "missing_b": found.missing_b,
        "missing_both": found.missing_both,
        "cohens_d": found.cohens_d,
        "odds_ratio": None if found.odds_ratio is None else asdict(found.odds_ratio),
        "smallest": found.smallest,
        "text": str(found),
    }


def _lines(found: BenchComparison) -> Iterator[str]:
    first, second = found.names
    yield f"{second} against {first}"
    if not found.comparisons:
        yield "There is nothing to compare: the two have no metric of a recipe in common."
    groups = (
        ("Worse, beyond what chance explains:", found.worse),
        ("Better, beyond what chance explains:", found.better),
        ("No more than chance can explain:", found.unclear),
    )
    for heading, compared in groups:
        if compared:
            yield heading
            for one in compared:
                yield from _compared(one)
    yield from _beside(found)
    yield from _flips(found)


def _compared(one: Compared) -> Iterator[str]:
    found, where = one.comparison, f"  {one.recipe}, {one.metric}"
    if not found.pairs:
        yield f"{where}: no item has a value on both sides"
    else:
        yield f"{where}: {found.a.value:.4g} to {found.b.value:.4g} ({_change(found)})"
        counts = f"{len(found.better):,} better, {len(found.worse):,} worse"
        yield f"    {counts}, {found.same:,} the same; {_evidence(found)}"
    missing = (found.missing_a, found.missing_b, found.missing_both)
    named = zip(missing, (*found.names, "either"), strict=True)
    if left := [f"{count:,} without a value in {name}" for count, name in named if count]:
        yield f"    left out: {', '.join(left)}"


def _change(found: Comparison) -> str:
    change = found.difference
    said = f"{change.value:+.4g}"
    if change.low is not None and change.high is not None:
        said += f"; {percent(change.level)} interval {change.low:+.4g} to {change.high:+.4g}"
    return f"{said}; {found.direction} is better"


def _evidence(found: Comparison) -> str:
    if found.p is None:
        return "nothing to test"
    said = f"p = {found.p:.3g} by {found.tests[0].test}"
    if found.adjusted is not None and found.family > 1:
        said = f"{said}, {found.adjusted:.3g} corrected for {found.family:,} comparisons"
    if found.verdict == "unclear" and found.smallest:
        said = f"{said}; a true difference of {found.smallest:.2g} would show four times in five"
    return said


def _beside(found: BenchComparison) -> Iterator[str]:
    if found.incomparable:
        yield "Not compared:"
        for one in found.incomparable:
            yield f"  {', '.join(filter(None, (one.recipe, one.metric)))}: {one.reason}"
    for only in found.only:
        counts = zip((only.a, only.b), found.names, strict=True)
        said = " and ".join(f"{count:,} only in {name}" for count, name in counts if count)
        yield f"Note: examples of {only.recipe}: {said}"
    for note in found.notes:
        yield f"Note: {note}"


def _flips(found: BenchComparison) -> Iterator[str]:
    if not found.flips:
        return
    few = len(found.flips) < found.flipped
    count = f"{len(found.flips):,} of {found.flipped:,}" if few else f"{found.flipped:,}"
    yield f"Items that changed ({count}):"
    for flip in found.flips:
        yield from _flip(flip, found.names)


def _flip(flip: Flip, names: tuple[str, str]) -> Iterator[str]:
    where = ", ".join(filter(None, (flip.recipe, flip.dataset, flip.template, flip.id)))
    old, new = flip.values
    yield f"  {flip.became}: {where}: {flip.metric} {old:.4g} to {new:.4g}"
    yield f"    asked: {_short(flip.prompt)}"
    if flip.other_prompt is not None:
        yield f"    asked in {names[1]}: {_short(flip.other_prompt)}"
    if flip.target:
        yield f"    target: {_short(' | '.join(flip.target))}"
    for name, answer in zip(names, flip.answers, strict=True):
        yield f"    {name}: {'(no answer)' if answer is None else _short(answer)}"


def _short(text: str) -> str:
    """On one line; of a long text its beginning and its end, where answers often stand."""
    text = " ".join(text.split())
    half = _WIDE // 2 - 2
    return text if len(text) <= _WIDE else f"{text[:half]} … {text[-half:]}"
