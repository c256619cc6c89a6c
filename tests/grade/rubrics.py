"""Rubrics and answers of all kinds, for the tests that hold for any of them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from penstock.grade.criterion import Anchor, Criterion, Example, ExampleGrade, Field
from penstock.grade.rubric import Rubric
from penstock.grade.scale import LabelScale, NumberScale, Scale

patient = settings(deadline=None)
"""For a machine that has other work."""

_LETTERS = "abcXYZéß論_ &-./9"
_TAKEN = {"total", "reason"}
_SCHEMAS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "boolean", "description": "whether"},
    {"type": ["integer", "null"], "minimum": 0},
    {"type": "array", "items": {"enum": ["a", "b"]}},
]


def _sound(name: str) -> bool:
    plain = name == name.strip() and name != "" and not name.endswith("_reason")
    return plain and name.casefold() not in _TAKEN


names = st.text(_LETTERS, min_size=1, max_size=12).filter(_sound)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
full_texts = texts.filter(str.strip)


@st.composite
def number_scales(draw: st.DrawFn) -> NumberScale:
    step = Decimal(draw(st.sampled_from(["1", "2", "5", "0.5", "0.1", "0.25", "0.01"])))
    low = draw(st.integers(-200, 200)) * step
    high = low + draw(st.integers(1, 300)) * step
    numbers = [int(each) if each == int(each) else float(each) for each in (low, high, step)]
    return NumberScale(*numbers)


@st.composite
def label_scales(draw: st.DrawFn) -> LabelScale:
    labels = draw(st.lists(names, min_size=2, max_size=6, unique_by=str.casefold))
    if draw(st.booleans()):
        return LabelScale(tuple(labels))
    points = st.none() | st.floats(-10, 10) | st.integers(-5, 5)
    size = len(labels)
    several = st.lists(points, min_size=size, max_size=size).filter(
        lambda given: len(set(given) - {None}) > 1
    )
    return LabelScale(tuple(labels), tuple(draw(several)))


scales: st.SearchStrategy[Scale] = number_scales() | label_scales()


def values(scale: Scale) -> st.SearchStrategy[Any]:
    """Values by the words of the schema alone."""
    schema = scale.schema()
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    step = Decimal(str(schema.get("multipleOf", 1)))
    low, high = (int(Decimal(str(schema[bound])) / step) for bound in ("minimum", "maximum"))
    return st.integers(low, high).map(
        lambda place: int(place * step) if step == int(step) else float(place * step)
    )


@st.composite
def rubrics(draw: st.DrawFn, most: int = 4) -> Rubric:
    called = draw(st.lists(names, min_size=1, max_size=most + 2, unique_by=str.casefold))
    count = draw(st.integers(1, min(most, len(called))))
    criteria = [draw(_criterion(name)) for name in called[:count]]
    if not any(criterion.weight for criterion in criteria):
        criteria[0] = Criterion(criteria[0].name, criteria[0].scale)
    fields = [Field(name, draw(st.sampled_from(_SCHEMAS))) for name in called[count:]]
    return Rubric(
        draw(names),
        draw(texts),
        tuple(criteria),
        tuple(draw(st.lists(_example(criteria), max_size=3))),
        tuple(fields),
        draw(st.sampled_from(["each", "overall", "none"])),
    )


@st.composite
def _criterion(draw: st.DrawFn, name: str) -> Criterion:
    scale = draw(scales)
    held = draw(st.lists(values(scale), max_size=3, unique=True))
    anchors = tuple(Anchor(value, draw(texts)) for value in held)
    weight = draw(st.floats(0, 100) | st.integers(0, 5))
    return Criterion(name, scale, draw(texts), weight, anchors)


@st.composite
def _example(draw: st.DrawFn, criteria: list[Criterion]) -> Example:
    graded = draw(st.lists(st.sampled_from(criteria), min_size=1, unique_by=lambda each: each.name))
    grades = (ExampleGrade(each.name, draw(values(each.scale)), draw(texts)) for each in graded)
    return Example(draw(full_texts), tuple(grades), draw(texts))


@st.composite
def answers(draw: st.DrawFn, rubric: Rubric) -> dict[str, Any]:
    """What a grader that keeps to the schema says."""
    contents = {
        "string": texts,
        "boolean": st.booleans(),
        "array": st.lists(st.sampled_from(["a", "b"]), max_size=3),
    }
    made: dict[str, Any] = {}
    if rubric.reasons == "overall":
        made["reason"] = draw(texts)
    for criterion in rubric.criteria:
        score = draw(values(criterion.scale))
        alone = rubric.reasons != "each"
        key = rubric.keys[criterion.name]
        made[key] = score if alone else {"reason": draw(texts), "score": score}
    for each in rubric.fields:
        kind = each.schema["type"]
        content = contents[kind] if isinstance(kind, str) else st.none() | st.integers(0, 9)
        made[rubric.keys[each.name]] = draw(content)
    return made
