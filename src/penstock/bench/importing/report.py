"""What came of an import: what is there now, what is not and why, and what a person should know.

Everything here is shown to people and programs: texts are inert, and hold nothing of a token.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import InputError
from penstock.logs import inert
from penstock.metrics.metric import Direction

__all__ = ["KINDS", "Backwards", "Imported", "Tally", "Trouble", "Unmapped", "named"]

KINDS = ("endpoint", "dataset", "template", "recipe", "cookbook")
_MOST_NAMED = 8


@dataclass(frozen=True)
class Trouble:
    """Something that is not there, or not whole."""

    kind: str
    """In the singular: endpoint, dataset, example, template, metric, recipe, cookbook."""
    id: str
    """Empty where none could be made."""
    file: str
    """From the folder on."""
    reason: str
    line: int | None = None

    def to_dict(self) -> dict[str, Any]:
        made = {"kind": self.kind, "id": self.id, "file": self.file, "reason": self.reason}
        return made if self.line is None else {**made, "line": self.line}

    @property
    def where(self) -> str:
        """The file, with the line where it is known."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Unmapped:
    """A metric that has no counterpart here."""

    metric: str
    reason: str
    recipes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"metric": self.metric, "reason": self.reason, "recipes": list(self.recipes)}


@dataclass(frozen=True)
class Backwards:
    """A grading whose best grade stands for the worst values."""

    recipe: str
    metric: str
    direction: Direction
    """Which values of the metric are better."""
    scale: Direction
    """Which values the scale takes for better."""
    fixed: bool
    """Whether it was turned round."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "recipe": self.recipe,
            "metric": self.metric,
            "direction": self.direction,
            "scale": self.scale,
            "fixed": self.fixed,
        }


@dataclass(frozen=True)
class Imported:
    """What came of an import."""

    imported: Mapping[str, tuple[str, ...]]
    """Ids by kind, those that were replaced among them."""
    unchanged: Mapping[str, tuple[str, ...]]
    """Ids by kind of what was there already, and is equal."""
    not_imported: tuple[Trouble, ...] = ()
    missing: tuple[Trouble, ...] = ()
    """What recipes and cookbooks name and is not here; they themselves may be."""
    unmapped: tuple[Unmapped, ...] = ()
    backwards: tuple[Backwards, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether everything went in."""
        return not (self.not_imported or self.missing or self.unmapped)

    def to_dict(self) -> dict[str, Any]:
        return {
            "imported": {f"{kind}s": list(ids) for kind, ids in self.imported.items()},
            "unchanged": {f"{kind}s": list(ids) for kind, ids in self.unchanged.items()},
            "not_imported": [each.to_dict() for each in self.not_imported],
            "missing": [each.to_dict() for each in self.missing],
            "unmapped_metrics": [each.to_dict() for each in self.unmapped],
            "backwards": [each.to_dict() for each in self.backwards],
            "notes": list(self.notes),
        }


@dataclass
class Tally:
    """Collects what an import comes across."""

    imported: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    unchanged: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    not_imported: list[Trouble] = field(default_factory=list)
    missing: list[Trouble] = field(default_factory=list)
    backwards: list[Backwards] = field(default_factory=list)
    _unmapped: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    _notes: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def placed(self, kind: str, name: str, *, new: bool) -> None:
        """An object that is now there, or was."""
        (self.imported if new else self.unchanged)[kind].append(name)

    def refuse(self, kind: str, name: str, file: str, reason: str, line: int | None = None) -> None:
        """Something that is not imported."""
        self.not_imported.append(Trouble(kind, name, inert(file), inert(reason), line))

    def lack(self, kind: str, name: str, file: str, reason: str) -> None:
        """Something that an object names and that is not here."""
        self.missing.append(Trouble(kind, name, inert(file), inert(reason)))

    def unmapped(self, metric: str, reason: str, recipe: str) -> None:
        """A metric of a recipe that has no counterpart."""
        self._unmapped.setdefault((inert(metric), inert(reason)), []).append(recipe)

    def note(self, text: str, kind: str, name: str) -> None:
        """Something to know of an object; those of which the same is said are named together."""
        whom = self._notes.setdefault((inert(text), kind), [])
        if name not in whom:
            whom.append(name)

    def note_unused(
        self, data: Mapping[str, Any], used: Collection[str], kind: str, name: str
    ) -> None:
        """What a file says and nothing here has a place for."""
        for key, value in data.items():
            if key not in used and value not in (None, "", [], {}):
                self.note(f"{key} has no place here", kind, name)

    @contextmanager
    def trying(self, kind: str, name: str, file: str) -> Iterator[None]:
        """Whatever is wrong with a file inside is noted, and the import goes on."""
        try:
            yield
        except InputError as error:
            reason, line = _said(error, inert(file))
            self.refuse(kind, name, file, reason, line)
        except RecursionError:
            self.refuse(kind, name, file, "it is nested too deeply")

    def result(self) -> Imported:
        unmapped = [Unmapped(*key, tuple(whom)) for key, whom in sorted(self._unmapped.items())]
        return Imported(
            {kind: tuple(ids) for kind, ids in self.imported.items()},
            {kind: tuple(ids) for kind, ids in self.unchanged.items()},
            tuple(self.not_imported),
            tuple(self.missing),
            tuple(unmapped),
            tuple(self.backwards),
            tuple(_noted(*key, whom) for key, whom in self._notes.items()),
        )


def named(names: Sequence[object]) -> str:
    """Names in a row, the last of many only counted."""
    shown = ", ".join(map(str, names[:_MOST_NAMED]))
    more = len(names) - _MOST_NAMED
    return shown if more <= 0 else f"{shown} and {more} more"


def _noted(text: str, kind: str, whom: Sequence[str]) -> str:
    return f"{text} ({kind if len(whom) == 1 else f'{kind}s'} {named(whom)})"


def _said(error: InputError, file: str) -> tuple[str, int | None]:
    """The reason without the file's name, and the first line that it names."""
    line: int | None = None
    said: list[str] = []
    for each in error.message.split("\n"):
        rest = each.removeprefix(f"{file}:")
        number, colon, words = rest.partition(":")
        if rest != each and colon and number.isdecimal():
            line = int(number) if line is None else line
            rest = words if "\n" not in error.message else f"line {number}:{words}"
        said.append(rest.strip())
    reason = f"{said[0]} {'; '.join(said[1:])}" if len(said) > 1 else said[0]
    return (f"{reason}. {error.remedy}" if error.remedy else reason), line
