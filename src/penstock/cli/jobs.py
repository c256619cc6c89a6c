"""What the commands that run jobs share: watching one, and saying how it ended."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.progress import ProgressView
from penstock.cli.show import out, print_json, safe, tokens_line
from penstock.engine.progress import Progress
from penstock.engine.states import RunState, exit_code

if TYPE_CHECKING:
    from penstock.engine.info import RunInfo
    from penstock.engine.workbench import Workbench
    from penstock.tables import Table

__all__ = ["end", "watch"]


@contextmanager
def watch(
    title: str, bench: Workbench | None = None
) -> Iterator[Callable[[Progress], Callable[[], None]]]:
    """Shows the progress of whatever is started inside, and its batches at a workbench."""
    with ExitStack() as stack:

        def begin(progress: Progress) -> Callable[[], None]:
            return stack.enter_context(ProgressView(progress, title, bench)).tick

        yield begin


def end(table: Table, output: Path | None, *, as_json: bool, online: bool = True) -> int:
    """Say how a job ended, and where its files lie; `online`: it was to take no batches."""
    run = table.run
    code = exit_code(RunState(run.state))
    if as_json:
        print_json({"run": run.id, "state": run.state, "folder": run.folder, **run.counters})
        return code
    console = out(stderr=True)
    console.print(f"{len(table):,} rows; {tokens_line(run.counters)}", soft_wrap=True)
    failures = table.failures
    for failure in failures.head(3):
        line = f"row {failure['row']}: {failure['kind']}: {failure['message']}"
        console.print(safe(line), soft_wrap=True)
    if len(failures) > 3:
        console.print(f"... and {len(failures) - 3:,} more, in {safe(run.folder)}/failures.jsonl")
    if run.state == RunState.WAITING:
        console.print("\n".join(_waiting(run, online)), soft_wrap=True)
        return code
    where = output if output is not None else f"{run.folder}/dataset.arrow"
    console.print(f"{run.state}; the table is {safe(str(where))}", soft_wrap=True)
    if code:
        console.print(f"go on with: penstock runs resume {run.id}", soft_wrap=True)
    if output is None and not sys.stdout.isatty():
        sys.stdout.write(f"{run.folder}/dataset.arrow\n")
    return code


def _waiting(run: RunInfo, online: bool) -> list[str]:
    """How to go on with a run that left questions in batches."""
    total, done = run.counters["rows_total"], run.counters["rows_done"]
    left = "rows" if total is None else f"{total - done:,} rows"
    said = [f"waiting: {left} lie in batches that are not done (see: penstock batches list)"]
    if online:
        said.append("they are not asked online as well: wait for them (penstock batches collect")
        said[-1] += " --wait) or give them up (penstock batches cancel)"
    return [*said, f"then go on with: penstock runs resume {run.id}"]
