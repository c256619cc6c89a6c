"""Prompts over a file, as data: what the shell runs, stores and resumes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from penstock.engine.engine import Cache
from penstock.engine.lanes import LaneWish
from penstock.engine.progress import Progress
from penstock.engine.states import RunState
from penstock.engine.workbench import Workbench
from penstock.errors import InputError, PenstockError
from penstock.generate.launch import Launch, estimated, launched
from penstock.generate.prompter import Prompter
from penstock.tables import RowSource, Table, rows
from penstock.templates import Template

__all__ = ["FileJob"]

_COUNTED = 32 << 20
_BATCH: Mapping[LaneWish, bool | Literal["auto"]] = {
    "online": False,
    "batch": True,
    "auto": "auto",
}


@dataclass(frozen=True)
class FileJob:
    """A template over the rows of a file."""

    file: str
    template: str
    model: str | None = None
    system: str | None = None
    schema: Mapping[str, Any] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    first: int | None = None
    """Only so many rows from the beginning."""
    samples: int = 1
    budget: str | None = None
    cache: Cache = "use"
    out: str | None = None
    lane: LaneWish = "online"
    batch_size: int | None = None

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> FileJob:
        """The job that a run was made of."""
        try:
            return cls(**spec["prompt"])
        except (KeyError, TypeError):
            raise InputError(
                "this run was made by a program, not by the shell",
                remedy="Run that program again: what has an answer is found, the rest is asked.",
            ) from None

    def estimate(self, bench: Workbench) -> Any:
        """What it would take; nothing is sent."""
        return estimated(self._launch(bench, ""))

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
        table = launched(self._launch(bench, run_id, waits), watch, on_interrupt)
        assert isinstance(table, Table)
        if self.out is not None and table.run.state != RunState.WAITING:
            table.save(self.out)
        return table

    def _launch(self, bench: Workbench, run_id: str, waits: bool = True) -> Launch:
        template = Template(self.template)
        prompter = Prompter(
            self.model,
            template.fill,
            response_format=self.schema,
            system_prompt=self.system,
            generation_params=self.params,
            n=self.samples,
            budget=self.budget,
            cache=self.cache,
            batch=_BATCH[self.lane],
            batch_size=self.batch_size,
            wait=waits,
            workbench=bench,
        )
        source = self._source(template)
        launch = prompter.launch(source)
        spec = {**asdict(self), "file": str(Path(self.file).expanduser().absolute())}
        if self.out is not None:
            spec["out"] = str(Path(self.out).expanduser().absolute())
        return replace(launch, id=run_id, spec={"prompt": spec})

    def _source(self, template: Template) -> RowSource:
        source = rows(self.file)
        if source.column_names is not None:
            template.check(source.column_names)
        if self.first is not None:
            return rows(list(islice(source, self.first)))
        _count(source, Path(self.file).expanduser())
        return source


def _count(source: RowSource, path: Path) -> None:
    """Count the rows of a small file, so that whoever watches sees the end; a second at most."""
    if source.count is not None or not source.repeatable or path.suffix.lower() == ".gz":
        return
    if path.stat().st_size <= _COUNTED:
        with suppress(PenstockError):  # it is told when the work comes to that row
            source.count = sum(map(len, source.blocks()))
