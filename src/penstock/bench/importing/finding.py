"""The files of a Moonshot data folder, and what they say.

A file is data: only `.json` is read, whatever else lies there (`.py` above all) is passed by. A
link that leads out of the folder is not followed, for it would bring in what nobody handed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.bench.importing.report import Tally
from penstock.documents import files
from penstock.errors import InputError, NotFoundError
from penstock.files import slug
from penstock.logs import inert
from penstock.tables import FORMATS
from penstock.tables.jsonlines import loads
from penstock.yamlfile import Document

__all__ = [
    "FOLDERS",
    "Found",
    "Written",
    "check_texts",
    "found_in",
    "id_of",
    "metrics_config",
    "read",
    "read_json",
]

FOLDERS = {
    "endpoint": "connectors-endpoints",
    "dataset": "datasets",
    "template": "prompt-templates",
    "recipe": "recipes",
    "cookbook": "cookbooks",
}
_CONFIG = Path("metrics", "metrics_config.json")
_INDEX = "cache.json"
_LARGEST = 16 << 20
# An id that ends so would be taken for a file's name.
_FILES = tuple(dict.fromkeys((*files.SUFFIXES, *(f".{name}" for name in FORMATS))))


@dataclass(frozen=True)
class Found:
    """A file of the folder, and the id that it gives."""

    id: str
    path: Path
    file: str
    """From the folder on."""


@dataclass(frozen=True)
class Written:
    """What a file says, and where, as far as lines are known."""

    file: str
    data: dict[str, Any]
    document: Document | None = None


def id_of(name: str) -> str:
    """The id that a name gives: never a path, and never what looks like a file."""
    made = slug(name)
    for suffix in _FILES:
        if made.endswith(suffix):
            return slug(f"{made.removesuffix(suffix)}-{suffix[1:]}")
    return made


def found_in(folder: Path, tally: Tally) -> dict[str, list[Found]]:
    """The files by kind. Those without an id, or with another's, are told in the tally."""
    root = _root(folder)
    listed = {kind: list(_listed(root, name, kind, tally)) for kind, name in FOLDERS.items()}
    if not any(listed.values()) and not tally.not_imported and not (root / _CONFIG).is_file():
        raise _nothing(root)
    return {kind: list(_by_id(kind, paths, root, tally)) for kind, paths in listed.items()}


def metrics_config(folder: Path) -> Found | None:
    """The file that names the metrics' judges."""
    root = _root(folder)
    path = root / _CONFIG
    return Found("", path, str(_CONFIG)) if _is_inside(path, root) and path.is_file() else None


def read(found: Found) -> Written:
    """A small file: an object of names and values."""
    data = read_json(found.path, found.file, _LARGEST)
    check_texts(data)
    try:
        document = files.read(found.path, found.file)
    except InputError:
        return Written(found.file, data)  # JSON that YAML does not take: then without lines
    return Written(found.file, data, document)


def check_texts(data: Any) -> None:
    """Refuse what UTF-8 cannot hold, and so no file."""
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError("it holds half a character (a lone surrogate)") from None


def read_json(path: Path, file: str, largest: int) -> dict[str, Any]:
    """The object in a JSON file."""
    try:
        with path.open("rb") as stream:
            body = stream.read(largest + 1)
    except OSError as error:
        raise InputError(f"it cannot be read: {error.strerror or error}") from None
    if len(body) > largest:
        raise InputError(f"it is larger than {largest >> 20:,} MiB, the most that is read")
    try:
        data = loads(body.removeprefix(b"\xef\xbb\xbf"))
    except ValueError as error:
        raise _broken(body, file, str(error)) from None
    if not isinstance(data, dict):
        raise InputError("names and values are wanted: {...}")
    return data


def _broken(body: bytes, file: str, said: str) -> InputError:
    """What is wrong with the JSON, at its line. Of its text nothing is shown: it may hold a key."""
    try:
        json.loads(body.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        return InputError(f"{file}:{error.lineno}: it is not JSON: {error.msg}")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        return InputError(f"{file}:{line}: it is not UTF-8 text", remedy="Save it as UTF-8.")
    except (ValueError, RecursionError):
        pass
    return InputError(f"it is not JSON: {said}")


def _root(folder: Path) -> Path:
    folder = Path(folder).expanduser()
    if not folder.exists():
        raise NotFoundError(f"there is no folder {folder}")
    if not folder.is_dir():
        raise InputError(f"{folder} is a file, not a folder")
    return folder.resolve()


def _nothing(root: Path) -> InputError:
    names = ", ".join((*FOLDERS.values(), str(_CONFIG)))
    inside = [each for each in sorted(root.iterdir()) if each.is_dir()]
    near = [each for each in inside if any((each / name).is_dir() for name in FOLDERS.values())]
    hint = f"Did you mean {near[0]}? " if near else ""
    return InputError(
        f"{root} holds nothing of Moonshot's",
        remedy=f"{hint}A data folder holds JSON files in: {names}.",
    )


def _listed(root: Path, name: str, kind: str, tally: Tally) -> Iterator[Path]:
    folder = root / name
    if not _is_inside(folder, root):
        tally.refuse(kind, "", name, "it is a link that leads out of the folder")
        return
    if not folder.is_dir():
        return
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        tally.refuse(kind, "", name, f"it cannot be read: {error.strerror or error}")
        return
    for path in entries:
        if path.suffix.lower() != ".json" or path.name == _INDEX:
            continue
        if not _is_inside(path, root):
            file = f"{name}/{path.name}"
            tally.refuse(kind, "", file, "it is a link that leads out of the folder")
        elif path.is_file():
            yield path
        elif path.is_symlink():
            tally.refuse(kind, "", f"{name}/{path.name}", "it is a link that leads nowhere")


def _by_id(kind: str, paths: list[Path], root: Path, tally: Tally) -> Iterator[Found]:
    taken: dict[str, str] = {}
    for path in paths:
        # A name need not be UTF-8; it is shown all the same.
        file = inert(str(path.relative_to(root)))
        with tally.trying(kind, "", file):
            name = id_of(path.stem)
            if name in taken:
                raise InputError(
                    f"it gives the id {name!r}, as {taken[name]} does, which was taken",
                    remedy="Give one of them another name.",
                )
            taken[name] = file
            yield Found(name, path, file)


def _is_inside(path: Path, root: Path) -> bool:
    try:
        return path.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a link that leads to itself
        return False
