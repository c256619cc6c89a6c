"""The files that a run writes: never over somebody else's, and over its own when it goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from penstock.errors import InputError
from penstock.grade.files import Input, mark
from penstock.store.workspace import private_file

__all__ = ["Outputs"]


class Outputs:
    """Where the outputs of a run go, and which of them it wrote itself."""

    def __init__(self, out: Path, folder: Path, *, overwrite: bool) -> None:
        self.out = out
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
        return self._overwrite or self._own.get(str(path)) == _state(path)

    def check(self, sources: list[Input]) -> None:
        """Refuse to begin where an output is there already."""
        for path in [*map(self.path, sources), self.out / "report.html", self.out / "report.json"]:
            if path.exists() and not self.may_replace(path):
                raise InputError(
                    f"{path} is there already",
                    remedy="Give another folder (-o), or --overwrite to replace it.",
                )

    def wrote(self, *paths: Path) -> None:
        """Note what was written, so that going on may replace it, and no search takes it for
        data."""
        for path in paths:
            self._own[str(path)] = _state(path)
            mark(path)
        private_file(self._ledger, orjson.dumps(self._own))


def _state(path: Path) -> list[int]:
    if not path.exists():
        return []
    found: Any = path.stat()
    return [found.st_size, found.st_mtime_ns]
