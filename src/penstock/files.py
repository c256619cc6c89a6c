"""Files that are nobody else's business: private whatever the umask, whole or not there at all."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.errors import InputError, StorageFullError

__all__ = ["checked_id", "private_file", "private_folder", "slug", "storage_errors"]

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_NOT_IN_ID = re.compile(r"[^a-z0-9._]+")


def checked_id(name: str) -> str:
    """A name that is safe as a file name, an address and a database key."""
    if not _ID.fullmatch(name):
        raise InputError(
            f"{name!r} is no valid id",
            remedy="An id has 1 to 64 of a-z, 0-9, '.', '_' and '-', the first a letter or digit.",
        )
    return name


def slug(name: str) -> str:
    """The id that a name gives: `My OpenAI GPT4o` is `my-openai-gpt4o`."""
    import unicodedata

    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    made = _NOT_IN_ID.sub("-", plain).strip("-._")[:64].rstrip("-._")
    if not made:
        raise InputError(
            f"no id can be made of the name {name!r}",
            remedy="Give a name with some letter of a-z or a digit.",
        )
    return made


def private_folder(path: Path) -> None:
    """A folder for the owner alone, and so its parents where they have to be made."""
    # mkdir(parents=True) would leave the parents to the umask.
    for folder in (*reversed(path.parents), path):
        if not folder.is_dir():
            folder.mkdir(mode=0o700, exist_ok=True)


def private_file(path: Path, content: bytes = b"") -> None:
    """A file for the owner alone, replaced whole or not at all."""
    handle, draft = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turns what the system says about a disk into what a person can act on."""
    try:
        yield
    except OSError as error:
        raise StorageFullError(
            f"{path} cannot be written: {error.strerror or error}",
            remedy="Free some room or make it writable, then run again: nothing done is lost.",
        ) from None
