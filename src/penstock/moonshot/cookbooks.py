"""Cookbooks by Moonshot's names: lists of recipes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.bench.objects import Cookbook
from penstock.bench.shelves import Shelves
from penstock.documents.shelf import Entry
from penstock.engine.workbench import default_workbench
from penstock.moonshot.calling import api, changed
from penstock.moonshot.naming import check_there

__all__ = [
    "api_create_cookbook",
    "api_delete_cookbook",
    "api_get_all_cookbook",
    "api_get_all_cookbook_name",
    "api_read_cookbook",
    "api_update_cookbook",
]


@api
def api_create_cookbook(
    name: str,
    description: str = "",
    tags: Sequence[str] = (),
    categories: Sequence[str] = (),
    recipes: Sequence[str] = (),
) -> str:
    """Keep a cookbook; returns its id. Its recipes must be there."""
    bench = default_workbench()
    bench.workspace.prepare()
    shelves = Shelves(bench)
    check_there(shelves.recipes, recipes)
    given = {
        "name": name,
        "description": description,
        "tags": tags,
        "categories": categories,
        "recipes": recipes,
    }
    return shelves.cookbooks.create(given).id


@api
def api_read_cookbook(cb_id: str) -> dict[str, Any]:
    """A cookbook in Moonshot's fields."""
    return _shape(Shelves(default_workbench()).cookbooks.read(cb_id))


@api
def api_update_cookbook(
    cb_id: str,
    *,
    name: str | None = None,
    description: str | None = None,
    tags: Sequence[str] | None = None,
    categories: Sequence[str] | None = None,
    recipes: Sequence[str] | None = None,
) -> bool:
    """Change some fields of a cookbook; its id stays. One that ships is copied first."""
    shelves = Shelves(default_workbench())
    check_there(shelves.recipes, recipes or ())
    changes = changed(
        name=name, description=description, tags=tags, categories=categories, recipes=recipes
    )
    shelves.cookbooks.update(cb_id, **changes)
    return True


@api
def api_delete_cookbook(cb_id: str) -> bool:
    """Forget a cookbook of one's own."""
    Shelves(default_workbench()).cookbooks.delete(cb_id)
    return True


@api
def api_get_all_cookbook() -> list[dict[str, Any]]:
    """Every cookbook, those that ship with Penstock too."""
    return [api_read_cookbook(name) for name in api_get_all_cookbook_name()]


@api
def api_get_all_cookbook_name() -> list[str]:
    """The ids of all cookbooks."""
    return Shelves(default_workbench()).cookbooks.ids()


def _shape(entry: Entry[Cookbook]) -> dict[str, Any]:
    book = entry.value
    return {
        "id": entry.id,
        "name": book.name,
        "description": book.description,
        "tags": list(book.tags),
        "categories": list(book.categories),
        "recipes": list(book.recipes),
    }
