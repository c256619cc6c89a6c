"""A report as one file that needs nothing else: no script from elsewhere, no font, no picture.

Everything given is text and is escaped; only parts made by this room go in as they are. The page
forbids itself everything in its content security policy but its own style and the one small
script that sorts tables, which is allowed by its hash.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from penstock.reports.numbers import number
from penstock.reports.parts import as_part
from penstock.reports.text import Markup, escaped, flowing, one_line
from penstock.tables.atomic import draft

__all__ = ["Page"]

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
_ENOUGH = 4
"""Sections from which on a page has a list of them."""
_BIG = 9
"""Letters that a card has room for at full size."""


class Page:
    """Builds a page from its top down: `cards`, `section` and again, then `save`."""

    def __init__(self, title: str, subtitle: str = "") -> None:
        self._title = title
        self._subtitle = subtitle
        self._blocks: list[Markup] = []
        self._sections: list[str] = []

    def cards(self, cards: Iterable[tuple[str, Any, str]]) -> Page:
        """The few numbers that matter, each with a label and a note (which may be empty)."""
        made = "".join(_card(label, value, note) for label, value, note in cards)
        self._blocks.append(Markup(f'<dl class="cards">{made}</dl>'))
        return self

    def section(self, title: str, *parts: str) -> Page:
        """A heading and parts under it; a text among the parts is prose."""
        self._sections.append(title)
        inside = "".join(map(as_part, parts))
        anchor = f"section-{len(self._sections)}"
        heading = f"<h2>{flowing(title)}</h2>"
        self._blocks.append(Markup(f'<section id="{anchor}">{heading}{inside}</section>'))
        return self

    def html(self) -> str:
        """The whole page."""
        body = "".join(self._blocks)
        # No text can hold this: its angle bracket would have been escaped.
        script = _asset("sort.js") if "<table data-sortable>" in body else ""
        policy = f"{_POLICY}; script-src '{_hash(script)}'" if script else _POLICY
        subtitle = f'<p class="subtitle">{flowing(self._subtitle)}</p>' if self._subtitle else ""
        return "".join(
            (
                '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
                f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
                '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
                '<meta name="referrer" content="no-referrer">\n',
                '<meta name="color-scheme" content="light dark">\n',
                f"<title>{escaped(one_line(self._title, 120))}</title>\n",
                f"<style>{_asset('page.css')}</style>\n</head>\n<body>\n",
                f"<header><h1>{flowing(self._title)}</h1>{subtitle}</header>\n",
                self._contents(),
                f"<main>{body}</main>\n<footer>Made with Penstock</footer>\n",
                f"<script>{script}</script>\n" if script else "",
                "</body>\n</html>\n",
            )
        )

    def save(self, path: Path | str) -> Path:
        """Write the page, whole or not at all; an earlier one is replaced."""
        path = Path(path)
        with draft(path, overwrite=True) as new:
            new.write_text(self.html(), "utf-8")
        return path

    def _contents(self) -> str:
        if len(self._sections) < _ENOUGH:
            return ""
        links = "".join(
            f'<a href="#section-{place}">{escaped(one_line(title, 40))}</a>'
            for place, title in enumerate(self._sections, 1)
        )
        return f'<nav aria-label="Sections">{links}</nav>\n'


def _card(label: str, value: Any, note: str) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    shown = number(value) if value is None or is_number else value
    text = shown if isinstance(shown, str) else str(shown)
    mark = "" if len(text) <= _BIG or isinstance(text, Markup) else ' class="words"'
    under = f'<dd class="note">{flowing(note)}</dd>' if note else ""
    return f"<div><dt>{flowing(label)}</dt><dd{mark}>{flowing(text)}</dd>{under}</div>"


@cache
def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8")


def _hash(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
