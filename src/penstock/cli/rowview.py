"""Rows of a table for people: each a small block that fits the terminal.

What a model wrote is shown as text, whatever is in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from penstock.cli.show import out, safe, short

if TYPE_CHECKING:
    from rich.text import Text

    from penstock.tables import Table

__all__ = ["print_rows"]

_LONGEST = 600
_WIDEST_NAME = 24
_NARROWEST = 20


def print_rows(table: Table, status: str) -> None:
    """Print every row; `status` is the column that says what became of it."""
    from rich.text import Text

    console = out()
    failed = {(each["row"], each["column"]): each for each in table.failures}
    names = {name: short(safe(name), _WIDEST_NAME) for name in table.column_names}
    indent = max(map(len, names.values())) + 4
    room = max(console.width - indent, _NARROWEST)
    for number, row in enumerate(table):
        console.print(Text(f"row {number}", style="bold"))
        for name, value in row.items():
            if name == status:
                continue
            shown = _empty(failed.get((number, name))) if value is None else _shown(value)
            head = f"  {names[name]}".ljust(indent)
            for line in shown.wrap(console, room) or [shown]:
                line.rstrip()
                console.print(Text.assemble((head, "cyan"), line), soft_wrap=True)
                head = " " * indent
        console.print()


def _shown(value: Any) -> Text:
    from rich.text import Text

    return Text(_cut(safe(_text(value))))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list) and value and all(map(_is_message, value)):
        return "\n".join(f"{each['role']}: {each['content']}" for each in value)
    if isinstance(value, dict | list):
        return orjson.dumps(value, default=str).decode()
    return str(value)


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() == {"role", "content"}


def _cut(text: str) -> str:
    text = text.strip("\n")
    left = len(text) - _LONGEST
    return text if left <= 0 else f"{text[:_LONGEST]}… ({left:,} characters more)"


def _empty(failure: Mapping[str, Any] | None) -> Text:
    from rich.text import Text

    if failure is None:
        return Text("-", style="dim")
    return Text(_cut(safe(f"{failure['kind']}: {failure['message']}")), style="red")
