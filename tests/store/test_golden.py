"""R7: old workspaces open, each as it was left by the version that wrote it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from penstock.store import Journal, Record, RecordKind, Workspace
from penstock.store.catalog import Catalog
from penstock.store.workspace import FORMAT
from tests.store.make_golden import ANSWERS, COUNTERS, ENDPOINT, FAILURE, GOLDEN, REPLACED, RUN
from tests.store.records import fill, find, make


@pytest.fixture(params=[f"format{number}" for number in range(1, FORMAT + 1)])
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Workspace:
    shutil.copytree(GOLDEN / request.param, tmp_path / "home")
    return Workspace(tmp_path / "home").prepare()


def test_every_golden_workspace_has_a_test() -> None:
    assert {folder.name for folder in GOLDEN.iterdir()} == {
        f"format{number}" for number in range(1, FORMAT + 1)
    }


def test_its_answers_are_found(golden: Workspace) -> None:
    keys = [*(record.key for record in ANSWERS), FAILURE.key]
    assert find(golden.journal, keys) == [*ANSWERS, None]


def test_its_journal_is_whole(golden: Workspace) -> None:
    kinds = {record: record.kind for record in Journal(golden.journal).each()}  # type: ignore[union-attr]
    assert all(isinstance(record, Record) for record in kinds)
    assert Journal(golden.journal).stats()[:3] == (len(ANSWERS), 1, 1)
    [old] = [record for record, kind in kinds.items() if kind is RecordKind.REPLACED]
    assert isinstance(old, Record)
    assert old.response == REPLACED.response
    assert FAILURE in kinds


def test_it_can_be_written_on(golden: Workspace) -> None:
    fill(golden.journal, [make(1)])
    assert find(golden.journal, [make(1).key, ANSWERS[0].key]) == [make(1), ANSWERS[0]]


def test_its_catalog_opens(golden: Workspace) -> None:
    catalog = Catalog(golden.catalog)
    run = catalog.run("20260101")
    assert {name: run[name] for name in RUN} == RUN
    assert run["state"] == "completed"
    assert run["counters"] == COUNTERS
    [endpoint] = catalog.all_endpoints()
    assert (endpoint["name"], endpoint["spec"]) == ("mini", ENDPOINT)
    catalog.close()
