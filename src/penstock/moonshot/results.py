"""Results by Moonshot's names and in its form, every prompt in it. No run replaces another's."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from penstock.bench.results import BenchRun, all_results, find_result
from penstock.bench.shelves import Shelves
from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import NotFoundError
from penstock.moonshot.calling import api

__all__ = ["api_get_all_result", "api_get_all_result_name", "api_read_result", "api_read_results"]


@api
def api_read_result(res_id: str) -> dict[str, Any]:
    """A result in Moonshot's form: by the id of its run, or the latest one of a runner by its id.

    It is held whole: `penstock.bench.find_result(...)` reads large ones as a stream.
    """
    return _shaped(_found(default_workbench(), res_id))


@api
def api_read_results(res_ids: Sequence[str]) -> list[dict[str, Any]]:
    """Several of them."""
    return [api_read_result(res_id) for res_id in res_ids]


@api
def api_get_all_result() -> list[dict[str, Any]]:
    """Every result, the newest first."""
    return [api_read_result(res_id) for res_id in api_get_all_result_name()]


@api
def api_get_all_result_name() -> list[str]:
    """The ids of all results, the newest first."""
    return [result.id for result in all_results(default_workbench())]


def _found(bench: Workbench, name: str) -> BenchRun:
    if name not in Shelves(bench).runners:
        return find_result(name, bench)
    for result in all_results(bench):
        if result.settings.get("runner") == name:
            return find_result(result.id, bench)
    raise NotFoundError(f"the runner {name!r} has no result yet", remedy="Run recipes with it.")


def _shaped(run: BenchRun) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        path = run.export(Path(folder) / "result.json", format="moonshot")
        made: dict[str, Any] = orjson.loads(path.read_bytes())
    return made
