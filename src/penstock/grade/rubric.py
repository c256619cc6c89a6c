"""A rubric: what texts are graded by, as data.

    rubric = Rubric.load("essay.yaml")
    rubric.answer_schema     # what the grader must answer
    rubric.columns()         # the columns that its answers come to

Not all of a rubric is shown to the grader: its name and the weights are not, so that another
weighting of the same grades costs no new question.

The answer has one key per criterion, made of plain letters because not every provider takes
others; names of columns stay as they were written.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from penstock.errors import InputError
from penstock.grade.criterion import (
    REASONS,
    Criterion,
    Example,
    ExampleGrade,
    Field,
    Reasons,
    check_text,
    clashes,
    columns_of,
)
from penstock.grade.rubric_file import (
    MOST_CRITERIA,
    MOST_EXAMPLES,
    MOST_FIELDS,
    load_parts,
    parts_of,
)
from penstock.grade.rubric_schema import RUBRIC_SCHEMA
from penstock.grade.scale import NumberScale, Value, check_name
from penstock.schema import AnswerSchema

__all__ = ["Rubric"]

LARGEST = 1 << 20
_ODD = re.compile(r"[^A-Za-z0-9_]+")
_LONGEST_KEY = 48


@dataclass(frozen=True)
class Rubric:
    """Criteria, what the grader is told about them, and what comes back."""

    name: str
    instructions: str
    criteria: tuple[Criterion, ...]
    examples: tuple[Example, ...] = ()
    fields: tuple[Field, ...] = ()
    reasons: Reasons = "each"

    @classmethod
    def load(cls, path: Path | str) -> Rubric:
        """From a YAML or JSON file; an InputError tells every mistake with its line."""
        return cls(*load_parts(Path(path).expanduser()))

    @classmethod
    def of(cls, source: Rubric | Mapping[str, Any] | Path | str) -> Rubric:
        """From a Rubric, plain data, or the path of a file."""
        if isinstance(source, cls):
            return source
        if isinstance(source, Mapping):
            return cls(*parts_of(source))
        if isinstance(source, str | Path):
            return cls.load(source)
        raise InputError(
            f"a rubric is a file or a mapping, not {type(source).__name__}",
            remedy="`penstock grade init` writes one to start from.",
        )

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The form of a rubric, for editors and documentation."""
        found: dict[str, Any] = orjson.loads(orjson.dumps(RUBRIC_SCHEMA))
        return found

    def __post_init__(self) -> None:
        check_name(self.name)
        check_text(self.instructions)
        if self.reasons not in REASONS:
            raise InputError(f"reasons is {self.reasons!r}; one of {', '.join(REASONS)} is wanted")
        limits = (
            ("criteria", self.criteria, MOST_CRITERIA),
            ("examples", self.examples, MOST_EXAMPLES),
            ("fields", self.fields, MOST_FIELDS),
        )
        for what, given, most in limits:
            if len(given) > most:
                raise InputError(f"there are {len(given)} {what}; the most is {most}")
        if not any(criterion.weight for criterion in self.criteria):
            raise InputError("a rubric needs a criterion with a weight above 0")
        for clash in clashes(columns_of(self.criteria, self.fields, self.reasons)):
            raise clash.error
        for example in self.examples:
            for grade in example.grades:
                self.criterion(grade.criterion).scale.value(grade.value)
        if len(self._canonical) > LARGEST:
            raise InputError(f"the rubric is larger than {LARGEST >> 20} MiB, the most there is")

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def criterion(self, name: str) -> Criterion:
        """A criterion by its name."""
        for criterion in self.criteria:
            if criterion.name == name:
                return criterion
        names = ", ".join(criterion.name for criterion in self.criteria)
        raise InputError(f"there is no criterion {name!r}", remedy=f"There are {names}.")

    # What comes back --------------------------------------------------------------------------

    @cached_property
    def keys(self) -> dict[str, str]:
        """The keys of the answer, by the names of criteria and fields."""
        taken = {"reason"}
        found: dict[str, str] = {}
        named = [(each.name, f"criterion_{at}") for at, each in enumerate(self.criteria, 1)]
        named += [(each.name, f"field_{at}") for at, each in enumerate(self.fields, 1)]
        for name, otherwise in named:
            key = plain = _plain(name) or otherwise
            count = 1
            while key.lower() in taken:
                count += 1
                key = f"{plain}_{count}"
            taken.add(key.lower())
            found[name] = key
        return found

    @cached_property
    def answer_schema(self) -> AnswerSchema:
        """What the grader must answer: of each criterion the reason first, then the score."""
        properties: dict[str, Any] = {}
        if self.reasons == "overall":
            properties["reason"] = {"type": "string"}
        for criterion in self.criteria:
            score = criterion.scale.schema()
            if self.reasons == "each":
                score = _closed({"reason": {"type": "string"}, "score": score})
            properties[self.keys[criterion.name]] = score
        for each in self.fields:
            properties[self.keys[each.name]] = dict(each.schema)
        return AnswerSchema.of({"title": "grades", **_closed(properties)})

    def columns(self, prefix: str = "") -> tuple[str, ...]:
        """The columns of the grades, in order."""
        return tuple(prefix + column.name for column in self._columns)

    @property
    def has_total(self) -> bool:
        """Whether any criterion counts towards a total."""
        return any(criterion.counts for criterion in self.criteria)

    def total(self, values: Mapping[str, Value]) -> float | None:
        """The weighted mean of the criteria that count, each brought to 0..100.

        A label that has no points is left out, with its weight; None where nothing is left.
        """
        counted = [
            (criterion.weight, part)
            for criterion in self.criteria
            if criterion.counts
            and (part := criterion.scale.part(values[criterion.name])) is not None
        ]
        if not counted:
            return None
        weights = math.fsum(weight for weight, _ in counted)
        mean = math.fsum(weight * part for weight, part in counted) / weights
        return round(100 * mean, 4)  # no rounding of the mean outlives this one

    @cached_property
    def _columns(self) -> tuple[Any, ...]:
        return tuple(columns_of(self.criteria, self.fields, self.reasons))

    # As data ----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, from which `Rubric.of` makes an equal one."""
        return {
            "name": self.name,
            "instructions": self.instructions,
            "criteria": [_criterion_data(criterion) for criterion in self.criteria],
            "examples": [_example_data(example) for example in self.examples],
            "fields": {each.name: orjson.loads(orjson.dumps(each.schema)) for each in self.fields},
            "reasons": self.reasons,
        }

    @cached_property
    def fingerprint(self) -> str:
        """The same for equal rubrics, and for no others."""
        return sha256(self._canonical).hexdigest()[:32]

    @cached_property
    def _canonical(self) -> bytes:
        return orjson.dumps(_same_numbers(self.to_dict()))


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _plain(name: str) -> str:
    """Plain letters, digits and underscores for a name; nothing where too little is left of it."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    key = _ODD.sub("_", plain).strip("_")[:_LONGEST_KEY]
    return key if key[:1].isalpha() else ""


def _criterion_data(criterion: Criterion) -> dict[str, Any]:
    scale = criterion.scale
    found: dict[str, Any] = {"name": criterion.name, "description": criterion.description}
    found["weight"] = criterion.weight
    if isinstance(scale, NumberScale):
        found |= {"scale": [scale.low, scale.high], "step": scale.step}
    elif scale.points is None:
        found["labels"] = list(scale.labels)
    else:
        found["labels"] = dict(zip(scale.labels, scale.points, strict=True))
    found["anchors"] = {str(anchor.value): anchor.text for anchor in criterion.anchors}
    return found


def _example_data(example: Example) -> dict[str, Any]:
    grades = {grade.criterion: _grade_data(grade) for grade in example.grades}
    return {"text": example.text, "grades": grades, "note": example.note}


def _grade_data(grade: ExampleGrade) -> Any:
    return {"score": grade.value, "reason": grade.reason} if grade.reason else grade.value


def _same_numbers(value: Any) -> Any:
    """1 and 1.0 are the same rubric."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _same_numbers(item) for key, item in value.items()}
    return [_same_numbers(item) for item in value] if isinstance(value, list) else value
