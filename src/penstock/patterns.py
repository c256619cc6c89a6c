"""Patterns that people write, matched by RE2, whose time grows with the text alone.

No pattern, however it was written and by whom, can hold up the work. The price is that there is no
look-around and no back-reference, that `\\w`, `\\d` and `\\b` are those of ASCII (`\\pL` is any
letter), and that `$` is the very end of a text.
"""

from __future__ import annotations

from typing import Any

from penstock.errors import InputError

__all__ = ["MOST_GROUPS", "all_found", "check_pattern", "is_found"]

MOST_GROUPS = 9
_LONGEST = 10_000
# Two characters that stand in no text worth the name, to mark what was found.
_OPEN, _CLOSE = "\ue000", "\ue001"


def check_pattern(pattern: object) -> str:
    """A pattern that can be used; raises InputError for any other."""
    if not isinstance(pattern, str) or not pattern:
        raise InputError(f"the pattern is {pattern!r:.100}; a text is wanted")
    if len(pattern) > _LONGEST:
        raise InputError(f"the pattern is longer than {_LONGEST:,} characters")
    is_found(pattern, "")
    return pattern


def is_found(pattern: str, text: str) -> bool:
    """Whether a pattern is found anywhere in a text."""
    import pyarrow.compute as pc

    return bool(_tried(pattern, lambda: pc.match_substring_regex(_scalar(text), pattern=pattern)))


def all_found(pattern: str, text: str, group: int = 0) -> list[str]:
    """What a pattern finds, in order; of each the part in these brackets, 0 for all of it."""
    import pyarrow.compute as pc

    plain = _scalar(text.replace(_OPEN, " ").replace(_CLOSE, " "))
    marked = f"{_OPEN}\\{group}{_CLOSE}"
    made = _tried(
        pattern,
        lambda: pc.replace_substring_regex(plain, pattern=pattern, replacement=marked),
    )
    return [piece.partition(_CLOSE)[0] for piece in str(made).split(_OPEN)[1:]]


def _tried(pattern: str, match: Any) -> Any:
    import pyarrow as pa

    try:
        return match().as_py()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        shown = pattern if len(pattern) <= 100 else f"{pattern[:99]}…"
        raise InputError(
            f"the pattern {shown!r} cannot be used: {error}",
            remedy="Look-around and back-references are not known; see RE2's syntax.",
        ) from None


def _scalar(text: str) -> Any:
    import pyarrow as pa

    try:
        return pa.scalar(text)
    except UnicodeEncodeError:  # half a character, which no encoding has
        return pa.scalar(text.encode("utf-8", "replace").decode())
