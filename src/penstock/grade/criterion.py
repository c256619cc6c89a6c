"""The parts of a rubric: criteria, examples, further fields; and the columns they come to.

Each part checks itself when it is made, so that a rubric made in Python is held to the same rules
as one read from a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import orjson

from penstock.errors import InputError
from penstock.grade.scale import Scale, Value, check_name, number, said
from penstock.schema import AnswerSchema

__all__ = [
    "REASONS",
    "Anchor",
    "Clash",
    "Column",
    "Criterion",
    "Example",
    "ExampleGrade",
    "Field",
    "Reasons",
    "check_text",
    "clashes",
    "columns_of",
]

Reasons = Literal["each", "overall", "none"]
REASONS = ("each", "overall", "none")
LONGEST_TEXT = 100_000
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$defs", "definitions"})


class Anchor(NamedTuple):
    """What a value of a scale looks like."""

    value: Value
    text: str


@dataclass(frozen=True)
class Criterion:
    """One thing that is graded. `weight` is its share in the total."""

    name: str
    scale: Scale
    description: str = ""
    weight: int | float = 1
    anchors: tuple[Anchor, ...] = ()

    def __post_init__(self) -> None:
        check_name(self.name, "the name of a criterion")
        check_text(self.description)
        if number(self.weight) < 0:
            raise InputError(f"the weight is {said(self.weight)}; 0 or more is wanted")
        anchors = {self.scale.value(value): check_text(text) for value, text in self.anchors}
        if len(anchors) < len(self.anchors):
            raise InputError("a value has two anchors")
        ordered = sorted(anchors.items(), key=lambda anchor: self.scale.place(anchor[0]))
        object.__setattr__(self, "anchors", tuple(Anchor(*anchor) for anchor in ordered))

    @property
    def counts(self) -> bool:
        """Whether it has a part in the total."""
        return self.weight > 0 and self.scale.counts


class ExampleGrade(NamedTuple):
    """What an example gets by one criterion."""

    criterion: str
    value: Value
    reason: str = ""


@dataclass(frozen=True)
class Example:
    """A text with its grades, which is shown to the grader."""

    text: str
    grades: tuple[ExampleGrade, ...]
    note: str = ""

    def __post_init__(self) -> None:
        if not check_text(self.text).strip():
            raise InputError("the text of an example is empty")
        check_text(self.note)
        if not self.grades:
            raise InputError("an example needs a grade")


@dataclass(frozen=True)
class Field:
    """A further part of the answer, by its JSON schema; it comes back as a column."""

    name: str
    schema: Mapping[str, Any] = field(compare=False)
    _text: str = field(init=False, repr=False, default="")
    """The schema with the order of its properties, which models write in."""

    def __post_init__(self) -> None:
        check_name(self.name, "the name of a field")
        if not isinstance(self.schema, Mapping):
            raise InputError(
                f"{said(self.schema)}; a JSON schema is wanted", remedy="Such as {type: string}."
            )
        try:
            text = orjson.dumps(self.schema).decode()
            plain = orjson.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"the schema is not JSON: {error}") from None
        if _has_reference(plain):
            raise InputError(
                "references cannot be used here", remedy="Write the schema out where it is meant."
            )
        AnswerSchema.of({"type": "object", "properties": {"value": plain}})
        object.__setattr__(self, "schema", plain)
        object.__setattr__(self, "_text", text)


class Column(NamedTuple):
    """A column that grades come to, and the part of the rubric it is made of."""

    name: str
    whose: str
    owner: Criterion | Field | None


class Clash(NamedTuple):
    """Two columns of one name, and the part that is to be renamed."""

    owner: Criterion | Field
    error: InputError


def columns_of(
    criteria: Sequence[Criterion], fields: Sequence[Field], reasons: Reasons
) -> list[Column]:
    """All columns, in their order."""
    found = []
    for criterion in criteria:
        whose = f"the criterion {criterion.name!r}"
        found.append(Column(criterion.name, whose, criterion))
        if reasons == "each":
            found.append(Column(f"{criterion.name}_reason", f"the reason of {whose}", criterion))
    if reasons == "overall":
        found.append(Column("reason", "the reason of the grades", None))
    found += [Column(each.name, f"the field {each.name!r}", each) for each in fields]
    if any(criterion.counts for criterion in criteria):
        found.append(Column("total", "the total", None))
    return found


_OURS = (
    Column("status", "what became of the row", None),
    Column("error", "what went wrong with it", None),
)


def clashes(columns: Sequence[Column]) -> Iterator[Clash]:
    """Columns that would have the same name, capital letters aside; one for each part."""
    first: dict[str, Column] = {column.name: column for column in _OURS}
    told: list[Criterion | Field] = []
    for column in columns:
        before = first.setdefault(column.name.casefold(), column)
        if before is column:
            continue
        owner = column.owner or before.owner
        if owner is not None and not any(owner is each for each in told):
            told.append(owner)
            said_twice = f"{column.whose} would stand in the same column as {before.whose}"
            yield Clash(owner, InputError(said_twice, remedy="Give it another name."))


def check_text(text: Any) -> str:
    """A text that can be sent: whole characters, and not without end."""
    if not isinstance(text, str):
        remedy = f'For the text write "{text}".' if isinstance(text, int | float) else ""
        raise InputError(f"{said(text)}; a text is wanted", remedy=remedy)
    if len(text) > LONGEST_TEXT:
        raise InputError(f"a text of {len(text):,} letters; the most is {LONGEST_TEXT:,}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError("half a character (a surrogate) cannot be sent") from None
    return text


def _has_reference(schema: Any) -> bool:
    if isinstance(schema, dict):
        return not _REFERENCES.isdisjoint(schema) or any(map(_has_reference, schema.values()))
    return isinstance(schema, list) and any(map(_has_reference, schema))
