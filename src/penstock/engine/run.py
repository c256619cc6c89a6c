"""A Run: one job over rows, with its folder, its line in the catalog and its lock.

In `runs/<id>/`: `run.json` (the spec), `rows.keys` (which questions each row asked),
`failures.jsonl`, and whatever the job writes. The lock is the system's own, so it is free at once
when its holder dies, however it dies.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from penstock.engine.engine import Engine
from penstock.engine.progress import Progress
from penstock.engine.states import RunState, advance
from penstock.errors import HeldError
from penstock.files import checked_id, private_file, private_folder, storage_errors
from penstock.outcome import Failure, FailureKind
from penstock.request import KEY_SIZE
from penstock.store import Workspace
from penstock.store.catalog import Catalog

__all__ = ["Run", "end_state", "is_held", "new_run_id", "remove_run", "row_keys"]

_EVERY = 1.0
_ROW_SIZE = 8


class Run:
    """Open it before the first question: `with Run(workspace, catalog, kind="demo") as run`."""

    def __init__(
        self,
        workspace: Workspace,
        catalog: Catalog,
        *,
        kind: str,
        spec: Mapping[str, Any] | None = None,
        name: str = "",
        id: str = "",  # noqa: A002
        progress: Progress | None = None,
    ) -> None:
        self.id = checked_id(id) if id else new_run_id(kind)
        self.kind = kind
        self.name = name
        self.spec = dict(spec or {})
        self.folder = workspace.run(self.id)
        self.state = RunState.PENDING
        self.progress = progress or Progress()
        self.limiter: dict[str, Any] = {}
        """What the limiter did, for people who wonder about the speed."""
        self._catalog = catalog
        self._written = 0.0
        self._keys = bytearray()
        self._failures = bytearray()
        self._lock: int | None = None

    def __enter__(self) -> Self:
        with storage_errors(self.folder):
            private_folder(self.folder)
            self._take_lock()
            found = self._catalog.find_run(self.id)
            if found is not None:
                self.state = RunState(found["state"])
                self.progress.add(found["counters"])
            else:
                private_file(self.folder / "run.json", orjson.dumps(self._document()))
                self._catalog.add_run(self.id, self.kind, self.name, self.spec)
        # A killed run still says "running"; the lock says that nobody does.
        self.state = advance(self.state, RunState.RUNNING)
        self._catalog.update_run(self.id, state=self.state, started=time.time(), ended=None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if not self.state.ended:
                state = RunState.FAILED if isinstance(error, Exception) else RunState.CANCELLED
                self.finish(state, str(error or ""))
        finally:
            self._free_lock()

    def asked(self, row: int | None, key: bytes) -> None:
        """Note which question a row asked."""
        self._keys += (2**64 - 1 if row is None else row).to_bytes(_ROW_SIZE, "little") + key
        if len(self._keys) >= 1 << 16:
            self._write_keys()

    def failed(self, row: int, failure: Failure, column: str = "") -> None:
        """Note a row that failed, or a cell of it, for people and for a retry."""
        line = {
            "row": row,
            **({"column": column} if column else {}),
            "kind": failure.kind,
            "message": failure.message,
            "attempts": failure.attempts,
            "may_be_paid": failure.may_be_paid,
            "status": failure.status,
        }
        self._failures += orjson.dumps(line) + b"\n"
        if len(self._failures) >= 1 << 16:
            self._write_failures()

    def tick(self) -> None:
        """Write the counters now and then."""
        if time.monotonic() - self._written >= _EVERY:
            self._written = time.monotonic()
            self._catalog.update_run(self.id, counters=self.progress.counters())
            self._write_failures()

    def finish(self, state: RunState, message: str = "") -> None:
        """Write how the run ended."""
        self._write_keys()
        self._write_failures()
        self.state = advance(self.state, state)
        self._catalog.update_run(
            self.id,
            state=self.state,
            ended=time.time(),
            counters={**self.progress.counters(), "limiter": self.limiter},
            message=message,
        )

    def begin_failures(self) -> None:
        """Failures are those of the latest pass; earlier ones were asked again."""
        with storage_errors(self.folder):
            (self.folder / "failures.jsonl").unlink(missing_ok=True)

    def _document(self) -> dict[str, Any]:
        return {"id": self.id, "kind": self.kind, "name": self.name, "spec": self.spec}

    def _write_keys(self) -> None:
        self._append("rows.keys", bytes(self._keys))
        self._keys.clear()

    def _write_failures(self) -> None:
        self._append("failures.jsonl", bytes(self._failures))
        self._failures.clear()

    def _append(self, name: str, content: bytes) -> None:
        if not content:
            return
        with storage_errors(self.folder):
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            handle = os.open(self.folder / name, flags, 0o600)
            with os.fdopen(handle, "ab") as file:
                file.write(content)

    def _take_lock(self) -> None:
        self._lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = (self.folder / "lock").read_text("utf-8").strip() or "another process"
            self._free_lock()
            raise HeldError(
                f"the run {self.id} is held by {holder}",
                remedy="Wait for it to end, or stop that process, then run again.",
            ) from None
        os.ftruncate(self._lock, 0)
        os.write(self._lock, f"process {os.getpid()} on {socket.gethostname()}\n".encode())

    def _free_lock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def end_state(engine: Engine) -> RunState:
    """How a run ended, by what its engine saw."""
    stopped = engine.stop.failure
    if engine.error is not None:
        return RunState.FAILED
    if stopped is not None:
        cancelled = stopped.kind is FailureKind.CANCELLED
        return RunState.CANCELLED if cancelled else RunState.STOPPED
    if engine.progress.rows_failed:
        return RunState.COMPLETED_WITH_FAILURES
    return RunState.COMPLETED


def new_run_id(kind: str) -> str:
    """An id that sorts by time and collides with nobody's."""
    return f"{kind}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(2)}"


def is_held(folder: Path) -> bool:
    """Whether a process works on a run; one that was killed holds nothing."""
    try:
        lock = os.open(folder / "lock", os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def remove_run(workspace: Workspace, catalog: Catalog, run_id: str) -> None:
    """Forget a run that nobody works on; its answers stay in the journal."""
    folder = workspace.run(run_id)
    if is_held(folder):
        raise HeldError(f"the run {run_id} is still going on", remedy="Stop it first.")
    with storage_errors(folder):
        if folder.exists():
            shutil.rmtree(folder)
    catalog.remove_run(run_id)


def row_keys(folder: Path) -> dict[int, list[bytes]]:
    """Which questions each row of a run asked, in order, each once."""
    found: dict[int, dict[bytes, None]] = {}
    path = folder / "rows.keys"
    content = path.read_bytes() if path.exists() else b""
    size = _ROW_SIZE + KEY_SIZE
    for start in range(0, len(content) - size + 1, size):
        row = int.from_bytes(content[start : start + _ROW_SIZE], "little")
        found.setdefault(row, {})[content[start + _ROW_SIZE : start + size]] = None
    return {row: list(keys) for row, keys in found.items()}
