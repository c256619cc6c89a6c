"""The options of a multiple-choice question: their letters, and their texts where they are known.

They are taken from a column of the row, `choices` or `options`: a list of texts, a mapping of
letters to texts, or `{"label": [...], "text": [...]}`. Without such a column they are read from the
question, where it lists them on lines of their own, from A on without a gap. Else there are just
the letters A to J.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.errors import InputError
from penstock.metrics.score import Sample

__all__ = ["LETTERS", "Options", "folded", "options_of"]

LETTERS = "ABCDEFGHIJ"
Options = dict[str, str]
"""Letters, and the texts behind them; "" where a text is not known."""

_LISTED = re.compile(r"(?m)^[ \t]*[(\[]?([A-J])[).\]:][ \t]+(\S.*?)[ \t]*$")
_EDGES = " \t\r\n.,;:!?\"'“”‘’«»*_`()[]{}"


def options_of(sample: Sample, columns: Sequence[str]) -> Options:
    """The options of a sample."""
    for column in columns:
        given = sample.row.get(column)
        if given is not None:
            return _given(given, column)
    return _listed(sample.question or "") or dict.fromkeys(LETTERS, "")


def folded(text: str) -> str:
    """A text without case, layout and marks around it, to tell whether two options are one."""
    return " ".join(text.casefold().split()).strip(_EDGES)


def _given(given: Any, column: str) -> Options:
    if isinstance(given, Mapping) and "text" in given and "label" in given:
        given = dict(zip(given["label"], given["text"], strict=True))
    if isinstance(given, Mapping):
        labels = [str(label).strip().upper() for label in given]
        texts = [str(text) for text in given.values()]
        lettered = labels == list(LETTERS[: len(labels)])
    elif isinstance(given, Sequence) and not isinstance(given, str):
        texts, lettered = [str(text) for text in given], True
    else:
        raise InputError(f"the column {column!r} holds {given!r:.80}; a list of texts is wanted")
    if not lettered:
        raise InputError(f"the labels of {column!r} are {', '.join(labels)}; A, B ... are wanted")
    if not 2 <= len(texts) <= len(LETTERS):
        raise InputError(f"the column {column!r} holds {len(texts)} options; 2 to 10 are wanted")
    return dict(zip(LETTERS, texts, strict=False))


def _listed(question: str) -> Options:
    """The options that a question lists; none unless they run from A on."""
    found = _LISTED.findall(question)
    letters = "".join(letter for letter, _ in found)
    return dict(found) if len(found) > 1 and LETTERS.startswith(letters) else {}
