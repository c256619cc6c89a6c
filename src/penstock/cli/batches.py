"""`penstock batches`: what lies in batches at providers, and what is done about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from penstock.cli import complain
from penstock.cli.show import dollars, out, print_json, print_table, safe, since, span
from penstock.errors import Exit

if TYPE_CHECKING:
    from penstock.engine.batch_keeping import Seen
    from penstock.engine.workbench import Workbench
    from penstock.store.batches import BatchRow

__all__ = ["app"]

app = App(name="batches", help="What lies in batches at providers.")

Json = Annotated[bool, Parameter(name="--json", negative="")]
Flag = Annotated[bool, Parameter(negative="")]


@app.command(name="list")
def list_(*, run: str = "", open_: Annotated[bool, Parameter(name="--open", negative="")] = False,
          as_json: Json = False) -> int:  # fmt: skip
    """List batches, the oldest first. The id of a batch begins with that of its run.

    Parameters
    ----------
    run
        Only those of this run.
    open_
        Only those that are not collected.
    """
    from penstock.cli.batchview import HEADINGS, cells
    from penstock.engine.batch_keeping import cost, listed
    from penstock.engine.workbench import Workbench

    with Workbench() as bench:
        if run:
            run = bench.catalog.run(run)["id"]
        batches = listed(bench, run, only_open=open_)
        spent = cost(bench)
        if as_json:
            print_json([_facts(bench, batch) for batch in batches])
        elif not batches:
            complain("there are no batches here", "They are made by: penstock prompt ... --batch")
        else:
            rows = [(*cells(batch, spent(batch)), batch.label) for batch in batches]
            print_table((*HEADINGS, "endpoint"), rows)
    return Exit.OK


@app.command
def show(batch: str, /, *, as_json: Json = False) -> int:
    """Show all that is known of one batch.

    Parameters
    ----------
    batch
        Its id, or the beginning of it.
    """
    from penstock.engine.batch_keeping import find
    from penstock.engine.workbench import Workbench

    with Workbench() as bench:
        facts = _facts(bench, find(bench, batch))
    if as_json:
        print_json(facts)
        return Exit.OK
    console = out()
    for name in ("created", "submitted", "ended"):
        facts[name] = since(facts[name])
    facts |= {"age": span(facts["age"]), "cost": dollars(facts["cost"])}
    facts["size"] = f"{facts['size']:,} bytes"
    for name, value in facts.items():
        if value not in ("", None):
            console.print(f"{name.replace('_', ' '):>12}  {safe(str(value))}", soft_wrap=True)
    return Exit.OK


@app.command
def cancel(batch: str, /) -> int:
    """Have the provider end a batch. What is finished is kept, and paid for.

    Collect it then: `penstock batches collect`. Its other questions are free to be asked again.

    Parameters
    ----------
    batch
        Its id, or the beginning of it.
    """
    from penstock.engine.batch_keeping import cancel as cancel_batch
    from penstock.engine.batch_keeping import find
    from penstock.engine.run import is_held
    from penstock.engine.workbench import Workbench

    with Workbench() as bench:
        found = find(bench, batch)
        if found.state == "downloaded":
            complain(f"{found.id} is collected already: there is nothing to cancel")
            return Exit.INPUT
        found = cancel_batch(bench, found.id)
        goes_on = is_held(bench.workspace.run(found.run))
    out().print(f"{found.id}: {_after_cancel(found)}", soft_wrap=True)
    if goes_on:
        complain(
            f"the run {found.run} goes on, and will put what was not done into a new batch",
            "Stop it (Ctrl-C) if that is not wanted.",
        )
    return Exit.OK


@app.command
def collect(*batches: str, wait: Flag = False, as_json: Json = False) -> int:
    """Take in the answers of batches that have ended; nothing is submitted.

    They are in the journal then, and the run that asked finds them there: see
    `penstock runs resume`. Ends with exit code 8 while some are not done.

    Parameters
    ----------
    batches
        Their ids, or those of runs; else all that are open.
    wait
        Wait until all of them have ended.
    """
    from penstock.cli.show import say_stopping
    from penstock.engine.batch_keeping import collect as collect_batches
    from penstock.engine.workbench import Workbench

    with Workbench() as bench:
        seen = collect_batches(bench, batches, waits=wait, on_interrupt=say_stopping)
        if as_json:
            print_json([{**_facts(bench, each.batch), "said": each.said} for each in seen])
        elif not seen:
            out().print("nothing is open: all batches are collected")
        else:
            print_table(("batch", "state", "done", "failed", "of", ""), map(_collected, seen))
    for run in sorted({each.batch.run for each in seen if not each.code}):
        out(stderr=True).print(f"go on with: penstock runs resume {run}", soft_wrap=True)
    codes = [each.code for each in seen if each.code]
    return min(codes, default=Exit.OK)


def _collected(seen: Seen) -> tuple[Any, ...]:
    batch = seen.batch
    return batch.id, batch.state, batch.done, batch.failed, batch.count, seen.said


def _after_cancel(batch: BatchRow) -> str:
    if batch.state == "downloaded":
        return "given up before it was submitted; its questions are free"
    return "the provider ends it; then: penstock batches collect"


def _facts(bench: Workbench, batch: BatchRow) -> dict[str, Any]:
    """For programs, and for `show`."""
    from penstock.engine.batch_keeping import age, cost

    return {
        "id": batch.id,
        "run": batch.run,
        "endpoint": batch.label,
        "state": batch.state,
        "why": batch.why,
        "at_provider": batch.remote,
        "questions": batch.count,
        "done": batch.done,
        "failed": batch.failed,
        "cost": cost(bench)(batch),
        "age": round(age(batch), 1),
        "created": batch.created,
        "submitted": batch.submitted,
        "ended": batch.ended,
        "tries": batch.tries,
        "size": batch.size,
        "file": str(bench.workspace.run(batch.run) / batch.file),
    }
