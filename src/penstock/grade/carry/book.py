"""Where in a workbook's archive things lie, and its styles with one more."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from penstock.grade.carry.xml import NotSpliced, Parsing, elements

__all__ = ["Parts", "Styles", "parts_of", "styles_with_quoting"]

_COUNT = re.compile(rb"""(\scount\s*=\s*["'])[0-9]+(["'])""")
_OPENING = re.compile(rb"<(?:[A-Za-z0-9_]+:)?cellXfs(?:\s[^>]*)?>")
_FACETS = 'numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0" quotePrefix="1"'


class Parts(NamedTuple):
    """The names of a sheet and of the styles in the archive."""

    sheet: str
    styles: str | None


class Styles(NamedTuple):
    """The part with all styles, and the number of the one that marks text as text."""

    body: bytes
    quoting: int


def parts_of(book: zipfile.ZipFile, sheet: str) -> Parts:
    """Where a sheet lies, by its name."""
    main = _target(book, "", kind="/officeDocument") or "xl/workbook.xml"
    with book.open(main) as stream:
        found = elements(stream)
    for name, attributes in found:
        if name == "sheet" and attributes.get("name") == sheet:
            # The id has the prefix of relations, whichever that is here.
            ids = [value for key, value in attributes.items() if key.endswith(":id")]
            place = _target(book, main, identity=ids[0]) if ids else None
            if place is not None:
                return Parts(place, _target(book, main, kind="/styles"))
    raise NotSpliced(f"it does not say where its sheet {sheet!r} lies")


def _target(
    book: zipfile.ZipFile, part: str, *, kind: str | None = None, identity: str | None = None
) -> str | None:
    """Where a part of an archive points to, by the kind of the relation or by its id."""
    place = PurePosixPath(part)
    try:
        with book.open(str(place.parent / "_rels" / f"{place.name}.rels")) as stream:
            relations = elements(stream)
    except KeyError:
        return None
    for _, attributes in relations:
        by_kind = kind is not None and attributes.get("Type", "").endswith(kind)
        if by_kind or (identity is not None and attributes.get("Id") == identity):
            target = attributes.get("Target", "")
            whole = PurePosixPath(target) if target.startswith("/") else place.parent / target
            return _found(book, _straight(whole))
    return None


def _straight(path: PurePosixPath) -> str:
    steps: list[str] = []
    for step in path.parts:
        if step == "..":
            steps = steps[:-1]
        elif step not in ("/", "."):
            steps.append(step)
    return "/".join(steps)


def _found(book: zipfile.ZipFile, name: str) -> str | None:
    """A part by its name, in whichever case the archive has it."""
    return next((each for each in book.namelist() if each.lower() == name.lower()), None)


def styles_with_quoting(book: zipfile.ZipFile, part: str | None) -> Styles | None:
    """The styles with one more; None where the workbook has none to add to."""
    if part is None:
        return None
    whole = bytearray()
    adding = _Adding(whole.extend)
    with book.open(part) as stream:
        adding.run(stream)
    if not adding.count:
        return None
    body = bytes(whole)
    found = _OPENING.search(body)
    assert found is not None
    tag = _COUNT.sub(rb"\g<1>%d\g<2>" % (adding.count + 1), found[0])
    return Styles(body[: found.start()] + tag + body[found.end() :], adding.count)


class _Adding(Parsing):
    """Adds a style to those of cells."""

    def __init__(self, out: Callable[[bytes], Any]) -> None:
        super().__init__(out)
        self._inside = False
        self.count = 0

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        if local == "cellXfs":
            self._inside = True
        elif local == "xf" and self._inside:
            self.count += 1

    def _end(self, name: str) -> None:
        prefix, _, local = name.rpartition(":")
        if local == "cellXfs" and self._inside:
            self._inside = False
            if self.count:
                self._copy_to(self._here)
                self._out(f"<{prefix}{':' if prefix else ''}xf {_FACETS}/>".encode())
