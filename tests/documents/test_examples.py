"""The examples of a dataset: their names, their draw, and how far a dataset may reach."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.bench.objects import Dataset
from penstock.documents.examples import Examples, Share
from penstock.documents.shelf import Entry
from penstock.errors import InputError
from tests.metrics.texts import patient


def examples(rows: list[dict[str, Any]], share: Any = None, seed: int = 0, **more: Any) -> Examples:
    made = Dataset.made({"name": "d", "examples": rows, **more}, "d")
    return Examples(Entry("d", made), Share.parse(share), seed)


def in_file(folder: Path, file: str, **more: Any) -> Examples:
    folder.mkdir(exist_ok=True)
    path = folder / "d.yaml"
    path.write_text(json.dumps({"name": "d", "file": file, **more}))
    return Examples(Entry("d", Dataset.load(path), path), Share())


def ids(found: Examples) -> list[str]:
    return [example.id for example in found]


@patient
@given(total=st.integers(1, 400), percent=st.decimals("0.1", "100", places=1))
def test_a_share_is_never_nothing_and_never_too_much(total: int, percent: Any) -> None:
    wanted = Share.parse(f"{percent}%").of(total)
    assert wanted == max(1, int(total * int(percent * 10)) // 1000)
    assert 1 <= wanted <= total


def test_per_cent_are_exact() -> None:
    assert Share.parse("32.3%").of(1000) == 323
    assert Share.parse("0.29 %").of(10_000) == 29
    assert Share.parse(None).of(7) == Share.parse("").of(7) == 7


@patient
@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 5))
def test_a_draw_is_the_same_for_the_same_seed_and_in_order(
    total: int, count: int, seed: int
) -> None:
    rows = [{"input": f"q{n}", "target": "x"} for n in range(total)]
    one, two = examples(rows, count, seed), examples(rows, count, seed)
    places = [example.place for example in one]
    assert places == [example.place for example in two] == sorted(set(places))
    assert len(places) == len(one) == min(count, total)
    assert [example.input for example in one] == [f"q{place}" for place in places]


def test_an_example_has_its_own_name_or_one_made_of_what_it_says() -> None:
    named = examples([{"id": 7, "input": "a"}, {"id": "x", "input": "b"}, {"id": "", "input": "c"}])
    assert ids(named)[:2] == ["7", "x"] and len(ids(named)[2]) == 12
    one = ids(examples([{"input": "a", "target": "b"}]))
    assert one == ids(examples([{"input": "a", "target": ["b"], "more": 1}]))
    assert one != ids(examples([{"input": "a", "target": "c"}]))
    assert one != ids(examples([{"input": "ab", "target": ""}]))


@patient
@given(st.lists(st.sampled_from(["a", "b", "a#2", "c"]), min_size=1, max_size=12), st.booleans())
def test_equal_examples_are_told_apart_whatever_is_drawn(texts: list[str], own: bool) -> None:
    rows: list[dict[str, Any]] = [
        {"input": text, **({"id": text} if own else {})} for text in texts
    ]
    whole = {example.place: example.id for example in examples(rows)}
    first = [whole[texts.index(text)] for text in dict.fromkeys(texts)]
    assert len(set(first)) == len(first)
    for example in examples(rows, max(1, len(rows) // 2), 3):
        assert whole[example.place] == example.id


def test_equal_examples_are_numbered() -> None:
    rows = [{"id": "a", "input": "1"}, {"id": "b", "input": "2"}, {"id": "a", "input": "3"}]
    assert ids(examples(rows * 2)) == ["a", "b", "a#2", "a#3", "b#2", "a#4"]


def test_targets_are_texts_one_or_several() -> None:
    rows = [
        {"input": "q", "target": target}
        for target in ("a", ["a", "b"], [], None, 7, True, {"x": 1}, [["a"], 2])
    ]
    assert [example.target for example in examples(rows)] == [
        ("a",), ("a", "b"), (), None, ("7",), ("True",), None, ("a", "2"),
    ]  # fmt: skip


def test_other_columns_may_be_asked_and_held_to() -> None:
    [example] = examples(
        [{"question": "q", "answer": "a", "passage": 4}],
        input="question", target="answer", cluster="passage",
    )  # fmt: skip
    assert (example.input, example.target, example.cluster) == ("q", ("a",), "4")
    with pytest.raises(InputError, match="has no column 'question'") as caught:
        examples([{"input": "q"}], input="question")
    assert "There are: input." in caught.value.remedy


def test_examples_without_any_and_files_that_are_gone_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the dataset 'd' has no examples"):
        examples([])
    with pytest.raises(InputError, match="the file of the dataset 'd' is missing"):
        in_file(tmp_path, "gone.jsonl")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InputError, match=r"empty\.jsonl is empty"):
        in_file(tmp_path, "empty.jsonl")


@pytest.mark.parametrize("file", ["../secret.jsonl", "/etc/passwd", "a/../../secret.jsonl", "link"])
def test_a_dataset_reaches_nothing_but_what_lies_beside_it(tmp_path: Path, file: str) -> None:
    (tmp_path / "secret.jsonl").write_text('{"input": "a secret"}\n')
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "secret.jsonl")
    with pytest.raises(InputError, match="which lies elsewhere"):
        in_file(folder, file)


def test_files_of_every_kind_give_the_same_examples(tmp_path: Path) -> None:
    from penstock.tables import Table

    rows = [{"input": f"q{n}", "target": f"t{n}"} for n in range(5)]
    found = []
    for name in ("d.csv", "d.jsonl", "d.parquet", "d.json", "d.xlsx"):
        Table.from_rows(rows).save(tmp_path / name)
        found.append([(e.id, e.input, e.target) for e in in_file(tmp_path, name)])
    assert found == [found[0]] * 5 and len(found[0]) == 5


def test_a_long_dataset_is_never_held(tmp_path: Path) -> None:
    with (tmp_path / "d.jsonl").open("w") as file:
        file.writelines(
            f'{{"input": "question number {n}", "target": "{n}"}}\n' for n in range(20_000)
        )
    found = in_file(tmp_path, "d.jsonl")
    found.look_through()
    tracemalloc.start()
    try:
        assert sum(1 for _ in found) == 20_000
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
