"""The form of an answer: whether it is JSON, and whether it does as it was told.

`format` counts what instructions usually ask for (words, sentences, paragraphs, items of lists,
words to use and to avoid). An answer is right where all of its checks hold; for a corpus the share
of single checks that hold is told beside the mean, as IFEval tells both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

from penstock.errors import InputError
from penstock.metrics.checks import check_choice, check_flags
from penstock.metrics.metric import Measured, Metric
from penstock.metrics.score import Sample, Score
from penstock.metrics.unread import shortened
from penstock.metrics.wording import bullets, sentences, words

__all__ = ["Format", "JsonValid", "unfenced"]

_FENCED = re.compile(r"\A```[ \t]*(?:json)?[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\Z", re.S | re.I)


@dataclass(frozen=True, kw_only=True)
class JsonValid(Metric):
    """1 where the answer is JSON, and fits `schema` where there is one.

    It is taken as it stands: nothing is repaired, and nothing may stand around it but blanks and,
    with `fenced`, one Markdown fence.
    """

    schema: Mapping[str, Any] | None = None
    fenced: bool = True

    name = "json_valid"
    summary = "Whether the answer is JSON, and fits a schema."

    def __post_init__(self) -> None:
        check_flags(self, "fenced")
        if self.schema is not None:
            object.__setattr__(self, "_validator", _validator(self.schema))

    def measure(self, answer: str, sample: Sample) -> Measured:
        import orjson

        text = unfenced(answer) if self.fenced else answer.strip()
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            return Score(0.0, reason=f"no JSON: {error}")
        problem = self._problem(value)
        return Score(float(not problem), reason=problem, extracted=shortened(text))

    def _problem(self, value: Any) -> str:
        """Why a value does not fit; "" where it does."""
        if self.schema is None:
            return ""
        validator: Any = vars(self)["_validator"]
        error = next(validator.iter_errors(value), None)
        if error is None:
            return ""
        where = "/".join(str(step) for step in error.instance_path)
        return shortened(f"{where + ': ' if where else ''}{error.message}", 300)


def unfenced(answer: str) -> str:
    """The answer without blanks around it, and without one Markdown fence."""
    text = answer.strip()
    inside = _FENCED.match(text)
    return inside[1] if inside else text


def _validator(schema: Any) -> Any:
    import jsonschema_rs

    if not isinstance(schema, Mapping):
        raise InputError(f"schema of json_valid is {schema!r:.100}; a JSON schema is wanted")
    try:
        return jsonschema_rs.validator_for(dict(schema), retriever=_refuse_reference)
    except (ValueError, TypeError, jsonschema_rs.ValidationError) as error:
        said = str(error).strip().splitlines()[0]
        raise InputError(f"schema of json_valid is no valid JSON schema: {said}") from None


def _refuse_reference(address: str) -> NoReturn:
    # By default the validator would fetch it, from the network or from this machine's files.
    raise ValueError("a reference must point into the schema itself")


Bounds: TypeAlias = int | Sequence[int | None] | None
"""Exactly so many, or from the one to the other, where None is no bound."""


class _Check(NamedTuple):
    """One thing asked of an answer, and what was found."""

    held: bool
    found: str
    wanted: str


@dataclass(frozen=True, kw_only=True)
class Format(Metric):
    """1 where the answer keeps to all that is asked of its form.

    `words`, `sentences`, `paragraphs`, `bullets` and `characters` are numbers or pairs of bounds:
    `words=(50, 100)`, `bullets=3`, `sentences=(None, 2)`. `contains` and `excludes` list words or
    phrases, in any case, as words of their own. `case` is `lower` or `upper`. With `column` what
    stands there in a row, a mapping of the same names, comes on top for this row.
    """

    words: Bounds = None
    sentences: Bounds = None
    paragraphs: Bounds = None
    bullets: Bounds = None
    characters: Bounds = None
    contains: Sequence[str] = ()
    excludes: Sequence[str] = ()
    case: Literal["any", "lower", "upper"] = "any"
    column: str | None = None

    name = "format"
    summary = "Whether the answer keeps to all that is asked of its form."

    def __post_init__(self) -> None:
        for name in _COUNTED:
            _bounds(name, getattr(self, name))
        for name in ("contains", "excludes"):
            _phrases(name, getattr(self, name))
        check_choice(self, "case", "any", "lower", "upper")
        if self.column is None and not self._asks():
            raise InputError(
                "format asks for nothing", remedy="Say what is wanted, as in words=(50, 100)."
            )

    def measure(self, answer: str, sample: Sample) -> Measured:
        asked = self._for_row(sample.row) if self.column is not None else self
        if not asked._asks():
            return Score.error("nothing is asked of the form of this answer")
        checks = list(asked._checks(answer))
        held = sum(check.held for check in checks)
        broken = "; ".join(check.wanted for check in checks if not check.held)
        return Score(
            float(held == len(checks)),
            reason=shortened(broken),
            extracted=shortened("; ".join(check.found for check in checks)),
            parts=(float(held), float(len(checks))),
        )

    def overall(self, scores: Sequence[Score]) -> dict[str, float]:
        held = sum(score.parts[0] for score in scores if score.parts)
        asked = sum(score.parts[1] for score in scores if score.parts)
        return {"checks_held": held / asked} if asked else {}

    def _asks(self) -> bool:
        counted = any(getattr(self, name) is not None for name in _COUNTED)
        return counted or bool(self.contains or self.excludes) or self.case != "any"

    def _for_row(self, row: Mapping[str, Any]) -> Format:
        """What is asked of one row's answer."""
        given = row.get(self.column or "")
        if given is None:
            return replace(self, column=None) if self._asks() else self
        if not isinstance(given, Mapping):
            raise InputError(f"the column {self.column!r} holds {given!r:.80}; a mapping is wanted")
        known = {field.name for field in fields(self)} - {"column"}
        if strange := sorted(set(map(str, given)) - known):
            raise InputError(
                f"the column {self.column!r} asks for {strange[0]!r}",
                remedy=f"Known are {', '.join(sorted(known))}.",
            )
        return replace(self, **given)

    def _checks(self, answer: str) -> list[_Check]:
        checks = []
        for name, count in _COUNTED.items():
            bounds = _bounds(name, getattr(self, name))
            if bounds is not None:
                checks.append(_counted(name, count(answer), *bounds))
        for wanted, phrases in ((True, self.contains), (False, self.excludes)):
            checks += [_phrase(phrase, answer, wanted=wanted) for phrase in phrases]
        if self.case != "any":
            same = answer == (answer.lower() if self.case == "lower" else answer.upper())
            checks.append(_Check(same, f"{self.case} case {same}", f"not all in {self.case} case"))
        return checks


def _paragraphs(text: str) -> int:
    return sum(bool(piece.strip()) for piece in re.split(r"\n\s*\n", text))


_COUNTED: dict[str, Callable[[str], int]] = {
    "words": lambda text: len(words(text)),
    "sentences": lambda text: len(sentences(text)),
    "paragraphs": _paragraphs,
    "bullets": bullets,
    "characters": len,
}


def _counted(name: str, count: int, low: int, high: int | None) -> _Check:
    held = low <= count and (high is None or count <= high)
    if low == high:
        wanted = f"{low:,}"
    elif high is None:
        wanted = f"{low:,} or more"
    else:
        wanted = f"{low:,} to {high:,}"
    return _Check(held, f"{name} {count:,}", f"{name} is {count:,}; {wanted} is wanted")


def _phrase(phrase: str, answer: str, *, wanted: bool) -> _Check:
    folded = r"\s+".join(re.escape(part) for part in phrase.casefold().split())
    before = r"(?<!\w)" if phrase[:1].isalnum() else ""
    after = r"(?!\w)" if phrase[-1:].isalnum() else ""
    there = re.search(f"{before}{folded}{after}", answer.casefold()) is not None
    said = f"{phrase!r} {'is' if there else 'is not'} there"
    return _Check(there == wanted, said, said)


def _bounds(name: str, given: Any) -> tuple[int, int | None] | None:
    if given is None:
        return None
    pair = (given, given) if isinstance(given, int) else given
    fits = isinstance(pair, Sequence) and not isinstance(pair, str) and len(pair) == 2
    if fits and all(_whole(bound) for bound in pair) and pair != (None, None):
        low, high = pair
        if high is None or (low or 0) <= high:
            return low or 0, high
    raise InputError(
        f"{name} of format is {given!r}", remedy=f"Write {name}=3, or {name}=(2, 5), or (2, None)."
    )


def _whole(bound: Any) -> bool:
    return bound is None or (isinstance(bound, int) and not isinstance(bound, bool) and bound >= 0)


def _phrases(name: str, given: Any) -> None:
    listed = isinstance(given, Sequence) and not isinstance(given, str)
    if not listed or not all(isinstance(each, str) and each.strip() for each in given):
        raise InputError(f"{name} of format is {given!r:.100}; a list of words is wanted")
