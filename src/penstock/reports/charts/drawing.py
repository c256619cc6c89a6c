"""SVG elements: the few that the charts are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from penstock.reports.text import Markup, escaped, one_line

__all__ = [
    "ACCENT",
    "INK",
    "LINE",
    "MUTED",
    "SERIES",
    "SURFACE",
    "TRACK",
    "Attributes",
    "element",
    "listed",
    "percent_of",
    "picture",
    "words",
]

Attributes: TypeAlias = dict[str, str | float]
INK = "var(--ink,currentColor)"
MUTED = "var(--muted,#6b787f)"
LINE = "var(--line,#dfe4e6)"
TRACK = "var(--track,#eaeef0)"
SURFACE = "var(--surface,none)"
ACCENT = "var(--accent,#1d6f8c)"
_HUES = ("#1d6f8c", "#c2703d", "#5b7f3b", "#8a5a9e", "#b0913a", "#5f6f7a")
SERIES = tuple(f"var(--series-{place},{hue})" for place, hue in enumerate(_HUES, 1))
_MOST_SAID = 20
_LONGEST = 120


def element(name: str, inside: str = "", /, **attributes: str | float) -> Markup:
    """An element; an underscore in a name stands for a hyphen, and what is inside is escaped."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
    )
    content = escaped(inside)
    return Markup(f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>")


def words(
    x: str | float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    fill: str = INK,
    **more: str | float,
) -> Markup:
    """A line of text."""
    return element("text", text, x=x, y=y, text_anchor=anchor, fill=fill, **more)


def percent_of(share: float) -> str:
    """A share of the width."""
    return f"{round(100 * share, 3):g}%"


def listed(pairs: Iterable[tuple[str, str]]) -> str:
    """Labels and values as a sentence, for those who do not see the picture."""
    pieces = [f"{one_line(label, 60)}: {value}" for label, value in pairs]
    more = len(pieces) - _MOST_SAID
    return "; ".join(pieces[:_MOST_SAID]) + (f"; and {more:,} more" if more > 0 else "")


def picture(
    parts: Iterable[Markup],
    *,
    title: str,
    description: str = "",
    height: float,
    width: str | float = "100%",
) -> Markup:
    """The whole of a chart."""
    about = Markup(f"<title>{escaped(one_line(title, _LONGEST) or 'Chart')}</title>")
    if description:
        about = Markup(f"{about}<desc>{escaped(description)}</desc>")
    return element(
        "svg",
        Markup(about + "".join(parts)),
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        width=width,
        height=height,
        font_size=12,
        font_family="system-ui,-apple-system,Segoe UI,Helvetica,Arial,sans-serif",
    )


def _value(value: str | float) -> str:
    return escaped(value) if isinstance(value, str) else f"{round(value, 3):g}"
