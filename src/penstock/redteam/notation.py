"""Names with parameters, as people write them: `caesar(shift=5) | crescendo(rounds=3)`.

Values are JSON, or a bare word for a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from penstock.errors import InputError

__all__ = ["Called", "notation", "parsed"]

_NAME = re.compile(r"\s*([A-Za-z0-9_.\-]+)\s*")
_KEY = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*")
_BARE = re.compile(r"[^\s,()|\"'=\[\]{}]+")
_SINGLE = re.compile(r"'([^']*)'")


class Called(NamedTuple):
    """A name, and the parameters in the brackets behind it."""

    name: str
    parameters: dict[str, Any]


def parsed(text: str) -> list[Called]:
    """The parts between the bars, the first one first."""
    return _Text(text).parts()


def notation(name: str, parameters: Mapping[str, Any]) -> str:
    """One part as `parsed` reads it."""
    inside = ", ".join(f"{key}={json.dumps(value)}" for key, value in parameters.items())
    return f"{name}({inside})" if inside else name


class _Text:
    """Read from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def parts(self) -> list[Called]:
        found = [self._part()]
        while self._took("|"):
            found.append(self._part())
        if self.at < len(self.text):
            raise self._odd("a | or the end")
        return found

    def _part(self) -> Called:
        name = self._match(_NAME, "a name")[1]
        parameters: dict[str, Any] = {}
        if self._took("(") and not self._took(")"):
            self._parameter(parameters)
            while self._took(","):
                self._parameter(parameters)
            if not self._took(")"):
                raise self._odd("a comma or a closing bracket")
        return Called(name, parameters)

    def _parameter(self, parameters: dict[str, Any]) -> None:
        key = self._match(_KEY, "a parameter such as shift=3")[1]
        if key in parameters:
            raise InputError(f"the parameter {key} is given twice in {self.text!r}")
        parameters[key] = self._value()

    def _value(self) -> Any:
        if self.text[self.at : self.at + 1] == "'":
            return self._match(_SINGLE, "a closing quote")[1]
        if self.text[self.at : self.at + 1] in ('"', "[", "{"):
            try:
                value, self.at = json.JSONDecoder().raw_decode(self.text, self.at)
            except (ValueError, RecursionError):
                raise self._odd("a value as in JSON") from None
            return value
        word = self._match(_BARE, "a value")[0]
        try:
            return json.loads(word)
        except ValueError:
            return word

    def _match(self, pattern: re.Pattern[str], wanted: str) -> re.Match[str]:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise self._odd(wanted)
        self.at = found.end()
        return found

    def _took(self, sign: str) -> bool:
        """Whether a sign stands here; then it is passed, with the space around it."""
        found = re.compile(rf"\s*{re.escape(sign)}\s*").match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found is not None

    def _odd(self, wanted: str) -> InputError:
        rest = self.text[self.at :]
        where = f"{rest[:20]!r} stands at character {self.at + 1}" if rest.strip() else "it ends"
        return InputError(
            f"{self.text!r} cannot be read: {where} where {wanted} is wanted",
            remedy="It looks like this: caesar(shift=5) | payload_splitting",
        )
