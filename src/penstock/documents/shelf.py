"""Objects by kind and id: what people made or imported, over the library that ships.

    own/recipes/arithmetic.yaml      found first, and the only place that is written
    shipped/recipes/arithmetic.yaml  read-only

An id is a file's stem, or what can be made of it. A file is data: whatever else lies in the folders
is passed by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Generic, TypeVar

from penstock.documents import files
from penstock.documents.models import Model
from penstock.errors import InputError, NotFoundError
from penstock.files import checked_id, slug, storage_errors

__all__ = ["Entry", "Shelf", "id_of"]

T = TypeVar("T", bound=Model)
_MOST = 20


@dataclass(frozen=True)
class Entry(Generic[T]):
    """An object, and where it came from."""

    id: str
    value: T
    path: Path | None = None
    """Its file; None for what was made in Python."""
    shipped: bool = False


class Shelf(Generic[T]):
    """All objects of one kind."""

    def __init__(self, kind: str, model: type[T], own: Path, shipped: Path | None = None) -> None:
        self.kind = kind
        """In the singular, as messages say it."""
        self.model = model
        self._own = own / f"{kind}s"
        self._shipped = None if shipped is None else shipped / f"{kind}s"

    @property
    def folder(self) -> Path:
        """Where own ones lie."""
        return self._own

    def ids(self) -> list[str]:
        """Every id there is."""
        return sorted({*_found(self._own), *_found(self._shipped)})

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._path(name) is not None

    def read(self, name: str, *, near: Path | None = None) -> Entry[T]:
        """The object of that id, or in that file; a relative path is looked up from `near`.

        For what a person names on this machine; whoever asks from elsewhere gets `get`.
        """
        is_path = "/" in name or Path(name).suffix.lower() in files.SUFFIXES
        if is_path and name not in self:
            path = (near or Path()) / _at_home(name)
            if path.is_file():
                return self._load(id_of(path), path)
            raise NotFoundError(f"there is no file {path}")
        return self.get(name)

    def get(self, id: str) -> Entry[T]:  # noqa: A002
        """The object of that id, and never a file elsewhere."""
        path = self._path(id)
        if path is None:
            raise self._missing(id)
        return self._load(id, path)

    def create(self, value: T | Mapping[str, Any], *, id: str | None = None) -> Entry[T]:  # noqa: A002
        """Keep a new object; its id is made of its name. One that is there is not replaced."""
        made = self.checked(value)
        name = checked_id(id) if id is not None else slug(getattr(made, "name", ""))
        if name in _found(self._own):
            raise InputError(
                f"there is a {self.kind} {name!r} already",
                remedy="Update it, delete it first, or give another name.",
            )
        return self._write(name, made)

    def update(self, name: str, /, **changes: Any) -> Entry[T]:
        """Change some of its fields. One that ships is copied, and the copy changed."""
        old = self.get(checked_id(name))
        made = self.checked({**old.value.model_dump(mode="json"), **changes})
        entry = self._write(name, made)
        for path in _all_found(self._own).get(name, ()):
            if path != entry.path:
                path.unlink(missing_ok=True)  # as JSON, or under a name that is no id
        return entry

    def delete(self, name: str) -> None:
        """Forget one of the user's own, with the files that are its alone."""
        paths = _all_found(self._own).get(checked_id(name), [])
        if not paths and name in self:
            raise InputError(f"the {self.kind} {name!r} ships with Penstock and stays")
        if not paths:
            raise self._missing(name)
        for path in (*self._companions(paths[0]), *paths):
            with storage_errors(path):
                path.unlink(missing_ok=True)

    def _companions(self, path: Path) -> list[Path]:
        """The files beside one that were made with it, and so have its name."""
        try:
            names = self.model.load(path).companions()
        except InputError:
            return []
        found = [(path.parent / name).resolve() for name in names]
        here = path.parent.resolve()
        return [each for each in found if each.parent == here and each.stem == path.stem]

    def checked(self, value: T | Mapping[str, Any]) -> T:
        """An object of this kind."""
        if isinstance(value, self.model):
            return value
        return self.model.made(value, f"the {self.kind}")

    def _write(self, name: str, value: T) -> Entry[T]:
        path = self._own / f"{name}.yaml"
        files.write(path, value.to_dict())
        return Entry(name, value, path)

    def _load(self, id: str, path: Path) -> Entry[T]:  # noqa: A002
        return Entry(id, self.model.load(path), path, path.parent == self._shipped)

    def _path(self, name: str) -> Path | None:
        return _found(self._own).get(name) or _found(self._shipped).get(name)

    def _missing(self, name: str) -> NotFoundError:
        known = self.ids()
        close = get_close_matches(name, known, n=1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        more = f" and {len(known) - _MOST} more" if len(known) > _MOST else ""
        return NotFoundError(
            f"there is no {self.kind} {name!r}",
            remedy=f"{hint}There are: {', '.join(known[:_MOST]) or 'none yet'}{more}.",
        )


def id_of(path: Path) -> str:
    """The id of what is in a file: its stem, or what can be made of that."""
    try:
        return checked_id(path.stem)
    except InputError:
        return slug(path.stem)


def _found(folder: Path | None) -> dict[str, Path]:
    """The files of a folder by id; of several the first."""
    return {name: paths[0] for name, paths in _all_found(folder).items()}


def _all_found(folder: Path | None) -> dict[str, list[Path]]:
    """All files by id: those whose stem it is before others, and YAML before JSON."""
    if folder is None or not folder.is_dir():
        return {}
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        if path.suffix.lower() in files.SUFFIXES and path.is_file():
            with suppress(InputError):  # no id can be made of it
                found.setdefault(id_of(path), []).append(path)
    for name, paths in found.items():
        paths.sort(key=lambda path: (path.stem != name, files.SUFFIXES.index(path.suffix.lower())))
    return found


def _at_home(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # a user who is not there
        return Path(name)
