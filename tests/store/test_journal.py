from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import HeldError, NewerWorkspaceError, StoreError
from penstock.store import Journal, RecordKind
from tests.store.records import children, copy_of, fill, find, make


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
async def journal(path: Path) -> AsyncIterator[Journal]:
    opened = Journal(path).open()
    yield opened
    opened.close()


# Recording and finding --------------------------------------------------------------------------


async def test_an_answer_is_on_disk_before_record_returns(
    journal: Journal, path: Path, tmp_path: Path
) -> None:
    for number in range(20):
        kept = await journal.record(make(number))
        assert kept == (make(number), True)
        image = copy_of(path, tmp_path / f"image{number}" / "journal.db")
        seen = sqlite3.connect(image)
        assert seen.execute("SELECT count(*) FROM records").fetchone() == (number + 1,)
        seen.close()


async def test_an_answer_is_found_whole(journal: Journal) -> None:
    await journal.record(make(1))
    assert await journal.find(make(1).key) == make(1)
    assert await journal.find(make(2).key) is None


def test_an_answer_is_found_after_reopening(path: Path) -> None:
    fill(path, [make(number) for number in range(10)])
    for _ in range(2):
        found = find(path, [make(number).key for number in range(12)])
        assert found == [*(make(number) for number in range(10)), None, None]


async def test_many_at_once_are_all_recorded_and_all_found(journal: Journal) -> None:
    numbers = range(3_000)
    kept = await asyncio.gather(*(journal.record(make(number)) for number in numbers))
    assert [one.record for one in kept] == [make(number) for number in numbers]
    found = await asyncio.gather(*(journal.find(make(n).key) for n in range(0, 6_000, 2)))
    assert found == [make(n) if n < 3_000 else None for n in range(0, 6_000, 2)]


async def test_records_and_finds_may_cross_each_other(journal: Journal) -> None:
    async def ask(number: int) -> None:
        await asyncio.sleep(number % 7 / 10_000)
        key = make(number).key
        assert await journal.find(key) in (None, make(number))
        assert (await journal.record(make(number))).record == make(number)
        assert await journal.find(key) == make(number)

    await asyncio.gather(*(ask(number % 300) for number in range(600)))
    assert journal.stats().answers == 300


async def test_waiting_commits_are_made_as_one(journal: Journal, path: Path) -> None:
    await asyncio.gather(*(journal.record(make(number)) for number in range(400)))
    wal = path.with_name("journal.db-wal").read_bytes()
    frame = 24 + 4096
    commits = sum(wal[start + 4 : start + 8] != b"\0\0\0\0" for start in range(32, len(wal), frame))
    assert 0 < commits < 20


async def test_the_same_key_many_times_in_one_group_is_answered_each_time(journal: Journal) -> None:
    await journal.record(make(1))
    assert await asyncio.gather(*(journal.find(make(1).key) for _ in range(700))) == [make(1)] * 700


async def test_more_keys_than_a_statement_takes_are_found(journal: Journal) -> None:
    await asyncio.gather(*(journal.record(make(number)) for number in range(10)))
    keys = [b"\x01" + number.to_bytes(16, "big") for number in range(40_000)]
    found = await asyncio.gather(*(journal.find(key) for key in [*keys, make(7).key]))
    assert found == [None] * 40_000 + [make(7)]


# Who wins ---------------------------------------------------------------------------------------


async def test_the_first_answer_wins_and_is_returned(journal: Journal) -> None:
    first, second = make(1), make(1, response=b"second")
    assert await journal.record(first) == (first, True)
    assert await journal.record(second) == (first, False)
    assert await journal.find(first.key) == first
    assert journal.stats().answers == 1


async def test_the_first_of_one_group_wins(journal: Journal) -> None:
    versions = [make(1, response=b"%d" % number) for number in range(50)]
    kept = await asyncio.gather(*(journal.record(version) for version in versions))
    assert {one.record.response for one in kept} == {b"0"}
    assert [one.first for one in kept] == [True] + [False] * 49


async def test_a_failure_never_satisfies_a_look_up(journal: Journal) -> None:
    failure = make(1, RecordKind.FAILURE)
    assert await journal.record(failure) == (failure, True)
    assert await journal.find(failure.key) is None
    assert (await journal.record(make(1))).first
    assert await journal.find(failure.key) == make(1)
    assert (await journal.record(failure)).first
    assert await journal.find(failure.key) == make(1)
    assert [record.kind for record in journal.each()] == [1, 0, 1]  # type: ignore[union-attr]


async def test_replacing_keeps_the_old_answer_for_audit(journal: Journal) -> None:
    old, new = make(1), make(1, response=b"new")
    await journal.record(old)
    assert await journal.record(new, replace=True) == (new, True)
    assert await journal.find(old.key) == new
    kinds = [(record.kind, record.response) for record in journal.each()]  # type: ignore[union-attr]
    assert kinds == [(RecordKind.REPLACED, old.response), (RecordKind.ANSWER, b"new")]
    assert journal.stats()[:3] == (1, 0, 1)


async def test_a_replacement_that_cannot_be_written_leaves_the_old_answer(journal: Journal) -> None:
    await journal.record(make(1))
    with pytest.raises(ValueError, match="surrogates"):
        await journal.record(make(1, provider="\ud800"), replace=True)
    assert await journal.find(make(1).key) == make(1)


async def test_replacing_nothing_is_recording(journal: Journal) -> None:
    assert await journal.record(make(1), replace=True) == (make(1), True)
    assert journal.stats()[:3] == (1, 0, 0)


_RIVAL = """
import asyncio, sys
from pathlib import Path
from penstock.store import Journal
from tests.store.records import make

async def main(path, name):
    journal = Journal(Path(path)).open()
    print("ready", flush=True)
    while not Path(path + ".go").exists():
        await asyncio.sleep(0.001)
    for start in range(0, 300, 10):
        mine = [make(n, response=f"{name} {n}".encode()) for n in range(start, start + 10)]
        for kept in await asyncio.gather(*map(journal.record, mine)):
            print(kept.record.key.hex(), kept.record.response.decode(), int(kept.first))
    journal.close()

asyncio.run(main(*sys.argv[1:]))
"""


def test_two_processes_writing_the_same_keys_agree_on_every_winner(path: Path) -> None:
    with children(_RIVAL, (path, "ann"), (path, "bob")) as rivals:
        for rival in rivals:
            assert rival.stdout is not None
            assert rival.stdout.readline() == "ready\n"
        path.with_name("journal.db.go").touch()
        outputs = [rival.communicate(timeout=60)[0].splitlines() for rival in rivals]
        assert [rival.returncode for rival in rivals] == [0, 0]
    won = [[line.rsplit(" ", 1) for line in output] for output in outputs]
    assert [line[0] for line in won[0]] == [line[0] for line in won[1]]
    assert len(won[0]) == 300
    assert all({a[1], b[1]} == {"0", "1"} for a, b in zip(*won, strict=True))
    on_disk = find(path, [make(number).key for number in range(300)])
    assert [f"{r.key.hex()} {r.response.decode()}" for r in on_disk] == [a[0] for a in won[0]]


_OPENER = """
import sys
from pathlib import Path
from penstock.store import Journal
print("ready", flush=True)
while not Path(sys.argv[1] + ".go").exists():
    pass
Journal(Path(sys.argv[1])).open().close()
"""


def test_several_processes_may_make_one_journal_at_once(path: Path) -> None:
    with children(_OPENER, *[[path]] * 6) as openers:
        for opener in openers:
            assert opener.stdout is not None
            assert opener.stdout.readline() == "ready\n"
        path.with_name("journal.db.go").touch()
        assert [opener.wait(60) for opener in openers] == [0] * 6
    assert Journal(path).stats().answers == 0


# What it leaves and what it says ----------------------------------------------------------------


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
async def test_files_are_for_the_owner_alone(path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        journal = Journal(path).open()
        await journal.record(make(1))
        files = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
        journal.close()
    finally:
        os.umask(before)
    assert files == dict.fromkeys(["journal.db", "journal.db-wal", "journal.db-shm"], 0o600)


async def test_closing_leaves_one_file_and_no_thread(path: Path) -> None:
    journal = Journal(path).open()
    await journal.record(make(1))
    await journal.find(make(1).key)
    assert len([t for t in threading.enumerate() if t.name.startswith("journal-")]) == 2
    journal.close()
    journal.close()
    assert [t for t in threading.enumerate() if t.name.startswith("journal-")] == []
    assert [file.name for file in path.parent.iterdir()] == ["journal.db"]


async def test_closing_finishes_what_is_queued(path: Path) -> None:
    journal = Journal(path).open()
    waiting = [asyncio.ensure_future(journal.record(make(number))) for number in range(100)]
    await asyncio.sleep(0)
    journal.close()
    assert len(await asyncio.gather(*waiting)) == 100
    assert Journal(path).stats().answers == 100


async def test_what_nobody_waits_for_any_more_is_still_recorded(path: Path) -> None:
    journal = Journal(path).open()
    waiting = asyncio.ensure_future(journal.record(make(1)))
    await asyncio.sleep(0)
    waiting.cancel()
    assert (await journal.record(make(2))).first
    assert await journal.find(make(1).key) == make(1)
    journal.close()


async def test_a_record_that_cannot_be_written_leaves_its_group_alone(journal: Journal) -> None:
    records = [make(0), make(1, provider="\ud800"), make(2, request=None), make(3)]
    kept = await asyncio.gather(*map(journal.record, records), return_exceptions=True)
    assert kept[0] == (make(0), True)
    assert kept[3] == (make(3), True)
    assert isinstance(kept[1], ValueError)
    assert isinstance(kept[2], Exception)
    assert journal.stats().answers == 2


def test_statistics_count_every_kind(path: Path) -> None:
    assert Journal(path).create().stats()[:3] == (0, 0, 0)
    assert Journal(path).stats().oldest is None
    fill(path, [make(1), make(2, RecordKind.FAILURE), make(3), make(3, RecordKind.FAILURE)])
    stats = Journal(path).stats()
    assert stats[:3] == (2, 2, 0)
    assert (stats.oldest, stats.newest) == (make(1).at, make(3).at)
    assert stats.size == path.stat().st_size


def test_every_record_comes_in_the_order_of_arrival(path: Path) -> None:
    records = [make(number) for number in (5, 3, 9, 1)]
    fill(path, records)
    assert list(Journal(path).each()) == records


def test_an_empty_body_and_every_byte_are_kept(path: Path) -> None:
    odd = [make(1, response=b"", request=b""), make(2, response=bytes(range(256)) * 50)]
    fill(path, odd)
    assert find(path, [record.key for record in odd]) == odd


def test_a_newer_journal_is_refused_and_left_as_it_is(path: Path) -> None:
    fill(path, [make(1)])
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 2")
    newer.close()
    before = path.read_bytes()
    for use in (Journal(path).open, Journal(path).stats, lambda: list(Journal(path).each())):
        with pytest.raises(NewerWorkspaceError) as caught:
            use()
        assert str(path) in caught.value.message
        assert "format 2; this version knows 1" in caught.value.message
        assert "Upgrade" in caught.value.remedy
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", [0, 1, 7])
def test_the_database_of_another_program_is_refused_and_left_as_it_is(
    path: Path, version: int
) -> None:
    theirs = sqlite3.connect(path)
    theirs.execute("CREATE TABLE songs (title TEXT)")
    theirs.execute(f"PRAGMA user_version = {version}")
    theirs.close()
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        Journal(path).open()
    assert f"{path} is not a journal of Penstock" in caught.value.message
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"\0" * 4096])
def test_a_file_that_is_no_database_is_refused_by_name(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreError) as caught:
        Journal(path).open()
    assert str(path) in caught.value.message


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"gone/journal\.db"):
        Journal(tmp_path / "gone" / "journal.db").open()


async def test_a_journal_held_for_too_long_by_another_says_so(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect

    def impatient(*arguments: Any, **named: Any) -> sqlite3.Connection:
        opened: sqlite3.Connection = connect(*arguments, **named | {"timeout": 0.05})
        return opened

    monkeypatch.setattr(sqlite3, "connect", impatient)
    journal = Journal(path).open()
    await journal.record(make(1))
    other = connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(HeldError, match=r"journal\.db is in use"):
        await journal.record(make(2))
    assert await journal.find(make(1).key) == make(1)
    other.execute("ROLLBACK")
    other.close()
    assert (await journal.record(make(2))).first
    journal.close()


@pytest.mark.parametrize(("durability", "level"), [("full", 2), ("fast", 1)])
def test_durability_is_what_was_asked_for(path: Path, durability: Any, level: int) -> None:
    journal = Journal(path, durability=durability).create()
    connection = journal._connect()
    assert connection.execute("PRAGMA synchronous").fetchone() == (level,)
    assert connection.execute("PRAGMA journal_mode").fetchone()[0] == b"wal"
    connection.close()
