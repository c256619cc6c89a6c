"""YAML that people write: plain data in, and for every value the line it stands on.

Read as YAML 1.2 does (only `true` and `false` are booleans, `1e3` is a number, a date or `12:30`
is text) into what JSON knows; keys are always text, so that labels such as `no` or `1` keep
their spelling. Built from parser events, which do not recurse, so that hostile nesting cannot
exhaust the stack.

Refused, with file, line and column: aliases and anchors (they can grow without bound), tags
(data is never code), merge keys, duplicate keys, several documents, more than 1 MiB.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from penstock.errors import InputError

if TYPE_CHECKING:
    import yaml
    from yaml import _yaml

    _YamlMark = yaml.Mark | _yaml.Mark

__all__ = ["LARGEST", "Document", "Place", "parse", "read", "resolved"]

LARGEST = 1 << 20
_DEEPEST = 64
_MOST_PROBLEMS = 20

# Compiled when first needed: that takes milliseconds.
_UNREADABLE = "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_WORDS: dict[str, Any] = dict.fromkeys(("", "~", "null", "Null", "NULL"))
_WORDS |= dict.fromkeys(("true", "True", "TRUE"), True)
_WORDS |= dict.fromkeys(("false", "False", "FALSE"), False)
_WORDS |= {sign + word: float(sign + "inf") for sign in ("", "-", "+") for word in (".inf", ".Inf")}
_WORDS |= {word: float("nan") for word in (".nan", ".NaN", ".NAN")}


class Place(NamedTuple):
    """A position in a file, counted from 1 as editors do."""

    line: int
    column: int


class _Mark(NamedTuple):
    place: Place
    inside: dict[str | int, _Mark]


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says (`data`: dicts, lists, text, numbers, booleans, None) and where."""

    name: str
    data: Any
    _marks: _Mark = field(repr=False)

    def place(self, *path: str | int) -> Place:
        """Where the key or list item at this path stands; what is not there: where it belongs."""
        mark = self._marks
        for step in path:
            if (found := mark.inside.get(step)) is None:
                break
            mark = found
        return mark.place

    def where(self, *path: str | int) -> str:
        """The same as `file:line`, for messages."""
        return f"{self.name}:{self.place(*path).line}"


def read(path: Path, name: str | None = None, *, numbers: bool = True) -> Document:
    """Read a file; `name` is how messages call it. Raises InputError.

    Without `numbers` they stay as they are written, for what must be exact.
    """
    shown = str(path) if name is None else name
    try:
        with path.open("rb") as stream:
            body = stream.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror or error}") from None
    return parse(body, shown, numbers=numbers)


def parse(body: str | bytes, name: str, *, numbers: bool = True) -> Document:
    """Read a text. Raises InputError that names every place where it is wrong."""
    if len(body) > LARGEST:
        raise InputError(f"{name} is larger than {LARGEST >> 20} MiB, the most that is read")
    text = _decoded(body, name) if isinstance(body, bytes) else body
    if bad := re.search(_UNREADABLE, text):
        line = text.count("\n", 0, bad.start()) + 1
        column = bad.start() - text.rfind("\n", 0, bad.start())
        raise InputError(
            f"{name}:{line}:{column}: the character U+{ord(bad[0]):04X} is not allowed in YAML",
            remedy='Write it as an escape inside double quotes, such as "\\x1b".',
        )

    import yaml

    builder = _Builder(name, numbers)
    # libyaml where it is there: ten times faster.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return builder.build(yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        problem = " ".join(filter(None, [error.problem, error.context])) or "not valid YAML"
        builder.stop(error.problem_mark or error.context_mark, problem)
    except yaml.YAMLError as error:
        builder.stop(None, str(error))


def _decoded(body: bytes, name: str) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name}:{line}: is not UTF-8 text", remedy="Save it as UTF-8.") from None


class _Frame:
    """A mapping or list that is still open."""

    __slots__ = ("data", "key", "key_place", "marks")

    def __init__(self, data: dict[str, Any] | list[Any], marks: dict[str | int, _Mark]) -> None:
        self.data = data
        self.marks = marks
        self.key: str | None = None
        self.key_place: Place | None = None


class _Builder:
    """Makes data of events, noting what is wrong; goes on after it where that makes sense."""

    def __init__(self, name: str, numbers: bool) -> None:
        self._numbers = numbers
        self._name = name
        self._problems: list[str] = []
        self._frames: list[_Frame] = []
        self._data: Any = None
        self._root = _Mark(Place(1, 1), {})
        self._documents = 0

    def build(self, events: Iterable[yaml.Event]) -> Document:
        from yaml import events as e

        for event in events:
            mark = event.start_mark
            if isinstance(event, e.ScalarEvent):
                self._refuse_extras(event)
                self._scalar(event)
            elif isinstance(event, e.CollectionStartEvent):
                self._refuse_extras(event)
                self._open({} if isinstance(event, e.MappingStartEvent) else [], mark)
            elif isinstance(event, e.CollectionEndEvent):
                self._frames.pop()
            elif isinstance(event, e.AliasEvent):
                self.stop(mark, f"the alias *{event.anchor} is not allowed; write the value again")
            elif isinstance(event, e.DocumentStartEvent):
                self._documents += 1
                if self._documents > 1:
                    self.stop(mark, "a second document begins here; a file holds only one")
        if self._problems:
            self._fail()
        return Document(self._name, self._data, self._root)

    def stop(self, mark: _YamlMark | None, problem: str) -> NoReturn:
        self._note(_place(mark), problem)
        self._fail()

    def _note(self, place: Place, problem: str) -> None:
        self._problems.append(f"{self._name}:{place.line}:{place.column}: {problem}")

    def _fail(self) -> NoReturn:
        shown = self._problems[:_MOST_PROBLEMS]
        if more := len(self._problems) - len(shown):
            shown.append(f"and {more} more")
        raise InputError("\n".join(shown)) from None

    def _refuse_extras(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        if event.anchor:
            self._note(_place(event.start_mark), f"the anchor &{event.anchor} is not allowed")
        if event.tag:
            self._note(
                _place(event.start_mark),
                f"the tag {event.tag} is not allowed; put text that looks like a number in quotes",
            )

    def _open(self, data: dict[str, Any] | list[Any], mark: _YamlMark | None) -> None:
        if len(self._frames) == _DEEPEST:
            self.stop(mark, f"nested more than {_DEEPEST} deep")
        frame = self._frames[-1] if self._frames else None
        if frame and isinstance(frame.data, dict) and frame.key is None:
            self.stop(mark, "a key must be plain text, not a list or mapping")
        marks: dict[str | int, _Mark] = {}
        self._put(data, _place(mark), marks)
        self._frames.append(_Frame(data, marks))

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        place = _place(event.start_mark)
        frame = self._frames[-1] if self._frames else None
        if frame and isinstance(frame.data, dict) and frame.key is None:
            self._key(frame, event, place)
            return
        value = event.value
        if event.implicit[0]:
            try:
                value = resolved(event.value, self._numbers)
            except ValueError:
                self._note(place, f"a number of {len(event.value)} digits is too long")
        self._put(value, place, {})

    def _key(self, frame: _Frame, event: yaml.ScalarEvent, place: Place) -> None:
        key = str(event.value)
        if key == "<<" and event.implicit[0]:
            self._note(place, "the merge key << is not allowed; write the values again")
        elif key in frame.marks:
            first = frame.marks[key].place.line
            self._note(place, f"the key {key!r} is given twice, first in line {first}")
        frame.key, frame.key_place = key, place

    def _put(self, value: Any, place: Place, marks: dict[str | int, _Mark]) -> None:
        if not self._frames:
            self._data, self._root = value, _Mark(place, marks)
            return
        frame = self._frames[-1]
        if isinstance(frame.data, list):
            frame.marks[len(frame.data)] = _Mark(place, marks)
            frame.data.append(value)
        else:
            assert frame.key is not None
            frame.marks[frame.key] = _Mark(frame.key_place or place, marks)
            frame.data[frame.key] = value
            frame.key = None


def _place(mark: _YamlMark | None) -> Place:
    return Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)


def resolved(text: str, numbers: bool = True) -> Any:
    """What a text without quotes means."""
    if text in _WORDS:
        return _WORDS[text]
    if not numbers:
        return text
    if _INT.fullmatch(text):
        return int(text, 0) if text.startswith(("0o", "0x")) else int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text
