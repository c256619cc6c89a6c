"""Templates: text with the names of columns in it, bare (`{name}`) or Jinja (`{{ name }}`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from penstock.errors import InputError
from penstock.templates.bare import Template

if TYPE_CHECKING:
    from penstock.templates.jinja import JinjaTemplate

__all__ = ["JinjaTemplate", "Template", "template_of"]


def template_of(text: str, kind: Literal["bare", "jinja"] = "bare") -> Template | JinjaTemplate:
    """A template of the kind that is asked for."""
    if kind == "bare":
        return Template(text)
    if kind == "jinja":
        from penstock.templates.jinja import JinjaTemplate

        return JinjaTemplate(text)
    raise InputError(f"there is no template language {kind!r}", remedy='Give "bare" or "jinja".')


def __getattr__(name: str) -> Any:
    if name != "JinjaTemplate":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from penstock.templates.jinja import JinjaTemplate

    return JinjaTemplate


def __dir__() -> list[str]:
    return sorted(__all__)
