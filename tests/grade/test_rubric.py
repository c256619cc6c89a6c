"""A rubric as data: what it holds, what it asks for, what it comes to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.grade.criterion import Anchor, Criterion, Example, ExampleGrade, Field
from penstock.grade.rubric import Rubric
from penstock.grade.rubric_file import CRITERION_KEYS, EXAMPLE_KEYS, GRADE_KEYS, KEYS
from penstock.grade.scale import LabelScale, NumberScale
from penstock.providers.anthropic_schema import wire_schema as anthropic_schema
from penstock.providers.gemini_schema import wire_schema as gemini_schema
from penstock.providers.openai_schema import strict_schema
from penstock.schema import InvalidAnswerError
from tests.grade.rubrics import patient, rubrics

SMALL: dict[str, Any] = {
    "criteria": [
        {"name": "clarity", "scale": [1, 5]},
        {"name": "tone", "labels": {"rude": 0, "plain": 1, "kind": 2}, "weight": 3},
        {"name": "kind of text", "labels": ["letter", "essay"]},
    ],
    "fields": {"language": {"type": "string"}},
}


def small(**changed: Any) -> Rubric:
    return Rubric.of({**SMALL, **changed})


def test_columns_come_in_the_order_of_the_rubric_with_the_reasons_it_asks_for() -> None:
    assert small().columns() == (
        *("clarity", "clarity_reason", "tone", "tone_reason"),
        *("kind of text", "kind of text_reason", "language", "total"),
    )
    assert small(reasons="overall").columns("grade_") == (
        *("grade_clarity", "grade_tone", "grade_kind of text"),
        *("grade_reason", "grade_language", "grade_total"),
    )
    assert small(reasons="none").columns() == (
        *("clarity", "tone", "kind of text", "language", "total"),
    )


def test_there_is_no_total_where_nothing_counts() -> None:
    rubric = small(criteria=[{"name": "kind", "labels": ["a", "b"]}])
    assert rubric.columns() == ("kind", "kind_reason", "language")
    assert not rubric.has_total
    assert rubric.total({"kind": "a"}) is None


def test_the_total_is_the_weighted_mean_of_what_counts_brought_to_100() -> None:
    total = small().total
    assert total({"clarity": 5, "tone": "kind", "kind of text": "letter"}) == 100
    assert total({"clarity": 1, "tone": "rude", "kind of text": "essay"}) == 0
    assert total({"clarity": 3, "tone": "plain", "kind of text": "essay"}) == 50
    assert total({"clarity": 5, "tone": "rude", "kind of text": "essay"}) == 25


def test_a_label_without_points_leaves_its_criterion_out_of_that_total() -> None:
    labels = {"no": 0, "yes": 1, "does not apply": None}
    criteria = [{"name": "clarity", "scale": [1, 5]}, {"name": "sources", "labels": labels}]
    total = small(criteria=criteria).total
    assert total({"clarity": 2, "sources": "yes"}) == 62.5
    assert total({"clarity": 2, "sources": "does not apply"}) == 25
    alone = small(criteria=criteria[1:])
    assert alone.total({"sources": "does not apply"}) is None


def test_the_reason_stands_before_the_score_and_scores_are_listed() -> None:
    schema = small().answer_schema.schema
    assert list(schema["properties"]) == ["clarity", "tone", "kind_of_text", "language"]
    assert schema["properties"]["clarity"] == {
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            "score": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
        },
        "required": ["reason", "score"],
        "additionalProperties": False,
    }
    assert list(schema["properties"]["clarity"]["properties"]) == ["reason", "score"]
    assert next(iter(small(reasons="overall").answer_schema.schema["properties"])) == "reason"


@pytest.mark.parametrize(
    "bad",
    [
        "4",
        '"good"',
        "I give it a 4 out of 5.",
        "{}",
        '{"clarity": {"score": 4}}',
        '{"clarity": {"reason": "r", "score": 6}}',
        '{"clarity": {"reason": "r", "score": 4.5}}',
        '{"clarity": {"reason": "r", "score": "4"}}',
        '{"clarity": {"reason": "r", "score": true}}',
        '{"clarity": {"reason": "r", "score": null}}',
        '{"clarity": {"reason": "r", "score": 4, "more": 1}}',
        '{"clarity": {"reason": "r", "score": 4}, "more": 1}',
        '{"Clarity": {"reason": "r", "score": 4}}',
    ],
)
def test_what_does_not_fit_is_no_answer(bad: str) -> None:
    rubric = Rubric.of({"criteria": [{"name": "clarity", "scale": [1, 5]}]})
    with pytest.raises(InvalidAnswerError):
        rubric.answer_schema.read(bad)
    rubric.answer_schema.read('{"clarity": {"reason": "r", "score": 4}}')


@pytest.mark.parametrize(
    ("scale", "step", "good", "bad"),
    [
        ([0, 100], 1, [0, 57, 100], [-1, 101, 0.5]),
        ([0, 1000], 5, [0, 5, 995], [1, 1005]),
        ([0, 10], 0.1, [0, 0.1, 0.3, 9.9, 10], [0.15, 10.1]),
        ([-3, 3], 0.5, [-3, -0.5, 2.5], [0.25, -3.5]),
        ([1, 2], 0.1, [1, 1.3, 2], [1.35, 0.9]),
    ],
)
def test_the_schema_takes_the_values_of_the_scale_and_no_others(
    scale: list[float], step: float, good: list[float], bad: list[float]
) -> None:
    rubric = small(criteria=[{"name": "x", "scale": scale, "step": step}], reasons="none")

    def says(value: float) -> str:
        return json.dumps({"x": value, "language": "en"})

    for value in good:
        assert rubric.answer_schema.read(says(value))["x"] == value
        assert rubric.criterion("x").scale.value(value) == value
    for value in bad:
        with pytest.raises(InvalidAnswerError):
            rubric.answer_schema.read(says(value))
        with pytest.raises(InputError):
            rubric.criterion("x").scale.value(value)


def test_keys_of_the_answer_are_plain_and_unlike_whatever_the_columns_are_called() -> None:
    called = ["Klarheit & Stil", "論理", "reason", "a b", "a_b", "A.B", "1st", "é"]
    rubric = small(criteria=[{"name": name, "scale": [0, 1]} for name in called])
    assert list(rubric.keys.values()) == [
        *("Klarheit_Stil", "criterion_2", "reason_2", "a_b", "a_b_2", "A_B_3", "criterion_7"),
        *("e", "language"),
    ]
    assert rubric.columns()[::2][: len(called)] == tuple(called)


@patient
@given(rubrics())
def test_every_rubric_has_a_schema_that_strict_mode_and_the_other_providers_take(
    rubric: Rubric,
) -> None:
    schema = rubric.answer_schema
    assert strict_schema(schema).strict
    assert anthropic_schema(schema) is not None
    assert gemini_schema(schema.schema)["propertyOrdering"] == list(rubric.keys.values()) or (
        rubric.reasons == "overall"
    )
    for key in rubric.keys.values():
        assert key.isascii()
        assert key.replace("_", "").isalnum()
        assert len(key) <= 64


@patient
@given(rubrics())
def test_any_rubric_comes_back_from_its_data(rubric: Rubric) -> None:
    data = rubric.to_dict()
    again = Rubric.of(json.loads(json.dumps(data)))
    assert again == rubric
    assert again.fingerprint == rubric.fingerprint
    assert hash(again) == hash(rubric)
    assert again.answer_schema.canonical == rubric.answer_schema.canonical
    assert again.to_dict() == data
    assert jsonschema_rs.is_valid(Rubric.json_schema(), data)


@patient
@given(rubric=rubrics(), ascii_only=st.booleans())
def test_any_rubric_comes_back_from_a_json_file(
    tmp_path_factory: pytest.TempPathFactory, rubric: Rubric, ascii_only: bool
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.json"
    text = json.dumps(rubric.to_dict(), ensure_ascii=ascii_only)
    file.write_bytes(text.encode())
    assert Rubric.load(file) == rubric


@patient
@given(rubrics())
def test_columns_are_never_the_same(rubric: Rubric) -> None:
    columns = [name.casefold() for name in rubric.columns()]
    assert len(set(columns)) == len(columns)


def test_any_change_is_another_fingerprint() -> None:
    rubric = small()
    others = [
        small(instructions="x"),
        small(reasons="none"),
        small(name="other"),
        small(fields={}),
        small(criteria=SMALL["criteria"][:2]),
        small(examples=[{"text": "t", "grades": {"clarity": 1}}]),
    ]
    assert len({each.fingerprint for each in [rubric, *others]}) == 7
    assert small().fingerprint == rubric.fingerprint


def test_the_order_of_a_fields_properties_makes_another_rubric() -> None:
    one = {"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}}
    other = {"type": "object", "properties": {"b": {"type": "null"}, "a": {"type": "null"}}}
    assert small(fields={"x": one}) == small(fields={"x": one})
    assert small(fields={"x": one}) != small(fields={"x": other})


def test_numbers_written_otherwise_are_the_same_rubric() -> None:
    one = {"criteria": [{"name": "x", "scale": [1, 5], "weight": 1, "anchors": {"1": "low"}}]}
    other = {"criteria": {"x": {"scale": (1.0, 5.0), "weight": 1.0, "anchors": {1: "low"}}}}
    assert Rubric.of(one) == Rubric.of(other)
    assert Rubric.of(one).fingerprint == Rubric.of(other).fingerprint
    assert Rubric.of(one).answer_schema.canonical == Rubric.of(other).answer_schema.canonical


def test_a_rubric_is_made_of_a_rubric_a_mapping_a_path_and_nothing_else(tmp_path: Path) -> None:
    rubric = small()
    file = tmp_path / "r.json"
    file.write_text(json.dumps(SMALL))
    assert Rubric.of(rubric) is rubric
    assert Rubric.of(file).criteria == Rubric.of(str(file)).criteria == rubric.criteria
    assert Rubric.of(file).name == "r"
    with pytest.raises(InputError, match="not int"):
        Rubric.of(5)  # type: ignore[arg-type]


CLARITY = Criterion("clarity", NumberScale(1, 5))


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: Rubric("x", "", ()), "needs a criterion"),
        (lambda: Rubric("x", "", (CLARITY, CLARITY)), "same column"),
        (lambda: Rubric("x", "", (CLARITY,) * 41), "most is 40"),
        (lambda: Rubric("", "", (CLARITY,)), "empty"),
        (lambda: Rubric("x", "", (CLARITY,), reasons="some"), "reasons"),  # type: ignore[arg-type]
        (lambda: Rubric("x", "", (CLARITY,), _examples("clarity", 6)), "not on the scale"),
        (lambda: Rubric("x", "", (CLARITY,), _examples("clearness", 1)), "no criterion"),
        (lambda: Rubric("x", "", (CLARITY,), (), (Field("total", {"type": "null"}),)), "the total"),
        (lambda: Rubric("x", "a" * 100_001, (CLARITY,)), "100,001 letters"),
        (lambda: Rubric("x", "\ud800", (CLARITY,)), "surrogate"),
        (lambda: Rubric("x", "", (_wordy(),)), "larger than 1 MiB"),
        (lambda: Criterion("x", NumberScale(1, 5), weight=-1), "-1"),
        (lambda: Criterion("x", NumberScale(1, 5), weight=float("nan")), "number from"),
        (lambda: Criterion("x", NumberScale(1, 5), anchors=(Anchor(6, ""),)), "not on the scale"),
        (lambda: Criterion("x", NumberScale(1, 5), anchors=(Anchor(1, ""),) * 2), "two anchors"),
        (lambda: Criterion("a\nb", NumberScale(1, 5)), "cannot be seen"),
        (lambda: Criterion("a" * 65, NumberScale(1, 5)), "65 letters"),
        (lambda: NumberScale(5, 1), "from 5 to 1"),
        (lambda: NumberScale(1, 1), "from 1 to 1"),
        (lambda: NumberScale(0, 1, 0.3), "do not lead"),
        (lambda: NumberScale(0.5, 5), "do not lead"),
        (lambda: NumberScale(0, 5, 0), "above 0"),
        (lambda: NumberScale(0, 1, 1e-7), "1,000,000 steps"),
        (lambda: NumberScale(0, float("inf")), "number from"),
        (lambda: NumberScale(0, 10**400), "number from"),
        (lambda: NumberScale(False, True), "no number"),
        (lambda: NumberScale(0.5, 100.5), "multiple of its step"),
        (lambda: LabelScale(("a",)), "1 labels"),
        (lambda: LabelScale(("a", "A")), "twice"),
        (lambda: LabelScale(("a", "b"), (1, 1)), "two different"),
        (lambda: LabelScale(("a", "b"), (1,)), "as many"),
        (lambda: LabelScale(("a", "b"), (1, True)), "no number"),
        (lambda: Example(" ", (ExampleGrade("x", 1),)), "empty"),
        (lambda: Example("t", ()), "needs a grade"),
        (lambda: Field("x", {"$ref": "#/y"}), "references"),
        (lambda: Field("x", {"type": "text"}), "no valid JSON schema"),
        (lambda: Field("x", {"const": object()}), "not JSON"),
    ],
)
def test_parts_made_in_python_are_held_to_the_same_rules(make: Any, word: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert word in str(caught.value)


def _examples(name: str, value: int) -> tuple[Example, ...]:
    return (Example("t", (ExampleGrade(name, value),)),)


def _wordy() -> Criterion:
    anchors = tuple(Anchor(at, "a" * 100_000) for at in range(1, 12))
    return Criterion("x", NumberScale(1, 20), anchors=anchors)


def test_the_json_schema_names_the_keys_that_are_read() -> None:
    schema = Rubric.json_schema()
    jsonschema_rs.meta.validate(schema)
    listed, _ = schema["properties"]["criteria"]["anyOf"]
    example = schema["properties"]["examples"]["items"]
    grade = example["properties"]["grades"]["additionalProperties"]["anyOf"][1]
    assert tuple(schema["properties"]) == KEYS
    assert tuple(listed["items"]["properties"]) == CRITERION_KEYS
    assert tuple(example["properties"]) == EXAMPLE_KEYS
    assert tuple(grade["properties"]) == GRADE_KEYS


def test_the_json_schema_is_the_callers_own_to_change() -> None:
    Rubric.json_schema()["properties"].clear()
    assert Rubric.json_schema()["properties"]


def test_a_criterion_cannot_be_called_like_a_column_of_ours() -> None:
    for name in ("status", "Error"):
        with pytest.raises(InputError, match=name):
            Rubric.of({"criteria": [{"name": name, "scale": [1, 5]}]})
