"""The pages that people read, and what stands in them: fenced blocks, links, headings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

__all__ = ["PAGES", "ROOT", "Block", "anchors", "blocks", "links", "prose"]

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```\s*$", re.M | re.S)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


class Block(NamedTuple):
    """One fenced block; `line` is that of its first line in the page."""

    page: Path
    language: str
    line: int
    text: str


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text("utf-8")
    return [
        Block(page, found[1], text.count("\n", 0, found.start(2)) + 1, found[2])
        for found in _FENCE.finditer(text)
    ]


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return _FENCE.sub("", page.read_text("utf-8"))


def links(page: Path) -> list[str]:
    """Every address that a page links to or shows."""
    return _LINK.findall(prose(page))


def anchors(page: Path) -> set[str]:
    """The places in a page that a link may name, spelt as code hosts do."""
    heads = re.findall(r"^#+ +(.+?)\s*$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
