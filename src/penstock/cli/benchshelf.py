"""What `penstock bench list, show, create, delete and schema` do."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any

from penstock.bench.objects import KINDS
from penstock.bench.shelves import Shelves, is_file
from penstock.cli import complain
from penstock.cli.show import out, print_json, print_table, safe, short
from penstock.documents import files
from penstock.documents.shelf import Shelf
from penstock.engine.workbench import Workbench
from penstock.errors import Exit, InputError, NotFoundError

__all__ = ["created", "deleted", "listed", "schema_of", "shown"]

# What only files of a kind have.
_MARKS = {
    "recipes": "cookbook",
    "datasets": "recipe",
    "template": "template",
    "examples": "dataset",
    "file": "dataset",
    "endpoints": "runner",
    "metric": "metric",
}


def listed(kind: str | None, *, as_json: bool) -> int:
    """Everything of one kind, or recipes and cookbooks."""
    with Workbench() as bench:
        shelves = Shelves(bench)
        found = []
        for each in [kind] if kind else ["cookbooks", "recipes"]:
            found += _entries(shelves.of(each))
        if kind and shelves.of(kind) is shelves.metrics:
            found += _builtin_metrics()
    if as_json:
        print_json(found)
    elif not found:
        out().print(f"there are no {kind} yet")
    else:
        rows = [
            (each["kind"], each["id"], each["whose"], short(each["about"], 70)) for each in found
        ]
        print_table(("kind", "id", "whose", "about"), rows)
    return Exit.OK


def _entries(shelf: Shelf[Any]) -> list[dict[str, Any]]:
    """All of a shelf; one that cannot be read hides no other."""
    found = []
    for name in shelf:
        try:
            entry = shelf.read(name)
        except InputError as error:
            complain(error.message, error.remedy)
            continue
        found.append(
            {
                "kind": shelf.kind,
                "id": name,
                "whose": "ships" if entry.shipped else "own",
                "about": getattr(entry.value, "description", ""),
            }
        )
    return found


def shown(name: str, kind: str | None, *, as_json: bool) -> int:
    """One object, and what a run of it needs."""
    from penstock.cli.benchview import print_needs

    with Workbench() as bench:
        shelves = Shelves(bench)
        shelf = shelves.of(kind or _kind_of(name, shelves))
        entry = shelf.read(name)
        needs = _needs(shelf.kind, entry, bench, shelves)
    data = {"id": entry.id, "kind": shelf.kind, **entry.value.to_dict()}
    if as_json:
        print_json({**data, **({"needs": needs} if needs else {})})
        return Exit.OK
    console = out()
    if needs:
        console.print(safe(f"{entry.value.name} ({shelf.kind} {entry.id})"), soft_wrap=True)
        if about := entry.value.description:
            console.print(safe(about), soft_wrap=True)
        print_needs(needs)
        return Exit.OK
    console.print(safe(files.as_yaml(data)), soft_wrap=True, end="")
    return Exit.OK


def created(path: Path, kind: str | None, *, force: bool) -> int:
    """Keep a file in the library of the workspace."""
    if not path.is_file():
        raise NotFoundError(f"there is no file {path}")
    with Workbench() as bench:
        shelves = Shelves(bench)
        shelf = shelves.of(kind or _kind_in(path))
        entry = shelf.read(f"./{path}" if not path.is_absolute() else str(path))
        _check_ids(path, entry.value)
        bench.workspace.prepare()
        if shelf is shelves.datasets and entry.value.file is not None:
            raise InputError(
                f"the examples of {path} lie in {entry.value.file}",
                remedy="`penstock bench import FILE` brings a dataset with its examples.",
            )
        if force and entry.id in shelf and not shelf.read(entry.id).shipped:
            shelf.delete(entry.id)
        made = shelf.create(entry.value, id=entry.id)
    out().print(f"the {shelf.kind} {made.id} is kept", soft_wrap=True)
    return Exit.OK


def _check_ids(path: Path, value: Any) -> None:
    """What is kept names ids: the files beside it are not kept with it."""
    for key in ("datasets", "templates", "recipes"):
        for name in getattr(value, key, ()):
            if is_file(name):
                raise InputError(
                    f"{path} names the file {name!r} among its {key}",
                    remedy="Keep that one first (`penstock bench create FILE`), and name its id; "
                    "or run the file as it is.",
                )


def deleted(name: str, kind: str | None) -> int:
    """Forget one of the user's own."""
    with Workbench() as bench:
        shelves = Shelves(bench)
        shelf = shelves.of(kind or _kind_of(name, shelves))
        shelf.delete(name)
    out().print(f"the {shelf.kind} {name} is deleted")
    return Exit.OK


def schema_of(kind: str) -> dict[str, Any]:
    """The JSON schema of a kind of file, or of results."""
    import msgspec

    from penstock.bench.item import Item
    from penstock.bench.result import BenchResult

    if kind in ("result", "item"):
        return msgspec.json.schema(BenchResult if kind == "result" else Item)
    model = KINDS.get(kind.removesuffix("s"))
    if model is None:
        raise InputError(
            f"there is no kind {kind!r}", remedy=f"There are: {', '.join(KINDS)}, result, item."
        )
    return model.model_json_schema()


def _kind_in(path: Path) -> str:
    """What kind of object a file holds, by its keys."""
    data = files.read(path).data
    keys = set(data) if isinstance(data, dict) else set()
    for mark, kind in _MARKS.items():
        if mark in keys:
            return kind
    raise InputError(
        f"{path} does not show what kind of object it is", remedy="Say so with --kind recipe."
    )


def _kind_of(name: str, shelves: Shelves) -> str:
    if is_file(name):
        return _kind_in(Path(name).expanduser())
    kinds = ("recipes", "cookbooks", "datasets", "templates", "metrics", "runners")
    for kind in kinds:
        if name in shelves.of(kind):
            return kind
    known = [each for kind in kinds for each in shelves.of(kind)]
    close = get_close_matches(name, known, n=1)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    raise NotFoundError(
        f"there is nothing called {name!r}",
        remedy=f"{hint}`penstock bench list` shows what there is.",
    )


def _needs(kind: str, entry: Any, bench: Workbench, shelves: Shelves) -> list[dict[str, Any]]:
    """What a run of it would ask, and whom: judges that nobody has named yet too."""
    from penstock.bench.needs import needs_of, needs_of_all

    if kind == "recipe":
        return [needs_of(entry, bench, shelves)]
    return needs_of_all(entry, bench, shelves) if kind == "cookbook" else []


def _builtin_metrics() -> list[dict[str, Any]]:
    from penstock import plugins
    from penstock.metrics import metric_names

    found = []
    for name in metric_names():
        thing = plugins.find("metric", name)
        about = getattr(thing, "summary", "")
        found.append({"kind": "metric", "id": name, "whose": "built in", "about": about})
    return found
