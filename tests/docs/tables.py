"""The generated tables of the docs: `python -m tests.docs.tables` writes them anew.

A table stands between `<!-- table: NAME -->` and `<!-- end of table -->`. It is made from the code
that it describes, and a test fails when it is out of date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path

from penstock import errors, outcome
from penstock.simulator.faults import KINDS
from penstock.simulator.scripts import SCRIPTS
from penstock.simulator.settings import FIXED_AT_START, SimulatorSettings
from tests.docs.pages import PAGES

__all__ = ["TABLES", "renewed"]

_REGION = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end of table -->)", re.S)


def _table(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    heads = list(headings)
    lines = [heads, ["---"] * len(heads), *([str(cell) for cell in row] for row in rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def exit_codes() -> str:
    """Every way in which a command can end."""
    rows = ((int(code), f"`{code.name}`", code.meaning) for code in errors.Exit)
    return _table(("code", "name", "meaning"), rows)


def exceptions() -> str:
    """The tree of exceptions, indented."""
    headings = ("exception", "exit code", "HTTP status", "meaning")
    return _table(headings, _branch(errors.PenstockError, 0))


def _branch(kind: type[errors.PenstockError], depth: int) -> Iterator[tuple[object, ...]]:
    indent = "&nbsp;&nbsp;&nbsp;&nbsp;" * depth
    meaning = (kind.__doc__ or "").strip().split("\n")[0]
    yield f"{indent}`{kind.__name__}`", int(kind.exit_code), kind.http_status, meaning
    for child in kind.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from _branch(child, depth + 1)


def failures() -> str:
    """Every kind of Failure."""
    rows = (
        (f"`{kind}`", "yes" if kind.heals else "", "yes" if kind.stops else "", kind.meaning)
        for kind in outcome.FailureKind
    )
    return _table(("kind", "heals", "stops", "meaning"), rows)


def simulator_flags() -> str:
    """Every setting of the simulated server."""
    rows = (
        (
            f"`--{each.name.replace('_', '-')}`",
            "" if each.default in (None, "") else f"`{each.default}`",
            "" if each.name in FIXED_AT_START else "yes",
            each.metadata["help"],
        )
        for each in fields(SimulatorSettings)
    )
    return _table(("flag", "default", "may change while it runs", "what it does"), rows)


def simulator_faults() -> str:
    """Every kind of fault that `--errors` takes."""
    rows = ((f"`{kind}`", what) for kind, what in KINDS.items())
    return _table(("kind", "what the server does"), rows)


def scripted_models() -> str:
    """The models that follow a script."""
    rows = ((f"`{name}`", script.description) for name, script in SCRIPTS.items())
    return _table(("model", "what it does"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "exit-codes": exit_codes,
    "exceptions": exceptions,
    "failures": failures,
    "simulator-flags": simulator_flags,
    "simulator-faults": simulator_faults,
    "scripted-models": scripted_models,
}


def renewed(text: str) -> str:
    """A page's text with every table in it made anew."""
    return _REGION.sub(lambda found: found[1] + TABLES[found[2]]() + found[3], text)


def main(pages: Iterable[Path] = PAGES) -> None:
    """Rewrite what is out of date, and say so."""
    for page in pages:
        text = page.read_text("utf-8")
        made = renewed(text)
        if made != text:
            page.write_text(made, "utf-8")
            sys.stdout.write(f"rewrote {page}\n")


if __name__ == "__main__":
    main()
