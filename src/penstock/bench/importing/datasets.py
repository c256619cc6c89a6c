"""A Moonshot dataset: its examples become rows in a file beside it, one by one.

The file is read whole, which takes a few times its size in memory, and written as a stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.bench.importing.finding import Found, Written, check_texts, read_json
from penstock.bench.importing.placing import place_rows
from penstock.bench.importing.report import Tally, named
from penstock.bench.importing.targets import Reading, put_target, target_of
from penstock.bench.objects import Dataset
from penstock.documents.shelf import Shelf
from penstock.errors import InputError

__all__ = ["import_examples"]

LARGEST = 2 << 30
_TEXTS = ("description", "license", "reference")
# What Moonshot counts and dates itself.
_KNOWN = frozenset({"name", *_TEXTS, "examples", "id", "num_of_dataset_prompts", "created_date"})
_READINGS = {
    Reading.AS_TEXT: "targets that are numbers, true or false were taken as text",
    Reading.ANSWERS: "targets are the texts of SQuAD's answers; as given they are in target_given",
    Reading.UNCLEAR: "targets from which no accepted texts can be told are in target_given only",
}


def import_examples(found: Found, shelf: Shelf[Dataset], tally: Tally, *, overwrite: bool) -> bool:
    """Bring in one dataset; False where an equal one is there. Raises what is wrong with it."""
    data = read_json(found.path, found.file, LARGEST)
    examples = data.pop("examples", None)
    if not isinstance(examples, list):
        raise InputError("examples is missing" if examples is None else "examples is no list")
    made = _described(Written(found.file, data), f"{found.id}.jsonl")
    rows = _Rows(examples)
    new = place_rows(shelf, found.id, made, rows, overwrite=overwrite)
    for reading in rows.readings:
        tally.note(_READINGS[reading], "dataset", found.id)
    tally.note_unused(data, _KNOWN, "dataset", found.id)
    for reason, numbers in rows.left_out.items():
        which = f"example {numbers[0]}" if len(numbers) == 1 else f"examples {named(numbers)}"
        tally.refuse("example", found.id, found.file, f"{which}: {reason}")
    return new


def _described(written: Written, file: str) -> Dataset:
    """What it says of itself. Nothing is wrong with what is not said."""
    data = written.data
    given = {key: data[key] for key in ("name", *_TEXTS) if data.get(key) is not None}
    check_texts(given)
    return Dataset.made({**given, "file": file}, written.file)


class _Rows:
    """The examples as rows; those that cannot be asked are left out, by number."""

    def __init__(self, examples: list[Any]) -> None:
        self._examples = examples
        self.left_out: dict[str, list[int]] = {}
        self.readings: dict[Reading, None] = {}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        kept = 0
        for number, example in enumerate(self._examples, start=1):
            reason = _unasked(example)
            if reason:
                self.left_out.setdefault(reason, []).append(number)
                continue
            kept += 1
            yield self._row(example)
        if not kept:
            reasons = [f"{each} ({len(numbers):,})" for each, numbers in self.left_out.items()]
            raise InputError(
                f"none of its examples can be asked: {'; '.join(reasons)}"
                if reasons
                else "it has no examples"
            )

    def _row(self, example: dict[str, Any]) -> dict[str, Any]:
        if example.get("target") is None:
            return example
        target = target_of(example["target"])
        if target.reading is Reading.AS_IT_IS:
            return example
        self.readings[target.reading] = None
        row = dict(example)
        put_target(row, "target", target)
        return row


def _unasked(example: Any) -> str:
    """Why an example cannot be asked."""
    if not isinstance(example, dict):
        return "it is no mapping"
    asked = example.get("input")
    if asked is None:
        return "there is no input"
    if not isinstance(asked, str):
        return "the input is no text"
    return "" if asked.strip() else "the input is empty"
