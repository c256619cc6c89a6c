"""What is wrong with a file that a person wrote: all of it at once, each with its line and key."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from types import TracebackType
from typing import Any, NamedTuple, NoReturn

from penstock.errors import InputError
from penstock.logs import inert
from penstock.yamlfile import Document, Place

__all__ = ["Part", "Problems", "Step", "unknown"]

Step = str | int
_MOST = 20


class _Problem(NamedTuple):
    place: Place
    said: str
    remedy: str


class Problems:
    """Collects what is wrong; the places are those of a document, as long as there is one."""

    def __init__(self, name: str, document: Document | None = None) -> None:
        self._name = inert(name)
        self._document = document
        self._found: list[_Problem] = []

    def __len__(self) -> int:
        return len(self._found)

    def add(self, path: tuple[Step, ...], error: InputError) -> None:
        """Note an error at the place where its cause stands."""
        key = ".".join(map(str, path))
        said = error.message
        if path[:1] == ("columns",) and len(path) > 1:
            key = key.removeprefix("columns.")
            said = said.removeprefix(f"column {path[1]!r}: ")
        if path and said.startswith(f"{path[-1]} is "):
            said = "it is " + said.removeprefix(f"{path[-1]} is ")
        place = Place(0, 0) if self._document is None else self._document.place(*path)
        said = inert(f"{key}: {said}" if key else said)
        self._found.append(_Problem(place, said, inert(error.remedy)))

    def at(self, *path: Step) -> _Noted:
        """Whatever is wrong inside is noted at this place, and the reading goes on."""
        return _Noted(self, path)

    def check(self) -> None:
        """Raise all that was found, as one InputError."""
        if self._found:
            self._fail()

    def _fail(self) -> NoReturn:
        found = sorted(dict.fromkeys(self._found), key=lambda each: each.place)
        lines = [self._line(each) for each in found[:_MOST]]
        if len(found) == 1:
            raise InputError(lines[0], remedy=found[0].remedy)
        lines = [
            f"{line}. {each.remedy}".removesuffix(". ")
            for line, each in zip(lines, found, strict=False)
        ]
        if len(found) > _MOST:
            lines.append(f"and {len(found) - _MOST} more")
        raise InputError(f"{len(found)} mistakes in {self._name}:\n" + "\n".join(lines))

    def _line(self, problem: _Problem) -> str:
        line = f":{problem.place.line}" if self._document is not None else ""
        return f"{self._name}{line}: {problem.said}"


class _Noted:
    """Notes an InputError instead of letting it out."""

    def __init__(self, problems: Problems, path: tuple[Step, ...]) -> None:
        self._problems = problems
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if isinstance(error, InputError):
            self._problems.add(self._path, error)
            return True
        return False


class Part:
    """A mapping in the file whose keys are read one by one."""

    def __init__(self, problems: Problems, path: tuple[Step, ...], data: Mapping[str, Any]) -> None:
        self.problems = problems
        self.path = path
        self.data = data

    def get(self, key: str, read: Callable[[Any], Any], default: Any = None) -> Any:
        """What a key holds, as `read` understands it; the default also where that is wrong."""
        if key not in self.data:
            return default
        with self.problems.at(*self.path, key):
            return read(self.data[key])
        return default

    def only(self, allowed: Collection[str], hints: Mapping[str, str] | None = None) -> None:
        """Note every key that is none of these."""
        for key in self.data:
            if key not in allowed:
                with self.problems.at(*self.path, key):
                    raise unknown(key, allowed, hints)

    def missing(self, *keys: str) -> bool:
        """Note those of the keys that are not there; whether there are any."""
        absent = [key for key in keys if key not in self.data]
        for key in absent:
            with self.problems.at(*self.path):
                raise InputError(f"{key} is missing")
        return bool(absent)


def unknown(
    key: str, allowed: Collection[str], hints: Mapping[str, str] | None = None
) -> InputError:
    """A key that means nothing, with the one that was probably meant."""
    hint = (hints or {}).get(key)
    if hint is None and (close := get_close_matches(key, allowed, n=1)):
        hint = f"Did you mean {close[0]!r}?"
    known = f"Allowed are {', '.join(allowed)}." if allowed else "Nothing is wanted here."
    return InputError("there is no such key", remedy=hint or known)
