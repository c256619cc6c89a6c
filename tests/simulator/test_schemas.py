"""Answers to a schema are valid, varied, and end."""

from __future__ import annotations

import json
import random
import string
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from openai.lib._pydantic import to_strict_json_schema
from pydantic import BaseModel, Field, create_model

from penstock.errors import InputError
from penstock.simulator import answer
from penstock.simulator.asked import Wish
from penstock.simulator.check import valid
from penstock.simulator.dice import Dice
from penstock.simulator.schema import Compiled, encode
from tests.simulator.models import MODELS, Person
from tests.simulator.raw import chat

QUICK = settings(
    max_examples=400,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def ask(schema: Any, text: str = "Tell me about rivers", sample: int = 0) -> Any:
    form = {"type": "json_schema", "json_schema": {"name": "thing", "schema": schema}}
    return json.loads(answer(chat(text, response_format=form), sample).text)


def errors(schema: Any, value: Any) -> list[str]:
    validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)
    return [error.message for error in validator.iter_errors(value)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
@pytest.mark.parametrize("strict", [False, True])
def test_every_pydantic_construct_gets_a_valid_instance(
    model: type[BaseModel], strict: bool
) -> None:
    schema = to_strict_json_schema(model) if strict and model.__name__ in STRICT else None
    schema = schema or model.model_json_schema()
    for sample in range(25):
        value = ask(schema, sample=sample)
        assert errors(schema, value) == []
        assert valid(schema, value)
        model.model_validate_json(json.dumps(value))


STRICT = {"Person", "Strings", "Unions", "Tree", "Chain", "Expression", "Strict", "Described"}


@pytest.mark.parametrize(
    "model", [m for m in MODELS if m.__name__ != "Empty"], ids=lambda model: model.__name__
)
def test_samples_differ_from_each_other(model: type[BaseModel]) -> None:
    schema = model.model_json_schema()
    answers = {json.dumps(ask(schema, sample=sample)) for sample in range(12)}
    assert len(answers) >= 6


TYPES = st.sampled_from(
    [str, int, float, bool, list[str], list[int], dict[str, int], str | None, int | str, Person]
)


@QUICK
@given(
    st.dictionaries(
        st.text(string.ascii_lowercase, min_size=1, max_size=8).map(lambda s: f"f_{s}"),
        st.tuples(TYPES, st.booleans()),
        min_size=1,
        max_size=6,
    ),
    st.integers(0, 1000),
)
def test_random_pydantic_models_validate_their_answers(
    fields: dict[str, tuple[Any, bool]], sample: int
) -> None:
    definitions: dict[str, Any] = {
        name: (kind, ...) if required else (kind | None, Field(default=None))
        for name, (kind, required) in fields.items()
    }
    model = create_model("Made", **definitions)
    value = ask(model.model_json_schema(), sample=sample)
    model.model_validate_json(json.dumps(value))


PATTERNS = [
    r"^[a-z]{3,5}$",
    r"^\d{3}-\d{4}$",
    r"(a|b)+c",
    r"^(?=.*\d)[a-z0-9]{6,10}$",
    r"^([a-z])\1$",
    r"^[^0-9]*$",
    r"^(foo|bar)(-\w+)?$",
    r"\bcat\b",
    r"^\S+@\S+\.\S+$",
    r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$",
]
FORMATS = ["date", "time", "date-time", "email", "uri", "uuid", "ipv4", "ipv6", "hostname"]
SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([{"type": "string"}, {"type": "boolean"}, {"type": "null"}, {}, True]),
    st.sampled_from([{"type": "string", "format": name} for name in [*FORMATS, "duration"]]),
    st.sampled_from([{"type": "string", "pattern": pattern} for pattern in PATTERNS]),
    st.sampled_from([{"$ref": "#/$defs/Node"}, {"$ref": "#/$defs/Tree", "description": "x"}]),
    st.sampled_from([{"type": ["string", "null"]}, {"type": ["integer", "string"], "maximum": 4}]),
    st.tuples(st.integers(0, 30), st.integers(0, 30)).map(
        lambda ends: {"type": "string", "minLength": min(ends), "maxLength": max(ends)}
    ),
    st.tuples(st.integers(-1000, 1000), st.integers(-1000, 1000)).map(
        lambda ends: {"type": "integer", "minimum": min(ends), "maximum": max(ends)}
    ),
    st.tuples(st.integers(-100, 100), st.integers(1, 50)).map(
        lambda pair: {"type": "integer", "minimum": pair[0], "multipleOf": pair[1]}
    ),
    st.tuples(st.integers(-9, 9), st.integers(-9, 9)).map(
        lambda ends: {
            "type": "number",
            "exclusiveMinimum": min(ends),
            "exclusiveMaximum": max(ends) + 0.5,
        }
    ),
    st.sampled_from([{"type": "number", "multipleOf": step} for step in (0.01, 0.1, 2.5, 3)]),
    st.lists(
        st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text("abc", max_size=4)),
        min_size=1,
        max_size=4,
    ).map(lambda values: {"enum": values}),
)
NAMES = st.sampled_from(["name", "city", "title", "score", "tags", "items", "x", "y"])


def _object(parts: tuple[dict[str, Any], random.Random, Any]) -> dict[str, Any]:
    properties, dice, more = parts
    schema = {"type": "object", "properties": properties}
    schema["required"] = [name for name in properties if dice.random() < 0.6]
    return schema | ({} if more is None else {"additionalProperties": more})


def _kinds(pair: tuple[Any, Any]) -> dict[str, Any]:
    branches = [
        {"type": "object", "properties": {"kind": {"const": kind}, "v": part}, "required": ["kind"]}
        for kind, part in zip("ab", pair, strict=True)
    ]
    return {"oneOf": branches, "discriminator": {"propertyName": "kind"}}


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    few = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.tuples(
            st.dictionaries(NAMES, inner, max_size=5),
            st.randoms(use_true_random=False),
            st.one_of(st.none(), st.just(False), inner),
        ).map(_object),
        st.tuples(inner, st.integers(0, 4), st.integers(0, 6)).map(
            lambda p: {"type": "array", "items": p[0], "minItems": min(p[1:]), "maxItems": 6}
        ),
        inner.map(lambda part: {"type": "array", "items": part, "uniqueItems": True}),
        few.map(lambda parts: {"type": "array", "prefixItems": parts, "minItems": len(parts)}),
        few.map(lambda parts: {"anyOf": parts}),
        st.tuples(inner, inner).map(_kinds),
        st.tuples(inner, inner).map(
            lambda pair: {
                "allOf": [
                    {"type": "object", "properties": {"p": pair[0]}, "required": ["p"]},
                    {"properties": {"q": pair[1]}, "required": ["q"]},
                ]
            }
        ),
        inner.map(lambda part: {"type": "object", "patternProperties": {"^x_[a-z]+$": part}}),
        inner.map(
            lambda part: {
                "type": "object",
                "propertyNames": {"pattern": "^[A-Z]{2}$"},
                "additionalProperties": part,
                "minProperties": 1,
            }
        ),
        inner.map(lambda part: {"type": "array", "contains": part, "maxItems": 5}),
        inner.map(
            lambda part: {"if": {"type": "integer"}, "then": {"minimum": 3}, "allOf": [part]}
        ),
    )


DEFS = {
    "Node": {
        "type": "object",
        "properties": {
            "value": {"type": "integer"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
        },
        "required": ["value", "children"],
    },
    "Tree": {
        "anyOf": [
            {"type": "string"},
            {
                "type": "object",
                "properties": {"l": {"$ref": "#/$defs/Tree"}, "r": {"$ref": "#/$defs/Tree"}},
                "required": ["l", "r"],
            },
        ]
    },
}


@QUICK
@given(st.recursive(SCALARS, _containers, max_leaves=10), st.integers(0, 1 << 32))
def test_random_schemas_get_instances_that_two_validators_accept(schema: Any, seed: int) -> None:
    root = {"$defs": DEFS, **(schema if isinstance(schema, dict) else {"allOf": [schema]})}
    try:
        made = Compiled(root).make(Wish(), Dice(seed))
    except InputError:
        reject()
    value = json.loads(encode(made))
    assert errors(root, value) == []
    assert valid(root, value)


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "object", "properties": {"a": False}, "required": ["a"]},
        {"$defs": {"A": {"$ref": "#/$defs/A"}}, "$ref": "#/$defs/A"},
        {"allOf": [{"type": "string"}, {"type": "integer"}]},
        {"type": "integer", "minimum": 5, "maximum": 4},
        {
            "$defs": {"N": {"properties": {"n": {"$ref": "#/$defs/N"}}, "required": ["n"]}},
            "$ref": "#/$defs/N",
        },
        {"$ref": "#/$defs/Missing"},
        {"$ref": "https://example.com/schema.json"},
    ],
)
def test_a_schema_that_nothing_fits_is_refused(schema: Any) -> None:
    with pytest.raises(InputError):
        Compiled(schema)


def test_properties_come_in_the_order_of_the_schema() -> None:
    names = ["zebra", "apple", "mango", "berry"]
    schema = {"type": "object", "properties": {n: {"type": "string"} for n in names}}
    assert list(ask(schema | {"required": names})) == names


def test_the_number_asked_for_decides_the_length_of_a_list() -> None:
    class Topics(BaseModel):
        topics: list[str]

    for text, number in [("Generate 10 diverse topics.", 10), ("List three topics", 3)]:
        topics = ask(Topics.model_json_schema(), text)["topics"]
        assert len(topics) == number
        assert len(set(topics)) == number


def test_each_list_takes_the_number_of_its_own_things() -> None:
    class Subject(BaseModel):
        subject: str
        subtopics: list[str]

    class Subjects(BaseModel):
        subjects: list[Subject]

    text = "Give 4 subjects with 6 subtopics each"
    found = ask(Subjects.model_json_schema(), text)["subjects"]
    assert [len(each["subtopics"]) for each in found] == [6] * 4


def test_bounds_of_the_schema_win_over_the_number_asked_for() -> None:
    schema = {"type": "array", "items": {"type": "string"}, "maxItems": 5}
    assert len(ask(schema, "Give 40 names")) == 5


def test_a_recursive_schema_ends_soon() -> None:
    wide = {
        "$defs": {
            "N": {
                "type": "object",
                "properties": {
                    key: {"type": "array", "items": {"$ref": "#/$defs/N"}} for key in "abcdef"
                },
                "required": list("abcdef"),
            }
        },
        "$ref": "#/$defs/N",
    }
    assert len(json.dumps(ask(wide))) < 200_000


def test_numbers_beyond_64_bits_are_made_and_written() -> None:
    schema = {"type": "integer", "minimum": 1 << 70, "maximum": (1 << 70) + 5}
    assert (1 << 70) <= json.loads(encode(Compiled(schema).make(Wish(), Dice(1)))) <= (1 << 70) + 5


def test_strings_suit_the_name_of_their_property() -> None:
    schema = {"properties": {"email": {"type": "string"}, "age": {"type": "integer"}}}
    value = ask(schema | {"type": "object", "required": ["email", "age"]})
    assert "@" in value["email"]
    assert 18 <= value["age"] <= 90
