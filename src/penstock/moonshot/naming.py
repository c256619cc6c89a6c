"""What an object names has to be there when it is made, not only when it is run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.documents.shelf import Shelf

__all__ = ["check_there"]


def check_there(shelf: Shelf[Any], names: str | Sequence[str]) -> None:
    """Refuse an id that a shelf does not have, with those that it has."""
    for name in [names] if isinstance(names, str) else names:
        if name not in shelf:
            shelf.read(name)
