"""Marks: read from answers, made one of several, laid out as columns."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.grade.marking import Grade, How, Mark, as_columns, combine, read
from penstock.grade.rubric import Rubric
from penstock.grade.scale import LabelScale, NumberScale
from penstock.schema import InvalidAnswerError
from tests.grade.rubrics import answers, patient, rubrics

RUBRIC = Rubric.of(
    {
        "criteria": [
            {"name": "clarity", "scale": [1, 5]},
            {"name": "tone", "labels": {"rude": 0, "plain": 1, "kind": 2}},
        ],
        "fields": {"language": {"type": "string"}},
    }
)


def marked(clarity: float, tone: str, language: str = "en", why: str = "") -> Mark:
    return read(
        RUBRIC,
        {
            "clarity": {"reason": f"clarity {clarity}{why}", "score": clarity},
            "tone": {"reason": f"tone {tone}{why}", "score": tone},
            "language": language,
        },
    )


def test_an_answer_becomes_a_mark() -> None:
    assert marked(4, "plain") == Mark(
        {"clarity": Grade(4, "clarity 4"), "tone": Grade("plain", "tone plain")},
        None,
        {"language": "en"},
        62.5,
    )
    assert marked(4, "plain").value("tone") == "plain"


def test_scores_are_whole_on_whole_scales_and_floats_on_others() -> None:
    assert type(marked(4.0, "kind").value("clarity")) is int
    rubric = Rubric.of({"criteria": {"x": {"scale": [0, 1], "step": 0.5}}, "reasons": "none"})
    assert type(read(rubric, {"x": 1}).value("x")) is float


def test_one_reason_for_all_or_none_is_read_as_such() -> None:
    data = RUBRIC.to_dict()
    answer = {"reason": "why", "clarity": 2, "tone": "rude", "language": "de"}
    overall = Rubric.of({**data, "reasons": "overall"})
    assert read(overall, answer).reason == "why"
    assert read(overall, answer).grades == {"clarity": Grade(2), "tone": Grade("rude")}
    none = Rubric.of({**data, "reasons": "none"})
    assert read(none, answer).reason is None


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (None, "no object"),
        ("4", "no object"),
        ([4], "no object"),
        ({}, "clarity is missing"),
        ({"clarity": 4}, "clarity: a reason and a score"),
        ({"clarity": {"score": 4}}, "clarity/reason is missing"),
        ({"clarity": {"reason": "r"}}, "clarity/score is missing"),
        ({"clarity": {"reason": 1, "score": 4}}, "clarity/reason: a text"),
        ({"clarity": {"reason": "r", "score": 6}}, "clarity: 6 is not on the scale"),
        ({"clarity": {"reason": "r", "score": "4"}}, "clarity: '4' is no number"),
        ({"clarity": {"reason": "r", "score": None}}, "clarity: None is no number"),
        ({"clarity": {"reason": "r", "score": True}}, "clarity: True is no number"),
        ({"clarity": {"reason": "r", "score": float("nan")}}, "clarity: a number from"),
        (
            {"clarity": {"reason": "r", "score": 4}, "tone": {"reason": "r", "score": "Kind"}},
            "tone: 'Kind' is none of the labels",
        ),
        (
            {"clarity": {"reason": "r", "score": 4}, "tone": {"reason": "r", "score": "kind"}},
            "language is missing",
        ),
    ],
)
def test_what_is_no_answer_never_becomes_a_score(answer: Any, word: str) -> None:
    with pytest.raises(InvalidAnswerError) as caught:
        read(RUBRIC, answer)
    assert word in caught.value.message


@patient
@given(st.data(), rubrics())
def test_any_answer_that_fits_the_schema_becomes_a_mark_within_the_scales(
    data: st.DataObject, rubric: Rubric
) -> None:
    answer = data.draw(answers(rubric))
    mark = read(rubric, rubric.answer_schema.read(json.dumps(answer)))
    for criterion in rubric.criteria:
        value, scale = mark.value(criterion.name), criterion.scale
        if isinstance(scale, NumberScale):
            assert isinstance(value, int if scale.whole else float)
            assert scale.low <= float(value) <= scale.high
        else:
            assert value in scale.labels
    assert (mark.total is not None) <= rubric.has_total
    assert mark.total is None or 0 <= mark.total <= 100
    assert tuple(as_columns(rubric, mark)) == rubric.columns()


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inside: (
        st.lists(inside, max_size=2)
        | st.dictionaries(
            st.sampled_from(["clarity", "tone", "language", "reason", "score"]), inside, max_size=4
        )
    ),
    max_leaves=12,
)


@patient
@given(_JSON)
def test_anything_else_is_refused_and_nothing_breaks(answer: Any) -> None:
    try:
        mark = read(RUBRIC, answer)
    except InvalidAnswerError:
        return
    assert mark.value("clarity") in (1, 2, 3, 4, 5)


# Several graders ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "scores", "wanted"),
    [
        ("mean", [1, 2, 2, 5], 2.5),
        ("median", [1, 2, 3, 5], 2.5),
        ("median", [1, 2, 5], 2),
        ("majority", [1, 5, 5], 5),
        ("majority", [1, 1, 5, 5, 4], 5),  # both twice; 5 is nearer to the median 4
        ("majority", [2, 4], 2),  # equally near: the lower one
        ("mean", [4, 4, 4], 4),
    ],
)
def test_scores_are_combined_as_asked(how: How, scores: list[int], wanted: float) -> None:
    for _ in range(3):
        random.Random(len(scores)).shuffle(scores)
        found = combine(RUBRIC, [marked(score, "kind") for score in scores], how)
        assert found.value("clarity") == wanted


def test_labels_go_by_majority_and_of_equals_the_first_in_the_rubric() -> None:
    for how in ("mean", "majority", "median"):
        several = [marked(3, "kind"), marked(3, "rude"), marked(3, "kind")]
        assert combine(RUBRIC, several, how).value("tone") == "kind"
        tied = [marked(3, "kind"), marked(3, "plain"), marked(3, "rude")]
        assert combine(RUBRIC, tied, how).value("tone") == "rude"


def test_the_total_is_that_of_the_combined_grades() -> None:
    found = combine(RUBRIC, [marked(1, "kind"), marked(4, "kind")])
    assert found.value("clarity") == 2.5
    assert found.total == 68.75


def test_each_reason_is_that_of_the_grader_nearest_to_the_result() -> None:
    found = combine(RUBRIC, [marked(1, "rude"), marked(3, "kind"), marked(4, "kind", why=" too")])
    assert found.grades["clarity"].reason == "clarity 3"
    assert found.grades["tone"].reason == "tone kind"
    tied = combine(RUBRIC, [marked(2, "kind", why=" a"), marked(4, "kind", why=" b")])
    assert tied.grades["clarity"].reason == "clarity 2 a"


def test_one_reason_for_all_is_that_of_the_grader_nearest_on_the_whole() -> None:
    rubric = Rubric.of({**RUBRIC.to_dict(), "reasons": "overall"})
    several = [
        read(rubric, {"reason": why, "clarity": score, "tone": tone, "language": "en"})
        for why, score, tone in [("far", 1, "kind"), ("near", 3, "kind"), ("odd", 4, "rude")]
    ]
    assert combine(rubric, several).reason == "near"


def test_a_field_goes_by_majority_else_by_the_nearest_grader() -> None:
    votes = [marked(1, "kind", "de"), marked(3, "kind", "en"), marked(5, "kind", "de")]
    assert combine(RUBRIC, votes).fields == {"language": "de"}
    tied = [marked(1, "kind", "de"), marked(3, "kind", "en"), marked(5, "kind", "fr")]
    assert combine(RUBRIC, tied).fields == {"language": "en"}


def test_no_mark_or_an_unknown_way_is_an_error() -> None:
    with pytest.raises(InputError, match="no mark"):
        combine(RUBRIC, [])
    with pytest.raises(InputError, match="'best'"):
        combine(RUBRIC, [marked(1, "kind")], "best")  # type: ignore[arg-type]


_HOW = st.sampled_from(["mean", "majority", "median"])


@patient
@given(st.data(), rubrics(), _HOW)
def test_a_mark_combined_alone_or_with_itself_is_itself(
    data: st.DataObject, rubric: Rubric, how: How
) -> None:
    mark = read(rubric, data.draw(answers(rubric)))
    assert combine(rubric, [mark], how) == mark
    assert combine(rubric, [mark, mark, mark], how) == mark


@patient
@given(st.data(), rubrics(), _HOW)
def test_what_several_come_to_lies_between_them_in_whatever_order(
    data: st.DataObject, rubric: Rubric, how: How
) -> None:
    several = [read(rubric, each) for each in data.draw(st.lists(answers(rubric), min_size=2))]
    found = combine(rubric, several, how)
    other = combine(rubric, data.draw(st.permutations(several)), how)
    for criterion in rubric.criteria:
        given_values = [mark.value(criterion.name) for mark in several]
        value = found.value(criterion.name)
        assert other.value(criterion.name) == value
        if isinstance(criterion.scale, LabelScale) or how == "majority":
            assert given_values.count(value) == max(map(given_values.count, given_values))
        else:
            numbers = [float(each) for each in given_values]
            assert min(numbers) <= float(value) <= max(numbers)
        reasons = {mark.grades[criterion.name].reason for mark in several}
        assert found.grades[criterion.name].reason in reasons
    assert other.total == found.total
    assert found.total is None or 0 <= found.total <= 100


# Columns --------------------------------------------------------------------------------------


def test_a_mark_is_laid_out_under_the_names_that_the_columns_got() -> None:
    mark = marked(5, "kind", "fr")
    assert as_columns(RUBRIC, mark) == {
        "clarity": 5,
        "clarity_reason": "clarity 5",
        "tone": "kind",
        "tone_reason": "tone kind",
        "language": "fr",
        "total": 100.0,
    }
    names = [f"{name}_2" for name in RUBRIC.columns()]
    assert list(as_columns(RUBRIC, mark, names)) == names
    with pytest.raises(InputError, match="5 names for 6"):
        as_columns(RUBRIC, mark, names[1:])
