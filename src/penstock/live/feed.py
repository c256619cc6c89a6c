"""Rows on their way to whoever looks on: written by the run, read in pages by others.

Three files in the run's folder: `live.rows` has a line of JSON a row, in order of arrival;
`live.index` an entry of fixed size a row, after a head that tells one feed from the next;
`live.columns` the names of columns as they turn up. A reader finds any page by reading a few
entries and the bytes they point at. Each entry also says how many rows had failed by then, so that
the failed rows are found by halving and need no list of their own.

Traded away: nothing here is synced. It is a view of a run, not its record; after a power cut its
end may be missing, and the run is taken up again from the journal, with a new feed.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from penstock.files import storage_errors
from penstock.tables.plain import plain, text_of

__all__ = ["ENTRY", "HEAD", "MAGIC", "Feed"]

MAGIC = b"penstock live 1\n"
HEAD = struct.Struct("<16s16s")
ENTRY = struct.Struct("<QQQII")
"""Where the row's line begins, the row's number, how many had failed by then and with it, how long
the line is, whether it failed."""

_BLOCK = 1 << 18
_MOST_COLUMNS = 500
_JSON = (type(None), bool, int, float, str, list, dict)


class Feed:
    """Written by one thread of a run; what was there before is gone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows = bytearray()
        self._index = bytearray(HEAD.pack(MAGIC, secrets.token_bytes(16)))
        self._columns = bytearray()
        self._known: set[str] = set()
        self._failed = 0
        self._places = [0, 0, 0]
        self._handles: list[int] = []
        with storage_errors(folder):
            # The index goes first and comes last: a reader never finds it without its rows.
            paths = [folder / f"live.{name}" for name in ("rows", "columns", "index")]
            for path in reversed(paths):
                path.unlink(missing_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            try:
                self._handles.extend(os.open(path, flags, 0o600) for path in paths)
            except OSError:
                self._let_go()
                raise
        self.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def add(
        self,
        number: int,
        row: Mapping[str, Any],
        status: str,
        failures: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Take in a finished row. It is seen after the next flush."""
        failed = bool(failures) or status == "failed"
        line = _line(
            {
                "number": number,
                "status": status,
                "row": dict(row),
                "failures": [dict(failure) for failure in failures],
            }
        )
        place = self._places[0] + len(self._rows)
        self._index += ENTRY.pack(place, number, self._failed + failed, len(line), failed)
        self._rows += line
        self._failed += failed
        if not row.keys() <= self._known:
            self._note_columns(row)
        if len(self._rows) >= _BLOCK:
            self.flush()

    def flush(self) -> None:
        """Let readers see what was added. Do it once a block of rows, not once a row."""
        if not self._handles:
            return
        # At places of our own choosing: a write that broke off half way is written again.
        with storage_errors(self.folder):
            for which, waiting in enumerate((self._rows, self._columns, self._index)):
                _write(self._handles[which], waiting, self._places[which])
                self._places[which] += len(waiting)
                waiting.clear()

    def close(self) -> None:
        """Write the rest and let go of the files, which stay for readers."""
        try:
            self.flush()
        finally:
            self._let_go()

    def _note_columns(self, row: Mapping[str, Any]) -> None:
        for name in row:
            if name not in self._known and len(self._known) < _MOST_COLUMNS:
                self._known.add(name)
                self._columns += orjson.dumps(text_of(plain(name))) + b"\n"

    def _let_go(self) -> None:
        while self._handles:
            os.close(self._handles.pop())


def _write(handle: int, content: bytearray, place: int) -> None:
    view = memoryview(content)
    try:
        done = 0
        while done < len(view):
            done += os.pwrite(handle, view[done:], place + done)
    finally:
        view.release()


def _line(entry: dict[str, Any]) -> bytes:
    try:
        options = orjson.OPT_APPEND_NEWLINE | orjson.OPT_PASSTHROUGH_DATETIME
        return orjson.dumps(entry, default=_other, option=options)
    except TypeError:
        # Half characters, names that are no text, whole numbers beyond 64 bits, deep nesting.
        slow = json.dumps(_finite(plain(entry)), ensure_ascii=False, default=text_of)
        return slow.encode() + b"\n"


def _other(value: Any) -> Any:
    found = plain(value)
    return found if isinstance(found, _JSON) else text_of(found)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value
