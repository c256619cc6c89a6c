"""Rows from anywhere, streamed; rows in any order back in the order of the input."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.simulator import Simulator
from penstock.tables import Table
from tests.generate.conftest import Make, numbered, texts, wait_for_the_end


def test_an_empty_dataset_gives_an_empty_table_and_asks_nothing(
    make: Make, simulator: Simulator
) -> None:
    empties: list[Any] = [[], iter([]), {"text": []}, Table.from_rows([])]
    for empty in empties:
        table = make()(empty)
        assert len(table) == 0 and table.to_list() == []
        assert len(table.failures) == 0
        assert table.run.state == "completed"
    assert simulator.summary()["requests"] == 0


def _pandas(rows: list[dict[str, Any]]) -> Any:
    return pytest.importorskip("pandas").DataFrame(rows)


def _polars(rows: list[dict[str, Any]]) -> Any:
    return pytest.importorskip("polars").DataFrame(rows)


def _arrow(rows: list[dict[str, Any]]) -> Any:
    return pytest.importorskip("pyarrow").Table.from_pylist(rows)


def _columns(rows: list[dict[str, Any]]) -> Any:
    return {name: [row[name] for row in rows] for name in rows[0]}


def _file(rows: list[dict[str, Any]]) -> Any:
    return Table.from_rows(rows).save("rows.jsonl")


@pytest.mark.parametrize(
    "given", [list, tuple, iter, _columns, Table.from_rows, _pandas, _polars, _arrow, _file]
)
def test_rows_come_from_anywhere(make: Make, given: Any) -> None:
    table = make()(given(numbered(5)))
    assert table.to_list() == [{**row, "response": row["text"]} for row in numbered(5)]


def test_a_file_is_named_by_its_path(make: Make) -> None:
    Path("rows.csv").write_text("text\none\ntwo\n")
    assert make()("rows.csv")["response"] == ["one", "two"]
    with pytest.raises(InputError, match=r"absent\.csv"):
        make()("absent.csv")


def test_what_holds_no_rows_is_refused_before_the_run(make: Make, bench: Workbench) -> None:
    with pytest.raises(InputError, match="a int holds no rows"):
        make()(7)
    assert not bench.catalog.all_runs()


def test_the_order_of_the_rows_is_that_of_the_input(make: Make, simulator: Simulator) -> None:
    simulator.set(latency="0-60", seed=11)
    finished: list[int] = []

    def parse(row: dict[str, Any], response: str) -> list[dict[str, Any]]:
        finished.append(row["id"])
        return [{"id": row["id"], "part": part} for part in range(row["id"] % 3)]

    table = make(parse_func=parse)(numbered(1000))
    assert finished != sorted(finished), "answers came out of order"
    expected = [(number, part) for number in range(1000) for part in range(number % 3)]
    assert [(row["id"], row["part"]) for row in table] == expected


def test_a_generator_is_read_only_a_little_ahead(make: Make, simulator: Simulator) -> None:
    simulator.set(latency="3")
    made = parsed = lead = 0

    def generator() -> Iterator[dict[str, Any]]:
        nonlocal made, lead
        for row in numbered(4000):
            made += 1
            lead = max(lead, made - parsed)
            yield row

    def parse(row: dict[str, Any], response: str) -> dict[str, Any]:
        nonlocal parsed
        parsed += 1
        return row

    table = make(parse_func=parse, concurrency=16)(generator())
    assert table["id"] == list(range(4000))
    assert lead < 1000


def test_a_huge_generator_is_not_read_for_a_caller_who_takes_little(
    make: Make, bench: Workbench
) -> None:
    made = 0

    def generator() -> Iterator[dict[str, Any]]:
        nonlocal made
        for number in range(50_000):
            made = number + 1
            yield {"text": f"row {number}"}

    rows = make(concurrency=64).stream(generator())
    for _ in range(10):
        next(rows)
    previous = -1
    while previous != made:  # until nothing moves any more
        previous = made
        time.sleep(0.5)
    assert made < 12_000
    rows.close()  # type: ignore[attr-defined]
    wait_for_the_end(bench)


def test_a_slow_generator_holds_nobody_up(make: Make, simulator: Simulator) -> None:
    """The first rows are answered long before the last is made."""
    answered_at: list[float] = []
    made_at: list[float] = []

    def generator() -> Iterator[dict[str, Any]]:
        for row in numbered(10):
            made_at.append(time.monotonic())
            yield row
            time.sleep(0.1)

    def parse(row: dict[str, Any], response: str) -> dict[str, Any]:
        answered_at.append(time.monotonic())
        return row

    assert len(make(parse_func=parse)(generator())) == 10
    assert answered_at[0] < made_at[5]


def test_a_slow_prompt_function_holds_nobody_up(make: Make, simulator: Simulator) -> None:
    asked_at: list[float] = []

    def prompt(row: dict[str, Any]) -> str:
        time.sleep(0.05)
        asked_at.append(time.time())
        return str(row["text"])

    make(prompt)(numbered(20))
    assert simulator.ledger()[0]["time"] < asked_at[10]


def test_a_generator_that_raises_half_way_keeps_the_rows_before(
    make: Make, bench: Workbench, simulator: Simulator
) -> None:
    simulator.set(latency="0-20")

    def generator() -> Iterator[dict[str, Any]]:
        yield from numbered(700)
        raise ConnectionError("the line is dead")

    with pytest.raises(InputError) as error:
        make()(generator())
    assert "row 701 could not be made: ConnectionError: the line is dead" in error.value.message
    assert isinstance(error.value.__cause__, ConnectionError)
    [folder] = (bench.workspace.path / "runs").iterdir()
    assert error.value.__notes__ == [f"The rows before it are kept in {folder / 'dataset.arrow'}."]
    assert Table.open(folder / "dataset.arrow")["id"] == list(range(700))
    [run] = bench.catalog.all_runs()
    assert run["state"] == "failed" and "the line is dead" in run["message"]
    assert simulator.summary()["requests"] == 700
    assert len(make()(numbered(800))) == 800
    assert simulator.summary()["requests"] == 800


def test_a_row_that_is_none_ends_the_run_after_the_rows_before_it(
    make: Make, bench: Workbench
) -> None:
    with pytest.raises(InputError, match="row 3 is a str, not a dict"):
        make()([*texts("one", "two"), "three"])
    [folder] = (bench.workspace.path / "runs").iterdir()
    assert Table.open(folder / "dataset.arrow")["text"] == ["one", "two"]


def test_rows_may_change_their_columns_and_types(make: Make) -> None:
    rows: list[dict[str, Any]] = [
        {"text": "one", "value": 1},
        {"text": "two", "value": 2.5, "more": [1]},
        {"text": "three", "value": "three"},
        {"text": "four"},
    ]
    table = make()(rows)
    assert table.column_names == ["text", "value", "response", "more"]
    assert table["value"] == ["1", "2.5", "three", None]
    assert table["response"] == ["one", "two", "three", "four"]


def test_a_column_called_response_is_replaced_by_the_answer(make: Make) -> None:
    table = make()([{"response": "old", "text": "new"}])
    assert table.to_list() == [{"response": "new", "text": "new"}]


def test_a_table_goes_into_the_next_prompter(make: Make, simulator: Simulator) -> None:
    first = make(parse_func=lambda row, text: [{"text": f"{text} {n}"} for n in (1, 2)])
    second = make(lambda row: row["text"].upper())
    third = make(lambda row: row["response"] + "!", parse_func=lambda row, text: {"end": text})
    table = third(second(first(texts("a", "b"))))
    assert table["end"] == ["A 1!", "A 2!", "B 1!", "B 2!"]
    assert simulator.summary()["requests"] == 2 + 4 + 4


def test_the_table_is_on_disk_and_can_be_saved(make: Make, tmp_path: Path) -> None:
    table = make()(numbered(5))
    opened = Table.open(Path(table.run.folder) / "dataset.arrow")
    assert opened.to_list() == table.to_list()
    for suffix in ("csv", "jsonl", "json", "parquet", "xlsx", "arrow"):
        saved = table.save(tmp_path / f"out.{suffix}")
        assert len(Table.open(saved)) == 5
    assert list(table.to_pandas()["id"]) == [0, 1, 2, 3, 4]


def test_values_that_are_no_rows_are_told_how_to_become_some(make: Make) -> None:
    from penstock.tables import rows

    prompter = make(lambda row: row["text"])
    with pytest.raises(InputError, match="row 1 is a str, not a dict") as error:
        prompter(["a", "b"])
    assert "penstock.tables.rows(values, key='name')" in error.value.remedy
    assert prompter(rows(["a", "b"], key="text"))["response"] == ["a", "b"]
