"""New cells in the XML of a worksheet, set in as its bytes go by.

The parser says where rows and cells stand; everything else is copied as it is: values, formulas,
styles, widths, comments. A row that the sheet does not write out (Excel leaves empty ones away) is
made where it belongs. Cells that only have a style give way to ours; cells with anything in them
never do, because the new columns begin to the right of all of those.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import IO, Any

from penstock.grade.carry.xml import Parsing
from penstock.tables.escape import is_formula
from penstock.tables.plain import clean, plain, text_of

__all__ = ["LONGEST", "NewCells", "Sheet", "Splicing", "reach"]

LONGEST = 32_767
_SPANS = re.compile(rb"""\sspans\s*=\s*(?:"[^"]*"|'[^']*')""")
_REF = re.compile(rb"""(\sref\s*=\s*["'])([A-Z]+)([0-9]+)(?::([A-Z]+)([0-9]+))?(["'])""")
_NOT_XML = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
_CODE = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
_LARGEST_WHOLE = 10**15
_SMALLEST, _LARGEST = 2.3e-308, 9.99e307


def _letters(column: int) -> str:
    """The name of a column, counted from 0: A, B, ... Z, AA."""
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(65 + rest) + name
    return name


@lru_cache(maxsize=16_384)
def _number_of(name: str) -> int:
    """The number of a column, from 0, by its name."""
    number = 0
    for letter in name.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


@dataclass(frozen=True, slots=True)
class Sheet:
    """Which rows of a sheet get cells (numbered from 1), and from which column on (from 0)."""

    header: int
    last: int
    column: int
    width: int
    quoted: int | None = None
    """The style that marks text as text."""


class NewCells:
    """The XML of what is added to one row after the other, the header first."""

    def __init__(self, sheet: Sheet, titles: list[str], values: Iterator[list[Any]]) -> None:
        self._sheet = sheet
        self._titles = titles
        self._values = values
        self._letters = [_letters(sheet.column + place) for place in range(len(titles))]
        self.cut = 0

    def of(self, row: int, prefix: str) -> bytes:
        """The cells of the next row; `prefix` is what its elements have before their names."""
        values = self._titles if row == self._sheet.header else next(self._values)
        cells = [
            self._cell(f"{letters}{row}", value, prefix)
            for letters, value in zip(self._letters, values, strict=True)
            if value is not None
        ]
        return "".join(cells).encode()

    def _cell(self, address: str, value: Any, x: str) -> str:
        if type(value) is bool:
            return f'<{x}c r="{address}" t="b"><{x}v>{int(value)}</{x}v></{x}c>'
        if type(value) in (int, float) and _is_number(value):
            return f'<{x}c r="{address}"><{x}v>{value!r}</{x}v></{x}c>'
        text = clean(value if type(value) is str else str(text_of(plain(value))))
        if len(text) > LONGEST // 2 and len(text.encode("utf-16-le")) > 2 * LONGEST:
            self.cut += 1
            text = text.encode("utf-16-le")[: 2 * LONGEST - 2].decode("utf-16-le", "ignore") + "…"
        marked = self._sheet.quoted is not None and is_formula(text)
        style = f' s="{self._sheet.quoted}"' if marked else ""
        inside = f'<{x}is><{x}t xml:space="preserve">{_escaped(text)}</{x}t></{x}is>'
        return f'<{x}c r="{address}"{style} t="inlineStr">{inside}</{x}c>'


def _is_number(value: float) -> bool:
    if type(value) is int:
        return abs(value) < _LARGEST_WHOLE
    return value == 0 or _SMALLEST <= abs(value) <= _LARGEST


def _escaped(text: str) -> str:
    text = _NOT_XML.sub(_code, _CODE.sub("_x005F_", text))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _code(character: re.Match[str]) -> str:
    """What XML cannot hold, as Excel writes it."""
    code = ord(character[0])
    return "�" if code > 0xFFF0 else f"_x{code:04X}_"


class _Reach(Parsing):
    """Finds how far to the right there are cells with something in them."""

    def __init__(self) -> None:
        super().__init__(lambda _: None)
        self.last = -1
        self._inside = False
        self._column = -1

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        if local == "sheetData":
            self._inside = True
        elif not self._inside:
            return
        elif local == "row":
            self._column = -1
        elif local == "c":
            self._column = _column(attributes, self._column)
        elif local in ("v", "f", "is"):
            self.last = max(self.last, self._column)

    def _end(self, name: str) -> None:
        if name.rpartition(":")[2] == "sheetData":
            self._inside = False


def reach(stream: IO[bytes]) -> int:
    """The last column, from 0, in which a cell holds anything."""
    found = _Reach()
    found.run(stream)
    return found.last


def _column(attributes: dict[str, str], before: int) -> int:
    address = attributes.get("r")
    return before + 1 if address is None else _number_of(address.rstrip("0123456789"))


class Splicing(Parsing):
    """Copies a sheet with the new cells in it."""

    def __init__(self, sheet: Sheet, cells: NewCells, out: Callable[[bytes], Any]) -> None:
        super().__init__(out)
        self._sheet = sheet
        self._cells = cells
        self._inside = False
        self._next = sheet.header
        self._row = 0
        self._column = -1
        self._waiting: bytes | None = None
        self._closing = b""
        self._dropping = False

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        prefix, _, local = name.rpartition(":")
        if local == "sheetData":
            self._inside = True
        elif local == "dimension" and not self._inside:
            self._widen()
        elif self._inside and local == "row":
            self._start_row(f"{prefix}:" if prefix else "", attributes)
        elif self._inside and local == "c":
            self._start_cell(attributes)

    def _end(self, name: str) -> None:
        prefix, _, local = name.rpartition(":")
        if not self._inside:
            return
        if local == "sheetData":
            self._rows_before(self._sheet.last + 1, f"{prefix}:" if prefix else "")
            self._inside = False
        elif local == "row":
            self._end_row()
        elif local == "c" and self._dropping:
            self._dropping = False
            # An empty element ends behind its only tag, any other before its last one.
            last = self._tag() if self._held.startswith(b"</", self._here - self._base) else b""
            own = last[2:].startswith((f"{name}>".encode(), f"{name} ".encode()))
            self._leave_out(self._here - self._base + (len(last) if own else 0))

    def _start_row(self, prefix: str, attributes: dict[str, str]) -> None:
        self._row = int(attributes.get("r", self._row + 1))
        self._column = -1
        self._rows_before(min(self._row, self._sheet.last + 1), prefix)
        if self._row != self._next or self._row > self._sheet.last:
            return
        self._next += 1
        self._copy_to(self._here)
        tag = self._tag()
        self._leave_out(len(tag))
        tag = _SPANS.sub(b"", tag)  # a hint for readers, wrong from here on
        if tag.endswith(b"/>"):
            tag = tag[:-2].rstrip() + b">"
            self._closing = f"</{prefix}row>".encode()
        self._out(tag)
        self._waiting = self._cells.of(self._row, prefix)

    def _end_row(self) -> None:
        if self._waiting is not None:
            self._put_cells()
        if self._closing:
            self._out(self._closing)
            self._closing = b""

    def _start_cell(self, attributes: dict[str, str]) -> None:
        self._column = _column(attributes, self._column)
        if self._column < self._sheet.column or not self._in_table():
            return
        if self._waiting is not None:
            self._put_cells()
        if self._column < self._sheet.column + self._sheet.width:
            self._copy_to(self._here)
            self._dropping = True

    def _in_table(self) -> bool:
        return self._sheet.header <= self._row <= self._sheet.last

    def _put_cells(self) -> None:
        assert self._waiting is not None
        if not self._closing:
            self._copy_to(self._here)
        self._out(self._waiting)
        self._waiting = None

    def _rows_before(self, row: int, prefix: str) -> None:
        """Write the rows of the table that the sheet leaves away."""
        if self._next < row:
            self._copy_to(self._here)
        while self._next < row:
            cells = self._cells.of(self._next, prefix)
            if cells:
                head, tail = f'<{prefix}row r="{self._next}">', f"</{prefix}row>"
                self._out(head.encode() + cells + tail.encode())
            self._next += 1

    def _widen(self) -> None:
        """The dimension, with the new columns."""
        self._copy_to(self._here)
        tag = self._tag()
        self._leave_out(len(tag))
        last = self._sheet.column + self._sheet.width - 1
        self._out(_REF.sub(lambda found: _wider(found, last), tag))

    def _relieve(self) -> None:
        if not self._dropping:
            super()._relieve()


def _wider(found: re.Match[bytes], column: int) -> bytes:
    head, first, top, last, bottom, tail = found.groups()
    far = max(column, _number_of((last or first).decode()))
    end = _letters(far).encode() + (bottom or top)
    return head + first + top + b":" + end + tail
