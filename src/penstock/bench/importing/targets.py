"""What would be right, in the forms that datasets have it: a text, several, a number, or SQuAD's.

Nothing is guessed: where the accepted texts cannot be told, there is no target, and what was given
stays in the row under another name.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from penstock.tables.plain import text_of

__all__ = ["Reading", "Target", "free_name", "put_target", "target_of"]

# The answers of SQuAD as Python writes them: some datasets hold that as a text.
_LITERAL = re.compile(r"\s*\{\s*['\"](?:text|answer_start|answers)['\"]\s*:")
_LONGEST = 1_000_000


class Reading(StrEnum):
    """How a target was read."""

    AS_IT_IS = "as it is"
    AS_TEXT = "numbers, true and false as text"
    ANSWERS = "the texts of SQuAD's answers"
    UNCLEAR = "no accepted texts"


class Target(NamedTuple):
    """The accepted text or texts; None where there are none to be held to."""

    value: str | list[str] | None
    reading: Reading = Reading.AS_IT_IS

    @property
    def keeps_given(self) -> bool:
        """Whether what was given says more than the value."""
        return self.reading in (Reading.ANSWERS, Reading.UNCLEAR)


def target_of(given: Any) -> Target:
    """The target in what a dataset gives."""
    if given is None:
        return Target(None)
    if isinstance(given, str):
        return _of_text(given)
    if isinstance(given, Mapping):
        texts = _answers(given)
        return Target(texts, Reading.UNCLEAR if texts is None else Reading.ANSWERS)
    if isinstance(given, list | tuple):
        return _of_list(list(given))
    if _is_scalar(given):
        return Target(text_of(given), Reading.AS_TEXT)
    return Target(None, Reading.UNCLEAR)


def put_target(row: dict[str, Any], column: str, target: Target) -> None:
    """Set a row's target; what says more than the texts goes along as `target_given`."""
    if target.keeps_given:
        row[free_name("target_given", row)] = row[column]
    row[column] = target.value


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, or the next one that is not taken."""
    made, number = name, 1
    while made in taken:
        number += 1
        made = f"{name}_{number}"
    return made


def _of_text(given: str) -> Target:
    if _LITERAL.match(given) and len(given) <= _LONGEST:
        texts = _answers(_literal(given))
        if texts is not None:
            return Target(texts, Reading.ANSWERS)
    return Target(given)


def _of_list(given: list[Any]) -> Target:
    if all(isinstance(each, str) for each in given):
        return Target(given)
    if all(isinstance(each, str) or _is_scalar(each) for each in given):
        return Target([str(text_of(each)) for each in given], Reading.AS_TEXT)
    return Target(None, Reading.UNCLEAR)


def _answers(given: Any) -> list[str] | None:
    """`{"text": [...]}`, alone or within `answers`; or `{"answers": [{"text": ...}, ...]}`."""
    if not isinstance(given, Mapping):
        return None
    inner = given.get("answers", given)
    texts = inner.get("text") if isinstance(inner, Mapping) else inner
    if not isinstance(texts, list | tuple):
        return None
    found = [each.get("text") if isinstance(each, Mapping) else each for each in texts]
    return [str(each) for each in found] if all(isinstance(each, str) for each in found) else None


def _literal(text: str) -> Any:
    """A Python literal, read and never run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in a text is no news
            return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _is_scalar(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, bool | int)
