"""Prompt templates by Moonshot's names: texts with `{{ prompt }}` where the input goes."""

from __future__ import annotations

from typing import Any

from penstock.bench.objects import Template
from penstock.bench.shelves import Shelves
from penstock.documents.shelf import Entry
from penstock.engine.workbench import default_workbench
from penstock.moonshot.calling import api, changed

__all__ = [
    "api_change_prompt_template",
    "api_create_prompt_template",
    "api_delete_prompt_template",
    "api_get_all_prompt_template",
    "api_get_all_prompt_template_detail",
    "api_get_all_prompt_template_name",
    "api_read_prompt_template",
]


@api
def api_create_prompt_template(name: str, description: str = "", template: str = "") -> str:
    """Keep a template; returns its id."""
    bench = default_workbench()
    bench.workspace.prepare()
    given = {"name": name, "description": description, "template": template}
    return Shelves(bench).templates.create(given).id


@api
def api_read_prompt_template(pt_id: str) -> dict[str, Any]:
    """A template in Moonshot's fields."""
    return _shape(Shelves(default_workbench()).templates.read(pt_id))


@api
def api_change_prompt_template(
    pt_id: str,
    *,
    name: str | None = None,
    description: str | None = None,
    template: str | None = None,
) -> bool:
    """Change some fields of a template; its id stays. One that ships is copied first."""
    changes = changed(name=name, description=description, template=template)
    Shelves(default_workbench()).templates.update(pt_id, **changes)
    return True


@api
def api_delete_prompt_template(pt_id: str) -> bool:
    """Forget a template of one's own."""
    Shelves(default_workbench()).templates.delete(pt_id)
    return True


@api
def api_get_all_prompt_template() -> list[dict[str, Any]]:
    """Every template, those that ship with Penstock too."""
    return [api_read_prompt_template(name) for name in api_get_all_prompt_template_name()]


api_get_all_prompt_template_detail = api_get_all_prompt_template


@api
def api_get_all_prompt_template_name() -> list[str]:
    """The ids of all templates."""
    return Shelves(default_workbench()).templates.ids()


def _shape(entry: Entry[Template]) -> dict[str, Any]:
    template = entry.value
    return {
        "id": entry.id,
        "name": template.name,
        "description": template.description,
        "template": template.template,
    }
