"""What in a profile is worth a look: the few things that a person would want to be told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from penstock.generate.profile.results import ColumnProfile, Common, Profile
from penstock.reports.numbers import percent

__all__ = ["Finding", "findings"]

_ENOUGH_TEXTS = 20
_EMPTY = 0.05
_NEAR = 0.05
_OPENING = 0.2
_PHRASE = 0.3
_REPEATED = 0.1
_ALIKE = 0.4


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing: of which column (none: of the rows), and in words."""

    column: str
    text: str
    tone: Literal["warn", "bad"] = "warn"


def findings(profile: Profile) -> list[Finding]:
    """What is worth a look, failures first, then rows, then columns."""
    found = [*_failures(profile), *_rows(profile)]
    for column in profile.columns:
        found += _values(column, profile.rows)
        if column.is_prose:
            found += _texts(column)
    return found


def _failures(profile: Profile) -> Iterator[Finding]:
    for group in profile.failures[:3]:
        cells = "cell" if group.count == 1 else "cells"
        paid = f"; {group.may_be_paid:,} may have been paid for" if group.may_be_paid else ""
        text = f"{group.count:,} {cells} failed: {group.kind or 'of no kind'}{paid}"
        yield Finding(group.column, text, "bad")


def _rows(profile: Profile) -> Iterator[Finding]:
    repeated, near = profile.duplicate_rows, profile.near
    if repeated:
        share = percent(repeated / profile.rows)
        said = f"1 row ({share}) is" if repeated == 1 else f"{repeated:,} rows ({share}) are"
        yield Finding("", f"{said} equal to an earlier one")
    if near is not None and near.share >= _NEAR:
        of = f"of the {near.looked_at:,} rows looked at"
        yield Finding("", f"{percent(near.share)} {of} are nearly the same as an earlier one")


def _values(column: ColumnProfile, rows: int) -> Iterator[Finding]:
    if rows and column.nulls / rows >= _EMPTY:
        yield Finding(column.name, f"{percent(column.nulls / rows)} of the rows have no value")
    if column.text is not None and column.text.blank:
        blank = column.text.blank
        said = "1 text is" if blank == 1 else f"{blank:,} texts are"
        yield Finding(column.name, f"{said} blank")
    if column.distinct == 1 and column.count > 1:
        yield Finding(column.name, "every row has the same value")
    if column.numbers is not None and column.numbers.not_finite:
        count = column.numbers.not_finite
        said = "1 number is" if count == 1 else f"{count:,} numbers are"
        yield Finding(column.name, f"{said} not finite")


def _texts(column: ColumnProfile) -> Iterator[Finding]:
    assert column.text is not None
    found = column.text.diversity
    if found.near.looked_at >= _ENOUGH_TEXTS and found.near.share >= _NEAR:
        yield Finding(column.name, f"{percent(found.near.share)} of the texts are near-duplicates")
    if found.texts < _ENOUGH_TEXTS:
        return
    if found.same_opening >= _OPENING:
        share = percent(found.same_opening)
        yield Finding(column.name, f"{share} of the texts begin with {_quoted(found.openings[0])}")
    phrase = next((each for each in found.phrases if not _begins(each, found.openings)), None)
    if phrase is not None and phrase.count / found.texts >= _PHRASE:
        share = percent(phrase.count / found.texts)
        yield Finding(column.name, f"{share} of the texts contain {_quoted(phrase)}")
    if found.repetition >= _REPEATED:
        text = f"{percent(found.repetition)} of what a text says it has said before"
        yield Finding(column.name, text)
    if found.similarity is not None and found.similarity >= _ALIKE:
        text = f"two texts share {percent(found.similarity)} of their words on average"
        yield Finding(column.name, text)


def _begins(phrase: Common, openings: Sequence[Common]) -> bool:
    """Whether it is what texts begin with, which is said elsewhere."""
    return any(f" {each.value} " in f" {phrase.value} " for each in openings)


def _quoted(common: Common) -> str:
    return f"“{common.value}”"
