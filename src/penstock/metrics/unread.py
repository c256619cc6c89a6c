"""What an answer is worth from which nothing could be read: nothing, or 0, as the rules say."""

from __future__ import annotations

from typing import Literal, TypeAlias

from penstock.metrics.score import Score

__all__ = ["Missing", "shortened", "unread"]

Missing: TypeAlias = Literal["no_answer", "wrong"]

_LONGEST = 500


def unread(missing: Missing, reason: str) -> Score:
    """`no_answer` keeps it out of the mean and counts it apart; `wrong` counts it as 0."""
    return Score.no_answer(reason) if missing == "no_answer" else Score(0.0, reason=reason)


def shortened(text: str, longest: int = _LONGEST) -> str:
    """A text that is fit for a cell."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
