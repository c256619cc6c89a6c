"""`penstock usage`: tokens and dollars, by day, model, endpoint, run or lane."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from penstock.cli import complain
from penstock.cli.show import dollars, print_json, print_table
from penstock.errors import Exit

__all__ = ["usage"]


def usage(
    *,
    by: str = "day",
    since: str | None = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Show what was used and paid in this workspace.

    It is summed up from the journal: every answer counts once, whichever run asked it.

    For example:

        penstock usage
        penstock usage --by model --since 2026-11-01
        penstock usage --by run --since 7d --json

    Parameters
    ----------
    by
        day, model, endpoint, run or lane (online, batch).
    since
        A date (2026-11-01) or a span (12h, 7d); else everything.
    as_json
        Print JSON, for a program.
    """
    from penstock.engine.accounts import used
    from penstock.engine.workbench import Workbench

    bench = Workbench()
    rows = used(bench, by=by, since=since)
    if as_json:
        print_json([{**row._asdict(), "cost": str(row.cost)} for row in rows])
    elif not rows:
        complain("nothing was used", "Nothing is recorded in this workspace since then.")
    else:
        headings = (by, "answers", "failures", "tokens in", "tokens out", "cost", "unpriced")
        cells = [
            (r.name, f"{r.answers:,}", f"{r.failures:,}", f"{r.input_tokens:,}",
             f"{r.output_tokens:,}", dollars(r.cost), f"{r.unpriced:,}" if r.unpriced else "")
            for r in rows
        ]  # fmt: skip
        print_table(headings, cells)
    return Exit.OK
