"""Bench: recipes and cookbooks over endpoints, with statistics.

    from penstock import bench

    run = bench.run("quick-look", endpoints=["simulated"], sample=5)
    print(run)

Everything is loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.bench.importing import import_dataset, import_folder, import_hub
    from penstock.bench.item import Item, ItemScore, ItemStatus
    from penstock.bench.objects import Cookbook, Dataset, MetricUse, NamedMetric, Recipe, Template
    from penstock.bench.rescoring import rescore
    from penstock.bench.result import BenchResult
    from penstock.bench.results import BenchRun, all_results, find_result
    from penstock.bench.runner import Runner, run
    from penstock.bench.shelves import Shelves

__all__ = [
    "BenchResult",
    "BenchRun",
    "Cookbook",
    "Dataset",
    "Item",
    "ItemScore",
    "ItemStatus",
    "MetricUse",
    "NamedMetric",
    "Recipe",
    "Runner",
    "Shelves",
    "Template",
    "all_results",
    "find_result",
    "import_dataset",
    "import_folder",
    "import_hub",
    "rescore",
    "run",
]

_ROOMS = {
    "all_results": "results",
    "BenchResult": "result",
    "BenchRun": "results",
    "Cookbook": "objects",
    "Dataset": "objects",
    "Item": "item",
    "ItemScore": "item",
    "ItemStatus": "item",
    "MetricUse": "objects",
    "NamedMetric": "objects",
    "Recipe": "objects",
    "Runner": "runner",
    "Shelves": "shelves",
    "Template": "objects",
    "find_result": "results",
    "import_dataset": "importing",
    "import_folder": "importing",
    "import_hub": "importing",
    "rescore": "rescoring",
    "run": "runner",
}


def __getattr__(name: str) -> Any:
    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{room}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
