"""Which of the names that a person gives are recipes, and which are cookbooks."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from penstock.bench.shelves import Shelves, is_file
from penstock.documents import files
from penstock.errors import NotFoundError

__all__ = ["Named", "sorted_names"]


class Named(NamedTuple):
    """What is to be run."""

    recipes: tuple[str, ...]
    cookbooks: tuple[str, ...]


def sorted_names(names: Sequence[str], shelves: Shelves) -> Named:
    """By their ids, or by what stands in the files; a recipe where it could be both."""
    recipes: list[str] = []
    cookbooks: list[str] = []
    for name in names:
        if _is_cookbook(name, shelves):
            cookbooks.append(name)
        else:
            recipes.append(name)
    return Named(tuple(dict.fromkeys(recipes)), tuple(dict.fromkeys(cookbooks)))


def _is_cookbook(name: str, shelves: Shelves) -> bool:
    if is_file(name):
        path = Path(name).expanduser()
        data: Any = files.read(path).data if path.is_file() else None
        return isinstance(data, dict) and "recipes" in data
    if name in shelves.recipes:
        return False
    if name in shelves.cookbooks:
        return True
    known = [*shelves.recipes.ids(), *shelves.cookbooks.ids()]
    close = get_close_matches(name, known, n=1)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    raise NotFoundError(
        f"there is no recipe or cookbook {name!r}",
        remedy=f"{hint}There are: {', '.join(known)}.",
    )
