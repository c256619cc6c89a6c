"""A result for other programs: its items as a flat table, all of it as one JSON document, or in the
form that Moonshot writes. Whatever their number, the items are passed and never held.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from penstock.bench.item import Item, ItemScore, items_of
from penstock.bench.result import BenchResult, EndpointResult, MetricResult, RecipeResult
from penstock.errors import InputError
from penstock.secret import mask_bytes
from penstock.tables import Table, TableWriter
from penstock.tables.atomic import disk_errors, draft
from penstock.tables.files import format_of
from penstock.tables.plain import plain

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["export_items", "export_json", "export_moonshot"]

_PARTS = ("", "_status", "_reason", "_extracted")
_FLUSH = 8 << 20
_BARE = "no-template"
"""How Moonshot calls a question without a template."""

Write = Callable[[BinaryIO], None]


# A flat table ---------------------------------------------------------------------------------


def export_items(
    items: Table,
    path: Path | str,
    format: str | None = None,  # noqa: A002
    overwrite: bool = False,
) -> Path:
    """Every item as a row, with four columns for each metric: `<label>` (the value), and
    `<label>_status`, `<label>_reason`, `<label>_extracted`. The format is that of the suffix, or
    the given one: csv, tsv, json, jsonl, parquet, arrow, feather, xlsx. Returns the path."""
    path = Path(path)
    format_of(path, format)  # what cannot be written is said before the work
    _check_free(path, overwrite)
    labels = _labels(items)
    columns = _columns(labels)
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.name[:80]}.", dir=path.parent) as folder:
        with TableWriter(Path(folder) / "flat.arrow", schema=_schema(columns)) as writer:
            for number, item in enumerate(items_of(items)):
                writer.add(number, [_flat(item, columns)])
            flat = writer.close()
        return flat.save(path, format, overwrite=overwrite)


def _labels(items: Table) -> list[str]:
    """The labels of all metrics, in the order in which they come."""
    decode = msgspec.json.Decoder(list[_Labelled]).decode
    found: dict[str, None] = {}
    for batch in items.batches():
        for scores in batch.column(batch.schema.get_field_index("scores")).to_pylist():
            found.update(dict.fromkeys(each.metric for each in decode(scores)))
    return list(found)


class _Labelled(msgspec.Struct):
    metric: str


def _columns(labels: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The columns of each metric. A label that is a column's name already is set apart."""
    taken = set(Item.__struct_fields__)
    made = {}
    for label in labels:
        stem = label
        while taken & {stem + part for part in _PARTS}:
            stem = f"metric_{stem}"
        made[label] = tuple(stem + part for part in _PARTS)
        taken.update(made[label])
    return made


def _flat(item: Item, columns: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    row = item.row()
    del row["scores"]
    scores = {score.metric: score for score in item.scores}
    for label, (value, status, reason, extracted) in columns.items():
        score = scores.get(label)
        row[value] = None if score is None else score.value
        row[status] = None if score is None else str(score.status)
        row[reason] = None if score is None else score.reason or None
        row[extracted] = None if score is None else score.extracted
    return row


def _schema(columns: Mapping[str, tuple[str, ...]]) -> pa.Schema:
    """Given, so that a column in which nothing stands has a type all the same."""
    import pyarrow as pa

    own = {
        "target": pa.list_(pa.string()),
        "recorded": pa.bool_(),
        "latency": pa.float64(),
        **dict.fromkeys(("number", "example", "epoch", "attempts"), pa.int64()),
        **dict.fromkeys(("input_tokens", "output_tokens"), pa.int64()),
    }
    fields = [
        (name, own.get(name, pa.string())) for name in Item.__struct_fields__ if name != "scores"
    ]
    for value, *words in columns.values():
        fields += [(value, pa.float64()), *((name, pa.string()) for name in words)]
    return pa.schema(fields)


# One document ---------------------------------------------------------------------------------


def export_json(
    result: BenchResult, items: Table, path: Path | str, *, overwrite: bool = False
) -> Path:
    """The result with its items under `items`, as one JSON document. Returns the path."""
    path = Path(path)
    _check_free(path, overwrite)
    with draft(path, overwrite=overwrite) as new, new.open("wb") as file:
        head = _encoded(msgspec.to_builtins(result, enc_hook=plain))
        file.write(head.removesuffix(b"}") + b',\n"items":[')
        between = b"\n"
        for item in items_of(items):
            file.write(between + _encoded(_told(item)))
            between = b",\n"
        file.write(b"\n]}\n")
    return path


def _told(item: Item) -> dict[str, Any]:
    """An item with everything said that is left out where it is kept."""
    told = {name: getattr(item, name) for name in item.__struct_fields__}
    told["scores"] = [_told_score(score) for score in item.scores]
    return told


def _told_score(score: ItemScore) -> dict[str, Any]:
    return {name: getattr(score, name) for name in score.__struct_fields__}


def _encoded(value: Any) -> bytes:
    """JSON that every program reads: whole characters, no NaN, and no key in it."""
    try:
        body = msgspec.json.encode(value)
    except (TypeError, UnicodeEncodeError):
        body = msgspec.json.encode(plain(value))
    return mask_bytes(body)


# Moonshot's form ------------------------------------------------------------------------------


def export_moonshot(
    result: BenchResult, items: Table, path: Path | str, *, overwrite: bool = False
) -> Path:
    """The result as Moonshot writes its own: metadata, and recipes or cookbooks with the prompts
    and what each endpoint said. Values are in per cent where a metric has a range."""
    path = Path(path)
    _check_free(path, overwrite)
    with (
        draft(path, overwrite=overwrite) as new,
        tempfile.TemporaryDirectory(prefix=f".{path.name[:80]}.", dir=new.parent) as folder,
    ):
        data = _Spill(Path(folder))
        for item in items_of(items):
            data.add((item.recipe, item.endpoint, item.dataset, item.template), _datum(item))
        data.flush()
        with new.open("wb") as file:
            results = _results(result, data)
            _object(file, {"metadata": _metadata(result), "results": results})
            file.write(b"\n")
    return path


def _results(result: BenchResult, data: _Spill) -> Write:
    recipes = {recipe.id: recipe for recipe in result.recipes}
    alone = _alone(result)
    parts: dict[str, Any] = {}
    if alone or not result.cookbooks:
        parts["recipes"] = _array([_recipe(recipe, data) for recipe in alone])
    if result.cookbooks:
        parts["cookbooks"] = _array(
            [
                _lazily(
                    {
                        "id": book.id,
                        "recipes": _array(
                            [_recipe(recipes[id_], data) for id_ in book.recipes if id_ in recipes]
                        ),
                        "overall_evaluation_summary": [
                            {"model_id": each.endpoint, "overall_grade": each.worst or "-"}
                            for each in book.grades
                        ],
                        "total_num_of_prompts": sum(
                            _asked(recipes[id_]) for id_ in book.recipes if id_ in recipes
                        ),
                    }
                )
                for book in result.cookbooks
            ]
        )
    return _lazily(parts)


def _alone(result: BenchResult) -> list[RecipeResult]:
    """The recipes that no cookbook brought."""
    inside = {id_ for book in result.cookbooks for id_ in book.recipes}
    return [recipe for recipe in result.recipes if recipe.id not in inside]


def _recipe(recipe: RecipeResult, data: _Spill) -> Write:
    pairs = [
        (dataset, template)
        for dataset in recipe.datasets
        for template in (recipe.templates or ("",))
    ]
    details = [
        _lazily(
            {
                "model_id": each.endpoint,
                "dataset_id": dataset,
                "prompt_template_id": template or _BARE,
                "data": data.reader((recipe.id, each.endpoint, dataset, template)),
                "metrics": _metrics(each, dataset, template),
            }
        )
        for each in recipe.endpoints
        for dataset, template in pairs
    ]
    return _lazily(
        {
            "id": recipe.id,
            "details": _array(details),
            "evaluation_summary": [
                {
                    "model_id": each.endpoint,
                    "num_of_prompts": each.items,
                    "avg_grade_value": each.grade_value,
                    "grade": each.grade or "-",
                }
                for each in recipe.endpoints
            ],
            "grading_scale": {label: list(band) for label, band in recipe.grading.items()},
            "total_num_of_prompts": _asked(recipe),
        }
    )


def _metrics(each: EndpointResult, dataset: str, template: str) -> list[dict[str, Any]]:
    """What the metrics say of one dataset with one template; the first one is graded."""
    made = []
    for place, metric in enumerate(each.metrics):
        part = next(
            (p for p in metric.parts if (p.dataset, p.template) == (dataset, template)), None
        )
        value = None if part is None else _percent(metric, part.value)
        graded = {metric.metric: value} if place == 0 and value is not None else {}
        made.append({metric.metric: value, "grading_criteria": graded})
    return made


def _percent(metric: MetricResult, value: float | None) -> float | None:
    low, high = metric.about.get("low"), metric.about.get("high")
    if value is None or low is None or high is None:
        return value
    return float(100 * (value - low) / (high - low))


def _metadata(result: BenchResult) -> dict[str, Any]:
    settings = result.settings
    return {
        "id": result.id,
        "start_time": _moment(result.started),
        "end_time": _moment(result.ended),
        "duration": round(result.seconds),
        "status": result.status,
        "recipes": [recipe.id for recipe in _alone(result)],
        "cookbooks": [book.id for book in result.cookbooks],
        "endpoints": list(result.endpoints),
        "prompt_selection_percentage": _share(settings.get("sample")),
        "random_seed": settings.get("seed", 0),
        "system_prompt": settings.get("system_prompt") or "",
    }


def _share(sample: Any) -> float | None:
    """Per cent of each dataset; None where so many examples of each were asked for."""
    if sample in (None, ""):
        return 100
    said = str(sample).strip()
    if not said.endswith("%"):
        return None
    share = float(said.removesuffix("%"))
    return int(share) if share.is_integer() else share


def _moment(when: float) -> str:
    return datetime.fromtimestamp(when).strftime("%Y-%m-%d %H:%M:%S")


def _asked(recipe: RecipeResult) -> int:
    return sum(each.items for each in recipe.endpoints)


def _datum(item: Item) -> dict[str, Any]:
    targets = item.target or ()
    target = targets[0] if len(targets) == 1 else list(targets)
    return {
        "prompt": item.prompt,
        "predicted_result": item.answer,
        "target": target,
        "duration": item.latency,
    }


class _Spill:
    """Values by group, as JSON in a file each: a document has them together, whatever the order
    in which they come."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._places: dict[tuple[str, ...], int] = {}
        self._waiting: dict[int, list[bytes]] = {}
        self._size = 0

    def add(self, group: tuple[str, ...], value: Any) -> None:
        place = self._places.setdefault(group, len(self._places))
        body = _encoded(value)
        self._waiting.setdefault(place, []).append(body)
        self._size += len(body)
        if self._size > _FLUSH:
            self.flush()

    def flush(self) -> None:
        for place, bodies in self._waiting.items():
            path = self._folder / str(place)
            between = b",\n" if path.exists() else b""
            with path.open("ab") as file:
                file.write(between + b",\n".join(bodies))
        self._waiting, self._size = {}, 0

    def reader(self, group: tuple[str, ...]) -> Write:
        """Writes the array of a group."""
        place = self._places.get(group)

        def write(file: BinaryIO) -> None:
            file.write(b"[")
            if place is not None:
                with (self._folder / str(place)).open("rb") as kept:
                    while piece := kept.read(1 << 20):
                        file.write(piece)
            file.write(b"]")

        return write


def _object(file: BinaryIO, fields: Mapping[str, Any]) -> None:
    """A JSON object; a value that writes itself is let to."""
    between = b"{"
    for name, value in fields.items():
        file.write(between + _encoded(name) + b":")
        if callable(value):
            value(file)
        else:
            file.write(_encoded(value))
        between = b",\n"
    file.write(b"}" if fields else b"{}")


def _lazily(fields: Mapping[str, Any]) -> Write:
    return lambda file: _object(file, fields)


def _array(values: Iterable[Write]) -> Write:
    def write(file: BinaryIO) -> None:
        between = b"["
        for value in values:
            file.write(between)
            value(file)
            between = b",\n"
        file.write(b"[]" if between == b"[" else b"]")

    return write


def _check_free(path: Path, overwrite: bool) -> None:
    if path.exists() and not overwrite:
        raise InputError(f"{path} is already there", remedy="Give another name, or overwrite=True.")
