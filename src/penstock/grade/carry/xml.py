"""XML that passes by: a parser says where tags stand, the bytes are copied but for what changes."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import IO, Any
from xml.parsers import expat

__all__ = ["Element", "NotSpliced", "Parsing", "elements"]

_PIECE = 1 << 20
_TAG = re.compile(rb"""<[^>"']*+(?:(?:"[^"]*+"|'[^']*+')[^>"']*+)*+>""")

Element = tuple[str, dict[str, str]]


class NotSpliced(Exception):  # noqa: N818
    """The workbook cannot take new cells; the text says why."""


class Parsing:
    """Feeds a parser from a stream and keeps the bytes that are not written out yet."""

    def __init__(self, out: Callable[[bytes], Any]) -> None:
        self._out = out
        self._held = bytearray()
        self._base = 0
        self._here = 0  # where the tag that is being looked at begins
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._started
        self._parser.EndElementHandler = self._ended
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.XmlDeclHandler = self._declared

    def run(self, stream: IO[bytes]) -> None:
        try:
            while piece := stream.read(_PIECE):
                if not self._base and piece.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                    self._declared("", "UTF-16", 0)
                self._held += piece
                self._parser.Parse(piece, False)
                self._relieve()
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise NotSpliced(f"a part of the workbook is not XML: {error}") from None
        self._copy_to(self._base + len(self._held))

    def _started(self, name: str, attributes: dict[str, str]) -> None:
        self._here = self._parser.CurrentByteIndex
        self._start(name, attributes)

    def _ended(self, name: str) -> None:
        self._here = self._parser.CurrentByteIndex
        self._end(name)

    def _tag(self) -> bytes:
        """The tag that is being looked at."""
        found = _TAG.match(self._held, self._here - self._base)
        assert found is not None
        return bytes(found[0])

    def _copy_to(self, place: int) -> None:
        size = place - self._base
        self._out(bytes(self._held[:size]))
        del self._held[:size]
        self._base = place

    def _leave_out(self, size: int) -> None:
        """Go on behind so many bytes."""
        del self._held[:size]
        self._base += size

    def _relieve(self) -> None:
        """Write out what no later tag can change."""
        if self._here > self._base:
            self._copy_to(self._here)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        raise NotImplementedError

    def _end(self, name: str) -> None:
        raise NotImplementedError

    def _doctype(self, *_: Any) -> None:
        raise NotSpliced("a part of the workbook has a document type, which none should")

    def _declared(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ("utf-8", "ascii", "us-ascii"):
            raise NotSpliced(f"a part of the workbook is written in {encoding}, not in UTF-8")


class _Elements(Parsing):
    def __init__(self) -> None:
        super().__init__(lambda _: None)
        self.found: list[Element] = []

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.found.append((name.rpartition(":")[2], attributes))

    def _end(self, name: str) -> None:
        pass


def elements(stream: IO[bytes]) -> list[Element]:
    """All elements of a small document, by their names without a prefix."""
    parsing = _Elements()
    parsing.run(stream)
    return parsing.found
