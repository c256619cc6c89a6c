"""`penstock journal`: the record of every question and its answer."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from penstock.cli import complain
from penstock.cli.show import out, print_json, safe, since
from penstock.errors import DamagedError, Exit
from penstock.store import Journal

__all__ = ["app"]

app = App(name="journal", help="The record of every question and its answer.")

Json = Annotated[bool, Parameter(name="--json", negative="")]


@app.command
def stats(*, as_json: Json = False) -> int:
    """Count what lies in the journal."""
    journal = _journal()
    if journal is None:
        return Exit.OK
    found = journal.stats()
    if as_json:
        print_json({"path": str(journal.path), **found._asdict()})
        return Exit.OK
    console = out()
    for name, value in (
        ("journal", str(journal.path)),
        ("answers", f"{found.answers:,}"),
        ("failures", f"{found.failures:,} (kept for audit; asked again by any later run)"),
        ("replaced", f"{found.replaced:,}"),
        ("size", _size(found.size)),
        ("oldest", since(found.oldest)),
        ("newest", since(found.newest)),
    ):
        console.print(f"{name:>10}  {safe(value)}", soft_wrap=True)
    return Exit.OK


@app.command
def check() -> int:
    """Read every record and compare it with its checksum."""
    journal = _journal()
    if journal is None:
        return Exit.OK
    whole = damaged = 0
    for record in journal.each():
        if isinstance(record, DamagedError):
            damaged += 1
            complain(record.message)
        else:
            whole += 1
    out().print(f"{whole:,} records are whole, {damaged:,} are damaged")
    if damaged:
        complain("the journal is damaged", "Run `penstock journal repair`.")
    return Exit.HOST if damaged else Exit.OK


@app.command
def repair() -> int:
    """Save every record that can be read into a fresh journal; the damaged file is kept beside it.

    What could not be saved is asked again by the next run that needs it.
    """
    from penstock.store.repair import repair as repair_file

    journal = _journal()
    if journal is None:
        return Exit.OK
    if _is_whole(journal):
        out().print("the journal is whole: there is nothing to repair")
        return Exit.OK
    done = repair_file(journal)
    out().print(
        f"{done.saved:,} records saved, {done.lost:,} could not be read; "
        f"the old file is {safe(str(done.kept))}",
        soft_wrap=True,
    )
    return Exit.OK


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.0f} kB"


def _journal() -> Journal | None:
    from penstock.engine.workbench import Workbench

    bench = Workbench()
    if not bench.workspace.check().journal.exists():
        complain(f"there is no journal in {bench.workspace.path}", "It begins with the first run.")
        return None
    return bench.journal()


def _is_whole(journal: Journal) -> bool:
    try:
        return not any(isinstance(record, DamagedError) for record in journal.each())
    except DamagedError:
        return False
