"""Records for the tests of the store, each its own, and ways to write and look for them."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from penstock.store import Journal, Record, RecordKind

__all__ = ["children", "copy_of", "fill", "find", "make", "overflowing"]


def make(number: int, kind: RecordKind = RecordKind.ANSWER, **changes: Any) -> Record:
    """The record of that number, always the same."""
    dice = random.Random(number)
    given = {
        "key": b"\x01" + sha256(b"%d" % number).digest()[:16],
        "response": b'{"answer":%d,"noise":"%s"}' % (number, dice.randbytes(60).hex().encode()),
        "request": b'{"question":%d}' % number,
        "provider": "simulated",
        "model": "simulated-1",
        "run": f"run-{number % 3}",
        "at": 1_700_000_000.0 + number,
        "latency": 0.25,
        "attempts": 1 + number % 2,
        "cost": "0.0001",
        "price_source": "test",
    }
    return Record(**{**given, **changes}, kind=kind)


def overflowing(number: int) -> Record:
    """A record that does not fit on one page."""
    return make(number, response=random.Random(number).randbytes(9_000 + number))


def fill(path: Path, records: Sequence[Record]) -> None:
    """Write records one commit each, and close."""

    async def work() -> None:
        journal = Journal(path).open()
        try:
            for record in records:
                await journal.record(record)
        finally:
            journal.close()

    _run(work())


def find(path: Path, keys: Sequence[bytes]) -> list[Any]:
    """What a journal opened anew gives for each key: a record, None or an exception."""

    async def work() -> list[Any]:
        journal = Journal(path).open()
        try:
            asked = (journal.find(key) for key in keys)
            return list(await asyncio.gather(*asked, return_exceptions=True))
        finally:
            journal.close()

    found: list[Any] = _run(work())
    return found


def _run(work: Coroutine[Any, Any, Any]) -> Any:
    """In a thread: a test may have a loop of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def copy_of(path: Path, target: Path) -> Path:
    """The file and its log as they lie on disk now, as after a crash."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for suffix in ("", "-wal"):
        source = path.with_name(path.name + suffix)
        goal = target.with_name(target.name + suffix)
        goal.unlink(missing_ok=True)
        if source.exists():
            shutil.copyfile(source, goal)
    return target


@contextmanager
def children(code: str, *arguments: Sequence[object]) -> Iterator[list[subprocess.Popen[str]]]:
    """Python programs that see the tests, one for each list of arguments; ended at the end."""
    seen = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": seen}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, *map(str, given)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for given in arguments
    ]
    try:
        yield running
    finally:
        for one in running:
            one.kill()
            one.communicate()
