"""The files that a file names, and the data as it is stored.

What a run is made of must be found again when it is resumed: a JSON schema is taken into the data,
data to draw from is named by its full path, and all of it must survive as JSON.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from penstock.documents.problems import Path as Place
from penstock.documents.problems import Problems
from penstock.errors import InputError

__all__ = ["Files", "check_storable"]

_LARGEST = 1 << 20
_WIDEST = 1 << 63


class Files:
    """Files by what a person wrote, from a folder; a schema is read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self._schemas: dict[Path, dict[str, Any]] = {}

    def path(self, text: str) -> Path:
        """The full path of a file."""
        try:
            return self._folder / Path(text).expanduser()
        except RuntimeError:  # a user who is not there; the reader's message names the path
            return self._folder / text

    def schema(self, text: str) -> dict[str, Any]:
        """The JSON schema in a file."""
        path = self.path(text)
        if path not in self._schemas:
            self._schemas[path] = _schema(path)
        return self._schemas[path]

    def stored(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The data of a spec that is known to be right, with its files in it."""
        columns = {name: self._column(given) for name, given in data["columns"].items()}
        return {**data, "columns": columns}

    def _column(self, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        found = dict(given)
        if isinstance(given.get("schema"), str):
            found["schema"] = self.schema(given["schema"])
        source = given.get("from_dataset")
        if isinstance(source, str):
            found["from_dataset"] = {"file": str(self.path(source))}
        elif isinstance(source, Mapping):
            found["from_dataset"] = {**source, "file": str(self.path(source["file"]))}
        return found


def _schema(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            body = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {said}") from None
    if len(body) > _LARGEST:
        raise InputError(f"{path} is larger than {_LARGEST >> 20} MiB, which no schema is")
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"{path} holds no JSON schema: an object is wanted")
    return found


def check_storable(data: Any, problems: Problems) -> None:
    """Note what JSON would not keep as it is."""
    for path, said in _unstorable(data, ()):
        problems.add(path, InputError(said))


def _unstorable(value: Any, path: Place) -> Iterator[tuple[Place, str]]:
    if isinstance(value, float) and not math.isfinite(value):
        yield path, f"{value} is no number that can be stored"
    elif isinstance(value, int) and not -_WIDEST <= value < _WIDEST:
        yield path, "a whole number of more than 64 bits cannot be stored; write it in quotes"
    elif isinstance(value, str) and not _has_bytes(value):
        yield path, "half a character (a surrogate) cannot be stored"
    elif isinstance(value, Mapping):
        for key, inside in value.items():
            if not _has_bytes(key):
                yield path, "half a character (a surrogate) cannot be stored"
            yield from _unstorable(inside, (*path, key))
    elif isinstance(value, list):
        for number, inside in enumerate(value):
            yield from _unstorable(inside, (*path, number))


def _has_bytes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
