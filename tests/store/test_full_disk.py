"""R4 in small: disk full and I/O errors. Nothing acknowledged is lost, and there is a way on."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import StorageFullError, StoreError
from penstock.files import private_file, storage_errors
from penstock.store import Journal, Workspace
from penstock.store import journal as room
from penstock.store.catalog import Catalog
from penstock.store.file import open_file
from tests.store.records import children, fill, find, make

_ROOM = "Free some room or make it writable, then run again: nothing done is lost."


def _mount(*arguments: object) -> bool:
    try:
        done = subprocess.run(["mount", *map(str, arguments)], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if not _mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", disk):
        pytest.skip("mounting a small disk needs the rights of root")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def check_full(error: StorageFullError, path: Path) -> None:
    assert error.message.startswith(f"{path} cannot be written: ")
    assert error.remedy == _ROOM


async def test_a_full_disk_loses_nothing_and_goes_on_when_there_is_room(small_disk: Path) -> None:
    path = small_disk / "journal.db"
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 500_000)
    journal = Journal(path).open()
    done: list[int] = []
    with pytest.raises(StorageFullError) as caught:
        for number in range(10_000):
            await journal.record(make(number, response=bytes([number % 256]) * 2_000))
            done.append(number)
    check_full(caught.value, path)
    assert len(done) > 20
    for _ in range(3):
        with pytest.raises(StorageFullError):
            await journal.record(make(99_999, response=b"x" * 20_000))
    for number in done:
        found = await journal.find(make(number).key)
        assert found is not None
        assert found.response == bytes([number % 256]) * 2_000
    ballast.unlink()
    assert (await journal.record(make(99_999))).first
    journal.close()
    keys = [make(number).key for number in [*done, 99_999]]
    assert all(find(path, keys))
    assert Journal(path).stats().answers == len(done) + 1


async def test_a_full_disk_at_the_first_opening_is_named(small_disk: Path) -> None:
    path = small_disk / "journal.db"
    with pytest.raises(OSError, match="No space"), (small_disk / "ballast").open("wb") as ballast:
        while True:
            ballast.write(b"x" * 4096)
            ballast.flush()
    with pytest.raises(StorageFullError) as caught:
        Journal(path).open()
    check_full(caught.value, path)
    with pytest.raises(StorageFullError) as caught:
        Catalog(small_disk / "catalog.db")
    assert caught.value.remedy == _ROOM
    with pytest.raises(StorageFullError), storage_errors(small_disk):
        private_file(small_disk / "run.json", b"y" * 10_000)
    assert not list(small_disk.glob("run.json*"))
    (small_disk / "ballast").unlink()
    Journal(path).open().close()


async def test_a_journal_without_room_rolls_back_its_group_and_keeps_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def narrow(path: Path, durability: str) -> sqlite3.Connection:
        connection = open_file(path, durability)
        connection.execute("PRAGMA max_page_count = 40")
        return connection

    path = tmp_path / "journal.db"
    monkeypatch.setattr(room, "open_file", narrow)
    journal = Journal(path).open()
    done: list[int] = []
    with pytest.raises(StorageFullError) as caught:
        for number in range(1_000):
            await journal.record(make(number, request=b"x" * 3_000))
            done.append(number)
    check_full(caught.value, path)
    assert (await journal.find(make(done[-1]).key)) is not None
    journal.close()
    monkeypatch.undo()
    assert len(done) > 10
    fill(path, [make(5_000)])
    found = find(path, [make(number).key for number in [*done, done[-1] + 1, 5_000]])
    assert [record and record.key for record in found] == [
        *(make(number).key for number in done),
        None,
        make(5_000).key,
    ]


_LIMITED = """
import asyncio, resource, sys
from pathlib import Path
from penstock.errors import StorageFullError
from penstock.store import Journal
from tests.store.records import make

async def main():
    path, size = Path(sys.argv[1]), int(sys.argv[2])
    journal = Journal(path).open()
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    number = 0
    try:
        while True:
            kept = await journal.record(make(number, request=b"x" * 500))
            print(number, flush=True)
            number += 1
    except StorageFullError as error:
        print("full", error.message, flush=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    await journal.record(make(7_000))
    print(7_000, flush=True)
    journal.close()

asyncio.run(main())
"""


@pytest.mark.parametrize("size", [41_234, 120_000, 400_003])
def test_a_write_that_fails_in_the_middle_loses_nothing_acknowledged(
    tmp_path: Path, size: int
) -> None:
    path = tmp_path / "journal.db"
    with children(_LIMITED, [path, size]) as [child]:
        lines = child.communicate(timeout=60)[0].splitlines()
        assert child.returncode == 0
    [full] = [line for line in lines if line.startswith("full")]
    assert str(path) in full
    done = [int(line) for line in lines if line.isdigit()]
    assert len(done) > 1
    assert done[-1] == 7_000
    assert all(find(path, [make(number).key for number in done]))
    assert not [one for one in Journal(path).each() if isinstance(one, StoreError)]


_Disk = namedtuple("_Disk", "f_bavail f_frsize")


async def test_a_reserve_is_asked_for_before_sending_and_what_was_sent_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.db"
    free = 10 << 20
    looks = 0

    def statvfs(where: Any) -> _Disk:
        nonlocal looks
        looks += 1
        assert Path(where) == tmp_path
        return _Disk(free >> 12, 1 << 12)

    monkeypatch.setattr(os, "statvfs", statvfs)
    journal = Journal(path, min_free=8 << 20).open()
    for _ in range(100):
        journal.check_room()
    assert looks == 1  # not a look for each question
    free = 7 << 20
    journal._next_look = 0.0
    for _ in range(2):
        with pytest.raises(StorageFullError) as caught:
            journal.check_room()
        assert caught.value.message == (
            f"{tmp_path}: only 7 MiB are free, 8 are kept in reserve (storage.min_free_mb)"
        )
        assert "nothing done is lost" in caught.value.remedy
    assert (await journal.record(make(1))).first
    free = 9 << 20
    journal.check_room()
    journal.close()


def test_without_a_reserve_nobody_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def statvfs(where: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(os, "statvfs", statvfs)
    Journal(tmp_path / "journal.db").check_room()


def test_a_folder_that_vanished_is_a_storage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def statvfs(where: Any) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "statvfs", statvfs)
    with pytest.raises(StorageFullError, match="No such file"):
        Journal(tmp_path / "journal.db", min_free=1).check_room()


# Read-only --------------------------------------------------------------------------------------


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A workspace with one answer, on a disk that cannot be written."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if not _mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", disk):
        pytest.skip("mounting a disk needs the rights of root")
    workspace = Workspace(disk / "home").prepare()
    fill(workspace.journal, [make(1)])
    Catalog(workspace.catalog).close()
    assert _mount("-o", "remount,ro", disk)
    yield workspace.path
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_read_only_workspace_is_refused_by_name(read_only: Path) -> None:
    with pytest.raises(StorageFullError) as caught:
        Workspace(read_only).prepare()
    assert caught.value.message == f"the workspace {read_only} is read-only"
    assert "PENSTOCK_HOME" in caught.value.remedy
    for use in (
        lambda: Journal(read_only / "new.db").open(),
        lambda: Catalog(read_only / "new.db"),
        lambda: Workspace(read_only / "new").prepare(),
    ):
        with pytest.raises(StorageFullError) as caught:
            use()
        assert "new" in caught.value.message


def test_a_read_only_journal_is_refused_or_read_but_never_breaks(read_only: Path) -> None:
    path = read_only / "journal.db"
    try:
        found = find(path, [make(1).key])
    except StoreError as error:
        assert str(path) in error.message
    else:
        assert found == [make(1)]


async def test_a_journal_that_cannot_be_written_any_more_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def query_only(path: Path, durability: str) -> sqlite3.Connection:
        connection = open_file(path, durability)
        connection.execute("PRAGMA query_only = ON")
        return connection

    path = tmp_path / "journal.db"
    fill(path, [make(1)])
    monkeypatch.setattr(room, "open_file", query_only)
    journal = Journal(path).open()
    with pytest.raises(StorageFullError) as caught:
        await journal.record(make(2))
    check_full(caught.value, path)
    assert await journal.find(make(1).key) == make(1)
    journal.close()


def test_a_workspace_that_the_owner_may_not_write_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(tmp_path / "w").prepare()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(StorageFullError, match="is read-only"):
        workspace.prepare()
