"""Writing csv: safe to open in a spreadsheet, and read back as it was.

Text that a spreadsheet would run is made harmless (see `escape`). A cell is quoted when it holds
any character that some program takes for a delimiter, a quote or a line break: a spreadsheet of
another country splits at semicolons. The file is UTF-8, without a mark unless its header would
be mistaken for another encoding.

csv knows only text. None is written as nothing and comes back as empty text; other values as
text: true, 1.5, 2024-01-31T09:00:00, PT90S, base64 for bytes, JSON for lists and dicts.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.tables.escape import escaped
from penstock.tables.plain import text_of

if TYPE_CHECKING:
    from penstock.tables.table import Table

__all__ = ["write_csv", "write_tsv"]

_SPECIAL = re.compile('[",;\t|\r\n]')
_NUMBERS = (int, float)


def write_csv(table: Table, path: Path) -> None:
    _write(table, path, ",")


def write_tsv(table: Table, path: Path) -> None:
    _write(table, path, "\t")


def _write(table: Table, path: Path, delimiter: str) -> None:
    alone = len(table.column_names) == 1
    header = "".join(table.column_names)
    mark = header.startswith("\ufeff") or "\x00" in header
    with path.open("w", encoding="utf-8-sig" if mark else "utf-8", newline="") as file:
        if table.column_names:
            file.write(delimiter.join(map(_cell, table.column_names)) + "\n")
        for block in table.blocks():
            lines = [delimiter.join(map(_cell, row.values())) for row in block]
            if alone:
                # An empty line would be no row.
                lines = [line or '""' for line in lines]
            file.write("\n".join(lines) + "\n")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if type(value) is not str:
        if type(value) in _NUMBERS:
            return repr(value)
        value = str(text_of(value))
    text = escaped(value)
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text
