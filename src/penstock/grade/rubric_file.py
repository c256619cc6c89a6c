"""Reading a rubric: YAML, JSON or a mapping in; its parts out, or all that is wrong with it.

YAML keys are text, so that `anchors: {1: ...}` is understood by the scale it belongs to. JSON is
read as the YAML that it is, which gives it lines too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from penstock.documents import files
from penstock.documents.problems import Part, Problems, unknown
from penstock.documents.problems import Path as Place
from penstock.errors import InputError
from penstock.grade.criterion import (
    REASONS,
    Anchor,
    Criterion,
    Example,
    ExampleGrade,
    Field,
    Reasons,
    check_text,
    clashes,
    columns_of,
)
from penstock.grade.scale import LabelScale, NumberScale, Scale, check_name, number, said
from penstock.yamlfile import Document

__all__ = ["MOST_CRITERIA", "MOST_EXAMPLES", "MOST_FIELDS", "Parts", "load_parts", "parts_of"]

# 40 criteria of 25 labels are the 1,000 enum values that OpenAI takes in one schema.
MOST_CRITERIA = 40
MOST_EXAMPLES = 100
MOST_FIELDS = 40

KEYS = ("name", "instructions", "criteria", "examples", "fields", "reasons")
CRITERION_KEYS = ("name", "description", "weight", "scale", "step", "labels", "anchors")
EXAMPLE_KEYS = ("text", "grades", "note")
GRADE_KEYS = ("score", "reason")
_HINTS = {
    "title": "name", "prompt": "instructions", "system_prompt": "instructions",
    "instruction": "instructions", "few_shot": "examples", "criterion": "criteria",
    "output": "fields", "schema": "fields", "reason": "reasons",
}  # fmt: skip
_CRITERION_HINTS = {
    "range": "scale", "min": "scale", "max": "scale", "options": "labels", "choices": "labels",
    "categories": "labels", "levels": "anchors", "text": "description",
}  # fmt: skip
_EXAMPLE_HINTS = {"scores": "grades", "score": "grades", "answer": "text", "comment": "note"}
_GRADE_HINTS = {"value": "score", "label": "score", "grade": "score", "why": "reason"}
_UNNAMED = "rubric"
_USUAL_WEIGHT: int | float = 1
_STARTER = "`penstock grade init` writes one to start from."


class Parts(NamedTuple):
    """What a rubric is made of."""

    name: str
    instructions: str
    criteria: tuple[Criterion, ...]
    examples: tuple[Example, ...]
    fields: tuple[Field, ...]
    reasons: Reasons


def load_parts(path: Path) -> Parts:
    """From a file; by its suffix JSON, else YAML."""
    document = files.read(path)
    return _Reader(document.name, document).whole(document.data, _name_of(path))


def _name_of(path: Path) -> str:
    try:
        return check_name(path.stem)
    except InputError:
        return _UNNAMED


def parts_of(data: Mapping[str, Any]) -> Parts:
    """From plain data."""
    return _Reader("the rubric").whole(data, _UNNAMED)


class _Reader:
    """Reads all of it, noting what is wrong on the way."""

    def __init__(self, name: str, document: Document | None = None) -> None:
        self._problems = Problems(name, document)
        self._owners: dict[int, Place] = {}
        self._known: dict[str, Criterion | None] = {}

    def whole(self, data: Any, name: str) -> Parts:
        if not isinstance(data, Mapping):
            shown = "it is empty" if data is None else "it is no mapping"
            remedy = f"Write name:, instructions: and criteria:. {_STARTER}"
            self._problems.add((), InputError(shown, remedy=remedy))
            self._problems.check()
        part = Part(self._problems, (), data)
        part.only(KEYS, _HINTS)
        reasons: Reasons = part.get("reasons", _a_kind_of_reasons, "each")
        criteria = self._criteria(part)
        fields = self._fields(part)
        parts = Parts(
            part.get("name", check_name, name),
            part.get("instructions", check_text, ""),
            criteria,
            self._examples(part),
            fields,
            reasons,
        )
        for clash in clashes(columns_of(criteria, fields, reasons)):
            self._problems.add(self._owners[id(clash.owner)], clash.error)
        if criteria and not len(self._problems) and not any(each.weight for each in criteria):
            self._problems.add(("criteria",), InputError("all weights are 0"))
        self._problems.check()
        return parts

    # Criteria ---------------------------------------------------------------------------------

    def _criteria(self, part: Part) -> tuple[Criterion, ...]:
        given = part.data.get("criteria")
        if not isinstance(given, Mapping | list | tuple) or not given:
            shown = "criteria are missing" if given is None else "at least one is wanted"
            place: Place = () if given is None else ("criteria",)
            self._problems.add(place, InputError(shown, remedy=_STARTER))
            return ()
        self._limit(("criteria",), len(given), MOST_CRITERIA)
        entries: list[tuple[Place, Any, Any]]
        if isinstance(given, Mapping):
            entries = [(("criteria", str(key)), key, each) for key, each in given.items()]
        else:
            entries = [(("criteria", at), None, each) for at, each in enumerate(given)]
        found = [self._criterion(*entry) for entry in entries[:MOST_CRITERIA]]
        return tuple(criterion for criterion in found if criterion is not None)

    def _criterion(self, path: Place, key: Any, given: Any) -> Criterion | None:
        if not isinstance(given, Mapping):
            wanted = InputError(f"{_shown(given)}; a name and a scale or labels are wanted")
            self._problems.add(path, wanted)
            return None
        part = Part(self._problems, path, given)
        before = len(self._problems)
        name = self._name(part, key)
        part.only(CRITERION_KEYS, _CRITERION_HINTS)
        description = part.get("description", check_text, "")
        weight = part.get("weight", _a_weight, _USUAL_WEIGHT)
        scale = self._scale(part)
        anchors = self._anchors(part, scale) if scale is not None else ()
        self._known.setdefault(name, None)
        if scale is None or len(self._problems) > before:
            return None
        make = partial(Criterion, name, scale, description, weight, anchors)
        made = self._problems.tried(path, make)
        if made is not None:
            self._owners[id(made)] = path
            self._known[name] = made
        return made

    def _name(self, part: Part, key: Any) -> str:
        if key is None and "name" not in part:
            self._problems.add(part.path, InputError("it has no name", remedy="Write name: ..."))
            return ""
        if key is not None and "name" in part and part.data["name"] != key:
            twice = InputError(f"it is called {key!r} already", remedy="Leave this name out.")
            self._problems.add((*part.path, "name"), twice)
        given = part.data["name"] if key is None else key
        place = (*part.path, "name") if key is None else part.path
        name = self._problems.tried(place, partial(check_name, given, "the name of a criterion"))
        if name is None:
            return ""
        self._problems.name(part.path, name)
        return name

    def _scale(self, part: Part) -> Scale | None:
        if ("scale" in part) == ("labels" in part):
            both = "scale" in part
            wanted = InputError(
                "it has both a scale and labels" if both else "it has neither a scale nor labels",
                remedy="Write one: scale: [1, 5], or labels: [poor, fair, good].",
            )
            self._problems.add(part.path, wanted)
            return None
        if "labels" in part:
            if "step" in part:
                self._problems.add((*part.path, "step"), InputError("labels have no step"))
            return part.get("labels", _labels, None)
        step: int | float | None = part.get("step", _a_step, None)
        if "step" in part and step is None:
            return None  # noted already
        return part.get("scale", partial(_numbers, step=step or 1), None)

    def _anchors(self, part: Part, scale: Scale) -> tuple[Anchor, ...]:
        given: Mapping[Any, Any] = part.get("anchors", _a_mapping, {})
        found: dict[Any, Anchor] = {}
        for key, text in given.items():
            place: Place = (*part.path, "anchors", str(key))
            value = self._problems.tried(place, partial(scale.named, key))
            words = self._problems.tried(place, partial(check_text, text))
            if value in found:
                self._problems.add(place, InputError(f"{said(value)} has two anchors"))
            elif value is not None and words is not None:
                found[value] = Anchor(value, words)
        return tuple(found.values())

    # Examples and fields ----------------------------------------------------------------------

    def _examples(self, part: Part) -> tuple[Example, ...]:
        given: Sequence[Any] = part.get("examples", _a_list, [])
        self._limit(("examples",), len(given), MOST_EXAMPLES)
        paths: list[Place] = [("examples", at) for at in range(len(given))]
        found = [self._example(*each) for each in zip(paths[:MOST_EXAMPLES], given, strict=False)]
        return tuple(example for example in found if example is not None)

    def _example(self, path: Place, given: Any) -> Example | None:
        if not isinstance(given, Mapping):
            shown = _shown(given)
            self._problems.add(path, InputError(f"{shown}; text: and grades: are wanted"))
            return None
        part = Part(self._problems, path, given)
        before = len(self._problems)
        part.only(EXAMPLE_KEYS, _EXAMPLE_HINTS)
        for key in ("text", "grades"):
            if key not in part:
                self._problems.add(path, InputError(f"{key} is missing"))
        text = part.get("text", check_text, "")
        note = part.get("note", check_text, "")
        grades: Mapping[Any, Any] = part.get("grades", _a_mapping, {})
        found = [self._grade((*path, "grades", str(key)), key, grades[key]) for key in grades]
        if len(self._problems) > before:
            return None
        wanted = tuple(grade for grade in found if grade is not None)
        if found and not wanted:  # they are of criteria that are wrong themselves
            return None
        return self._problems.tried(path, partial(Example, text, wanted, note))

    def _grade(self, path: Place, name: Any, given: Any) -> ExampleGrade | None:
        if name not in self._known:
            known = [each for each in self._known if each]
            self._problems.add(path, unknown(str(name), known))
            return None
        criterion = self._known[name]
        if criterion is None:
            return None
        reason = ""
        if isinstance(given, Mapping):
            part = Part(self._problems, path, given)
            part.only(GRADE_KEYS, _GRADE_HINTS)
            reason = part.get("reason", check_text, "")
            if "score" not in part:
                self._problems.add(path, InputError("score is missing"))
                return None
            given, path = given["score"], (*path, "score")
        value = self._problems.tried(path, partial(criterion.scale.value, given))
        return None if value is None else ExampleGrade(criterion.name, value, reason)

    def _fields(self, part: Part) -> tuple[Field, ...]:
        given: Mapping[Any, Any] = part.get("fields", _a_mapping, {})
        self._limit(("fields",), len(given), MOST_FIELDS)
        found = []
        for name, schema in list(given.items())[:MOST_FIELDS]:
            path: Place = ("fields", str(name))
            made = self._problems.tried(path, partial(Field, name, schema))
            if made is not None:
                self._owners[id(made)] = path
                found.append(made)
        return tuple(found)

    def _limit(self, path: Place, count: int, most: int) -> None:
        if count > most:
            self._problems.add(path, InputError(f"there are {count:,}; the most is {most}"))


def _numbers(given: Any, step: int | float) -> NumberScale:
    if not isinstance(given, list | tuple) or len(given) != 2:
        shown = _shown(given)
        raise InputError(f"{shown}; two numbers are wanted", remedy="Such as [1, 5].")
    return NumberScale(number(given[0]), number(given[1]), step)


def _labels(given: Any) -> LabelScale:
    if isinstance(given, Mapping):
        return LabelScale(tuple(given), tuple(given.values()))
    if isinstance(given, list | tuple):
        return LabelScale(tuple(given))
    raise InputError(f"{_shown(given)}; a list is wanted", remedy="Such as [poor, fair, good].")


def _a_weight(given: Any) -> int | float:
    if number(given) < 0:
        raise InputError(f"it is {said(given)}; 0 or more is wanted")
    return number(given)


def _a_step(given: Any) -> int | float:
    if number(given) <= 0:
        raise InputError(f"it is {said(given)}; a number above 0 is wanted")
    return number(given)


def _a_kind_of_reasons(given: Any) -> Reasons:
    if given not in REASONS:
        raise InputError(f"it is {said(given)}", remedy=f"Allowed are {', '.join(REASONS)}.")
    kind: Reasons = given
    return kind


def _a_mapping(given: Any) -> Mapping[Any, Any]:
    if not isinstance(given, Mapping):
        raise InputError(f"{_shown(given)}; names and values are wanted, indented")
    return given


def _a_list(given: Any) -> Sequence[Any]:
    if not isinstance(given, list | tuple):
        raise InputError(f"{_shown(given)}; a list is wanted, each item with a dash")
    return given


def _shown(given: Any) -> str:
    if isinstance(given, Mapping):
        return "it is a mapping"
    if isinstance(given, list | tuple):
        return "it is a list"
    return "it is empty" if given is None else f"it is {said(given)}"
