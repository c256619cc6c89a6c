"""R3: damage is noticed. Never a wrong record, never another exception, never a hang."""

from __future__ import annotations

import asyncio
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from penstock.errors import DamagedError, StoreError
from penstock.store import Journal, Record, RecordKind
from tests.store.images import PAGE, Image, flipped, lay
from tests.store.records import make


async def look(path: Path, records: Sequence[Record]) -> list[Record | StoreError | None]:
    """What every key gives, each of them one of the three that are allowed."""
    try:
        journal = Journal(path).open()
    except StoreError as error:
        assert str(path) in error.message
        return [error] * len(records)
    try:
        asked = (journal.find(record.key) for record in records)
        found = await asyncio.gather(*asked, return_exceptions=True)
        if any(isinstance(one, DamagedError) for one in found):
            # Damage that stops a whole group must not be the only word on each of its records.
            for number, record in enumerate(records):
                try:
                    found[number] = await journal.find(record.key)
                except StoreError as error:
                    found[number] = error
        for record, got in zip(records, found, strict=True):
            if isinstance(got, StoreError):
                assert str(path) in got.message
                if "checksum" in got.message:
                    assert re.search(r"record \d+ does not match its checksum", got.message)
            else:
                assert got is None or got == record
        return found  # type: ignore[return-value]
    finally:
        journal.close()


async def walk(path: Path, records: Sequence[Record]) -> None:
    """Reading from end to end is as careful."""
    known = {record.key: record for record in records}
    try:
        for record in Journal(path).each():
            if isinstance(record, Record) and record.kind is RecordKind.ANSWER:
                assert known.get(record.key) == record
        Journal(path).stats()
    except StoreError as error:
        assert str(path) in error.message


def tally(found: Sequence[object]) -> str:
    kinds = {type(one).__name__ for one in found}
    return "all found" if kinds == {"Record"} else "+".join(sorted(kinds))


async def test_undamaged_images_give_every_record(
    image: Image, closed: Image, tmp_path: Path
) -> None:
    for one in (image, closed):
        lay(tmp_path / "journal.db", one.db, one.wal)
        assert await look(tmp_path / "journal.db", one.records) == one.records


@pytest.mark.parametrize("thin", [6, pytest.param(1, marks=pytest.mark.soak)])
async def test_a_cut_journal_gives_right_records_or_says_so(
    closed: Image, tmp_path: Path, thin: int
) -> None:
    path = tmp_path / "journal.db"
    size = len(closed.db)
    seen: Counter[str] = Counter()
    ends = {*range(size - 1, size - PAGE, -9 * thin), *range(0, size, 1021 * thin), 0, 99, 100}
    for end in sorted(ends):
        lay(path, closed.db[:end])
        seen[tally(await look(path, closed.records))] += 1
    assert sum(seen.values()) > 500 / thin
    assert seen["all found"] < 50 / thin  # the end of the last page is unused


@pytest.mark.parametrize("thin", [6, pytest.param(1, marks=pytest.mark.soak)])
async def test_a_flipped_bit_gives_right_records_or_says_so(
    closed: Image, tmp_path: Path, thin: int
) -> None:
    path = tmp_path / "journal.db"
    dice = random.Random(1)
    places = [*range(100), *range(100, PAGE, 41), *range(PAGE, len(closed.db), 53 * thin)]
    seen: Counter[str] = Counter()
    for place in places:
        lay(path, flipped(closed.db, place, dice.randrange(8)))
        seen[tally(await look(path, closed.records))] += 1
        if place % 8 == 0:
            await walk(path, closed.records)
    assert len(places) > 1_000 / thin
    assert seen["all found"] > 0  # unused space, and what nobody asks for
    assert seen["DamagedError+Record"] > 300 / thin


async def test_a_flipped_bit_in_a_body_names_file_and_record_and_spares_the_rest(
    closed: Image, tmp_path: Path
) -> None:
    path = tmp_path / "journal.db"
    for number in (0, 5, 20, 47):
        place = closed.db.index(closed.records[number].response) + 20
        for bit in range(8):
            lay(path, flipped(closed.db, place, bit))
            found = await look(path, closed.records)
            error = found.pop(number)
            assert isinstance(error, DamagedError)
            # Failures stand between the answers.
            assert error.message == (f"{path}: record {2 * number + 2} does not match its checksum")
            assert "penstock journal repair" in error.remedy
            assert found == closed.records[:number] + closed.records[number + 1 :]


async def test_a_damaged_record_is_named_when_its_answer_is_recorded_again(
    closed: Image, tmp_path: Path
) -> None:
    path = tmp_path / "journal.db"
    place = closed.db.index(closed.records[5].response) + 20
    lay(path, flipped(closed.db, place, 0))
    journal = Journal(path).open()
    again = [make(5), make(500), make(5), make(501)]
    kept = await asyncio.gather(*map(journal.record, again), return_exceptions=True)
    for one in (kept[0], kept[2]):
        assert isinstance(one, DamagedError)
        assert "record 12 does not match" in one.message
    assert kept[1] == (make(500), True)
    assert kept[3] == (make(501), True)
    assert await journal.find(make(501).key) == make(501)
    journal.close()


async def test_a_cut_log_gives_every_record_acknowledged_before_the_cut(
    image: Image, tmp_path: Path
) -> None:
    path = tmp_path / "journal.db"
    size = len(image.wal)
    for end in sorted({*range(size, size - 3 * PAGE, -61), *range(0, size, 2039), 0, 31, 32, 33}):
        lay(path, image.db, image.wal[:end])
        found = await look(path, image.records)
        safe = [record for record, needs in zip(image.records, image.ends, strict=True)
                if needs <= end]  # fmt: skip
        assert found[: len(safe)] == safe


async def test_a_flipped_bit_in_the_log_costs_nothing_recorded_before_it(
    image: Image, tmp_path: Path
) -> None:
    path = tmp_path / "journal.db"
    dice = random.Random(2)
    seen: Counter[str] = Counter()
    for place in (
        *range(32),
        *range(32, 32 + 2 * (24 + PAGE), 97),
        *range(0, len(image.wal), 1511),
    ):
        lay(path, image.db, flipped(image.wal, place, dice.randrange(8)))
        found = await look(path, image.records)
        seen[tally(found)] += 1
        safe = [record for record, needs in zip(image.records, image.ends, strict=True)
                if needs <= place]  # fmt: skip
        assert found[: len(safe)] == safe
    assert seen["NoneType+Record"] > 100


async def test_a_log_with_a_garbled_tail_gives_every_record_before_it(
    image: Image, tmp_path: Path
) -> None:
    """After a power cut the last blocks may hold anything."""
    path = tmp_path / "journal.db"
    dice = random.Random(3)
    for _ in range(60):
        number = dice.randrange(len(image.ends))
        end = image.ends[number]
        size = dice.randrange(1, 20_000)
        tail = dice.choice([bytes(size), dice.randbytes(size)])
        lay(path, image.db, image.wal[:end] + tail)
        found = await look(path, image.records)
        assert found[: number + 1] == image.records[: number + 1]


@pytest.mark.parametrize("kind", [1, 2, 3, -1, -2, 255])
async def test_an_index_that_calls_something_else_an_answer_is_not_believed(
    closed: Image, tmp_path: Path, kind: int
) -> None:
    """The kind is not under the checksum of a replaced answer: here the index is the liar."""
    path = tmp_path / "journal.db"
    lay(path, closed.db)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA writable_schema = ON")
    sql = "CREATE UNIQUE INDEX answers ON records (key) WHERE kind = 0"
    other = sql.replace("kind = 0", "kind = 9")
    connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'answers'", (other,))
    connection.close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("UPDATE records SET kind = ? WHERE id = 2", (kind,))
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'answers'", (sql,))
    connection.close()
    first, *rest = await look(path, closed.records)
    assert isinstance(first, DamagedError)
    assert "record 2 " in first.message
    assert rest == closed.records[1:]
