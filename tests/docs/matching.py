"""Whether what was printed is what a page shows; `...` stands for anything."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["mismatch"]


def mismatch(shown: Sequence[str], found: Sequence[str]) -> str:
    """Empty when they agree. A line of `...` alone stands for any number of lines."""
    pattern = "".join(_line(line) for line in shown)
    printed = "".join(line.rstrip() + "\n" for line in found)
    if re.fullmatch(pattern, printed):
        return ""
    wanted = "\n".join(shown)
    return f"the page shows\n{wanted}\nbut what was printed is\n{printed}"


def _line(line: str) -> str:
    line = line.rstrip()
    if line.strip() == "...":
        return r"(?:[^\n]*\n)*?"
    return r"[^\n]*?".join(map(re.escape, line.split("..."))) + r"\n"
