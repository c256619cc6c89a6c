"""The store of batches: whole changes, its own format, results of any shape."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from penstock.engine.collect import _blocks
from penstock.errors import NewerWorkspaceError, NotFoundError
from penstock.providers.transport import LARGEST_BODY
from penstock.store.batches import BatchRow, BatchStore


def row(name: str, state: str = "unsubmitted") -> BatchRow:
    return BatchRow(
        id=name, run="run-1", endpoint="{}", label="openai/m", state=state,
        file="requests_0001.jsonl", count=2, size=10, created=1.0,
    )  # fmt: skip


def test_a_question_waits_in_one_batch_until_it_is_settled(tmp_path: Path) -> None:
    with closing(BatchStore(tmp_path / "batches.db")) as store:
        store.add(row("a"), [b"1", b"2", b"3"])
        assert store.owns("a", [b"1", b"2", b"9"]) == {b"1", b"2"}
        store.settle("a", [b"1"], [(b"2", "why")], lane="me", done=1)
        assert list(store.left_in("a")) == [b"3"]
        found = store.find([b"1", b"2"])
        assert b"1" not in found
        assert (found[b"2"].batch, found[b"2"].tries, found[b"2"].failure) == ("", 1, "why")
        assert store.get("a").done == 1
        store.add(row("b"), [b"2"])
        assert store.find([b"2"])[b"2"].batch == "b", "it may go into another"
        store.settle("a", [], [(b"2", "late")], lane="me")
        assert store.find([b"2"])[b"2"].batch == "b", "which the first cannot take it from"


def test_an_open_batch_is_found_and_an_unknown_one_is_not(tmp_path: Path) -> None:
    with closing(BatchStore(tmp_path / "batches.db")) as store:
        store.add(row("a"), [b"1"])
        store.add(row("b", "downloaded"), [])
        assert [batch.id for batch in store.open()] == ["a"]
        assert store.open("another run") == []
        with pytest.raises(NotFoundError):
            store.get("nothing")


def test_a_file_of_a_newer_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "batches.db"
    BatchStore(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(NewerWorkspaceError, match="format 2"):
        BatchStore(path)


def test_lines_of_any_length_come_in_bounded_blocks(tmp_path: Path) -> None:
    file = tmp_path / "results"
    with file.open("wb") as out:
        out.write(b"one\n\n")
        for _ in range(3):
            out.write(b"x" * LARGEST_BODY)
        out.write(b"\ntwo\n" + b"three")
    lines = [line for block in _blocks(file) for line in block]
    assert [line for line in lines if len(line) < 10] == [b"one", b"two", b"three"]
    assert len(lines) == 4 and len(lines[1]) <= 100
