"""Two journals of every size of record, for all tests that damage one."""

from __future__ import annotations

import asyncio

import pytest

from penstock.store import Journal, Record, RecordKind
from tests.store.images import Image, lay
from tests.store.records import copy_of, make, overflowing


def _records() -> list[Record]:
    return [overflowing(n) if n in (7, 30) else make(n) for n in range(48)]


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """With the log, as after a crash."""
    path = tmp_path_factory.mktemp("image") / "journal.db"

    async def work() -> Image:
        journal = Journal(path).open()
        ends = []
        for record in _records():
            await journal.record(make(1000, RecordKind.FAILURE))
            await journal.record(record)
            ends.append(path.with_name("journal.db-wal").stat().st_size)
        copy = copy_of(path, path.parent / "copy.db")
        made = Image(
            copy.read_bytes(), copy.with_name("copy.db-wal").read_bytes(), _records(), ends
        )
        journal.close()
        return made

    return asyncio.run(work())


@pytest.fixture(scope="session")
def closed(tmp_path_factory: pytest.TempPathFactory, image: Image) -> Image:
    """Without the log: closed and folded into the file."""
    path = tmp_path_factory.mktemp("closed") / "journal.db"
    lay(path, image.db, image.wal)
    Journal(path).open().close()
    assert not path.with_name("journal.db-wal").exists()
    return image._replace(db=path.read_bytes(), wal=b"")
