"""Objects that more than one job uses: datasets and prompt templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field, field_validator, model_validator

from penstock.documents.models import Model, wrong
from penstock.errors import InputError
from penstock.templates import template_of

__all__ = ["Dataset", "Described", "Name", "Template"]

Name = Annotated[str, Field(min_length=1, max_length=200)]


class Described(Model):
    """What every object can say of itself."""

    name: Name = Field(description="What people call it; its id is made of it.")
    description: str = Field("", description="What it is for.")


class Dataset(Described):
    """Examples: what is asked, and what would be right."""

    hints: ClassVar[Mapping[str, str]] = {"licence": "license", "data": "examples", "path": "file"}

    license: str = Field("", description="Under what terms the examples may be used.")
    reference: str = Field("", description="Where they come from.")
    examples: tuple[dict[str, Any], ...] | None = Field(
        None, description="The examples: `input`, `target` (a text, or several), and any more."
    )
    file: str | None = Field(
        None, description="A file with them, beside this one: csv, jsonl, parquet, ..."
    )
    input: str = Field("input", description="The column that is asked.")
    target: str = Field("target", description="The column with what would be right.")
    cluster: str | None = Field(
        None, description="A column that says which examples belong together, such as a passage."
    )

    def companions(self) -> tuple[str, ...]:
        return () if self.file is None else (self.file,)

    @model_validator(mode="after")
    def _one_source(self) -> Dataset:
        if (self.examples is None) == (self.file is None):
            raise wrong("it has neither examples nor a file" if self.file is None else
                        "it has both examples and a file", "Give one of them.")  # fmt: skip
        return self


class Template(Described):
    """A text with `{{ prompt }}` in it, where the example's input goes; Jinja, sandboxed."""

    template: str = Field(description="The text; it may name other columns of the example too.")

    @field_validator("template")
    @classmethod
    def _readable(cls, text: str) -> str:
        try:
            made = template_of(text, "jinja")
        except InputError as error:
            raise wrong(error.message, error.remedy) from None
        if "prompt" not in made.names:
            raise wrong("it does not name {{ prompt }}, so no question would be asked")
        return text
