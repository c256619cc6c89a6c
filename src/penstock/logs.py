"""Logs: one event, one line, no secrets, and never in the way of the work.

The rooms log with the standard `logging` under the name `penstock`; nothing is set up until
`configure` is called, so a program that uses Penstock keeps its own logging. A line is

    2026-11-05T12:34:56.789+01:00 WARNING penstock.engine run=r1 request=ab12 message key=value

and stays one line whatever a model or a server put into it: control and invisible characters
are written as escapes, secrets as `****`, in messages, arguments, extras and tracebacks alike.

Accepted trade-offs. A log that cannot be written loses events (`lost()` counts them) after one
warning on stderr; the work goes on. The file handler is our own because the standard one
neither shares a file between processes nor bounds it without backups; two processes that meet
in a rotation may exceed `max_size` by a few lines. A device, pipe or symbolic link is written
but not rotated. What propagates to handlers of other programs is theirs to mask.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path

from penstock.secret import SHOWN, mask

__all__ = ["OneLine", "bind", "configure", "inert", "lost", "reset", "scrub"]

_LONGEST = 16_384  # characters of one line: a log is no place for whole bodies

_logger = logging.getLogger("penstock")
_logger.addHandler(logging.NullHandler())
_installed: list[logging.Handler] = []
_lost = 0

_ids: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("penstock_log_ids", default=())

_URL_USER = re.compile(r"(://)[^/?#@\s\"']+@")
# Control characters, line separators, and what reorders or hides text on a terminal. Compiled
# when first needed: that takes milliseconds.
_UNSEEN = (
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_BARE = re.compile(r"[\w./:@+*,()-]+")
_SECRET_NAME = re.compile(
    r"(?i)(?:.*[_-])?(?:api[_-]?key|authorization|passw(?:or)?d|secret|token)"
)
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def scrub(text: str) -> str:
    """The text without secrets, nor the user and password of a URL."""
    return mask(_URL_USER.sub(rf"\1{SHOWN}@", text))


def inert(text: str) -> str:
    """The text without secrets, on one line, with nothing in it that a terminal would obey."""
    text = scrub(text)
    return text if text.isprintable() else re.sub(_UNSEEN, _escape, text)


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


@contextmanager
def bind(*, run: str | None = None, request: str | None = None) -> Iterator[None]:
    """Write these ids on every line logged inside the block, in this task or thread."""
    given = {name: value for name, value in (("run", run), ("request", request)) if value}
    token = _ids.set(tuple((dict(_ids.get()) | given).items()))
    try:
        yield
    finally:
        _ids.reset(token)


def configure(
    *,
    level: str = "INFO",
    file: str | Path | None = None,
    max_size: int = 10_485_760,
    backup_count: int = 5,
    console: bool = False,
) -> None:
    """Send Penstock's events to a file, to stderr, both or neither; replaces what was set before.

    The file is opened with the first event; beside it are kept at most `backup_count` older ones
    (`penstock.log.1` is the youngest), each of at most `max_size` bytes.
    """
    reset()
    _logger.setLevel(level)
    if file is not None:
        _installed.append(_File(Path(file).expanduser().absolute(), max_size, backup_count))
    if console:
        _installed.append(_Console())
    for handler in _installed:
        handler.setFormatter(OneLine())
        _logger.addHandler(handler)


def reset() -> None:
    """Take away what `configure` set up."""
    while _installed:
        handler = _installed.pop()
        _logger.removeHandler(handler)
        handler.close()
    _logger.setLevel(logging.NOTSET)


def lost() -> int:
    """How many events could not be written by this process."""
    return _lost


class OneLine(logging.Formatter):
    """Makes one inert line of a record, whoever logged it."""

    def format(self, record: logging.LogRecord) -> str:
        extras = {k: v for k, v in vars(record).items() if k not in _STANDARD}
        ids = dict(_ids.get())
        ids.update((k, _said(extras.pop(k))) for k in ("run", "request") if k in extras)
        parts = [_when(record.created), record.levelname, _said(record.name)]
        parts += [_pair(name, value) for name, value in ids.items()]
        parts.append(_message(record))
        parts += [_pair(name, value) for name, value in extras.items()]
        parts += self._trouble(record)
        # Once more over the whole: a name and its value look like a key only together.
        line = inert(" ".join(parts))
        if len(line) > _LONGEST:
            line = f"{line[:_LONGEST]}… ({len(line) - _LONGEST} more characters)"
        return line

    def _trouble(self, record: logging.LogRecord) -> list[str]:
        found = []
        if record.exc_info and record.exc_info[0] is not None:
            found.append(scrub(self.formatException(record.exc_info)))
        elif record.exc_text:
            found.append(scrub(record.exc_text))
        if record.stack_info:
            found.append(scrub(record.stack_info))
        return found


def _when(created: float) -> str:
    return datetime.fromtimestamp(created).astimezone().isoformat(timespec="milliseconds")


def _message(record: logging.LogRecord) -> str:
    try:
        return scrub(record.getMessage())
    except Exception:
        # A wrong format string or an object that cannot show itself costs its text, not the event.
        return scrub(f"{_said(record.msg)} (arguments do not fit: {_said(record.args)})")


def _said(value: object) -> str:
    try:
        return str(value)
    except Exception as error:
        return f"<{type(value).__name__}: {type(error).__name__}>"


def _pair(name: str, value: object) -> str:
    text = SHOWN if _SECRET_NAME.fullmatch(name) else scrub(_said(value))
    return (
        f"{name}={text}"
        if _BARE.fullmatch(text)
        else f"{name}={json.dumps(text, ensure_ascii=False)}"
    )


class _Quiet(logging.Handler):
    """A handler whose failures are counted and told once, and never raised."""

    target = ""
    _told = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        global _lost
        _lost += 1
        if self._told:
            return
        self._told = True
        error = sys.exc_info()[1]
        reason = getattr(error, "strerror", None) or type(error).__name__
        text = f"penstock: cannot write the log {self.target}: {reason}; the work goes on without"
        with contextlib.suppress(Exception):
            sys.stderr.write(inert(text) + "\n")

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.write(self.format(record))
        except Exception:
            self.handleError(record)

    def write(self, line: str) -> None:
        raise NotImplementedError


class _Console(_Quiet):
    """stderr, as it is when the event comes."""

    target = "to stderr"

    def write(self, line: str) -> None:
        encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
        sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        sys.stderr.flush()


class _File(_Quiet):
    """A file of bounded size that several processes may share: each line is one append."""

    def __init__(self, path: Path, max_size: int, backup_count: int) -> None:
        super().__init__()
        self.path = path
        self.target = str(path)
        self._max_size = max_size
        self._backup_count = backup_count
        self._fd = -1
        self._torn = False

    def write(self, line: str) -> None:
        payload = line.encode("utf-8", "backslashreplace") + b"\n"
        if len(payload) > self._max_size:
            payload = payload[: self._max_size - 1].decode("utf-8", "ignore").encode() + b"\n"
        if self._torn:
            payload = b"\n" + payload
        if self._size() + len(payload) > self._max_size:
            self._rotate()
        written = os.write(self._fd, payload)
        self._torn = written < len(payload)
        if self._torn:
            os.write(self._fd, payload[written:])
            self._torn = False

    def close(self) -> None:
        with self.lock or contextlib.nullcontext():
            self._release()
        super().close()

    def _size(self) -> int:
        """The size of the file at our path, opened again if another process moved it away."""
        with contextlib.suppress(FileNotFoundError):
            if self._fd >= 0 and os.path.samestat(found := self.path.stat(), os.fstat(self._fd)):
                return found.st_size
        self._release()
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Non-blocking: a pipe that nobody reads must not stop the work.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
        self._fd = os.open(self.path, flags, 0o600)
        return os.fstat(self._fd).st_size

    def _release(self) -> None:
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)

    def _rotate(self) -> None:
        """Move the full file aside; whatever fails, go on writing where we are."""
        try:
            if not stat.S_ISREG(self.path.lstat().st_mode):
                return
            self._lock_file()
            try:
                # Had another process been faster, the file at our path were no longer ours.
                if os.path.samestat(self.path.stat(), os.fstat(self._fd)):
                    self._shift()
            finally:
                fcntl.flock(self._fd, fcntl.LOCK_UN)
        except OSError:
            pass
        self._size()

    def _lock_file(self) -> None:
        """Wait for another process's rotation, but not for a process that was stopped in one."""
        for _ in range(20):
            with contextlib.suppress(BlockingIOError):
                return fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            time.sleep(0.001)
        raise BlockingIOError

    def _shift(self) -> None:
        if not self._backup_count:
            os.ftruncate(self._fd, 0)
            return
        surplus = self._backup_count
        while self._backup(surplus).exists():
            self._backup(surplus).unlink()
            surplus += 1
        for number in range(self._backup_count - 1, 0, -1):
            with contextlib.suppress(FileNotFoundError):
                self._backup(number).rename(self._backup(number + 1))
        self.path.rename(self._backup(1))

    def _backup(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")
