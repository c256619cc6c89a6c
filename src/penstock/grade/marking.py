"""Marks: what a grader's answer says, and several graders' answers as one.

An answer that does not fit the rubric raises InvalidAnswerError; it never becomes a score.
"""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from penstock.errors import InputError
from penstock.grade.criterion import Criterion
from penstock.grade.rubric import Rubric
from penstock.grade.scale import NumberScale, Value
from penstock.schema import InvalidAnswerError

__all__ = ["Grade", "How", "Mark", "as_columns", "combine", "read"]

How = Literal["mean", "majority", "median"]


class Grade(NamedTuple):
    """What a text gets by one criterion."""

    value: Value
    reason: str | None = None


@dataclass(frozen=True)
class Mark:
    """What a text gets by a rubric."""

    grades: Mapping[str, Grade]
    """By the names of the criteria."""
    reason: str | None = None
    """For all grades, where the rubric asks for one reason."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    total: float | None = None

    def value(self, criterion: str) -> Value:
        """The score or label by a criterion."""
        return self.grades[criterion].value


def read(rubric: Rubric, value: Any) -> Mark:
    """The mark in a validated answer; whatever is not one raises InvalidAnswerError."""
    if not isinstance(value, Mapping):
        raise InvalidAnswerError("the answer is no object")
    grades = {each.name: _grade(rubric, each, value) for each in rubric.criteria}
    fields = {each.name: _part(value, rubric.keys[each.name]) for each in rubric.fields}
    reason = _text(_part(value, "reason"), "reason") if rubric.reasons == "overall" else None
    return Mark(grades, reason, fields, _total(rubric, grades))


def combine(rubric: Rubric, marks: Sequence[Mark], how: How = "mean") -> Mark:
    """One mark from those of several graders of the same text.

    Scores: their mean, their median, or the one given most often (of several, the one nearest to
    the median, of two equally near the lower). Labels: always the one given most often (of
    several, the one that stands first in the rubric). A criterion's reason is that of the first
    grader whose grade is nearest to the result; a reason for all, and fields on which no value
    has the most votes, are those of the grader who is nearest on the whole. The total is that of
    the combined grades.
    """
    if how not in get_args(How):
        raise InputError(f"how is {how!r}", remedy=f"Allowed are {', '.join(get_args(How))}.")
    if not marks:
        raise InputError("there is no mark to combine")
    if len(marks) == 1:
        return marks[0]
    grades = {each.name: _combined(each, marks, how) for each in rubric.criteria}
    nearest = min(marks, key=lambda mark: _distance(rubric, mark, grades))
    return Mark(
        grades,
        nearest.reason,
        {each.name: _voted(each.name, marks, nearest) for each in rubric.fields},
        _total(rubric, grades),
    )


def as_columns(rubric: Rubric, mark: Mark, names: Sequence[str] | None = None) -> dict[str, Any]:
    """The cells of a row. `names`: what the columns are called, in the order of the rubric's."""
    cells: list[Any] = []
    for criterion in rubric.criteria:
        grade = mark.grades[criterion.name]
        cells += [grade.value, grade.reason] if rubric.reasons == "each" else [grade.value]
    if rubric.reasons == "overall":
        cells.append(mark.reason)
    cells += [mark.fields[each.name] for each in rubric.fields]
    if rubric.has_total:
        cells.append(mark.total)
    columns = rubric.columns() if names is None else names
    if len(columns) != len(cells):
        raise InputError(f"there are {len(columns)} names for {len(cells)} columns")
    return dict(zip(columns, cells, strict=True))


# Reading --------------------------------------------------------------------------------------


def _grade(rubric: Rubric, criterion: Criterion, answer: Mapping[str, Any]) -> Grade:
    key = rubric.keys[criterion.name]
    given, reason = _part(answer, key), None
    if rubric.reasons == "each":
        if not isinstance(given, Mapping):
            raise InvalidAnswerError(f"{key}: a reason and a score are wanted")
        reason = _text(_part(given, "reason", key), f"{key}/reason")
        given = _part(given, "score", key)
    try:
        return Grade(criterion.scale.value(given), reason)
    except InputError as error:
        raise InvalidAnswerError(f"{key}: {error.message}") from None


def _part(answer: Mapping[str, Any], key: str, inside: str = "") -> Any:
    if key not in answer:
        raise InvalidAnswerError(f"{f'{inside}/' if inside else ''}{key} is missing")
    return answer[key]


def _text(given: Any, where: str) -> str:
    if not isinstance(given, str):
        raise InvalidAnswerError(f"{where}: a text is wanted")
    return given


def _total(rubric: Rubric, grades: Mapping[str, Grade]) -> float | None:
    return rubric.total({name: grade.value for name, grade in grades.items()})


# Combining ------------------------------------------------------------------------------------


def _combined(criterion: Criterion, marks: Sequence[Mark], how: How) -> Grade:
    grades = [mark.grades[criterion.name] for mark in marks]
    value = _agreed(criterion, [grade.value for grade in grades], how)
    nearest = min(grades, key=lambda grade: _apart(criterion, grade.value, value))
    return Grade(value, nearest.reason)


def _agreed(criterion: Criterion, values: Sequence[Any], how: How) -> Value:
    scale = criterion.scale
    if isinstance(scale, NumberScale) and how == "mean":
        mean = math.fsum(values) / len(values)
        return float(min(max(values), max(min(values), mean)))  # rounding leads nowhere else
    if isinstance(scale, NumberScale) and how == "median":
        return float(statistics.median(values))
    votes = Counter(values)
    most = max(votes.values())
    tied = sorted((value for value in votes if votes[value] == most), key=scale.place)
    if not isinstance(scale, NumberScale):
        return str(tied[0])
    middle = statistics.median(values)
    chosen: Value = min(tied, key=lambda value: abs(value - middle))
    return chosen


def _apart(criterion: Criterion, one: Any, other: Any) -> float:
    """How far two grades are apart, from 0 to 1."""
    scale = criterion.scale
    if isinstance(scale, NumberScale):
        return float(abs(one - other) / (scale.high - scale.low))
    return float(one != other)


def _distance(rubric: Rubric, mark: Mark, grades: Mapping[str, Grade]) -> float:
    return math.fsum(
        _apart(each, mark.grades[each.name].value, grades[each.name].value)
        for each in rubric.criteria
    )


def _voted(name: str, marks: Sequence[Mark], nearest: Mark) -> Any:
    """What most graders say of a field, by its JSON."""
    said = [json.dumps(mark.fields[name], sort_keys=True) for mark in marks]
    votes = Counter(said)
    most = max(votes.values())
    tied = {text for text in votes if votes[text] == most}
    if len(tied) > 1:
        return nearest.fields[name]
    return next(mark.fields[name] for mark, text in zip(marks, said, strict=True) if text in tied)
