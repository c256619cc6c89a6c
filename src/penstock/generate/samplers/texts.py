"""Samplers of identifiers and patterned text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from penstock.errors import InputError
from penstock.generate.samplers.base import Sampler, said, whole
from penstock.generate.samplers.draw import Draw
from penstock.simulator.pattern import Pattern
from penstock.templates import Template

__all__ = ["Regex", "Sequence", "Uuid"]

_parser: Any = import_module("re._parser")
_WIDEST = 100
_LONGEST = 20_000
_OPEN = 12  # how far Pattern takes a repeat beyond its least
_DEEPEST = 50
_TRIALS = 24
_ATTEMPTS = 8


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Uuid(Sampler):
    """A random (version 4) UUID as text."""

    def value(self, draw: Draw, row_number: int, row: Mapping[str, Any]) -> str:
        high = draw.bits() & ~0xF000 | 0x4000
        low = draw.bits() >> 2 | 1 << 63
        text = f"{high:016x}{low:016x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def said(self) -> str:
        return "uuid()"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Sequence(Sampler):
    """A number that counts with the rows, alone or within a text."""

    start: int
    step: int
    width: int
    template: Template | None
    _text: bool

    @classmethod
    def of(cls, start: Any, step: Any, template: Any, prefix: Any, width: Any) -> Sequence:
        start, step, width = whole(start, "start"), whole(step, "step"), whole(width, "width")
        if step == 0:
            raise InputError("step is 0; every row would have the same number")
        if not 0 <= width <= _WIDEST:
            raise InputError(f"width is {width}; it must be from 0 to {_WIDEST}")
        if template and prefix:
            raise InputError("give template= or prefix=, not both")
        if not isinstance(prefix, str) or not isinstance(template, (str, type(None))):
            raise InputError("template= and prefix= must be text")
        if prefix:
            template = prefix.replace("{", "{{").replace("}", "}}") + "{n}"
        return cls(start, step, width, _counted(template), bool(template or width))

    def value(self, draw: Draw, row_number: int, row: Mapping[str, Any]) -> int | str:
        number = self.start + self.step * row_number
        if not self._text:
            return number
        digits = str(number).zfill(self.width)
        return digits if self.template is None else self.template.fill({"n": digits})

    def said(self) -> str:
        template = None if self.template is None else self.template.text
        return said("sequence", self.start, self.step, template=template, width=self.width or None)


def _counted(template: str | None) -> Template | None:
    if template is None:
        return None
    made = Template(template)
    if made.names != ["n"]:
        raise InputError(
            f"template={template!r} must name {{n}}, the number, and nothing else",
            remedy='Such as template="ID-{n}", width=5 for ID-00042.',
        )
    return made


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Regex(Sampler):
    """A text that matches a pattern as a whole."""

    pattern: str
    _made: Pattern
    _whole: re.Pattern[str]

    @classmethod
    def of(cls, pattern: Any) -> Regex:
        if not isinstance(pattern, str):
            raise InputError(f"the pattern is {pattern!r}; it must be text")
        try:
            expression = re.compile(pattern)
            longest = _longest(_parser.parse(pattern), 0)
        except (re.error, RecursionError, OverflowError) as error:
            raise InputError(f"the pattern {pattern!r} cannot be read: {error}") from None
        if longest > _LONGEST:
            raise InputError(
                f"the pattern {pattern!r} may make texts of {longest:,} characters",
                remedy=f"Repeat less: the most is {_LONGEST:,}.",
            )
        made = cls(pattern, Pattern(pattern), expression)
        for number in range(_TRIALS):
            made.value(Draw().at("trial", pattern, number), number, {})
        return made

    def value(self, draw: Draw, row_number: int, row: Mapping[str, Any]) -> str:
        for _ in range(_ATTEMPTS):
            text = self._made.make(draw)
            if text is not None and self._whole.fullmatch(text):
                return text
        raise InputError(
            f"no text was found that matches {self.pattern!r}",
            remedy="Write it without look-arounds and word boundaries.",
        )

    def said(self) -> str:
        return said("regex", self.pattern)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Regex.of, (self.pattern,))


def _longest(tree: Any, depth: int) -> int:
    """How long a text may get: open repeats in one another multiply."""
    if depth > _DEEPEST:
        raise RecursionError("it is nested too deeply")
    total = 0
    for kind, detail in tree:
        name = str(kind)
        if name.endswith("REPEAT"):
            low, high, inner = detail
            total += min(int(high), int(low) + _OPEN) * max(1, _longest(inner, depth + 1))
        elif name == "SUBPATTERN":
            total += _longest(detail[3], depth + 1)
        elif name == "ATOMIC_GROUP":
            total += _longest(detail, depth + 1)
        elif name == "BRANCH":
            total += max(_longest(each, depth + 1) for each in detail[1])
        elif name == "GROUPREF_EXISTS":
            total += max(_longest(each or (), depth + 1) for each in detail[1:])
        else:
            total += 1
    return total
