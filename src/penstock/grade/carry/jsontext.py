"""New members for a JSON object, spelled and set in before its closing brace."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

from penstock.tables.plain import plain, text_of

__all__ = ["SPACE", "members", "spelled", "spliced"]

SPACE = b" \t\r\n"
_OPENING = re.compile(rb"[ \t\r\n]*\{([ \t\r\n]*)")


def spelled(value: Any, *, ascii_only: bool) -> bytes:
    """A value as JSON. What JSON has no word for is text, or null for NaN and infinities."""
    if not ascii_only:
        import orjson

        try:
            # Its own spelling of times is wrong, so ours is used.
            return orjson.dumps(value, default=text_of, option=orjson.OPT_PASSTHROUGH_DATETIME)
        except TypeError:
            # Half characters, whole numbers beyond 64 bits, what is not plain.
            pass
    text = json.dumps(_finite(plain(value)), ensure_ascii=ascii_only, default=text_of)
    return text.encode()


def members(names: Iterable[str], values: Iterable[Any], *, ascii_only: bool) -> list[bytes]:
    """`"name": value` for each."""
    return [
        spelled(name, ascii_only=ascii_only) + b": " + spelled(value, ascii_only=ascii_only)
        for name, value in zip(names, values, strict=True)
    ]


def spliced(record: bytes, new: list[bytes]) -> bytes:
    """The bytes of an object with new members at its end, indented as its own are."""
    core = record.rstrip(SPACE)[:-1].rstrip(SPACE)
    opening = _OPENING.match(record)
    assert opening is not None
    between = b"," + opening[1] if b"\n" in opening[1] else b", "
    text = between.join(new)
    if new and not opening.end() >= len(core):
        text = between + text
    return core + text + record[len(core) :]


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value
