"""JSON that is asked for in words: the fallback for servers that know no `json_schema`.

A schema written into a message ("answer with JSON that fits this schema: {...}") counts like one
given apart. Where only "a JSON object" is wanted, the names quoted in the prompt become its keys.
"""

from __future__ import annotations

import json
import re
from typing import Any

from penstock.simulator.question import Question

__all__ = ["json_wanted"]

_MARKS = ("type", "properties", "$ref", "$defs", "anyOf", "oneOf", "allOf", "enum")
_KEY = re.compile(r"""["'`]([A-Za-z_][A-Za-z0-9_]{0,39})["'`]""")
_MOST_KEPT = 256
_MOST_BRACES = 50
_NUMERIC = ("score", "rating", "count", "number", "confidence", "grade")
_decoder = json.JSONDecoder()
_kept: dict[str, Any] = {}


def json_wanted(question: Question) -> Any:
    """The schema the prompt itself asks for, or None for free text."""
    for turn in question.turns:
        if turn.role in ("system", "user") and "{" in turn.text:
            schema = _schema_in(turn.text)
            if schema is not None:
                return schema
    if question.schema is True:
        return _loose(question)
    return None


def _schema_in(text: str) -> Any:
    if '"type"' not in text and '"properties"' not in text and '"$ref"' not in text:
        return None
    if text in _kept:
        return _kept[text]
    if len(_kept) >= _MOST_KEPT:
        _kept.clear()
    found = _kept[text] = _find(text)
    return found


def _find(text: str) -> Any:
    """The first JSON object after the word "schema" that looks like one."""
    lower = text.lower()
    position = lower.find("schema")
    if position < 0 or "json" not in lower:
        return None
    for _ in range(_MOST_BRACES):
        position = text.find("{", position)
        if position < 0:
            return None
        try:
            value, _ = _decoder.raw_decode(text, position)
        except ValueError:
            position += 1
            continue
        if isinstance(value, dict) and any(mark in value for mark in _MARKS):
            return value
        position += 1
    return None


def _loose(question: Question) -> dict[str, Any]:
    text = f"{question.system}\n{question.last_user}"[:4000]
    names = list(dict.fromkeys(_KEY.findall(text)))[:12] or ["answer"]
    properties = {
        name: {"type": "integer" if name.lower() in _NUMERIC else "string"} for name in names
    }
    return {"type": "object", "properties": properties, "required": names}
