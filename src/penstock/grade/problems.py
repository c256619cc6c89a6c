"""All that is wrong with a rubric, told at once, each mistake with its line and key."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple, TypeVar

from penstock.errors import InputError
from penstock.logs import inert
from penstock.yamlfile import Document

__all__ = ["Part", "Path", "Problems", "unknown"]

Path = tuple[str | int, ...]
_T = TypeVar("_T")
_MOST = 20


class _Problem(NamedTuple):
    line: int
    said: str
    remedy: str


class Problems:
    """Collects mistakes; without a document, as for a mapping in Python, they have no lines."""

    def __init__(self, name: str, document: Document | None = None) -> None:
        self._name = inert(name)
        self._document = document
        self._found: list[_Problem] = []
        self._names: dict[Path, str] = {}

    def __len__(self) -> int:
        return len(self._found)

    def name(self, path: Path, name: str) -> None:
        """How messages call a part that is only an item of a list."""
        self._names[path] = name

    def add(self, path: Path, error: InputError) -> None:
        """Note a mistake at the place where its cause stands."""
        line = 0 if self._document is None else self._document.place(*path).line
        key = ".".join(self._shown(path[: end + 1]) for end in range(len(path)))
        said = f"{key}: {error.message}" if key else error.message
        self._found.append(_Problem(line, inert(said), inert(error.remedy)))

    def tried(self, path: Path, make: Callable[[], _T]) -> _T | None:
        """What can be made; where it cannot, the mistake is noted and the reading goes on."""
        try:
            return make()
        except InputError as error:
            self.add(path, error)
            return None

    def check(self) -> None:
        """Raise what was found, as one InputError."""
        found = sorted(dict.fromkeys(self._found), key=lambda each: each.line)
        if not found:
            return
        lines = [f"{self._where(each)}: {each.said}" for each in found[:_MOST]]
        if len(found) == 1:
            raise InputError(lines[0], remedy=found[0].remedy)
        lines = [
            f"{line}. {each.remedy}" if each.remedy else line
            for line, each in zip(lines, found, strict=False)
        ]
        if len(found) > _MOST:
            lines.append(f"and {len(found) - _MOST} more")
        raise InputError(f"{len(found)} mistakes in {self._name}:\n" + "\n".join(lines))

    def _where(self, problem: _Problem) -> str:
        return f"{self._name}:{problem.line}" if problem.line else self._name

    def _shown(self, path: Path) -> str:
        """The last step of a path; people count from 1."""
        step = path[-1]
        return self._names.get(path) or (str(step + 1) if isinstance(step, int) else step)


class Part:
    """A mapping whose keys are read one by one."""

    def __init__(self, problems: Problems, path: Path, data: Mapping[Any, Any]) -> None:
        self.problems = problems
        self.path = path
        self.data = data

    def __contains__(self, key: str) -> bool:
        return self.data.get(key) is not None

    def get(self, key: str, read: Callable[[Any], _T], default: _T) -> _T:
        """What a key holds, as `read` understands it; the default also where that is wrong."""
        if key not in self:
            return default
        made = self.problems.tried((*self.path, key), lambda: read(self.data[key]))
        return default if made is None else made

    def only(self, allowed: Collection[str], hints: Mapping[str, str]) -> None:
        """Note every key that means nothing."""
        for key in self.data:
            if key not in allowed:
                self.problems.add((*self.path, str(key)), unknown(str(key), allowed, hints))


def unknown(name: str, known: Collection[str], hints: Mapping[str, str]) -> InputError:
    """A name that means nothing here, with the one that was probably meant."""
    hint = hints.get(name)
    if hint is None and (close := get_close_matches(name, known, n=1)):
        hint = close[0]
    remedy = f"Did you mean {hint!r}?" if hint else f"There are {', '.join(known)}."
    return InputError("there is no such name here", remedy=remedy)
