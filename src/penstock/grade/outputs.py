"""The files that a run writes: never over somebody else's, and over its own when it goes on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from penstock.errors import InputError
from penstock.files import private_file
from penstock.grade.files import Input, mark

__all__ = ["Outputs"]


class Outputs:
    """Where the outputs of a run go, and which of them it wrote itself."""

    def __init__(self, out: Path, folder: Path, *, overwrite: bool) -> None:
        self.out = out.expanduser().absolute()
        self._ledger = folder / "outputs.json"
        self._overwrite = overwrite
        self._own: dict[str, list[int]] = {}
        if self._ledger.exists():
            self._own = orjson.loads(self._ledger.read_bytes())

    def path(self, source: Input) -> Path:
        """The output of a file."""
        return self.out / source.name

    def may_replace(self, path: Path) -> bool:
        """Whether a file that is there may be replaced: it was asked for, or it is our own and
        nobody has touched it since."""
        return self._overwrite or self._own.get(str(path)) in (_BEGUN, _state(path))

    def check(self, sources: list[Input]) -> None:
        """Refuse to begin where an output cannot be written, is there already, or is an input."""
        self._check_folder()
        inputs = {os.path.realpath(source.path) for source in sources}
        for path in [*map(self.path, sources), *self.report]:
            if os.path.realpath(path) in inputs:
                raise InputError(
                    f"{path} is graded, and would be replaced by its own output",
                    remedy="Give another folder (-o).",
                )
            if path.exists() and not self.may_replace(path):
                raise InputError(
                    f"{path} is there already",
                    remedy="Give another folder (-o), --retry-failed to go on with the run that "
                    "wrote it, or --overwrite to replace it.",
                )

    @property
    def report(self) -> tuple[Path, Path]:
        """The page, and the same for programs."""
        return self.out / "report.html", self.out / "report.json"

    @contextmanager
    def writing(self, *paths: Path) -> Iterator[None]:
        """While files are written. Noted before, so that a run that is killed in between knows
        them for its own; and after, with their state, so that going on may replace them and no
        search takes them for data."""
        before = {str(path): self._own.get(str(path)) for path in paths}
        self._note(dict.fromkeys(before, _BEGUN))
        try:
            yield
        except BaseException:
            self._note(before)
            raise
        self._note({str(path): _state(path) for path in paths})
        for path in paths:
            mark(path)

    def _note(self, states: dict[str, list[int] | None]) -> None:
        known = {**self._own, **states}
        self._own = {path: state for path, state in known.items() if state is not None}
        private_file(self._ledger, orjson.dumps(self._own))

    def _check_folder(self) -> None:
        there = next(path for path in (self.out, *self.out.parents) if path.exists())
        if not there.is_dir():
            raise InputError(
                f"{self.out} cannot be the folder of the outputs: {there} is a file",
                remedy="Give another folder (-o).",
            )
        if not os.access(there, os.W_OK | os.X_OK):
            raise InputError(
                f"{there} cannot be written", remedy="Give another folder (-o), or the right to."
            )


_BEGUN: list[int] = []
"""In place of a state: the file is being written."""


def _state(path: Path) -> list[int]:
    if not path.exists():
        return []
    found: Any = path.stat()
    return [found.st_size, found.st_mtime_ns]
