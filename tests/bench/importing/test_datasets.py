"""Datasets: examples become rows; what cannot be asked is named by its number."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.bench.importing.targets import Reading, Target, put_target, target_of
from penstock.documents.examples import Examples, Share
from penstock.metrics import Sample
from penstock.metrics.squad import SquadF1
from tests.bench.importing.moonshot_kit import Moon

SQUAD = {"text": ["France", "in France"], "answer_start": [1, 2]}


def test_a_dataset_says_what_it_is_and_keeps_every_column(moon: Moon) -> None:
    moon.dataset("sums", {"id": "a", "input": "1+1?", "target": "2", "level": [1, {"b": None}]})
    moon.brought()
    made = moon.shelves.datasets.read("sums").value
    assert (made.name, made.description, made.license, made.reference) == (
        *("The sums", "Sums.", "MIT", "us"),
    )
    assert made.file == "sums.jsonl"
    assert moon.rows("sums") == [
        {"id": "a", "input": "1+1?", "target": "2", "level": [1, {"b": None}]}
    ]


def test_what_is_not_said_of_a_dataset_is_not_needed(moon: Moon) -> None:
    moon.dataset("sums", description=None, license=None, reference=None)
    assert moon.brought().complete
    assert moon.shelves.datasets.read("sums").value.license == ""


def test_examples_that_cannot_be_asked_are_named_and_left_out(moon: Moon) -> None:
    moon.dataset(
        "sums", "text", {"input": "1?", "target": "1"}, {"target": "x"}, {"input": None},
        {"input": 7}, ["a"], {"input": " "}, {"input": "2?"},
    )  # fmt: skip
    done = moon.brought()
    assert done.imported["dataset"] == ("sums",)
    assert [row["input"] for row in moon.rows("sums")] == ["1?", "2?"]
    assert [(each.kind, each.id, each.reason) for each in done.not_imported] == [
        ("example", "sums", "examples 1, 6: it is no mapping"),
        ("example", "sums", "examples 3, 4: there is no input"),
        ("example", "sums", "example 5: the input is no text"),
        ("example", "sums", "example 7: the input is empty"),
    ]


def test_many_bad_examples_are_counted_after_the_first(moon: Moon) -> None:
    moon.dataset("sums", {"input": "1?"}, *[None] * 100)
    [told] = moon.brought().not_imported
    assert told.reason == "examples 2, 3, 4, 5, 6, 7, 8, 9 and 92 more: it is no mapping"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"name": "a", "examples": []}, "it has no examples"),
        ({"name": "a", "examples": [1, {}]}, "none of its examples can be asked"),
        ({"name": "a", "examples": {"input": "x"}}, "examples is no list"),
        ({"name": "a"}, "examples is missing"),
        ({"examples": [{"input": "x"}]}, "name is missing"),
        ({"name": 5, "examples": [{"input": "x"}]}, "name: it is 5; a text is wanted"),
        ({"name": "a", "license": ["MIT"], "examples": [{"input": "x"}]}, "license"),
        ({"name": "a" * 300, "examples": [{"input": "x"}]}, "name"),
        ({"name": "\ud800", "examples": [{"input": "x"}]}, "half a character"),
        ({"name": "a", "description": "d" * 50_001, "examples": [{"input": "x"}]}, "longer"),
        ([1, 2], "names and values are wanted"),
        ("", "it is not JSON"),
        ('{"name": "a",\n "examples": [\n{"input": }]}', "it is not JSON: Expecting value"),
        ('{"name": "a", "examples": [' + "[" * 100_000, "nested too deeply"),
        ('{"name": 1' + "0" * 5000 + "}", "it is not JSON"),
    ],
)
def test_a_dataset_that_makes_no_sense_is_told_and_leaves_nothing(
    moon: Moon, body: Any, said: str
) -> None:
    moon.write("datasets/bad.json", body)
    moon.dataset("good")
    done = moon.brought()
    assert done.imported["dataset"] == ("good",)
    [told] = done.not_imported
    assert (told.kind, told.id, told.file) == ("dataset", "bad", "datasets/bad.json")
    assert said in told.reason
    assert len(told.reason) < 500
    assert sorted(path.name for path in moon.shelves.datasets.folder.iterdir()) == [
        *("good.jsonl", "good.yaml")
    ]


def test_a_mistake_in_the_json_is_told_at_its_line(moon: Moon) -> None:
    moon.write("datasets/bad.json", '{"name": "a",\n "examples": [\n{"input": }]}')
    moon.folder.joinpath("datasets/latin.json").write_bytes(b'{\n"name": "caf\xe9"}')
    assert [(each.id, each.line) for each in moon.brought().not_imported] == [
        ("bad", 3),
        ("latin", 2),
    ]


def test_odd_json_that_python_writes_is_read(moon: Moon) -> None:
    body = (
        '\ufeff{"name": "a", "examples": [{"input": "x", "n": NaN, "big": %d, "half": "\\ud83d"}]}'
    )
    moon.write("datasets/odd.json", body % 10**30)
    assert moon.brought().complete
    [row] = moon.rows("odd")
    assert row["big"] == 10**30
    assert row["half"] == "\ufffd"
    [example] = Examples(moon.shelves.datasets.read("odd"), Share())
    assert example.input == "x"


def test_a_file_that_is_too_large_is_not_read(moon: Moon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.bench.importing.datasets.LARGEST", 1 << 20)
    moon.dataset("big", {"input": "x" * (1 << 20)})
    moon.dataset("small")
    done = moon.brought()
    assert done.imported["dataset"] == ("small",)
    assert done.not_imported[0].reason == "it is larger than 1 MiB, the most that is read"


def test_the_index_of_datasets_is_no_dataset(moon: Moon) -> None:
    moon.dataset("sums")
    moon.write("datasets/cache.json", {"sums": {"name": "sums"}})
    assert moon.brought().imported["dataset"] == ("sums",)


def test_targets_are_texts_and_what_became_of_others_is_said_once(moon: Moon) -> None:
    moon.dataset(
        "sums",
        {"input": "1", "target": 42},
        {"input": "2", "target": True},
        {"input": "3", "target": [1, "one"]},
        {"input": "4", "target": SQUAD},
        {"input": "5", "target": {"answers": {"text": [], "answer_start": []}}},
        {"input": "6", "target": {"colour": "blue"}},
        {"input": "7", "target": None},
    )
    done = moon.brought()
    rows = moon.rows("sums")
    assert [row["target"] for row in rows] == [
        "42", "true", ["1", "one"], ["France", "in France"], [], None, None,
    ]  # fmt: skip
    assert rows[3]["target_given"] == SQUAD
    assert rows[5]["target_given"] == {"colour": "blue"}
    assert done.complete
    assert [note.partition(" (")[0] for note in done.notes] == [
        "targets that are numbers, true or false were taken as text",
        "targets are the texts of SQuAD's answers; as given they are in target_given",
        "targets from which no accepted texts can be told are in target_given only",
    ]


def test_squads_answers_are_scored_as_squad_does(moon: Moon) -> None:
    moon.dataset(
        "squad",
        {"input": "where?", "target": str(SQUAD)},
        {"input": "who?", "target": "{'text': [], 'answer_start': []}"},
    )
    moon.brought()
    known, unknown = Examples(moon.shelves.datasets.read("squad"), Share())
    metric = SquadF1()
    assert metric.score(Sample("France.", known.target)).value == 1
    assert metric.score(Sample("unanswerable", unknown.target)).value == 1
    assert metric.score(Sample("France", unknown.target)).value == 0


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("text", Target("text")),
        ("", Target("")),
        (["a", "b"], Target(["a", "b"])),
        ([], Target([])),
        (None, Target(None)),
        (1.0, Target("1", Reading.AS_TEXT)),
        (False, Target("false", Reading.AS_TEXT)),
        (float("nan"), Target(None, Reading.UNCLEAR)),
        ([None, "a"], Target(None, Reading.UNCLEAR)),
        ([["a"]], Target(None, Reading.UNCLEAR)),
        ({"text": "a"}, Target(None, Reading.UNCLEAR)),
        ({"text": [1]}, Target(None, Reading.UNCLEAR)),
        ({"answers": [{"text": "a"}, {"text": "b"}]}, Target(["a", "b"], Reading.ANSWERS)),
        ({"answers": "a"}, Target(None, Reading.UNCLEAR)),
        ("{'text': __import__('os').getcwd()}", Target("{'text': __import__('os').getcwd()}")),
        ("{'text': " + "[" * 5000, Target("{'text': " + "[" * 5000)),
        ("{'text': ['\\d']}", Target(["\\d"], Reading.ANSWERS)),
        ("{'colour': 'blue'}", Target("{'colour': 'blue'}")),
    ],
)
def test_a_target_is_read_or_left_but_never_guessed(given: Any, made: Target) -> None:
    assert target_of(given) == made


def test_a_column_that_is_there_is_never_overwritten() -> None:
    row = {"target": {"a": 1}, "target_given": "mine"}
    put_target(row, "target", target_of(row["target"]))
    assert row == {"target": None, "target_given": "mine", "target_given_2": {"a": 1}}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(VALUES)
def test_any_target_gives_texts_or_none(value: Any) -> None:
    made = target_of(value).value
    texts = made if isinstance(made, list) else [made]
    assert all(each is None or isinstance(each, str) for each in texts)


@settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    st.dictionaries(
        st.sampled_from(["name", "description", "license", "examples", "other"]),
        VALUES | st.lists(st.dictionaries(st.sampled_from(["input", "target", "id"]), VALUES)),
    )
)
def test_any_json_object_is_a_dataset_or_told(moon: Moon, data: dict[str, Any]) -> None:
    moon.write("datasets/any.json", json.dumps(data))
    done = moon.brought(overwrite=True)
    there = "any" in done.imported["dataset"] + done.unchanged["dataset"]
    assert there or [each.kind for each in done.not_imported] == ["dataset"]
    json.dumps(done.to_dict()).encode()
    if there:
        assert all(each.input.strip() for each in Examples(
            moon.shelves.datasets.read("any"), Share()))  # fmt: skip
