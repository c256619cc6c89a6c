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
    from penstock.tables import Table

__all__ = ["end", "watch"]


@contextmanager
def watch(title: str) -> Iterator[Callable[[Progress], Callable[[], None]]]:
    """Shows the progress of whatever is started inside."""
    with ExitStack() as stack:

        def begin(progress: Progress) -> Callable[[], None]:
            return stack.enter_context(ProgressView(progress, title)).tick

        yield begin


def end(table: Table, output: Path | None, *, as_json: bool) -> int:
    """Say how a job ended, and where its files lie."""
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
    where = output if output is not None else f"{run.folder}/dataset.arrow"
    console.print(f"{run.state}; the table is {safe(str(where))}", soft_wrap=True)
    if code:
        console.print(f"go on with: penstock runs resume {run.id}", soft_wrap=True)
    if output is None and not sys.stdout.isatty():
        sys.stdout.write(f"{run.folder}/dataset.arrow\n")
    return code
