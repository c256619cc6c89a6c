"""All that is wrong with what a person wrote, told at once, each mistake with its line and key."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from types import TracebackType
from typing import Any, NamedTuple, NoReturn, TypeAlias, TypeVar, overload

from penstock.errors import InputError
from penstock.logs import inert
from penstock.yamlfile import Document, Place

__all__ = ["Part", "Path", "Problems", "unknown"]

Path: TypeAlias = tuple[str | int, ...]
_T = TypeVar("_T")
_MOST = 20


class _Problem(NamedTuple):
    place: Place
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
        place = Place(0, 0) if self._document is None else self._document.place(*path)
        key, said = self.shown(path), error.message
        if path and said.startswith(f"{path[-1]} is "):
            said = "it is " + said.removeprefix(f"{path[-1]} is ")
        said = inert(f"{key}: {said}" if key else said)
        self._found.append(_Problem(place, said, inert(error.remedy)))

    def shown(self, path: Path) -> str:
        """A path as people read it; they count from 1."""
        steps = (path[: end + 1] for end in range(len(path)))
        return ".".join(self._names.get(each) or _step(each[-1]) for each in steps)

    def at(self, *path: str | int) -> _Noted:
        """Whatever is wrong inside is noted at this place, and the reading goes on."""
        return _Noted(self, path)

    def tried(self, path: Path, make: Callable[[], _T]) -> _T | None:
        """What can be made; where it cannot, the mistake is noted and the reading goes on."""
        try:
            return make()
        except InputError as error:
            self.add(path, error)
            return None

    def check(self) -> None:
        """Raise what was found, as one InputError."""
        if self._found:
            self._fail()

    def _fail(self) -> NoReturn:
        found = sorted(dict.fromkeys(self._found), key=lambda each: each.place)
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
        return f"{self._name}:{problem.place.line}" if problem.place.line else self._name


class _Noted:
    """Notes an InputError instead of letting it out; the type of `__exit__` tells checkers so."""

    def __init__(self, problems: Problems, path: Path) -> None:
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

    def __init__(self, problems: Problems, path: Path, data: Mapping[Any, Any]) -> None:
        self.problems = problems
        self.path = path
        self.data = data

    def __contains__(self, key: str) -> bool:
        """Whether a key says anything; one with nothing behind it does not."""
        return self.data.get(key) is not None

    @overload
    def get(self, key: str, read: Callable[[Any], _T]) -> _T | None: ...
    @overload
    def get(self, key: str, read: Callable[[Any], _T], default: _T) -> _T: ...
    def get(self, key: str, read: Callable[[Any], _T], default: _T | None = None) -> _T | None:
        """What a key holds, as `read` understands it; the default also where that is wrong."""
        if key not in self:
            return default
        made = self.problems.tried((*self.path, key), lambda: read(self.data[key]))
        return default if made is None else made

    def only(self, allowed: Collection[str], hints: Mapping[str, str] | None = None) -> None:
        """Note every key that means nothing."""
        for key in self.data:
            if key not in allowed:
                self.problems.add((*self.path, str(key)), unknown(str(key), allowed, hints))

    def missing(self, *keys: str) -> bool:
        """Note those of the keys that are not there; whether there are any."""
        absent = [key for key in keys if key not in self.data]
        for key in absent:
            self.problems.add(self.path, InputError(f"{key} is missing"))
        return bool(absent)


def unknown(
    name: str, known: Collection[str], hints: Mapping[str, str] | None = None
) -> InputError:
    """A name that means nothing here, with the one that was probably meant.

    A hint is the name that is meant, or a sentence that says what to do.
    """
    hint = (hints or {}).get(name)
    if hint is None and (close := get_close_matches(name, known, n=1)):
        hint = close[0]
    if hint is None:
        hint = f"There are {', '.join(known)}." if known else "Nothing is wanted here."
    remedy = hint if hint.endswith((".", "?")) else f"Did you mean {hint!r}?"
    return InputError("there is no such name here", remedy=remedy)


def _step(step: str | int) -> str:
    return str(step + 1) if isinstance(step, int) else step
