"""What the table of OpenAI's schema keywords says is what is done with each of them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field

from penstock.providers.openai_schema import SCHEMA_RULES, strict_schema
from penstock.schema import AnswerSchema

VALUES: dict[str, Any] = {
    "$defs": {"A": {"type": "string"}},
    "$id": "https://example.org/a",
    "$ref": "#/$defs/Known",
    "additionalProperties": False,
    "allOf": [{"type": "string"}],
    "anyOf": [{"type": "string"}],
    "const": "a",
    "contains": {"type": "string"},
    "default": "a",
    "definitions": {"A": {"type": "string"}},
    "dependentRequired": {"a": ["b"]},
    "dependentSchemas": {"a": {"type": "string"}},
    "description": "Words.",
    "discriminator": {"propertyName": "a"},
    "else": {"type": "string"},
    "enum": ["a"],
    "exclusiveMaximum": 5,
    "exclusiveMinimum": 1,
    "format": "date",
    "if": {"type": "string"},
    "items": {"type": "string"},
    "maxContains": 2,
    "maxItems": 2,
    "maxLength": 2,
    "maxProperties": 2,
    "maximum": 5,
    "minContains": 1,
    "minItems": 1,
    "minLength": 1,
    "minProperties": 1,
    "minimum": 1,
    "multipleOf": 2,
    "not": {"type": "string"},
    "oneOf": [{"type": "string"}],
    "pattern": "a",
    "patternProperties": {"a": {"type": "string"}},
    "prefixItems": [{"type": "string"}],
    "properties": {"a": {"type": "string"}},
    "propertyNames": {"pattern": "a"},
    "required": ["a"],
    "then": {"type": "string"},
    "title": "A",
    "type": "string",
    "unevaluatedItems": False,
    "unevaluatedProperties": False,
    "uniqueItems": True,
}
OBJECT = ("additionalProperties", "properties", "required")


def with_keyword(keyword: str) -> dict[str, Any]:
    inner: dict[str, Any] = {"type": "string", keyword: VALUES[keyword]}
    if keyword in OBJECT:
        inner = {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "required": ["a"],
            "additionalProperties": False,
        }
    if keyword == "items":
        inner["type"] = "array"
    return {
        "type": "object",
        "properties": {"inner": inner},
        "required": ["inner"],
        "additionalProperties": False,
        "$defs": {"Known": {"type": "string"}},
    }


def test_every_keyword_of_the_table_is_tried() -> None:
    assert VALUES.keys() == SCHEMA_RULES.keys()


@pytest.mark.parametrize("keyword", SCHEMA_RULES)
def test_a_schema_by_hand_is_kept_and_strict_as_the_table_says(keyword: str) -> None:
    rule = SCHEMA_RULES[keyword]
    wire = strict_schema(AnswerSchema.of(with_keyword(keyword)))
    assert keyword in wire.schema["properties"]["inner"]
    loose = "sent without strict" in rule.split(";")[0] or rule.endswith("else without strict")
    assert wire.strict is not loose


class Inner(BaseModel):
    a: int = 0


class Cat(BaseModel):
    kind: str


class Outer(BaseModel):
    inner: Inner = Field(description="Beside it.")
    either: Inner | Cat | None = None


def test_a_pydantic_model_is_rewritten_as_the_table_says() -> None:
    wire = strict_schema(AnswerSchema.of(Outer))
    assert wire.strict
    inner = wire.schema["properties"]["inner"]
    assert "$ref" not in inner and inner["description"] == "Beside it."
    assert wire.schema["additionalProperties"] is False
    assert wire.schema["required"] == ["inner", "either"]
    assert "default" not in wire.schema["properties"]["either"]
    by_hand = strict_schema(AnswerSchema.of(Outer.model_json_schema()))
    assert by_hand.schema == Outer.model_json_schema() and not by_hand.strict


@pytest.mark.parametrize(
    "inner",
    [
        {"type": "object", "properties": {}, "additionalProperties": False},
        {"type": "array"},
        {"type": "string", "format": "regex"},
    ],
)
def test_what_strict_mode_does_not_take_is_sent_without_it(inner: dict[str, Any]) -> None:
    schema = with_keyword("type")
    schema["properties"]["inner"] = inner
    assert not strict_schema(AnswerSchema.of(schema)).strict
