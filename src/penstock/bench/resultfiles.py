"""A run's results on disk: written once, never changed.

In the run's folder: `result.json` with its `items.arrow`. A run that is taken up again writes
`result-2.json` and `items-2.arrow` beside them; the latest is the one that is shown.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from penstock.bench.result import SCHEMA, BenchResult
from penstock.errors import DamagedError, NewerWorkspaceError
from penstock.files import private_file, storage_errors
from penstock.tables import Table

__all__ = ["items_file", "latest", "next_number", "open_items", "read_result", "write_result"]

_NAME = re.compile(r"result(?:-(\d+))?\.json")


def latest(folder: Path) -> int | None:
    """The number of the latest result in a run's folder."""
    found = [_NAME.fullmatch(path.name) for path in folder.glob("result*.json")]
    return max((int(match[1] or 1) for match in found if match), default=None)


def next_number(folder: Path) -> int:
    """The number of the result that will be written."""
    return (latest(folder) or 0) + 1


def items_file(folder: Path, number: int) -> Path:
    """The items of a result."""
    return folder / ("items.arrow" if number == 1 else f"items-{number}.arrow")


def write_result(result: BenchResult, folder: Path, number: int) -> Path:
    """Beside the earlier ones, which stay."""
    path = _file(folder, number)
    with storage_errors(path):
        private_file(path, msgspec.json.format(msgspec.json.encode(result), indent=1))
    return path


def read_result(folder: Path, number: int) -> BenchResult:
    """A result as it was written. One of a newer form is refused, a damaged one told."""
    path = _file(folder, number)
    try:
        body = path.read_bytes()
        schema = msgspec.json.decode(body, type=_Head).schema
        if schema != SCHEMA:
            raise NewerWorkspaceError(
                f"{path} has the form {schema!r}; this version knows {SCHEMA!r}",
                remedy="Upgrade Penstock (pip install -U penstock).",
            )
        return msgspec.json.decode(body, type=BenchResult)
    except (msgspec.DecodeError, OSError) as error:
        raise DamagedError(f"{path} cannot be read: {error}") from None


def open_items(folder: Path, number: int) -> Table:
    """The items of a result."""
    path = items_file(folder, number)
    if not path.is_file():
        raise DamagedError(f"the items of the result are gone: {path}")
    return Table.open(path)


def _file(folder: Path, number: int) -> Path:
    return folder / ("result.json" if number == 1 else f"result-{number}.json")


class _Head(msgspec.Struct):
    schema: str
