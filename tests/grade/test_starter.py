"""The starter: a rubric that loads, names every key, and is written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import jsonschema_rs
import pytest

from penstock.errors import InputError
from penstock.grade.criterion import Field
from penstock.grade.rubric import Rubric
from penstock.grade.rubric_file import CRITERION_KEYS, EXAMPLE_KEYS, GRADE_KEYS, KEYS
from penstock.grade.scale import LabelScale, NumberScale
from penstock.grade.starter import starter_text, write_starter
from penstock.yamlfile import parse


def test_the_starter_loads_and_shows_each_kind_of_criterion(tmp_path: Path) -> None:
    rubric = Rubric.load(write_starter(tmp_path / "rubric.yaml"))
    assert rubric.name == "Short argumentative essay"
    scales = {criterion.name: criterion.scale for criterion in rubric.criteria}
    assert scales == {
        "argument": NumberScale(1, 5),
        "structure": NumberScale(0, 10, 0.5),
        "language": LabelScale(("poor", "fair", "good"), (0, 0.5, 1)),
        "on topic": LabelScale(("yes", "partly", "no")),
    }
    assert [each.criterion for each in rubric.examples[0].grades] == list(scales)
    assert [type(each) for each in rubric.fields] == [Field]
    assert rubric.reasons == "each"
    assert jsonschema_rs.is_valid(Rubric.json_schema(), parse(starter_text(), "x").data)


def test_every_key_stands_in_the_starter_with_a_comment_above_it() -> None:
    lines = starter_text().splitlines()
    for key in {*KEYS, *CRITERION_KEYS, *EXAMPLE_KEYS, *GRADE_KEYS}:
        first = next(at for at, line in enumerate(lines) if line.lstrip(" -").startswith(f"{key}:"))
        above = next(line for line in reversed(lines[:first]) if line.lstrip().startswith("#"))
        nearby = lines[max(0, first - 4) : first]
        assert above in nearby, key


def test_the_starter_fits_a_screen_and_plain_text() -> None:
    assert all(len(line) <= 100 for line in starter_text().splitlines())
    assert starter_text().isascii()


def test_a_file_that_is_there_is_kept_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "rubric.yaml"
    assert write_starter(str(file)) == file
    file.write_text("mine")
    with pytest.raises(InputError, match="already there"):
        write_starter(file)
    assert file.read_text() == "mine"
    write_starter(file, overwrite=True)
    assert file.read_text(encoding="utf-8") == starter_text()
    assert [each.name for each in file.parent.iterdir()] == ["rubric.yaml"]
