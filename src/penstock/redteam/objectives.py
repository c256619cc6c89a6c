"""Where objectives come from: sets that ship or are kept, files of rows, Moonshot's datasets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import penstock.library
from penstock.documents import files
from penstock.documents.examples import Examples, Share
from penstock.documents.objects import Dataset
from penstock.documents.shelf import Shelf
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.files import slug
from penstock.redteam.attack import seeded
from penstock.redteam.objective import Objective, ObjectiveSet
from penstock.tables import rows

__all__ = ["load_objectives", "objective_shelf"]

# What other tools call the column that says what is to be reached.
_GOALS = ("goal", "objective", "prompt", "input", "behavior", "Behavior", "Goal", "question")
_KEPT = ("id", "category", "system_prompt", "canary", "criterion", "opening", "reference")


def objective_shelf(bench: Workbench) -> Shelf[ObjectiveSet]:
    """The sets of objectives: the workspace's own over those that ship."""
    shipped = Path(penstock.library.__path__[0])
    return Shelf("objective", ObjectiveSet, bench.workspace.library, shipped)


def _datasets(bench: Workbench) -> Shelf[Dataset]:
    shipped = Path(penstock.library.__path__[0])
    return Shelf("dataset", Dataset, bench.workspace.library, shipped)


def load_objectives(
    names: Sequence[str], bench: Workbench, *, seed: int = 0, most: int | None = None
) -> tuple[Objective, ...]:
    """All of them, each with an id of its own and its secret planted."""
    found: dict[str, Objective] = {}
    for name in names:
        for objective in _set(name, bench).named():
            key, number = objective.id, 2
            while key in found:
                key, number = f"{objective.id}-{number}", number + 1
            found[key] = objective.model_copy(update={"id": key})
    chosen = list(found.values())
    if most is not None and most < len(chosen):
        places = sorted(seeded(seed, "objectives").sample(range(len(chosen)), most))
        chosen = [chosen[place] for place in places]
    return tuple(objective.planted(seed) for objective in chosen)


def _set(name: str, bench: Workbench) -> ObjectiveSet:
    path = Path(name).expanduser()
    sets, datasets = objective_shelf(bench), _datasets(bench)
    if name in datasets and name not in sets:  # the inputs of a dataset, as Moonshot attacks them
        entry = datasets.get(name)
        examples = (dict(each.row, goal=each.input) for each in Examples(entry, Share()))
        return _made(entry.value.name, _rows(examples, name), f"the dataset {name!r}")
    if name in sets or ("/" not in name and not path.suffix):
        return sets.get(name).value
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    if path.suffix.lower() in files.SUFFIXES:
        return _document(path)
    return _made(path.stem, _rows(rows(path), path.name), str(path))


def _document(path: Path) -> ObjectiveSet:
    """A set of ours, or a dataset of Moonshot's, or a plain list of rows."""
    if path.suffix.lower() == ".json":
        import orjson

        try:
            data = orjson.loads(path.read_bytes())
        except orjson.JSONDecodeError as error:
            raise InputError(f"{path} is no JSON: {error}") from None
        if isinstance(data, Mapping) and isinstance(data.get("examples"), list):
            found = _rows((_mapping(each) for each in data["examples"]), path.name)
            return _made(str(data.get("name") or path.stem), found, str(path))
        if isinstance(data, list):
            return _made(path.stem, _rows(map(_mapping, data), path.name), str(path))
    return ObjectiveSet.load(path)


def _mapping(row: Any) -> Mapping[str, Any]:
    return row if isinstance(row, Mapping) else {"goal": row}


def _rows(source: Iterable[Mapping[str, Any]], name: str) -> Iterator[dict[str, Any]]:
    for number, row in enumerate(source, 1):
        goal = next((key for key in _GOALS if row.get(key) not in (None, "")), None)
        if goal is None:
            raise InputError(
                f"row {number} of {name} has no objective",
                remedy=f"Name the column goal (or {', '.join(_GOALS[1:5])}). "
                f"There are: {', '.join(map(str, row)) or 'none'}.",
            )
        made: dict[str, Any] = {
            key: str(row[key]) for key in _KEPT if row.get(key) not in (None, "")
        }
        if row.get("check") not in (None, ""):
            made["check"] = row["check"]
        yield {**made, "goal": str(row[goal])}


def _made(name: str, objectives: Iterable[dict[str, Any]], shown: str) -> ObjectiveSet:
    slug(name)  # its objectives are named after it
    found = list(objectives)
    if not found:
        raise InputError(f"{shown} has no objectives", remedy="Give each a row with its goal.")
    return ObjectiveSet.made({"name": name, "objectives": found}, shown)
