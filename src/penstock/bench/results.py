"""What runs came to: a result with its items, found again by its run."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.bench.item import Item, items_of
from penstock.bench.plan import Plan
from penstock.bench.progress import status_of
from penstock.bench.result import FILES, BenchResult, MetricResult
from penstock.bench.summary import cookbook_of, recipes_of
from penstock.bench.wishes import Wishes
from penstock.engine.info import RunInfo
from penstock.engine.resultfiles import public_spec
from penstock.engine.states import RunState
from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import InputError, NotFoundError, StoreError
from penstock.tables import Table

if TYPE_CHECKING:
    from penstock.bench.comparing import BenchComparison

__all__ = ["BenchRun", "all_results", "find_result"]

_log = logging.getLogger(__name__)
_MOST = 100_000


@dataclass(frozen=True)
class BenchRun:
    """A run that has ended: its result, and every item."""

    result: BenchResult
    items: Table
    folder: Path
    run: RunInfo | None = None
    """What the run used, where it was run just now."""

    @classmethod
    def of(
        cls,
        info: RunInfo,
        plan: Plan,
        wishes: Wishes,
        table: Table,
        *,
        began: float,
        message: str = "",
        problems: Sequence[str] = (),
        rescored_from: str = "",
    ) -> BenchRun:
        """What the items of a run come to."""
        labels = list(plan.endpoints)
        found = recipes_of(items_of(table), [each.measuring for each in plan.recipes], labels)
        state = RunState(info.state)
        failed = any(each.failed for recipe in found for each in recipe.endpoints)
        books = tuple(
            cookbook_of(
                book.entry.id,
                book.entry.value.name,
                book.entry.value.description,
                book.recipes,
                found,
                labels,
            )
            for book in plan.cookbooks
        )
        result = BenchResult(
            id=info.id,
            name=wishes.name or wishes.runner,
            state=str(state),
            status=status_of(state, failed=failed),
            message=message,
            started=began,
            ended=time.time(),
            seconds=info.seconds,
            endpoints={label: public_spec(each) for label, each in plan.endpoints.items()},
            judges={label: public_spec(each) for label, each in plan.judges.items()},
            settings=_settings(wishes),
            recipes=found,
            cookbooks=books,
            counters=info.counters,
            problems=(*plan.problems, *problems),
            rescored_from=rescored_from,
            version=_version(),
        )
        return cls(result, table, Path(info.folder), info)

    @classmethod
    def open(cls, folder: Path) -> BenchRun:
        """The latest result in a run's folder."""
        number = FILES.latest(folder)
        if number is None:
            raise NotFoundError(
                f"the run {folder.name} has no result",
                remedy=f"Was it stopped? Go on with it: penstock runs resume {folder.name}",
            )
        return cls(FILES.read(folder, number), FILES.open_table(folder, "items", number), folder)

    @property
    def id(self) -> str:
        return self.result.id

    def __iter__(self) -> Iterator[Item]:
        """Every item, one at a time."""
        return items_of(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def metric(
        self, recipe: str, metric: str | None = None, endpoint: str | None = None
    ) -> MetricResult:
        """What one metric says: the first of the recipe, and of the first endpoint, unless said."""
        for found in self.result.recipes:
            if found.id != recipe:
                continue
            for each in found.endpoints:
                if endpoint in (None, each.endpoint):
                    for made in each.metrics:
                        if metric in (None, made.metric):
                            return made
        asked = ", ".join(filter(None, (recipe, metric, endpoint)))
        raise NotFoundError(f"the result {self.id} has nothing of {asked}")

    def grades(self) -> dict[str, dict[str, str | None]]:
        """The grade of every recipe, by endpoint."""
        return {
            recipe.id: {each.endpoint: each.grade for each in recipe.endpoints}
            for recipe in self.result.recipes
        }

    def compare(
        self, other: BenchRun | None = None, a: str = "", b: str = "", **options: Any
    ) -> BenchComparison:
        """This run with a later one, item by item: endpoint `a` of this with `b` of that, which
        need not be named where there is one, or the same one. Without another run: two endpoints
        of this one."""
        from penstock.bench.comparing import Side, compare_results

        later = other or self
        first = _endpoint(self, a, later if other is not None else None)
        second = _endpoint(later, b, self if other is not None else None, but=first)
        sides = (
            Side(run.result, run.items, label, run.label(label, other is not None))
            for run, label in ((self, first), (later, second))
        )
        return compare_results(*sides, **options)

    def label(self, endpoint: str, by_run: bool) -> str:
        """How a comparison calls a side."""
        return f"{self.result.name or self.id} ({endpoint})" if by_run else endpoint

    def report(self, path: Path | str, *, overwrite: bool = False) -> Path:
        """A page to look at, in one file."""
        from penstock.bench.report import write_report

        return write_report(self.result, self.items, Path(path), overwrite=overwrite)

    def export(
        self,
        path: Path | str,
        *,
        format: str | None = None,  # noqa: A002
        overwrite: bool = False,
    ) -> Path:
        """Every item as a table (csv, jsonl, parquet, xlsx, arrow), or all of it as one JSON
        document; `moonshot` is that program's form of it."""
        from penstock.bench.exports import export_items, export_json, export_moonshot

        path = Path(path)
        kind = format or path.suffix.lower().lstrip(".")
        if kind in ("json", "moonshot"):
            write = export_json if kind == "json" else export_moonshot
            return write(self.result, self.items, path, overwrite=overwrite)
        return export_items(self.items, path, format=format, overwrite=overwrite)

    def __str__(self) -> str:
        lines = [f"{self.result.name or self.id}: {self.result.state}"]
        for recipe in self.result.recipes:
            for each in recipe.endpoints:
                for made in each.metrics:
                    grade = f", grade {each.grade}" if each.grade else ""
                    lines.append(
                        f"  {recipe.id} / {each.endpoint}: {made.metric} "
                        f"{_said(made)} ({made.scored:,} of {made.count:,}){grade}"
                    )
        return "\n".join(lines)


def _endpoint(run: BenchRun, wished: str, other: BenchRun | None, but: str = "") -> str:
    """The endpoint that is meant: the one named, the only one, or the one that both have."""
    known = list(run.result.endpoints)
    if wished:
        if wished not in known:
            raise NotFoundError(
                f"the result {run.id} has no endpoint {wished!r}",
                remedy=f"It has: {', '.join(known)}.",
            )
        return wished
    if other is not None:
        both = [label for label in known if label in other.result.endpoints]
        known = both if len(both) == 1 else known
    else:
        if len(known) == 1:
            raise InputError(
                f"the result {run.id} has one endpoint, {known[0]}, and nothing to compare it with",
                remedy="Name a second result: penstock bench results compare A B.",
            )
        known = [label for label in known if label != but]
        if not but:
            return known[0]
    if len(known) == 1:
        return known[0]
    raise InputError(
        f"the result {run.id} has several endpoints: {', '.join(known)}",
        remedy="Say which: a=... and b=... (--a, --b).",
    )


def find_result(name: str, bench: Workbench | None = None) -> BenchRun:
    """By the id of its run, or the beginning of it, or the name that the run was given, of which
    the newest counts; `latest` is the newest of all."""
    bench = bench or default_workbench()
    for row in _runs(bench):
        folder = bench.workspace.run(row["id"])
        if row["id"] == name:
            return BenchRun.open(folder)
        if name and name in ("latest", row["name"]) and FILES.latest(folder) is not None:
            return BenchRun.open(folder)
    if name == "latest" or not bench.workspace.exists:
        raise NotFoundError("there are no results yet", remedy="See `penstock bench run --help`.")
    row = bench.catalog.run(name)
    if row["kind"] != "bench":
        raise NotFoundError(
            f"the run {row['id']} is no benchmark but of the kind {row['kind']}",
            remedy="`penstock bench results list` shows what there is.",
        )
    return BenchRun.open(bench.workspace.run(row["id"]))


def all_results(
    bench: Workbench | None = None, on_problem: Callable[[StoreError], object] | None = None
) -> Iterator[BenchResult]:
    """Every result, the newest first. What cannot be read is left out, and told to whoever asks."""
    bench = bench or default_workbench()
    for row in _runs(bench):
        folder = bench.workspace.run(row["id"])
        number = FILES.latest(folder)
        if number is not None:
            try:
                yield FILES.read(folder, number)
            except StoreError as error:
                _log.warning("a result was left out", extra={"why": str(error)})
                if on_problem is not None:
                    on_problem(error)


def _runs(bench: Workbench) -> Iterator[dict[str, Any]]:
    """The benchmark runs of a workspace, the newest first."""
    if bench.workspace.exists:
        yield from (row for row in bench.catalog.all_runs(_MOST) if row["kind"] == "bench")


def _settings(wishes: Wishes) -> dict[str, Any]:
    """As they were given; an empty system prompt is one, for it replaces the recipe's."""
    made = wishes.spec()["bench"]
    kept = {name: value for name, value in made.items() if value not in (None, "", {}, [], ())}
    return kept if wishes.system_prompt is None else {**kept, "system_prompt": wishes.system_prompt}


def _said(made: MetricResult) -> str:
    mean = made.mean
    if mean.value is None:
        return "nothing scored"
    limits = "" if mean.low is None or mean.high is None else f" [{mean.low:.3g}, {mean.high:.3g}]"
    return f"{mean.value:.3g}{limits}"


def _version() -> str:
    import penstock

    return str(penstock.__version__)
