"""Files that appear whole or not at all.

Everything is written under a temporary name beside its place, made durable, and renamed. A file
that replaces another keeps its permissions; a new one gets what the umask allows, or 0600 where
it is ours and not the user's.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.errors import InputError, StorageFullError

__all__ = ["disk_errors", "draft", "durable", "put"]


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turns what the system says about a disk into what a person can act on."""
    try:
        yield
    except OSError as error:
        raise StorageFullError(
            f"{path} cannot be written: {error.strerror or error}",
            remedy="Free some room, or name a place that can be written, and do it again.",
        ) from error


@contextmanager
def draft(path: Path, *, overwrite: bool) -> Iterator[Path]:
    """A temporary file to fill; put in place at the end of the block, or removed on an error."""
    path = Path(os.path.realpath(path.expanduser()))
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file")
    if path.exists() and not overwrite:
        raise _taken(path)
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            prefix=f".{path.name[:80]}.", suffix=".new", dir=path.parent
        )
        os.close(handle)
    new = Path(name)
    try:
        with disk_errors(path):
            yield new
            durable(new)
            new.chmod(_mode(path))
            put(new, path, overwrite=overwrite)
    finally:
        new.unlink(missing_ok=True)


def put(new: Path, path: Path, *, overwrite: bool = True) -> None:
    """Give a finished file its name, durably."""
    if overwrite:
        new.replace(path)
    else:
        try:
            path.hardlink_to(new)  # unlike a rename, this never replaces
        except FileExistsError:
            raise _taken(path) from None
        except OSError:
            # A file system without hard links: the look before is all there is.
            new.replace(path)
    # The name itself lies in the folder; not every file system can be asked for it.
    with contextlib.suppress(OSError):
        durable(path.parent)


def durable(path: Path) -> None:
    """Wait until what was written is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _mode(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        # There is no way to read the umask but to set it; a process with threads may notice.
        umask = os.umask(0o077)
        os.umask(umask)
        return 0o666 & ~umask


def _taken(path: Path) -> InputError:
    return InputError(f"{path} is already there", remedy="Give another name, or overwrite=True.")
