from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.endpoint import Endpoint, Limits
from penstock.errors import (
    DamagedError,
    InputError,
    NewerWorkspaceError,
    NotFoundError,
    StoreError,
)
from penstock.store.catalog import MIGRATIONS, Catalog
from tests.store.records import children


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "catalog.db"


@pytest.fixture
def catalog(path: Path) -> Iterator[Catalog]:
    opened = Catalog(path)
    yield opened
    opened.close()


def sql(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


# Runs -------------------------------------------------------------------------------------------


def test_a_run_comes_back_as_it_was_written(catalog: Catalog, path: Path) -> None:
    spec = {"prompt": "é\n", "rows": [1, 2.5, None, True], "deep": {"a": {"b": []}}}
    catalog.add_run("run-1", "generate", "my run", spec)
    catalog.update_run("run-1", state="running", started=12.5, counters={"done": 3})
    catalog.close()
    again = Catalog(path)
    found = again.run("run-1")
    again.close()
    assert found["spec"] == spec
    assert (found["kind"], found["name"], found["state"]) == ("generate", "my run", "running")
    assert found["counters"] == {"done": 3}
    assert found["started"] == 12.5
    assert found["ended"] is None
    assert found["message"] == ""


def test_an_update_changes_one_run_and_only_what_it_says(catalog: Catalog) -> None:
    for name in ("a", "b"):
        catalog.add_run(name, "grade", name, {"x": 1})
    before = catalog.run("b")
    catalog.update_run("a", state="failed", message="no")
    assert catalog.run("b") == before
    assert catalog.run("a")["spec"] == {"x": 1}


def test_a_run_is_found_by_an_unambiguous_beginning(catalog: Catalog) -> None:
    for name in ("20260101-abc", "20260101-abd", "20260102-x", "2026"):
        catalog.add_run(name, "bench", "", {})
    assert catalog.run("20260102")["id"] == "20260102-x"
    assert catalog.run("20260101-abd")["id"] == "20260101-abd"
    assert catalog.run("2026")["id"] == "2026"  # exactly that one, though others begin with it
    with pytest.raises(NotFoundError, match="several runs begin with '20260101': 20260101-abc"):
        catalog.run("20260101")


def test_an_unknown_run_says_where_to_look(catalog: Catalog) -> None:
    assert catalog.find_run("nope") is None
    with pytest.raises(NotFoundError) as caught:
        catalog.run("nope")
    assert caught.value.message == "there is no run 'nope'"
    assert "penstock runs list" in caught.value.remedy


@pytest.mark.parametrize("wild", ["%", "_", "a%", "a_", "%c", "a\\", "\\%", "a_c"])
def test_a_wildcard_in_a_beginning_is_only_a_letter(catalog: Catalog, wild: str) -> None:
    catalog.add_run("abc", "bench", "", {})
    with pytest.raises(NotFoundError):
        catalog.run(wild)
    catalog.add_run(wild + "!", "bench", "", {})
    assert catalog.run(wild)["id"] == wild + "!"


def test_find_run_takes_no_beginnings(catalog: Catalog) -> None:
    catalog.add_run("abc", "bench", "", {})
    assert catalog.find_run("ab") is None
    found = catalog.find_run("abc")
    assert found is not None
    assert found["id"] == "abc"


def test_the_newest_runs_come_first(catalog: Catalog) -> None:
    for number in range(5):
        catalog.add_run(f"r{number}", "bench", "", {})
        catalog.update_run(f"r{number}", created=float(number))
    assert [run["id"] for run in catalog.all_runs()] == ["r4", "r3", "r2", "r1", "r0"]
    assert [run["id"] for run in catalog.all_runs(2)] == ["r4", "r3"]


def test_the_same_id_twice_is_a_store_error_and_keeps_the_first(catalog: Catalog) -> None:
    catalog.add_run("a", "bench", "first", {})
    with pytest.raises(StoreError):
        catalog.add_run("a", "bench", "second", {})
    assert catalog.run("a")["name"] == "first"


# Endpoints --------------------------------------------------------------------------------------


def test_an_endpoint_comes_back_as_it_was_saved(catalog: Catalog) -> None:
    endpoint = Endpoint(
        "openai", "m", url="http://localhost/v1", key="env:A", limits=Limits(concurrency=3)
    )
    catalog.save_endpoint("mine", endpoint.spec())
    row = catalog.endpoint("mine")
    assert row is not None
    assert Endpoint.from_spec(row["spec"], "mine") == endpoint.with_(name="mine")


def test_saving_again_replaces_and_removing_forgets(catalog: Catalog) -> None:
    catalog.save_endpoint("b", {"model": "1"})
    catalog.save_endpoint("a", {"model": "2"})
    catalog.save_endpoint("b", {"model": "3"})
    assert [(row["name"], row["spec"]) for row in catalog.all_endpoints()] == [
        ("a", {"model": "2"}),
        ("b", {"model": "3"}),
    ]
    assert catalog.remove_endpoint("a")
    assert not catalog.remove_endpoint("a")
    assert catalog.endpoint("a") is None


_specs = st.dictionaries(
    st.text(st.characters(codec="utf-8"), max_size=5),
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"), max_size=5),
    max_size=3,
)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), _specs)
def test_any_name_and_any_spec_come_back(catalog: Catalog, name: str, spec: dict[str, Any]) -> None:
    catalog.save_endpoint(name, spec)
    row = catalog.endpoint(name)
    assert row is not None
    assert (row["name"], row["spec"]) == (name, spec)


# Opening ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_files_are_for_the_owner_alone(path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        catalog = Catalog(path)
        catalog.add_run("a", "bench", "", {})
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
        catalog.close()
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(["catalog.db", "catalog.db-wal", "catalog.db-shm"], 0o600)


@pytest.mark.parametrize("name", ["a?b", "a#b", "a%20b", "a b", "é", "a@b:c", "a&x=1"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    catalog = Catalog(folder / "catalog.db")
    catalog.add_run("a", "bench", "", {})
    catalog.close()
    assert [file.name for file in folder.iterdir()] == ["catalog.db"]
    assert [file.name for file in tmp_path.iterdir()] == [name]


_OPENER = """
import sys
from pathlib import Path
from penstock.store.catalog import Catalog
print("ready", flush=True)
sys.stdin.read(1)
for number in range(12):
    catalog = Catalog(Path(sys.argv[1]) / f"{number}.db")
    catalog.add_run(sys.argv[2], "bench", "", {})
    catalog.close()
"""


def test_several_processes_may_open_a_new_catalog_at_once(tmp_path: Path) -> None:
    with children(_OPENER, *([tmp_path, f"run-{n}"] for n in range(4))) as running:
        for child in running:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
        for child in running:
            assert child.stdin is not None
            child.stdin.write("x")
            child.stdin.flush()
        assert [child.wait(60) for child in running] == [0] * 4
    for number in range(12):
        catalog = Catalog(tmp_path / f"{number}.db")
        assert {run["id"] for run in catalog.all_runs()} == {f"run-{n}" for n in range(4)}
        catalog.close()


def test_an_older_catalog_is_brought_forward(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = Catalog(path)
    old.add_run("a", "bench", "", {})
    old.close()

    def second(connection: sa.Connection) -> None:
        connection.execute(sa.text("CREATE TABLE notes (name TEXT)"))

    monkeypatch.setattr("penstock.store.catalog.MIGRATIONS", (*MIGRATIONS, second))
    for _ in range(2):
        new = Catalog(path)
        assert new.run("a")["kind"] == "bench"
        new.close()
    sql(path, "INSERT INTO notes VALUES ('x')")


def test_a_migration_that_fails_leaves_the_catalog_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Catalog(path).close()

    def second(connection: sa.Connection) -> None:
        connection.execute(sa.text("CREATE TABLE notes (name TEXT)"))
        raise RuntimeError("power cut")

    monkeypatch.setattr("penstock.store.catalog.MIGRATIONS", (*MIGRATIONS, second))
    with pytest.raises(RuntimeError):
        Catalog(path)
    monkeypatch.undo()
    Catalog(path).close()
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        sql(path, "INSERT INTO notes VALUES ('x')")


def test_a_newer_catalog_is_refused_by_name(path: Path) -> None:
    Catalog(path).close()
    sql(path, f"UPDATE meta SET value = '{len(MIGRATIONS) + 1}' WHERE name = 'format'")
    with pytest.raises(NewerWorkspaceError) as caught:
        Catalog(path)
    assert str(path) in caught.value.message
    assert f"format {len(MIGRATIONS) + 1}; this version knows" in caught.value.message
    assert "Upgrade" in caught.value.remedy


@pytest.mark.parametrize("value", ["", "one", "1.5"])
def test_a_catalog_that_does_not_say_its_format_is_damaged(path: Path, value: str) -> None:
    Catalog(path).close()
    sql(path, f"UPDATE meta SET value = '{value}' WHERE name = 'format'")
    if value:
        with pytest.raises(DamagedError, match="does not say its format"):
            Catalog(path)
    else:
        Catalog(path).close()


@pytest.mark.parametrize("content", [b"garbage " * 1_000, b"SQLite format 3\0" + b"\xff" * 8_000])
def test_a_damaged_catalog_is_named_with_its_cure(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(DamagedError) as caught:
        Catalog(path)
    assert caught.value.message.startswith(f"{path} is damaged: ")
    assert "Move it aside" in caught.value.remedy
    assert path.read_bytes() == content


def test_any_flipped_bit_is_a_store_error_or_nothing(path: Path) -> None:
    catalog = Catalog(path)
    for number in range(30):
        catalog.add_run(f"run-{number}", "bench", "", {"rows": list(range(50))})
    catalog.close()
    whole = path.read_bytes()
    dice = random.Random(8)
    said = 0
    for place in range(0, len(whole), 149):
        flipped = bytes([whole[place] ^ 1 << dice.randrange(8)])
        path.write_bytes(whole[:place] + flipped + whole[place + 1 :])
        opened = None
        try:
            opened = Catalog(path)
            opened.all_runs()
            opened.add_run("another", "bench", "", {})
        except StoreError as error:
            said += 1
            assert str(path) in error.message
        finally:
            if opened is not None:
                opened.close()
    assert said > 30


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="gone"):
        Catalog(tmp_path / "gone" / "catalog.db")


def test_the_password_of_a_database_is_never_shown(tmp_path: Path) -> None:
    for url in ("no address", "://ann:canary@host", "nosuch://ann:canary@host/x"):
        with pytest.raises(InputError) as caught:
            Catalog(url)
        assert "canary" not in str(caught.value)
        assert "postgresql+psycopg://" in caught.value.remedy
    # Errors name the address; here the only database at hand stands in for a distant one.
    catalog = Catalog(f"sqlite:///{tmp_path}/by-url.db")
    assert catalog.where == f"sqlite:///{tmp_path}/by-url.db"
    catalog.close()
    with pytest.raises(StoreError) as unopened:
        Catalog(f"sqlite:///file:{tmp_path}/gone/x.db?uri=true")
    assert "gone" in unopened.value.message


def test_a_missing_driver_says_what_to_install() -> None:
    if find_spec("psycopg"):
        pytest.skip("psycopg is installed")
    with pytest.raises(InputError) as caught:
        Catalog("postgresql+psycopg://ann:canary@host/x")
    assert "psycopg" in caught.value.message
    assert "penstock[postgres]" in caught.value.remedy
    assert "canary" not in str(caught.value)


def test_the_password_is_hidden_in_the_name_of_the_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def stop(self: Catalog) -> None:
        seen.append(self.where)

    url = sa.make_url("postgresql://ann:canary@host/x")
    monkeypatch.setattr("penstock.store.catalog._engine", lambda where: _Distant(url))
    monkeypatch.setattr(Catalog, "_migrate", stop)
    Catalog("postgresql://ann:canary@host/x")
    assert seen == ["postgresql://ann:***@host/x"]


class _Distant:
    """An engine of a database that is not here."""

    def __init__(self, url: sa.URL) -> None:
        self.url = url
        self.dialect = sa.dialects.registry.load("postgresql")()

    def dispose(self) -> None:
        pass
