"""Markup that only this report needs. Everything that comes from outside is escaped here."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from penstock.reports.text import Markup, escaped, flowing, joined

__all__ = ["block", "heading", "label", "note", "opened", "over", "said", "style"]


@cache
def style() -> Markup:
    """What the page's own style lacks."""
    css = Path(__file__).with_name("style.css").read_text("utf-8")
    return Markup(f"<style>{css}</style>")


def heading(text: str, note: str = "") -> Markup:
    """Within a section."""
    small = f" <small>{flowing(note)}</small>" if note else ""
    return Markup(f"<h3>{flowing(text)}{small}</h3>")


def over(text: str) -> Markup:
    """A name over what belongs to it."""
    return Markup(f'<p class="over">{flowing(text)}</p>')


def note(mark: Markup, text: str) -> Markup:
    """A badge, and what is to be said."""
    return Markup(f'<p class="known">{escaped(mark)}<span>{flowing(text)}</span></p>')


def block(kind: str, *parts: Markup) -> Markup:
    """Parts that stand together."""
    return Markup(f'<div class="{escaped(kind)}">{joined(*parts)}</div>')


def label(text: str, *badges: Markup) -> Markup:
    """A small word over a text, with badges beside it."""
    return Markup(f'<p class="label"><span>{flowing(text)}</span>{joined(*badges)}</p>')


def said(kind: str, text: str) -> Markup:
    """A piece of a line."""
    return Markup(f'<span class="{escaped(kind)}">{escaped(text)}</span>')


def opened(summary: Markup, *parts: Markup) -> Markup:
    """A conversation: a line that opens."""
    return Markup(
        f'<details class="talk"><summary>{summary}</summary>'
        f'<div class="inside">{joined(*parts)}</div></details>'
    )
