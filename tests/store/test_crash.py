"""R2 in small: whatever the moment of a crash, what was acknowledged before it is there."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

from penstock.store import Journal, Record
from tests.store.records import children, copy_of, find, make

_WRITER = """
import asyncio, sys
from pathlib import Path
from penstock.store import Journal, file, journal as room
from tests.store.records import make

def often(path, durability):
    connection = file.open_file(path, durability)
    connection.execute("PRAGMA wal_autocheckpoint = 20")
    return connection

async def one(journal, number):
    await journal.record(make(number, request=bytes(number % 2000)))
    print(number, flush=True)

async def main():
    room.open_file = often
    journal = Journal(Path(sys.argv[1])).open()
    for start in range(0, 1_000_000, 8):
        await asyncio.gather(*(one(journal, number) for number in range(start, start + 8)))

asyncio.run(main())
"""


def test_a_crash_at_any_moment_loses_nothing_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    dice = random.Random(7)
    acknowledged: list[int] = []
    images: list[tuple[Path, int]] = []
    with children(_WRITER, [path]) as [writer]:
        assert writer.stdout is not None
        handle = writer.stdout.fileno()
        acknowledged.append(int(writer.stdout.readline()))
        os.set_blocking(handle, False)
        rest = b""
        for moment in range(40):
            time.sleep(dice.random() / 50)
            os.kill(writer.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, writer.pid, os.WSTOPPED | os.WEXITED)
            try:
                while chunk := os.read(handle, 1 << 20):
                    rest += chunk
            except BlockingIOError:
                pass
            whole, _, rest = rest.rpartition(b"\n")
            acknowledged += map(int, whole.split())
            images.append(
                (copy_of(path, tmp_path / f"image{moment}" / "journal.db"), len(acknowledged))
            )
            os.kill(writer.pid, signal.SIGCONT)
    assert len(acknowledged) > 200
    logs = [image.with_name("journal.db-wal").stat().st_size for image, _ in images]
    assert len(set(logs)) > 3  # taken at different moments, also of the log
    for image, count in images:
        sure = acknowledged[:count]
        found = find(image, [make(number).key for number in sure])
        assert all(isinstance(record, Record) for record in found)
        for number, record in zip(sure, found, strict=True):
            assert record == make(number, request=bytes(number % 2000))
    # Killed at last, as a crash does, and opened where it lies.
    assert all(find(path, [make(number).key for number in acknowledged]))
    assert all(isinstance(record, Record) for record in Journal(path).each())
