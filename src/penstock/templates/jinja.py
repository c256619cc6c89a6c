"""Jinja templates that can do no harm: `{% for tag in tags %}{{ tag|upper }} {% endfor %}`.

Jinja reads the text; what it means is our own (`jinja_code`, `jinja_pieces`), and reaches nothing
but the row's plain values: items of dicts and lists, our filters and tests, loops, conditions.
There are no attributes, methods, imports, macros or calls but `range()`. Size, depth, work and
output are bounded, so any template ends soon. What a model wrote into a value is text, never a
template. As in a bare template, nothing is written for None, and JSON for dicts and lists.

Traded away against Jinja itself: namespace(), macros and methods (`name.upper()` is
`name|upper`), and some speed.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

from penstock.errors import InputError
from penstock.templates.jinja_code import Code
from penstock.templates.jinja_values import FillError, Frame

__all__ = ["JinjaTemplate"]

_LONGEST = 500_000
_MOST_TOKENS = 50_000


class JinjaTemplate:
    """A Jinja template, taken apart once. The face is that of `Template`."""

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._code = Code(_parsed(text))
        except RecursionError:
            raise InputError("the template is nested too deeply") from None
        self.names = list(self._code.names)

    def fill(self, row: Mapping[str, Any]) -> str:
        """The text for a row; what is wrong is an InputError that names the line."""
        frame = Frame(row)
        try:
            self._code.run(frame)
        except FillError as error:
            message, remedy = str(error), error.remedy
        except Exception as error:
            # A value may do anything when it is looked at; a row is not lost for it unexplained.
            message, remedy = f"{type(error).__name__}: {error}", ""
        else:
            return "".join(frame.out)
        raise InputError(f"the template, line {frame.line}: {message}", remedy=remedy)

    def check(self, columns: Collection[str]) -> None:
        """Every name must be a column, but for those asked about by `is defined` or `default`."""
        for name, demanded in self._code.names.items():
            if demanded and name not in columns:
                close = get_close_matches(name, columns, n=1)
                hint = f"Did you mean {{{{ {close[0]} }}}}? " if close else ""
                raise InputError(
                    f"the template names {{{{ {name} }}}}, which is no column",
                    remedy=f"{hint}There are: {', '.join(map(str, columns)) or 'no columns'}.",
                )


def _parsed(text: str) -> Any:
    from jinja2 import TemplateSyntaxError

    if len(text) > _LONGEST:
        raise InputError(f"the template is longer than {_LONGEST:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in a text is no news
            return _environment().parse(text)
    except TemplateSyntaxError as error:
        raise InputError(f"the template, line {error.lineno}: {error.message}") from None
    except (ValueError, OverflowError, MemoryError) as error:
        raise InputError(f"the template cannot be read: {error}") from None


@cache
def _environment() -> Any:
    from jinja2 import Environment, TemplateSyntaxError
    from jinja2.ext import Extension

    class Counted(Extension):
        """Stops reading where there is too much to read."""

        def filter_stream(self, stream: Any) -> Iterator[Any]:
            for number, token in enumerate(stream):
                if number > _MOST_TOKENS:
                    raise TemplateSyntaxError("the template says too much", token.lineno)
                yield token

    # Only to parse: nothing is ever compiled or rendered by it.
    return Environment(keep_trailing_newline=True, extensions=[Counted])  # noqa: S701
