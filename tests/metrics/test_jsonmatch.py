"""JSON held to JSON, field by field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.metrics.jsonmatch import JsonMatch
from penstock.metrics.score import Sample, ScoreStatus

_TARGET = '{"name": "Ann", "age": 41, "tags": ["a", "b"], "address": {"city": "Bonn"}}'
_JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (_TARGET, 1.0),
        ('{"address":{"city":" Bonn"},"tags":["a","b"],"age":41.0,"name":"Ann"}', 1.0),
        (f"```json\n{_TARGET}\n```", 1.0),
        (_TARGET.replace("41", "42"), 4 / 5),
        (_TARGET.replace("41", '"41"'), 4 / 5),
        (_TARGET.replace('["a", "b"]', '["b", "a"]'), 3 / 5),
        (_TARGET.replace('"age": 41, ', ""), 4 / 5),
        (_TARGET.replace('"age": 41', '"age": 41, "more": 1'), 5 / 6),
        ("[]", 0.0),
        (f"Here it is: {_TARGET}", 0.0),
        ("", 0.0),
    ],
)
def test_every_field_counts_once(answer: str, value: float) -> None:
    assert JsonMatch().score(Sample(answer, _TARGET)).value == pytest.approx(value)
    assert JsonMatch(whole=True).score(Sample(answer, _TARGET)).value == float(value == 1)


def test_true_is_not_one() -> None:
    assert JsonMatch().score(Sample('{"a": true}', '{"a": 1}')).value == 0
    assert JsonMatch().score(Sample('{"a": true}', '{"a": true}')).value == 1


def test_of_several_targets_the_best_counts_and_what_differs_is_told() -> None:
    score = JsonMatch().score(Sample('{"a": 1, "b": 2}', ['{"a": 9, "b": 9}', '{"a": 1, "b": 3}']))
    assert score.value == 0.5 and score.reason == "differs: $.b"


def test_a_target_that_is_no_json_is_an_error_of_the_dataset() -> None:
    score = JsonMatch().score(Sample("{}", "Ann, 41"))
    assert score.status is ScoreStatus.ERROR and "the target is no JSON" in score.reason


def test_a_parameter_that_is_no_flag_is_told() -> None:
    with pytest.raises(InputError, match="whole"):
        JsonMatch(whole="yes")  # type: ignore[arg-type]


@given(_JSON, _JSON)
def test_it_is_one_exactly_for_equal_json(one: Any, other: Any) -> None:
    score = JsonMatch(strip=False).score(Sample(json.dumps(one), json.dumps(other)))
    assert (score.value == 1.0) == (
        json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    )
    turned = JsonMatch(strip=False).score(Sample(json.dumps(other), json.dumps(one)))
    assert turned.value == score.value
