"""From an answer to rows."""

from __future__ import annotations

import asyncio
from datetime import date
from typing import Any

import pytest
from pydantic import BaseModel, Field, field_validator

from penstock.engine.workbench import Workbench
from penstock.simulator import Simulator
from tests.generate.conftest import Make, numbered, texts


class Person(BaseModel):
    name: str
    age: int = Field(ge=0, le=120)


def test_without_a_parser_the_text_stands_beside_the_row(make: Make) -> None:
    table = make()([{"id": 1, "text": "Hello"}])
    assert table.to_list() == [{"id": 1, "text": "Hello", "response": "Hello"}]


def test_without_a_parser_the_fields_of_the_model_stand_beside_the_row(make: Make) -> None:
    table = make(model="simulated", response_format=Person)(texts("A person"))
    assert table.column_names == ["text", "name", "age"]
    assert isinstance(table[0]["age"], int)


def test_without_rows_there_are_only_the_fields_of_the_answer(make: Make) -> None:
    assert make(lambda: "Hello")().to_list() == [{"response": "Hello"}]
    table = make(lambda: "A person", model="simulated", response_format=Person)()
    assert table.column_names == ["name", "age"]


def test_a_parser_gets_an_object_of_the_model(make: Make) -> None:
    seen: list[Any] = []

    def parse(row: dict[str, Any], person: Person) -> dict[str, Any]:
        seen.append(person)
        return {"who": person.name}

    table = make(model="simulated", response_format=Person, parse_func=parse)(texts("A person"))
    assert isinstance(seen[0], Person)
    assert table.column_names == ["who"]


@pytest.mark.parametrize(
    ("schema", "columns"),
    [
        ({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, ["a"]),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2}, ["response"]),
        (
            {
                "type": "array",
                "minItems": 2,
                "items": {
                    "type": "object",
                    "properties": {"b": {"type": "string"}},
                    "required": ["b"],
                },
            },
            ["b"],
        ),
        ({"type": "integer"}, ["response"]),
    ],
    ids=["object", "texts", "objects", "number"],
)
def test_a_json_schema_gives_plain_values_and_a_list_gives_several_rows(
    make: Make, schema: dict[str, Any], columns: list[str]
) -> None:
    table = make(model="simulated", response_format=schema)(texts("Something"))
    assert table.column_names == ["text", *columns]
    assert len(table) >= (2 if schema["type"] == "array" else 1)


async def slow_parse(row: dict[str, Any], response: str) -> dict[str, Any]:
    await asyncio.sleep(0.02)
    return {"got": response}


class Got(BaseModel):
    got: str
    when: date = date(2024, 2, 29)


@pytest.mark.parametrize(
    ("parse", "expected"),
    [
        (slow_parse, [{"got": "Hello"}]),
        (lambda row, text: {"got": text}, [{"got": "Hello"}]),
        (lambda row, text: Got(got=text), [{"got": "Hello", "when": "2024-02-29"}]),
        (lambda row, text: [{"got": text}, Got(got="2")],
         [{"got": "Hello", "when": None}, {"got": "2", "when": "2024-02-29"}]),
        (lambda row, text: ({"got": letter} for letter in text[:2]), [{"got": "H"}, {"got": "e"}]),
        (lambda row, text: ({"got": 1}, {"got": 2}), [{"got": 1}, {"got": 2}]),
        (lambda row, text: [], []),
        (lambda row, text: row | {"more": [1, {"a": None}]},
         [{"text": "Hello", "more": [1, {"a": None}]}]),
    ],
    ids=["async", "dict", "object", "mixed", "generator", "tuple", "none", "row"],
)  # fmt: skip
def test_a_parser_returns_one_row_many_or_none(make: Make, parse: Any, expected: Any) -> None:
    table = make(parse_func=parse)(texts("Hello"))
    assert table.to_list() == expected
    assert len(table.failures) == 0
    assert table.run.counters["rows_done"] == 1


@pytest.mark.parametrize(
    ("parse", "said"),
    [
        (lambda row, text: None, "the parse function returned nothing"),
        (lambda row, text: text, "the parse function returned a str"),
        (lambda row, text: [{"a": 1}, 7], "the parse function returned a int"),
        (lambda row, text: {"a": row["absent"]}, "the parse function raised KeyError: 'absent'"),
        (lambda row, text: 1 / 0, "the parse function raised ZeroDivisionError"),
    ],
    ids=["nothing", "text", "half", "KeyError", "error"],
)
def test_a_parser_that_goes_wrong_fails_its_row_alone(make: Make, parse: Any, said: str) -> None:
    def only_for_two(row: dict[str, Any], text: str) -> Any:
        return parse(row, text) if row["id"] == 2 else {"id": row["id"]}

    table = make(parse_func=only_for_two)(numbered(5))
    assert table["id"] == [0, 1, 3, 4]
    [failure] = table.failures
    assert failure["row"] == 2 and failure["kind"] == "input"
    assert failure["message"].startswith(said)
    assert failure["input"] == {"id": 2, "text": "row 2"}


def test_an_async_parser_that_raises_fails_its_row_alone(make: Make) -> None:
    async def parse(row: dict[str, Any], text: str) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"inverse": 1 / row["id"]}

    table = make(parse_func=parse)(numbered(3))
    assert table["inverse"] == [1.0, 0.5]
    assert table.failures["row"] == [0]


def test_a_parser_may_write_into_its_row(make: Make) -> None:
    def parse(row: dict[str, Any], text: str) -> dict[str, Any]:
        row["response"] = text
        return row

    rows = texts("One.", "Two.")
    table = make(model="simulated", parse_func=parse, n=3)(rows)
    assert len(set(table["response"])) == 6, "the draws of a row do not share it"
    assert rows == texts("One.", "Two."), "the rows given are left as they were"


def test_an_answer_that_does_not_fit_is_asked_again(make: Make, simulator: Simulator) -> None:
    table = make(model="simulated-invalid", response_format=Person)(texts("A person", "Another"))
    assert len(table) == 2
    assert simulator.summary()["requests"] == 4
    again = make(model="simulated-invalid", response_format=Person)(texts("A person", "Another"))
    assert again.to_list() == table.to_list()
    assert simulator.summary()["requests"] == 4, "the corrections are recorded too"
    assert again.run.counters["recorded"] == 4, "each counts once"


def test_asking_again_is_bounded(
    make: Make, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Never(BaseModel):
        name: str

        @field_validator("name")
        @classmethod
        def never(cls, value: str) -> str:
            raise ValueError("no name is good enough")

    table = make(model="simulated", response_format=Never)(texts("A person"))
    assert len(table) == 0
    [failure] = table.failures
    assert failure["kind"] == "invalid_answer"
    assert "no name is good enough" in failure["message"]
    assert failure["attempts"] == 3
    assert simulator.summary()["requests"] == 3


def test_a_better_validator_costs_nothing(make: Make, simulator: Simulator) -> None:
    class Strict(BaseModel):
        name: str = Field(min_length=1000)

    class Lenient(BaseModel):
        name: str

    Lenient.__name__ = Strict.__name__ = "Name"
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    table = make(model="simulated", response_format=schema)(texts("A name"))
    assert len(table) == 1
    table = make(model="simulated", response_format=schema, parse_func=lambda _, x: Lenient(**x))(
        texts("A name")
    )
    assert len(table) == 1
    table = make(model="simulated", response_format=schema, parse_func=lambda _, x: Strict(**x))(
        texts("A name")
    )
    assert "at least 1000 characters" in table.failures[0]["message"]
    assert simulator.summary()["requests"] == 1


def test_a_refusal_of_a_structured_answer_fails_its_row_and_says_what_was_said(
    make: Make, simulator: Simulator
) -> None:
    table = make(model="simulated-refuse", response_format=Person)(texts("A person"))
    [failure] = table.failures
    assert failure["message"].startswith("the model refused: I'm sorry")
    assert simulator.summary()["requests"] == 1


def test_a_refusal_in_words_is_an_answer(make: Make) -> None:
    table = make(model="simulated-refuse")(texts("Please"))
    assert table[0]["response"].startswith("I'm sorry")


def test_a_structured_answer_that_was_cut_off_is_not_asked_again(
    make: Make, simulator: Simulator
) -> None:
    prompter = make(model="simulated", response_format=Person, generation_params={"max_tokens": 3})
    table = prompter(texts("A person"))
    [failure] = table.failures
    assert failure["kind"] == "truncated"
    assert "give a larger max_tokens" in failure["message"]
    assert simulator.summary()["requests"] == 1


def test_an_empty_answer_is_an_empty_text(make: Make) -> None:
    assert make(model="simulated-empty")(texts("Say nothing"))["response"] == [""]


def test_values_of_any_kind_are_kept_and_change_from_row_to_row(
    make: Make, bench: Workbench
) -> None:
    class Strange:
        def __str__(self) -> str:
            return "strange"

    values: list[Any] = [1, 2.5, "text", None, [1, "a"], {"deep": {"er": 1}}, date(2024, 2, 29)]
    values += [Strange(), {1, 2}, b"bytes", 10**30, float("inf"), True, "\ud800"]

    def parse(row: dict[str, Any], text: str) -> dict[Any, Any]:
        return {"value": values[row["id"]], f"only_{row['id']}": True, 7: "seven"}

    table = make(parse_func=parse)(numbered(len(values)))
    assert len(table) == len(values)
    assert len(table.failures) == 0
    assert table.column_names[:3] == ["value", "only_0", "7"]
    assert len(table.column_names) == 2 + len(values)
    assert all(value is not None for value in table["value"][:3])


def test_the_rows_of_a_failure_may_hold_anything(make: Make) -> None:
    rows = [{"text": object()}, {"text": {1, 2}}, {"text": lambda: 1}, {"text": "fine"}]
    table = make()(rows)
    assert table["text"] == ["fine"]
    assert table.failures["row"] == [0, 1, 2]
