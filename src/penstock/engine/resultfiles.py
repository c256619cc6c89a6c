"""What a run came to, as a typed document in its folder: written once, never changed.

`result.json`, with tables beside it. A run that is taken up again writes `result-2.json`, and
tables with the same number; the latest is the one that is shown.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from penstock.endpoint import Endpoint
from penstock.errors import DamagedError, EndpointError, NewerWorkspaceError
from penstock.files import private_file, storage_errors
from penstock.tables import Table

__all__ = ["ResultFiles", "public_spec"]

T = TypeVar("T", bound=msgspec.Struct)
_NAME = re.compile(r"result(?:-(\d+))?\.json")


class _Head(msgspec.Struct):
    schema: str


class ResultFiles(Generic[T]):
    """Results of one kind; `schema` is the form that this version reads and writes."""

    def __init__(self, kind: type[T], schema: str) -> None:
        self._kind = kind
        self._schema = schema

    def latest(self, folder: Path) -> int | None:
        """The number of the latest result in a run's folder."""
        found = [_NAME.fullmatch(path.name) for path in folder.glob("result*.json")]
        return max((int(match[1] or 1) for match in found if match), default=None)

    def next_number(self, folder: Path) -> int:
        """The number of the result that will be written."""
        return (self.latest(folder) or 0) + 1

    def write(self, result: T, folder: Path, number: int) -> Path:
        """Beside the earlier ones, which stay."""
        path = self.table(folder, "result", number, ".json")
        with storage_errors(path):
            private_file(path, msgspec.json.format(msgspec.json.encode(result), indent=1))
        return path

    def read(self, folder: Path, number: int) -> T:
        """As it was written. One of a newer form is refused, a damaged one told."""
        path = self.table(folder, "result", number, ".json")
        try:
            body = path.read_bytes()
            schema = msgspec.json.decode(body, type=_Head).schema
            if schema != self._schema:
                raise NewerWorkspaceError(
                    f"{path} has the form {schema!r}; this version knows {self._schema!r}",
                    remedy="Upgrade Penstock (pip install -U penstock).",
                )
            return msgspec.json.decode(body, type=self._kind)
        except (msgspec.DecodeError, OSError) as error:
            raise DamagedError(f"{path} cannot be read: {error}") from None

    def table(self, folder: Path, name: str, number: int, suffix: str = ".arrow") -> Path:
        """The file that belongs to a result."""
        return folder / (f"{name}{suffix}" if number == 1 else f"{name}-{number}{suffix}")

    def open_table(self, folder: Path, name: str, number: int) -> Table:
        """A table that belongs to a result."""
        path = self.table(folder, name, number)
        if not path.is_file():
            raise DamagedError(f"the {name} of the result are gone: {path}")
        return Table.open(path)


def public_spec(endpoint: Endpoint) -> dict[str, Any]:
    """An endpoint as a result may tell it: also where its key was given literally, without it."""
    try:
        return endpoint.spec()
    except EndpointError:
        return endpoint.with_(key=None).spec()
