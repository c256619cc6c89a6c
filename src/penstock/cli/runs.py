"""`penstock runs`: what has been run, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from penstock.cli import complain
from penstock.cli.show import out, print_json, print_table, safe, since, tokens_line
from penstock.errors import Exit, NotFoundError

__all__ = ["app"]

app = App(name="runs", help="What has been run, and what came of it.")

Json = Annotated[bool, Parameter(name="--json", negative="")]


@app.command(name="list")
def list_(*, limit: int = 20, as_json: Json = False) -> int:
    """List runs, the newest first."""
    from penstock.engine.workbench import Workbench

    with Workbench() as bench:
        rows = bench.catalog.all_runs(limit) if bench.workspace.exists else []
        for row in rows:
            row["state"] = _state(row, bench.workspace.run(row["id"]))
    if as_json:
        print_json(rows)
    elif not rows:
        complain("nothing has been run in this workspace", "Try: penstock demo")
    else:
        headings = ("run", "state", "rows", "failed", "cost", "begun")
        print_table(headings, [_cells(row) for row in rows])
    return Exit.OK


@app.command
def show(run: str, /, *, as_json: Json = False) -> int:
    """Show one run: its state, rows, tokens, cost and failures by kind.

    Parameters
    ----------
    run
        Its id, or the beginning of it.
    """
    from penstock.engine.workbench import Workbench

    with Workbench() as bench:
        if not bench.workspace.exists:
            raise NotFoundError(f"there is no run {run!r}", remedy="See `penstock runs list`.")
        row = bench.catalog.run(run)
        folder = bench.workspace.run(row["id"])
        row["state"] = _state(row, folder)
    if as_json:
        print_json({**row, "folder": str(folder)})
        return Exit.OK
    counters = row["counters"]
    facts: list[tuple[str, Any]] = [("run", row["id"]), ("kind", row["kind"])]
    facts += [("state", row["state"])]
    facts += [("why", row["message"])] if row["message"] else []
    facts += [("begun", since(row["started"])), ("ended", since(row["ended"]))]
    if counters:
        total = "?" if counters["rows_total"] is None else f"{counters['rows_total']:,}"
        done = f"{counters['rows_done']:,} of {total}, {counters['rows_failed']:,} failed"
        asked = f"{counters['asked']:,} asked in {counters['attempts']:,} attempts"
        facts += [("rows", done), ("questions", asked)]
        facts += [("journal", f"{counters['recorded']:,} answers found there")]
        facts += [("spent", tokens_line(counters))]
        facts += [("failures", f"{kind}: {n:,}") for kind, n in counters["failures"].items()]
        if counters["may_be_paid"]:
            facts += [("perhaps paid", f"{counters['may_be_paid']:,} questions without an answer")]
    facts += [("folder", folder)]
    console = out()
    for name, value in facts:
        console.print(f"{name:>12}  {safe(str(value))}", soft_wrap=True)
    return Exit.OK


def _state(row: dict[str, Any], folder: Path) -> str:
    """A run that was killed could not say so itself."""
    from penstock.engine.run import is_held

    killed = row["state"] == "running" and not is_held(folder)
    return "killed" if killed else str(row["state"])


def _cells(row: dict[str, Any]) -> tuple[Any, ...]:
    from penstock.cli.show import dollars

    counters = row["counters"]
    if not counters:
        return row["id"], row["state"], "", "", "", since(row["started"])
    cost = "unknown" if counters["unpriced"] else dollars(counters["cost"])
    failed = counters["rows_failed"]
    return row["id"], row["state"], counters["rows_done"], failed, cost, since(row["started"])
