from __future__ import annotations

import asyncio
import random
import sqlite3
from contextlib import nullcontext
from pathlib import Path

import pytest

from penstock.errors import HeldError, StorageFullError, StoreError
from penstock.store import Journal, Record, RecordKind
from penstock.store import repair as room
from penstock.store.file import open_file
from penstock.store.repair import Repaired, repair
from tests.store.images import PAGE, Image, flipped, lay
from tests.store.records import children, fill, find, make, overflowing


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the child that holds the lock: quicker, for many repairs."""
    monkeypatch.setattr(room, "_held_alone", nullcontext)


def answers(path: Path) -> dict[bytes, Record]:
    """Every answer of a journal in which nothing is damaged."""
    found = {}
    for record in Journal(path).each():
        assert isinstance(record, Record), record
        if record.kind is RecordKind.ANSWER:
            assert record.key not in found
            found[record.key] = record
    return found


def readable(path: Path, records: list[Record]) -> list[Record]:
    """What can still be found without a repair."""
    try:
        return [
            record for record in find(path, [r.key for r in records]) if isinstance(record, Record)
        ]
    except StoreError:
        return []


def repaired(path: Path, db: bytes, wal: bytes = b"") -> tuple[Repaired, dict[bytes, Record]]:
    """Repairs a journal; whatever happens, the damaged files are kept byte for byte."""
    lay(path, db, wal)
    done = repair(Journal(path))
    assert done.kept.read_bytes() == db
    log = done.kept.with_name(done.kept.name + "-wal")
    assert (log.read_bytes() if log.exists() else b"") == wal
    assert path.stat().st_mode & 0o777 == 0o600
    check = sqlite3.connect(path)
    assert check.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    check.close()
    stats = Journal(path).stats()
    assert done.saved == stats.answers + stats.failures + stats.replaced
    found = answers(path)
    for file in (done.kept, log, done.kept.with_name(done.kept.name + "-shm")):
        file.unlink(missing_ok=True)
    return done, found


def test_a_whole_journal_is_saved_whole_and_in_order(closed: Image, path: Path) -> None:
    done, found = repaired(path, closed.db)
    assert (done.saved, done.lost) == (96, 0)
    assert list(found.values()) == closed.records
    assert find(path, [record.key for record in closed.records]) == closed.records


def test_a_journal_with_its_log_is_saved_whole(image: Image, path: Path) -> None:
    done, found = repaired(path, image.db, image.wal)
    assert (done.saved, done.lost) == (96, 0)
    assert list(found.values()) == image.records


def test_a_repaired_journal_goes_on(closed: Image, path: Path) -> None:
    repaired(path, flipped(closed.db, closed.db.index(make(5).response), 0))
    fill(path, [make(5), make(100)])
    assert find(path, [make(5).key, make(100).key, make(6).key]) == [make(5), make(100), make(6)]


def test_a_damaged_body_costs_its_record_and_no_other(closed: Image, path: Path) -> None:
    place = closed.db.index(closed.records[5].response) + 20
    done, found = repaired(path, flipped(closed.db, place, 3))
    assert (done.saved, done.lost) == (95, 1)
    assert list(found.values()) == closed.records[:5] + closed.records[6:]


@pytest.mark.parametrize(
    "place",
    [0, 16, 17, 18, 20, 24, 28, 44, 56, 60, 68, 100, 103, 105, 108, 110],
)
def test_damage_to_the_first_page_costs_no_record(closed: Image, path: Path, place: int) -> None:
    for bit in (0, 3, 7):
        done, found = repaired(path, flipped(closed.db, place, bit))
        assert list(found.values()) == closed.records
        assert done.lost == 0


def test_damage_to_the_root_of_the_table_costs_no_record(closed: Image, path: Path) -> None:
    roots = [start for start in range(0, len(closed.db), PAGE) if closed.db[start] in (0x05, 0x02)]
    assert roots
    for root in roots:
        ruined = closed.db[:root] + b"\xff" * PAGE + closed.db[root + PAGE :]
        _, found = repaired(path, ruined)
        assert list(found.values()) == closed.records


@pytest.mark.usefixtures("alone")
def test_any_flipped_bit_costs_at_most_one_page_of_records(closed: Image, path: Path) -> None:
    dice = random.Random(4)
    for place in (*range(0, PAGE, 401), *range(PAGE, len(closed.db), 331)):
        db = flipped(closed.db, place, dice.randrange(8))
        lay(path, db)
        before = readable(path, closed.records)
        _, found = repaired(path, db)
        assert all(closed.records[closed.records.index(r)] == r for r in found.values())
        assert {r.key for r in before} <= set(found)
        assert len(found) >= len(closed.records) - 16


def test_a_cut_journal_gives_what_is_left_of_it(closed: Image, path: Path) -> None:
    for end in range(0, len(closed.db), 3 * PAGE + 1_000):
        _, found = repaired(path, closed.db[:end])
        assert all(record in closed.records for record in found.values())
        whole = [r for r in closed.records if 0 <= closed.db.find(r.response) < end - 2 * PAGE]
        assert {r.key for r in whole if len(r.response) < PAGE} <= set(found)
    assert len(found) > 40


@pytest.mark.usefixtures("alone")
def test_a_cut_or_damaged_log_gives_what_is_left_of_it(image: Image, path: Path) -> None:
    dice = random.Random(5)
    for _ in range(25):
        place = dice.randrange(len(image.wal))
        _, found = repaired(path, image.db, image.wal[:place])
        safe = [r for r, end in zip(image.records, image.ends, strict=True) if end <= place]
        assert list(found.values())[: len(safe)] == safe
        _, found = repaired(path, image.db, flipped(image.wal, place, dice.randrange(8)))
        assert all(record in image.records for record in found.values())
        # Every page of a log has many versions: hardly anything is lost by one bit.
        assert len(found) >= len(image.records) - 2


def test_of_a_replaced_answer_the_new_one_stays(path: Path) -> None:
    async def work() -> None:
        journal = Journal(path).open()
        for number in range(30):
            await journal.record(make(number))
        await journal.record(make(3, response=b"new"), replace=True)
        journal.close()

    asyncio.run(work())
    db = path.read_bytes()
    done, found = repaired(path, flipped(db, 105, 1))
    assert found[make(3).key].response == b"new"
    assert Journal(path).stats()[:3] == (30, 0, 1)
    assert done.saved == 31
    # The mark of the old one lost: of two answers to one question the later is the right one.
    place = db.index(make(3).key + b"\x02\x9b") + len(make(3).key)
    assert flipped(db, place, 1)[place] == 0
    _, found = repaired(path, flipped(db, place, 1))
    assert found[make(3).key].response == b"new"
    assert Journal(path).stats()[:3] == (30, 0, 1)


def test_two_repairs_within_a_second_keep_both_files(closed: Image, path: Path) -> None:
    lay(path, closed.db)
    first = repair(Journal(path)).kept
    second = repair(Journal(path)).kept
    third = repair(Journal(path)).kept
    assert len({first, second, third}) == 3
    assert first.read_bytes() == closed.db
    assert all(file.exists() for file in (first, second, third))


@pytest.mark.parametrize("content", [b"", b"garbage" * 5_000, b"\x0d" * 20_000, b"\0" * 8_192])
def test_a_file_without_a_record_becomes_an_empty_journal(path: Path, content: bytes) -> None:
    done, found = repaired(path, content)
    assert found == {}
    assert done.saved == 0


@pytest.mark.usefixtures("alone")
def test_random_pages_are_never_taken_for_records(path: Path) -> None:
    dice = random.Random(6)
    for _ in range(6):
        pages = b"".join(b"\x0d" + dice.randbytes(PAGE - 1) for _ in range(8))
        _, found = repaired(path, pages)
        assert found == {}


def test_a_chain_of_pages_that_bites_its_tail_ends(path: Path) -> None:
    fill(path, [overflowing(1)])
    db = bytearray(path.read_bytes())
    [leaf] = [start for start in range(PAGE, len(db), PAGE) if db[start] == 0x0D]
    for start in range(PAGE, len(db), PAGE):
        if start != leaf and db[start] == 0:
            db[start : start + 4] = (start // PAGE + 1).to_bytes(4, "big")
    done, found = repaired(path, bytes(db))
    assert found == {}
    assert done.lost == 1


async def test_a_journal_in_use_is_not_repaired(path: Path) -> None:
    journal = Journal(path).open()
    await journal.record(make(1))
    with pytest.raises(HeldError, match=r"journal\.db is in use"):
        repair(Journal(path))
    assert await journal.find(make(1).key) == make(1)
    journal.close()
    assert repair(Journal(path)).saved == 1


_HOLDER = """
import asyncio, sys
from pathlib import Path
from penstock.store import Journal
from tests.store.records import make

async def main():
    journal = Journal(Path(sys.argv[1])).open()
    await journal.record(make(1))
    print("ready", flush=True)
    sys.stdin.read()

asyncio.run(main())
"""


def test_a_journal_in_use_by_another_process_is_not_repaired(path: Path) -> None:
    with children(_HOLDER, [path]) as [holder]:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "ready\n"
        with pytest.raises(HeldError):
            repair(Journal(path))
    # Killed, not closed: its log is still there, and now it is free.
    assert path.with_name("journal.db-wal").stat().st_size > 0
    assert repair(Journal(path)).saved == 1


def test_a_full_disk_leaves_the_damaged_journal_where_it_is(
    closed: Image, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(path, closed.db)
    really = open_file

    def narrow(where: Path) -> sqlite3.Connection:
        connection = really(where)
        connection.execute("PRAGMA max_page_count = 6")
        return connection

    monkeypatch.setattr(room, "open_file", narrow)
    with pytest.raises(StorageFullError, match="full"):
        repair(Journal(path))
    assert path.read_bytes() == closed.db
    monkeypatch.undo()
    assert repair(Journal(path)).saved == 96


def test_a_journal_that_is_not_there_is_an_error_and_is_not_made(path: Path) -> None:
    with pytest.raises(StoreError):
        repair(Journal(path))
    assert list(path.parent.iterdir()) == []
