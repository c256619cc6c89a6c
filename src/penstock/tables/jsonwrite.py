"""Writing JSON: one array with a row a line, or JSON lines.

JSON has no NaN, infinities, bytes or dates: the first two become null, bytes base64, dates and
times ISO text, decimals text.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.tables.plain import plain, text_of

if TYPE_CHECKING:
    from penstock.tables.table import Table

__all__ = ["write_json", "write_jsonl"]


def write_json(table: Table, path: Path) -> None:
    with path.open("wb") as file:
        between = b"[\n"
        for block in table.blocks():
            file.write(between + b",\n".join(map(_object, block)))
            between = b",\n"
        file.write(b"\n]\n" if between == b",\n" else b"[]\n")


def write_jsonl(table: Table, path: Path) -> None:
    with path.open("wb") as file:
        for block in table.blocks():
            file.write(b"\n".join(map(_object, block)) + b"\n")


def _object(row: dict[str, Any]) -> bytes:
    import orjson

    try:
        # Its own spelling of times is wrong (3.13: 10 ms become 100), so ours is used.
        return orjson.dumps(row, default=text_of, option=orjson.OPT_PASSTHROUGH_DATETIME)
    except TypeError:
        # Whole numbers beyond 64 bits, or nesting beyond what orjson takes.
        return json.dumps(_finite(plain(row)), ensure_ascii=False, default=text_of).encode()


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value
