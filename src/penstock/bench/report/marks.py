"""Markup that only this report needs: a coloured matrix, links, headings, items to open, and a
filter that works without any script, by radio buttons and style alone.

Everything that comes from outside is escaped here, as in `penstock.reports`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from penstock.reports.text import Markup, escaped, flowing, joined

__all__ = [
    "Cell",
    "Chip",
    "block",
    "chips",
    "heading",
    "label",
    "link",
    "matrix",
    "opened",
    "rules",
    "said",
    "strong",
    "style",
]


class Cell(NamedTuple):
    """A grade, what it was made of, and how far from the best it is (None for no colour)."""

    text: str
    note: str = ""
    place: float | None = None


class Chip(NamedTuple):
    """A choice of a filter: the class of what it shows, and how many there are of it."""

    kind: str
    text: str
    many: int


@cache
def style() -> Markup:
    """What the page's own style lacks."""
    css = Path(__file__).with_name("style.css").read_text("utf-8")
    return Markup(f"<style>{css}</style>")


def heading(text: str) -> Markup:
    """Within a section."""
    return Markup(f"<h3>{flowing(text)}</h3>")


def link(text: str, anchor: str) -> Markup:
    """To another place in the page."""
    return Markup(f'<a href="#{escaped(anchor)}">{escaped(text)}</a>')


def label(text: str, *badges: Markup) -> Markup:
    """A small word over a text, or beside a badge."""
    return Markup(f'<p class="label"><span>{flowing(text)}</span>{joined(*badges)}</p>')


def strong(text: str) -> Markup:
    """A text that stands out in a label."""
    return Markup(f" <b>{flowing(text)}</b>")


def block(kind: str, *parts: Markup) -> Markup:
    """Parts that stand together."""
    return Markup(f'<div class="{escaped(kind)}">{joined(*parts)}</div>')


def matrix(
    columns: Sequence[str], rows: Iterable[tuple[str, str, Sequence[Cell]]], *, corner: str
) -> Markup:
    """A coloured table. A row has a kind ("", "group", "total"), a name and its cells."""
    heads = "".join(f'<th scope="col">{flowing(name)}</th>' for name in columns)
    wide = len(columns) + 1
    lines = []
    for kind, name, cells in rows:
        if kind == "group":
            head = f'<th scope="colgroup" colspan="{wide}">{flowing(name)}</th>'
            lines.append(f'<tr class="group">{head}</tr>')
            continue
        mark = f' class="{escaped(kind)}"' if kind else ""
        inside = "".join(map(_cell, cells))
        lines.append(f'<tr{mark}><th scope="row">{flowing(name)}</th>{inside}</tr>')
    return Markup(
        f'<div class="scroll" tabindex="0"><table class="matrix"><thead><tr>'
        f'<th scope="col">{flowing(corner)}</th>{heads}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _cell(cell: Cell) -> str:
    style = f' style="background-color:{_colour(cell.place)}"' if cell.place is not None else ""
    note = f"<small>{flowing(cell.note)}</small>" if cell.note else ""
    return f"<td{style}><b>{flowing(cell.text)}</b>{note}</td>"


def _colour(place: float) -> str:
    """From good by way of doubtful to bad; pale, so that what is written on it can be read."""
    near, far, share = (
        ("good", "warn", 2 * place) if place <= 0.5 else ("warn", "bad", 2 * place - 1)
    )
    mixed = f"color-mix(in srgb,var(--{near}),var(--{far}) {100 * share:.0f}%)"
    return f"color-mix(in srgb,{mixed} 22%,transparent)"


def opened(kinds: Sequence[str], summary: Sequence[Markup], anchor: str, *parts: Markup) -> Markup:
    """An item: a line that opens. The anchor lies inside, so that a link to it opens it."""
    classes = " ".join(("item", *map(escaped, kinds)))
    return Markup(
        f'<details class="{classes}"><summary>{joined(*summary)}</summary>'
        f'<div class="inside" id="{escaped(anchor)}">{joined(*parts)}</div></details>'
    )


def said(kind: str, text: str) -> Markup:
    """A piece of a line."""
    return Markup(f'<span class="{escaped(kind)}">{escaped(text)}</span>')


def chips(name: str, legend: str, choices: Sequence[Chip], *, every: str = "all") -> Markup:
    """A row of radio buttons; `rules` makes them work."""
    made = [_chip(name, "", every, None, checked=True)]
    made += [_chip(name, chip.kind, chip.text, chip.many) for chip in choices]
    inside = "".join(made)
    return Markup(f'<fieldset class="filter"><legend>{escaped(legend)}</legend>{inside}</fieldset>')


def _chip(name: str, kind: str, text: str, count: int | None, *, checked: bool = False) -> str:
    id_, mark = f"{name}-{kind or 'all'}", " checked" if checked else ""
    many = "" if count is None else f" <small>{count:,}</small>"
    return (
        f'<input type="radio" name="{escaped(name)}" id="{escaped(id_)}"{mark}>'
        f'<label for="{escaped(id_)}">{escaped(text)}{many}</label>'
    )


def rules(name: str, kinds: Iterable[str]) -> Markup:
    """The style by which a row of chips hides what was not chosen, and groups left empty."""
    made = "".join(
        f".items:has(#{name}-{kind}:checked) .item:not(.{kind}),"
        f".items:has(#{name}-{kind}:checked) .group:not(:has(.{kind})){{display:none}}"
        for kind in kinds
    )
    return Markup(f"<style>{made}</style>")
