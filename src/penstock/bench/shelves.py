"""All shelves of a workspace: what people made or imported, over the library that ships."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import penstock.library
from penstock.bench.objects import Cookbook, Dataset, NamedMetric, Recipe, Runner, Template
from penstock.documents import files
from penstock.documents.shelf import Shelf
from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import InputError

__all__ = ["Shelves", "is_file"]


class Shelves:
    """`Shelves().recipes.read("arithmetic")`; each kind can be created and so on."""

    def __init__(self, bench: Workbench | None = None) -> None:
        own = (bench or default_workbench()).workspace.library
        shipped = Path(penstock.library.__path__[0])
        self.own = own
        self.datasets = Shelf("dataset", Dataset, own, shipped)
        self.templates = Shelf("template", Template, own, shipped)
        self.metrics = Shelf("metric", NamedMetric, own, shipped)
        self.recipes = Shelf("recipe", Recipe, own, shipped)
        self.cookbooks = Shelf("cookbook", Cookbook, own, shipped)
        self.runners = Shelf("runner", Runner, own, shipped)

    def of(self, kind: str) -> Shelf[Any]:
        """By the name of its kind, in the singular or plural."""
        found = getattr(self, f"{kind.removesuffix('s')}s", None)
        if not isinstance(found, Shelf):
            kinds = ", ".join(self.kinds())
            raise InputError(f"there is no kind {kind!r}", remedy=f"There are: {kinds}.")
        return found

    def kinds(self) -> list[str]:
        return [name for name, each in vars(self).items() if isinstance(each, Shelf)]


def is_file(name: str) -> bool:
    """Whether a name is that of a file, and no id; an id may have a dot in it, as `gsm8k-1.5`."""
    return "/" in name or Path(name).suffix.lower() in files.SUFFIXES
