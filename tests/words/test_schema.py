from __future__ import annotations

import datetime as dt
import enum
import http.server
import json
import math
import threading
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from penstock.errors import ProcessingError, RequestError
from penstock.schema import AnswerSchema, InvalidAnswerError


class Mood(enum.Enum):
    GOOD = "good"
    BAD = "bad"


class Person(BaseModel):
    name: str
    age: int = 0


class Diary(BaseModel):
    model_config = ConfigDict(strict=True)
    day: dt.date
    at: dt.datetime | None = None
    mood: Mood = Mood.GOOD
    price: Decimal = Decimal(0)


class Optional(BaseModel):
    """Every field has a default, so that nearly anything fits."""

    name: str = ""
    age: int = 0


PERSON = {
    "title": "Person",
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
}
ANYTHING: dict[str, Any] = {}
NUMBERS = {"type": "array", "items": {"type": "number"}}


def read(source: Any, text: str) -> Any:
    return AnswerSchema.of(source).read(text)


def refused(source: Any, text: str) -> str:
    with pytest.raises(InvalidAnswerError) as caught:
        read(source, text)
    return caught.value.message


# Making one -------------------------------------------------------------------------------------


def test_a_pydantic_model_gives_its_schema_its_name_and_its_objects() -> None:
    made = AnswerSchema.of(Person)
    assert made.name == "Person"
    assert list(made.schema["properties"]) == ["name", "age"]
    assert made.read('{"name": "Ann", "age": 7}') == Person(name="Ann", age=7)


def test_a_json_schema_gives_plain_values() -> None:
    made = AnswerSchema.of(PERSON)
    assert made.name == "Person"
    assert made.read('{"name": "Ann"}') == {"name": "Ann"}
    assert AnswerSchema.of(made) is made


@pytest.mark.parametrize(
    ("title", "name"),
    [("My person!", "My_person_"), ("", "answer"), (None, "answer"), ("x" * 100, "x" * 64)],
)
def test_a_name_is_one_that_providers_accept(title: Any, name: str) -> None:
    assert AnswerSchema.of({"title": title or "", "type": "object"}).name == name


def test_the_order_of_properties_is_kept() -> None:
    turned = PERSON | {"properties": {"age": {"type": "integer"}, "name": {"type": "string"}}}
    assert list(AnswerSchema.of(turned).schema["properties"]) == ["age", "name"]
    assert AnswerSchema.of(turned).canonical != AnswerSchema.of(PERSON).canonical


def test_changing_what_was_given_does_not_change_the_schema() -> None:
    given = dict(PERSON)
    made = AnswerSchema.of(given)
    given["type"] = "array"
    assert made.schema["type"] == "object"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nope"},
        {"type": "object", "properties": 5},
        {"type": "object", "required": "name"},
        {"$ref": "#/$defs/nothing"},
        {"pattern": "("},
        {"minimum": "low"},
        {"$schema": "http://example.org/mine"},
        {"x": object()},
        {"x": {1: 2}},
        {"x": "\ud800"},
        {"x": 2**70},
    ],
)
def test_a_schema_that_is_none_is_refused_when_it_is_made(schema: Any) -> None:
    with pytest.raises(RequestError, match="the answer schema is "):
        AnswerSchema.of(schema)


@pytest.mark.parametrize("source", [None, 5, "Person", int, Person(name="x"), [Person]])
def test_what_is_no_schema_at_all_is_named(source: Any) -> None:
    with pytest.raises(RequestError, match="a Pydantic model or a JSON schema, not"):
        AnswerSchema.of(source)


def test_a_model_that_has_no_json_schema_is_refused() -> None:
    class Odd(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        thread: threading.Thread

    with pytest.raises(RequestError, match="Odd cannot be an answer schema"):
        AnswerSchema.of(Odd)


def test_a_reference_is_never_fetched_from_the_network_or_the_disk(tmp_path: Path) -> None:
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: Any) -> None:
            pass

    (tmp_path / "other.json").write_text("{}")
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            for address in (
                f"http://127.0.0.1:{server.server_port}/x",
                (tmp_path / "other.json").as_uri(),
                "other.json",
            ):
                with pytest.raises(RequestError):
                    AnswerSchema.of({"properties": {"a": {"$ref": address}}})
        finally:
            server.shutdown()
            thread.join()
    assert asked == []


def test_a_reference_into_the_schema_itself_is_followed() -> None:
    schema = {"$ref": "#/$defs/age", "$defs": {"age": {"type": "integer"}}}
    assert read(schema, "7") == 7
    assert "integer" in refused(schema, '"7"')


# Reading ----------------------------------------------------------------------------------------


def test_dates_enums_and_decimals_are_read_from_their_text_in_strict_models_too() -> None:
    text = '{"day": "2026-01-02", "at": "2026-01-02T03:04:05Z", "mood": "bad", "price": "1.10"}'
    diary = read(Diary, text)
    assert diary.day == dt.date(2026, 1, 2)
    assert diary.at == dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
    assert diary.mood is Mood.BAD
    assert diary.price == Decimal("1.10")
    assert read(Diary, text[:-1] + ",}") == diary


def test_a_strict_model_takes_no_number_for_a_text() -> None:
    assert "day" in refused(Diary, '{"day": 5}')


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Ann", "age": 7}',
        ' \n{"name": "Ann", "age": 7}\n ',
        '```json\n{"name": "Ann", "age": 7}\n```',
        '```\n{"name": "Ann", "age": 7}\n```\n',
        '\n```json  \n\n{"name": "Ann", "age": 7}```',
        '{"name": "Ann", "age": 7,}',
        '```json\n{"name": "Ann", "age": 7,}\n```',
        "{'name': 'Ann', 'age': 7}",
        "{name: 'Ann', age: 7}",
        "{“name”: “Ann”, “age”: 7}",
        '{"name": "Ann" /* hers */, "age": 7}',
        '{"name": "Ann", "age": 7',
        'Sure! {"name": "Ann", "age": 7} Anything else?',
        'Here is the JSON:\n\n{"name": "Ann", "age": 7}\n\nHope that helps {a lot}.',
        'Here:\n```json\n{"name": "Ann", "age": 7}\n```\nDone.',
        'Here:\n```json\n{"name": "Ann", "age": 7,}\n```\nDone.',
        'Using {name} and [age]: {"name": "Ann", "age": 7}',
        '{"name": "Ann", "age": 7}\n{"name": "Ann", "age": 7}',
    ],
)
@pytest.mark.parametrize("source", [Person, PERSON])
def test_what_models_do_to_json_is_repaired_and_then_validated(source: Any, text: str) -> None:
    value = read(source, text)
    assert (value if source is PERSON else value.model_dump()) == {"name": "Ann", "age": 7}


@pytest.mark.parametrize(
    "text",
    [
        "Here they are: [1, 2, 3]",
        "[1, 2, 3,]",
        "[1, 2, 3",
        "```json\n[1, 2, 3]\n```",
        "They are\n  [1, 2, 3]\nall of them",
    ],
)
def test_a_list_among_words_is_found(text: str) -> None:
    assert read(NUMBERS, text) == [1, 2, 3]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "yes",
        "I cannot answer that.",
        "I think the set {1, 2} is fine",
        "see [1] and [2]",
        "as Smith [1] says",
        "[citation needed]",
        "[I am sorry, I cannot do that]",
        "The answer [as of 2020] is {unknown}",
        "Use {name} in the template",
        "I cannot answer {sorry}: no",
        'The options are {"yes", "no"}',
        "{}{}{}",
        "{",
        "[",
        '{"name"',
        "```json\n```",
        "```",
        "nul",
        "True",
        "1,5",
        "- one\n- two",
        "function() { return 1 }",
        "\x00",
    ],
)
@pytest.mark.parametrize("source", [ANYTHING, NUMBERS, Optional, {"type": ["array", "object"]}])
def test_prose_never_becomes_a_value(source: Any, text: str) -> None:
    assert "the answer is not JSON" in refused(source, text)


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Ann"}\n{"name": "Bob"}',
        'First {"name": "Ann"}, no: {"name": "Bob"}.',
        "[1, 2]\n[3]",
    ],
)
def test_of_two_different_values_none_is_chosen(text: str) -> None:
    assert "several different JSON values" in refused(ANYTHING, text)


def test_words_after_a_broken_object_do_not_become_part_of_it() -> None:
    refused(ANYTHING, '{"score": "high",} because {reason}')


@pytest.mark.parametrize(
    ("source", "text", "said"),
    [
        (Person, '{"age": 7}', "name: Field required"),
        (Person, '{"name": "Ann", "age": "old"}', "age: Input should be a valid integer"),
        (Person, "[]", "Input should be an object"),
        (Person, "null", "Input should be an object"),
        (PERSON, '{"age": 7}', '"name" is a required property'),
        (PERSON, '{"name": "Ann", "age": "old"}', 'age: "old" is not of type "integer"'),
        (PERSON, "[]", 'not of type "object"'),
        (PERSON, '{"age": 7,}', '"name" is a required property'),
        (NUMBERS, '[1, "two"]', '1: "two" is not of type "number"'),
    ],
)
def test_an_answer_that_does_not_fit_says_where(source: Any, text: str, said: str) -> None:
    message = refused(source, text)
    assert said in message
    assert "http" not in message


def test_an_invalid_answer_is_a_processing_error() -> None:
    assert issubclass(InvalidAnswerError, ProcessingError)


class Judged(BaseModel):
    score: int = Field(ge=0, le=10)
    why: str

    @field_validator("why")
    @classmethod
    def long_enough(cls, why: str) -> str:
        if len(why) < 3:
            raise ValueError("say more")
        assert "?" not in why, "no questions"
        return why

    @model_validator(mode="after")
    def sensible(self) -> Judged:
        if self.score == 10 and "perfect" not in self.why:
            raise ValueError("10 is for the perfect")
        return self


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"score": 5, "why": "x"}', "why: Value error, say more"),
        ('{"score": 5, "why": "why?"}', "why: Assertion failed, no questions"),
        ('{"score": 10, "why": "good"}', "10 is for the perfect"),
        ('{"score": 11, "why": "good"}', "score: Input should be less than or equal to 10"),
    ],
)
def test_what_a_validator_of_the_user_raises_is_an_invalid_answer(text: str, said: str) -> None:
    assert said in refused(Judged, text)
    assert read(Judged, '{"score": 10, "why": "perfect"}').score == 10


# Numbers ----------------------------------------------------------------------------------------


class Account(BaseModel):
    number: int


@pytest.mark.parametrize("number", [2**53 + 1, 2**63, 2**64 + 1, 123456789012345678901, -(2**70)])
@pytest.mark.parametrize("text", ['{{"number": {}}}', '{{"number": {},}}'])
def test_a_long_whole_number_is_not_rounded(number: int, text: str) -> None:
    assert read(Account, text.format(number)).number == number
    schema = {"type": "object", "properties": {"number": {"type": "integer"}}}
    assert read(schema, text.format(number)) == {"number": number}


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("text", ['{{"x": {}}}', '{{"x": {},}}'])
def test_what_is_no_number_never_becomes_one_nor_nothing(value: str, text: str) -> None:
    refused({"properties": {"x": {"type": ["number", "null"]}}}, text.format(value))

    class Loose(BaseModel):
        x: float | None

    try:
        x = read(Loose, text.format(value)).x
    except InvalidAnswerError:
        return
    assert not math.isfinite(x)  # as Pydantic reads it, from its name


@pytest.mark.parametrize("text", [r'{"x": "\ud800"}', r'{"x": "\ud800",}', '{"x": "\ud800"}'])
def test_half_a_character_never_becomes_a_text(text: str) -> None:
    class Loose(BaseModel):
        x: str

    refused(Loose, text)
    refused(ANYTHING, text)


# Bounds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("deep", [201, 1000, 1023, 2000, 100_000])
@pytest.mark.parametrize("shape", [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("source", [ANYTHING, Optional])
def test_a_bottomless_answer_is_invalid_and_nothing_breaks(
    source: Any, deep: int, shape: tuple[str, str], closed: bool
) -> None:
    refused(source, shape[0] * deep + "1" + (shape[1] * deep if closed else ""))


def test_an_answer_of_ordinary_depth_is_read() -> None:
    assert read(ANYTHING, "[" * 100 + "]" * 100)
    assert read(ANYTHING, json.dumps([[1]] * 300)) == [[1]] * 300


@pytest.mark.parametrize(
    "text",
    [
        "```json\n" + "\n" * 300_000,
        "```json\n" + " \n" * 150_000 + "x",
        "{" * 300_000,
        '{"a": "' + "x" * 1_000_000,
        "[" + "1," * 500_000,
        '{"' * 200_000,
        "{“" * 100_000,
        "{a " * 60_000,
        ":[" * 100_000,
        "{" + " " * 190_000 + ":",
        '{"a":1} ' * 20_000 + "{'b':",
        '{"a": "x" "y' * 15_000,
        "{" + '"' * 190_000,
        "prose with a { in it " * 9_000,
        "\\" * 190_000,
        "1" * 1_000_000,
        '{"a": ' + "1" * 100_000 + "}",
    ],
    ids=lambda text: f"{text[:10]!r}...{len(text)}",
)
@pytest.mark.parametrize("source", [PERSON, Person])
def test_a_hostile_text_is_refused_in_bounded_time(source: Any, text: str) -> None:
    began = time.perf_counter()
    refused(source, text)
    assert time.perf_counter() - began < 10


def test_a_large_answer_that_is_json_is_read() -> None:
    assert len(read(NUMBERS, json.dumps(list(range(200_000))))) == 200_000


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
)


@given(_json)
def test_json_is_read_as_it_is(value: Any) -> None:
    text = json.dumps(value)
    assert read(ANYTHING, text) == json.loads(text)
    assert read(ANYTHING, f"```json\n{text}\n```") == json.loads(text)


@given(st.text())
def test_any_text_is_a_value_or_an_invalid_answer(text: str) -> None:
    for source in (ANYTHING, Optional, NUMBERS):
        try:
            read(source, text)
        except InvalidAnswerError:
            continue
