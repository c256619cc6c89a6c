"""Showing things to people: text that is only text, tables, sums.

Model output and user files are data: on a terminal nothing in them is obeyed.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import orjson

from penstock.secret import mask

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "dollars",
    "out",
    "print_json",
    "print_table",
    "safe",
    "say_stopping",
    "short",
    "since",
    "span",
    "tokens_line",
]

# What moves the cursor, rings the bell or turns the direction of writing; not what merely joins
# letters, which several scripts need.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def safe(text: str) -> str:
    """The text without secrets and without anything that a terminal would obey."""
    return _OBEYED.sub(lambda m: m[0].encode("unicode_escape").decode(), mask(text))


def out(stderr: bool = False) -> Console:
    """The console; a pipe is as wide as it needs to be."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 200
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, width=width)


def say_stopping() -> None:
    """What the first Ctrl-C is answered with."""
    sys.stderr.write(
        "\nstopping: nothing new is sent; waiting for what is in flight "
        "(Ctrl-C again leaves at once)\n"
    )


def print_json(value: Any) -> None:
    """For programs: one JSON document on stdout."""
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode()
    sys.stdout.write(text + "\n")


def print_table(headings: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "") -> None:
    """For people: a table of inert text."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", title=title or None)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(safe(str(cell))) for cell in row))
    out().print(table)


def short(text: str, most: int = 60) -> str:
    """One line, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def dollars(cost: Decimal | str | None) -> str:
    """A sum of money, exact where it is small."""
    if cost is None:
        return "unknown"
    cost = Decimal(cost)
    if cost == 0:
        return "$0.00"
    return f"${cost:.2f}" if cost >= 1 else f"${cost.normalize():f}"


def tokens_line(counters: dict[str, Any]) -> str:
    """Tokens and cost in a line, with where the price is from."""
    line = f"{counters['input_tokens']:,} tokens in, {counters['output_tokens']:,} out"
    if counters.get("unpriced"):
        return f"{line}; cost unknown for {counters['unpriced']} answers (no price known)"
    sources = ", ".join(counters.get("price_sources") or ())
    return f"{line}; {dollars(counters['cost'])}" + (f" (prices: {sources})" if sources else "")


def since(then: float | None) -> str:
    """A time that people read."""
    return "" if then is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(then))


def span(seconds: float) -> str:
    """A time that has passed, or will: 12s, 1m12s, 1h23m."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02}m"
    return f"{minutes}m{rest:02}s" if minutes else f"{rest}s"
