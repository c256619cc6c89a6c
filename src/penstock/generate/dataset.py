"""A dataset from a schema of columns.

    gen = generator("openai", model="gpt-4o-mini")
    ds = dataset({
        "topic": sample.choice(["Python", "Rust"]),
        "question": gen("Write a question about {topic}"),
        "answer": gen("Answer: {question}"),
    })
    table = ds.generate(n=100)

Making one sends nothing. `generate` blocks and returns a Table where no event loop runs; inside a
running loop it returns a handle to await. The same schema and seed give the same table; what has an
answer is never asked again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from penstock.engine.job import Job, TableHandle, begun, started
from penstock.engine.outflow import Stream
from penstock.engine.progress import Progress
from penstock.engine.wishes import whole
from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import InputError
from penstock.generate.evaluation import evaluate
from penstock.generate.making import Making
from penstock.generate.measures import Measure
from penstock.generate.measures import eval as measures
from penstock.generate.options import Options, checked_options
from penstock.generate.prospect import projected
from penstock.generate.schema import Schema
from penstock.live import Viewer
from penstock.tables import Table

if TYPE_CHECKING:
    import datasets
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from penstock.generate.report import DatasetReport

__all__ = ["Dataset", "dataset", "generate_with_viewer"]


def dataset(
    columns: Mapping[str, Any],
    n: int = 100,
    *,
    workbench: Workbench | None = None,
    **options: Unpack[Options],
) -> Dataset:
    """A dataset of `n` rows, from columns by name: values, samplers, generators, functions.

    See `Options` for the others, such as `seed`, `until`, `check`, `dedupe`, `budget`, `batch`.
    """
    return Dataset(columns, n, workbench=workbench, **options)


class Dataset:
    """See `dataset`."""

    eval = measures
    """What columns can be held to: `ds.eval.exact_match("answer", "solution")`."""

    def __init__(
        self,
        columns: Mapping[str, Any],
        n: int = 100,
        *,
        workbench: Workbench | None = None,
        **options: Unpack[Options],
    ) -> None:
        self.schema = Schema(columns)
        self.n = whole("n", n)
        self._options = checked_options(options)
        self._workbench = workbench
        self._making: Making | None = None
        self._made: Table | TableHandle | None = None
        self.viewer: Viewer | None = None
        """The page of the latest run, where there is one."""

    def generate(
        self,
        n: int | None = None,
        *,
        watch: Callable[[Progress], Callable[[], None]] | None = None,
        **options: Unpack[Options],
    ) -> Any:
        """The table; see the module. Ctrl-C stops it: what was done is kept, and a later call goes
        on from there."""
        making = self.making(n, **options)
        job = making.job()
        if making.options.get("view"):
            self._show(making, job)
        interrupts: list[bool] = []
        self._making = making
        self._made = started(job, making.work, watch, lambda: interrupts.append(True))
        if interrupts:
            raise KeyboardInterrupt
        return self._made

    def preview(self, n: int = 5, **options: Unpack[Options]) -> Any:
        """The first rows, to look at. They are asked for and paid, and not again later."""
        return self.generate(n, **options)

    def stream(self, n: int | None = None, **options: Unpack[Options]) -> Stream[dict[str, Any]]:
        """The rows as they finish, in no order; `for` or `async for`. All is recorded."""
        making = self.making(n, **options)
        return Stream(lambda: begun(making.job(), making.work))

    def estimate(self, n: int | None = None, **options: Unpack[Options]) -> Any:
        """What it would take: questions, tokens and dollars. Sends nothing. To be awaited inside a
        running loop."""
        return projected(self.making(n, **options))

    def making(
        self,
        n: int | None = None,
        *,
        run: str = "",
        spec: Mapping[str, Any] | None = None,
        **options: Unpack[Options],
    ) -> Making:
        """Everything that a run needs, checked; for the doors. Sends nothing."""
        bench = self._workbench or default_workbench()
        merged: Options = {**self._options, **checked_options(options)}
        if n is not None and "until" not in options:
            merged.pop("until", None)
            merged.pop("most", None)
        rows = whole("n", self.n if n is None else n)
        return Making(bench, self.schema, rows, checked_options(merged), run, spec)

    def _show(self, making: Making, job: Job) -> None:
        """Open the page that fills while rows arrive."""
        if self.viewer is not None:
            self.viewer.close()
        title = making.options.get("name") or ", ".join(self.schema.makes[:4])
        self.viewer = Viewer(making.bench.workspace, job.run.id, title=title)
        sys.stderr.write(f"live view: {self.viewer.url}\n")
        if sys.stderr.isatty():
            self.viewer.open()

    # What was made ----------------------------------------------------------------------------

    @property
    def table(self) -> Table:
        """What `generate` made last; waits for it."""
        if self._made is None:
            raise InputError("nothing has been generated yet", remedy="Call ds.generate(n) first.")
        return self._made.result() if isinstance(self._made, TableHandle) else self._made

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame of what was made."""
        return self.table.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """A polars DataFrame of what was made."""
        return self.table.to_polars()

    def to_hf(self) -> datasets.Dataset:
        """A Hugging Face dataset of what was made."""
        return self.table.to_hf()

    def to_arrow(self) -> pa.Table:
        """A pyarrow Table of what was made."""
        return self.table.to_arrow()

    def save(
        self,
        path: Path | str,
        format: str | None = None,  # noqa: A002
        *,
        overwrite: bool = True,
    ) -> Path:
        """Write what was made to a file, in the format of its suffix or the given one."""
        return self.table.save(path, format, overwrite=overwrite)

    def evaluate(self, measures: Mapping[str, Measure]) -> Any:
        """How the columns do: `{"match": ds.eval.exact_match("answer", "solution")}`. To be
        awaited inside a running loop."""
        return evaluate(self.table, measures, workbench=self._workbench)

    def report(self) -> DatasetReport:
        """What is in the table: types, lengths, duplicates, diversity, failures, cost. Print it,
        or `save("report.html")`."""
        from penstock.generate.report.reporting import reported

        table = self.table  # which says so where there is none
        assert self._making is not None
        return reported(table, self._making)


def generate_with_viewer(ds: Dataset, n: int | None = None, **options: Unpack[Options]) -> Any:
    """`ds.generate(n, view=True)`."""
    options["view"] = True
    return ds.generate(n, **options)
