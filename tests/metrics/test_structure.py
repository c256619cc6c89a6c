"""The form of answers: JSON as it stands, and instructions that can be counted."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.metrics import Sample, ScoreStatus, summarise
from penstock.metrics.structure import Format, JsonValid
from tests.metrics.texts import patient, texts

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "people": {"type": "integer", "minimum": 0}},
    "required": ["city"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "answer",
    [
        '{"city": "Rome"}',
        "  [1, 2]\n",
        "3",
        '"text"',
        "null",
        '```json\n{"a": 1}\n```',
        '```\n{"a": 1}\n```',
        "```JSON\n[]```",
    ],
)
def test_json_is_json(answer: str) -> None:
    assert JsonValid().score(Sample(answer)).value == 1


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Rome",
        "{'a': 1}",
        '{"a": 1,}',
        '{"a": NaN}',
        '{"a": 1} {"a": 2}',
        'Here: {"a": 1}',
        '```json\n{"a": 1}\n```\nDone.',
        '```python\n{"a": 1}\n```',
        "[" * 100_000,
    ],
)
def test_what_is_almost_json_is_not(answer: str) -> None:
    score = JsonValid().score(Sample(answer))
    assert score.value == 0
    assert score.reason.startswith("no JSON")


def test_a_fence_may_be_forbidden() -> None:
    assert JsonValid(fenced=False).score(Sample("```\n1\n```")).value == 0


@pytest.mark.parametrize(
    ("answer", "value", "said"),
    [
        ('{"city": "Rome"}', 1, ""),
        ('{"city": "Rome", "people": 3}', 1, ""),
        ('{"people": 3}', 0, "city"),
        ('{"city": "Rome", "people": -1}', 0, "people: "),
        ('{"city": "Rome", "sea": true}', 0, "sea"),
        ("[]", 0, "object"),
    ],
)
def test_json_is_held_to_a_schema(answer: str, value: int, said: str) -> None:
    score = JsonValid(schema=SCHEMA).score(Sample(answer))
    assert score.value == value
    assert said in score.reason
    assert score.extracted == answer


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "thing"},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "file:///etc/hostname"},
        "object",
    ],
)
def test_a_schema_that_is_none_or_points_elsewhere_is_refused(schema: Any) -> None:
    with pytest.raises(InputError, match="schema"):
        JsonValid(schema=schema)


def test_what_was_asked_can_be_told_as_plain_data() -> None:
    for metric in (JsonValid(schema=SCHEMA), Format(words=(1, 5), contains=["a"])):
        described = metric.describe()
        again = msgspec.json.decode(msgspec.json.encode(described))
        assert again["parameters"].keys() == described["parameters"].keys()
        assert not any(name.startswith("_") for name in described["parameters"])


# Instructions -------------------------------------------------------------------------------------

LIST = "Three things:\n\n- one fish\n- two fish\n- red fish"


@pytest.mark.parametrize(
    ("options", "answer", "value"),
    [
        ({"words": 3}, "one two three", 1),
        ({"words": 3}, "one two three four", 0),
        ({"words": (2, None)}, "one", 0),
        ({"words": [None, 2]}, "don't stop-gap", 1),
        ({"words": 3}, "日本語", 1),
        ({"sentences": 2}, "One. Two!", 1),
        ({"sentences": (None, 1)}, "One. Two!", 0),
        ({"paragraphs": 2}, LIST, 1),
        ({"bullets": 3}, LIST, 1),
        ({"bullets": (4, None)}, LIST, 0),
        ({"characters": (0, 5)}, "abcdef", 0),
        ({"contains": ["Fish", "red fish"]}, LIST, 1),
        ({"contains": ["fis"]}, LIST, 0),
        ({"contains": ["red\nfish"]}, LIST, 1),
        ({"contains": ["?!"]}, "What?!", 1),
        ({"excludes": ["blue"]}, LIST, 1),
        ({"excludes": ["FISH"]}, LIST, 0),
        ({"case": "lower"}, "all small, 3", 1),
        ({"case": "lower"}, "All small", 0),
        ({"case": "upper"}, "ALL TALL!", 1),
        ({"words": (5, 20), "bullets": 3, "excludes": ["blue"]}, LIST, 1),
        ({"words": (5, 20), "bullets": 4, "excludes": ["blue"]}, LIST, 0),
    ],
)
def test_an_answer_keeps_to_all_that_is_asked(
    options: dict[str, Any], answer: str, value: int
) -> None:
    assert Format(**options).score(Sample(answer)).value == value


def test_what_was_counted_and_what_was_broken_is_kept_and_single_checks_are_summed() -> None:
    metric = Format(words=(None, 3), bullets=1, contains=["fish"])
    scores = metric.score_many([Sample("- fish"), Sample(LIST)])
    assert scores[0].extracted == "words 1; bullets 1; 'fish' is there"
    assert scores[1].extracted == "words 8; bullets 3; 'fish' is there"
    assert scores[1].reason == "words is 8; 0 to 3 is wanted; bullets is 3; 1 is wanted"
    summary = summarise(metric, scores)
    assert summary.mean == 0.5
    assert summary.overall == {"checks_held": pytest.approx(4 / 6)}


def test_a_row_may_ask_for_more() -> None:
    metric = Format(column="rules", excludes=["blue"])
    assert metric.score(Sample("one two", row={"rules": {"words": 2}})).value == 1
    assert metric.score(Sample("one", row={"rules": {"words": 2}})).value == 0
    assert metric.score(Sample("one", row={})).value == 1
    assert metric.score(Sample("blue", row={"rules": None})).value == 0
    bare = Format(column="rules")
    for row, said in (
        ({}, "nothing is asked"),
        ({"rules": {}}, "nothing is asked"),
        ({"rules": {"rhymes": 2}}, "'rhymes'"),
        ({"rules": {"column": "x"}}, "'column'"),
        ({"rules": "short"}, "mapping"),
        ({"rules": {"words": "few"}}, "words"),
    ):
        score = bare.score(Sample("one", row=row))
        assert score.status is ScoreStatus.ERROR
        assert said in score.reason


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"words": -1},
        {"words": True},
        {"words": (5, 2)},
        {"words": (None, None)},
        {"words": (1, 2, 3)},
        {"words": "3"},
        {"contains": "fish"},
        {"excludes": [""]},
        {"excludes": [3]},
        {"case": "title"},
    ],
)
def test_what_makes_no_sense_is_refused_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options), "nothing")):
        Format(**options)


@patient
@given(texts, st.integers(0, 20))
def test_any_text_is_counted(answer: str, words: int) -> None:
    score = Format(words=words, sentences=1, bullets=0, case="lower").score(Sample(answer))
    assert score.value in (0, 1)
    assert score.parts[1] == 4
