"""Datasets from a file, as data: what the shell runs, stores and resumes.

A dataset of a program's own goes the same way, except that only the program can run it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from penstock.engine.job import Job, started
from penstock.engine.lanes import LaneWish
from penstock.engine.progress import Progress
from penstock.engine.states import RunState
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.generate.making import Making
from penstock.generate.options import Options
from penstock.generate.spec import Spec
from penstock.tables import Table

__all__ = ["BATCH", "SchemaJob", "lane_in", "made"]

BATCH: Mapping[LaneWish, bool | Literal["auto"]] = {
    "online": False,
    "batch": True,
    "auto": "auto",
}


@dataclass(frozen=True)
class SchemaJob:
    """A dataset of a file, with what the command line says of it."""

    spec: Spec
    n: int | None = None
    """None: as many rows as the file says."""
    options: Options = field(default_factory=Options)
    """Those of the file that are overridden."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Whom to ask instead of a model of the file; "": of all of them."""
    lane: LaneWish = "online"
    out: str | None = None
    report: str | None = None

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> SchemaJob:
        """The job that a run was made of."""
        try:
            kept = dict(spec["generate"])
            return cls(spec=Spec(kept.pop("file"), kept.pop("dataset")), **kept)
        except (KeyError, TypeError):
            raise InputError(
                "this run was made by a program, not by the shell",
                remedy="Run that program again: what has an answer is found, the rest is asked.",
            ) from None

    def stored(self, bench: Workbench) -> dict[str, Any]:
        """All of it as data, as a run keeps it."""
        data = self.spec.stored()
        usual = bench.settings.llm.model
        if "model" not in data and usual is not None:
            data["model"] = usual  # the settings may say something else by tomorrow
        kept = {"file": self.spec.name, "dataset": data, "n": self.n}
        kept |= {"options": dict(self.options), "models": dict(self.models), "lane": self.lane}
        return {"generate": {**kept, "out": _full(self.out), "report": _full(self.report)}}

    def making(
        self, bench: Workbench, *, run_id: str = "", waits: bool = True, view: bool = False
    ) -> Making:
        """Everything that the run needs, checked. Sends nothing."""
        dataset = self.spec.dataset(bench, self.models)
        options: Options = {**self.options, "batch": BATCH[self.lane], "wait": waits, "view": view}
        making = dataset.making(self.n, run=run_id, spec=self.stored(bench), **options)
        self.spec.check_rows(making.schema, making.goal.wanted)
        return making

    def run(
        self,
        bench: Workbench,
        *,
        run_id: str = "",
        waits: bool = True,
        watch: Callable[[Progress], Callable[[], None]] | None = None,
        on_interrupt: Callable[[], None] | None = None,
    ) -> Table:
        """Do it, or go on with it. `waits`: for batches; else they are left at their provider."""
        making = self.making(bench, run_id=run_id, waits=waits)
        return made(making, self.out, self.report, watch=watch, on_interrupt=on_interrupt)


def lane_in(data: Any) -> LaneWish:
    """The lane that a file asks for."""
    batch = data.get("batch") if isinstance(data, Mapping) else None
    return "batch" if batch is True else "auto" if batch == "auto" else "online"


def made(
    making: Making,
    out: str | None = None,
    report: str | None = None,
    *,
    begin: Callable[[Job], None] | None = None,
    watch: Callable[[Progress], Callable[[], None]] | None = None,
    on_interrupt: Callable[[], None] | None = None,
) -> Table:
    """The table, written where it shall go unless it still waits for batches.

    `begin` is told of the run before it begins.
    """
    job = making.job()
    if begin is not None:
        begin(job)
    table = started(job, making.work, watch, on_interrupt)
    assert isinstance(table, Table)
    if table.run.state != RunState.WAITING:
        if out is not None:
            table.save(out)
        if report is not None:
            from penstock.generate.report.reporting import reported

            reported(table, making).save(report)
    return table


def _full(path: str | None) -> str | None:
    return None if path is None else str(Path(path).expanduser().absolute())
