"""What a report knows of the run, and how it says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from penstock.generate.profile.results import Profile
from penstock.reports.words import span

__all__ = ["RunFacts", "cost", "facts"]


@dataclass(frozen=True)
class RunFacts:
    """A run in a few facts; those that are not known are left out of the report."""

    run: str = ""
    state: str = ""
    title: str = "Dataset"
    models: tuple[str, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = None
    """Dollars; None: no price is known of anything."""
    unpriced: int = 0
    """Answers of which no price is known."""
    questions: int = 0
    """Asked by this run, those that the journal answered among them."""
    recorded: int = 0
    """Of these, answered from the journal."""
    seconds: float | None = None
    seed: int | str | None = None
    wanted: int | None = None
    """How many rows were asked for."""
    rejected: Mapping[str, int] = field(default_factory=dict)
    """Rows that were made and not kept, by reason."""


def facts(profile: Profile, run: RunFacts) -> list[tuple[str, str]]:
    """What is known, by name."""
    rows = f"{profile.rows:,}"
    if run.wanted is not None and run.wanted != profile.rows:
        rows += f" of {run.wanted:,} asked for"
    found = [("run", " · ".join(part for part in (run.run, run.state) if part))]
    found += [("models", ", ".join(run.models)), ("rows", rows)]
    if run.rejected:
        reasons = ", ".join(f"{reason}: {count:,}" for reason, count in run.rejected.items())
        found.append(("rejected", f"{sum(run.rejected.values()):,} rows ({reasons})"))
    if run.questions:
        known = f", {run.recorded:,} answered from the journal" if run.recorded else ""
        found.append(("questions", f"{run.questions:,}{known}"))
    if run.input_tokens or run.output_tokens:
        found.append(("tokens", f"{run.input_tokens:,} in, {run.output_tokens:,} out"))
    if run.cost is not None or run.unpriced:
        found.append(("cost", cost(run)))
    if run.seconds is not None:
        found.append(("time", span(run.seconds)))
    if run.seed is not None:
        found.append(("seed", str(run.seed)))
    return [(name, value) for name, value in found if value]


def cost(run: RunFacts) -> str:
    """Dollars, and what is missing from them."""
    missing = f"{run.unpriced:,} answers of which no price is known" if run.unpriced else ""
    if run.cost is None:
        return f"unknown: {missing}" if missing else "unknown"
    exact = run.cost.normalize()
    said = f"${run.cost:,.2f}" if run.cost >= 1 or not exact else f"${exact:f}"
    return f"{said}, and {missing}" if missing else said
