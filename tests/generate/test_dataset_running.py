"""Generating: blocking and awaited, streamed, previewed, cancelled, capped, cached, saved."""

from __future__ import annotations

import asyncio
import threading
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.endpoint import Endpoint, Prices
from penstock.engine.job import TableHandle
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.generate.samplers import sample
from penstock.simulator import Simulator
from penstock.tables import Table
from tests.generate.conftest import wait_for_the_end
from tests.generate.schema_kit import Gen, Schema, failures, plain, sent


@pytest.fixture
def columns(gen: Gen) -> dict[str, Any]:
    return {"n": sample.sequence(), "x": gen("simulated-echo")("about {n}")}


# Waiting and not waiting ------------------------------------------------------------------------


def test_inside_a_loop_it_is_a_handle_that_does_not_block(
    schema: Schema, columns: dict[str, Any], simulator: Simulator
) -> None:
    simulator.set(latency="150")

    async def main() -> tuple[Table, int]:
        handle = schema(columns, 5).generate()
        assert isinstance(handle, TableHandle)
        turns = 0
        while not handle.done:
            await asyncio.sleep(0.005)
            turns += 1
        made: Table = await handle
        return made, turns

    table, turns = asyncio.run(main())
    assert isinstance(table, Table) and len(table) == 5
    assert turns > 5


def test_several_datasets_side_by_side_in_one_loop(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    async def main() -> list[Table]:
        many = [schema({"x": gen()(f"set {n}")}, 10) for n in (0, 0, 1, 2, 3, 4)]
        return list(await asyncio.gather(*(each.generate() for each in many)))

    tables = asyncio.run(main())
    assert tables[0].to_list() == tables[1].to_list()
    assert sent(simulator) == 50, "who asks the same waits for one answer"


def test_datasets_in_several_threads(schema: Schema, gen: Gen, simulator: Simulator) -> None:
    made: dict[int, Table] = {}

    def work(number: int) -> None:
        made[number] = schema({"x": gen()(f"thread {number}")}, 10).generate()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(len(table) for table in made.values()) == [10] * 5
    assert sent(simulator) == 50


def test_a_preview_is_paid_once(
    schema: Schema, columns: dict[str, Any], simulator: Simulator
) -> None:
    ds = schema(columns, 20)
    first = ds.preview()
    assert len(first) == 5 and sent(simulator) == 5
    assert len(ds.preview(2)) == 2 and sent(simulator) == 5
    assert ds.generate().to_list()[:5] == first.to_list()
    assert sent(simulator) == 20


# Streams ----------------------------------------------------------------------------------------


def test_a_stream_gives_every_row_once_and_records_it(
    schema: Schema, columns: dict[str, Any], simulator: Simulator
) -> None:
    simulator.set(latency="0-20")
    ds = schema(columns, 100)
    rows = list(ds.stream())
    assert sorted(row["n"] for row in rows) == list(range(100))
    table = ds.generate()
    assert sorted(rows, key=lambda row: int(row["n"])) == table.to_list()
    assert sent(simulator) == 100

    async def main() -> int:
        return sum([1 async for _ in ds.stream(30)])

    assert asyncio.run(main()) == 30
    assert sent(simulator) == 100


def test_rows_come_before_the_last_is_ready(schema: Schema, simulator: Simulator) -> None:
    held = threading.Event()

    async def slow(n: int) -> int:
        while n == 9 and not held.is_set():
            await asyncio.sleep(0.005)
        return n

    got: list[int] = []
    for row in schema({"n": sample.sequence(), "x": slow}, 10).stream():
        got.append(row["n"])
        if len(got) == 9:
            held.set()
    assert got[-1] == 9 and sorted(got) == list(range(10))


def test_a_stream_that_is_left_stops_the_run(
    schema: Schema, columns: dict[str, Any], simulator: Simulator, bench: Workbench
) -> None:
    simulator.set(latency="5")
    for number, _ in enumerate(schema(columns, 50_000, concurrency=8).stream()):
        if number == 20:
            break
    wait_for_the_end(bench)
    asked = simulator.summary()["requests"]
    assert asked < 5000
    [run] = bench.catalog.all_runs()
    simulator.set(latency="0")
    kept = Table.open(bench.workspace.run(run["id"]) / "dataset.arrow")
    assert len(kept) == asked, "what was paid for is in the table"


def test_a_slow_reader_holds_up_the_run_and_not_the_memory(
    schema: Schema, bench: Workbench
) -> None:
    made = 0

    def count() -> int:
        nonlocal made
        made += 1
        return made

    rows = iter(schema({"x": count}, 200_000).stream())
    next(rows)
    seen = -1
    while seen != made:  # until it stands still
        seen = made
        time.sleep(0.15)
    assert made < 50_000
    rows.close()  # type: ignore[attr-defined]


# Stopping ---------------------------------------------------------------------------------------


def test_a_handle_is_cancelled_and_a_later_call_goes_on(
    schema: Schema, columns: dict[str, Any], simulator: Simulator
) -> None:
    simulator.set(latency="20")

    async def main() -> Table:
        handle = schema(columns, 2000, concurrency=10).generate()
        while not simulator.summary()["requests"]:
            await asyncio.sleep(0.01)
        handle.cancel()
        made: Table = await handle
        return made

    table = asyncio.run(main())
    assert table.run.state == "cancelled"
    asked = simulator.summary()["requests"]
    assert len(table) == asked < 1000
    simulator.set(latency="0")
    assert len(schema(columns, 200).generate()) == 200
    assert sent(simulator) == max(200, asked)


def test_a_budget_stops_and_a_larger_one_goes_on(
    schema: Schema, bench: Workbench, at: Any, simulator: Simulator
) -> None:
    endpoint: Endpoint = at("simulated", prices=Prices(Decimal(1000), Decimal(1000)))
    ask = penstock.generator(endpoint, workbench=bench, max_tokens=20)
    columns = {"n": sample.sequence(), "x": ask("About {n}"), "y": ask("More of {x}")}
    table = schema(columns, 50, budget="0.5", max_concurrent_rows=4).generate()
    assert table.run.state == "stopped"
    assert 0 < len(table) < 50 and table.run.cost <= Decimal("0.5")
    assert set(table["status"]) == {"ok"}, "a row that was stopped in the middle is no row"
    assert failures(table) == []
    assert all(row["y"] for row in table)
    asked = sent(simulator)
    whole = schema(columns, 50, budget="50").generate()
    assert (len(plain(whole)), sent(simulator)) == (50, 100)
    assert whole.run.counters["asked"] == 100 - asked
    rows = {row["n"]: row for row in whole}
    assert all(rows[row["n"]] == row for row in table)


def test_a_budget_that_ends_at_a_judge_leaves_no_failed_rows(
    schema: Schema, bench: Workbench, at: Any, simulator: Simulator
) -> None:
    endpoint: Endpoint = at("simulated", prices=Prices(Decimal(1000), Decimal(1000)))
    judge = penstock.generator(endpoint, workbench=bench, max_tokens=500)
    columns = {
        "n": sample.sequence(),
        "x": sample.sequence(prefix="text "),
        "score": penstock.eval.llm_judge("x", "Good?", model=judge),
    }
    table = schema(columns, 40, budget="6", concurrency=2).generate()
    assert table.run.state == "stopped"
    assert 0 < len(table) < 40
    assert failures(table) == []
    assert set(table["status"]) == {"ok"}


# What is recorded -------------------------------------------------------------------------------


def test_cache_read_sends_nothing(
    schema: Schema, columns: dict[str, Any], simulator: Simulator
) -> None:
    schema(columns, 3).generate()
    table = schema(columns, 5, cache="read").generate()
    assert table["status"] == ["ok"] * 3 + ["failed"] * 2
    assert failures(table) == [(3, "x", "not_recorded"), (4, "x", "not_recorded")]
    assert sent(simulator) == 3


def test_cache_refresh_and_off_ask_anew(
    schema: Schema, columns: dict[str, Any], simulator: Simulator
) -> None:
    schema(columns, 4).generate()
    schema(columns, 4, cache="off").generate()
    assert simulator.summary()["requests"] == 8
    schema(columns, 4, cache="refresh").generate()
    assert simulator.summary()["requests"] == 12
    schema(columns, 4).generate()
    assert simulator.summary()["requests"] == 12


# Bounds -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({"concurrency": 3}, 3),
        ({"max_concurrent_rows": 2}, 2 * 4),
        ({"max_concurrent_rows": 2, "max_concurrent_columns": 2}, 4),
        ({"max_concurrent_rows": 1, "max_concurrent_columns": 1}, 1),
    ],
)
def test_no_more_is_in_flight_than_is_allowed(
    schema: Schema, gen: Gen, simulator: Simulator, options: dict[str, int], most: int
) -> None:
    simulator.set(latency="10")
    columns: dict[str, Any] = {f"c{n}": gen()(f"column {n} of {{n}}") for n in range(4)}
    columns["n"] = sample.sequence()
    schema(columns, 12, **options).generate()
    assert simulator.summary()["max_in_flight"] <= most
    assert sent(simulator) == 48
    simulator.set(latency="0")


def test_a_bound_holds_for_its_run_alone(schema: Schema, gen: Gen, simulator: Simulator) -> None:
    simulator.set(latency="20")
    for number, concurrency in enumerate((1, 30, 2)):
        simulator.reset()
        columns = {"n": sample.sequence(1000 * number), "x": gen()("about {n}")}
        schema(columns, 40, concurrency=concurrency).generate()
        found = simulator.summary()["max_in_flight"]
        assert found <= concurrency and (concurrency < 30 or found > 5)
    simulator.set(latency="0")


# What was made ----------------------------------------------------------------------------------


def test_what_was_made_goes_anywhere(
    schema: Schema, columns: dict[str, Any], tmp_path: Path
) -> None:
    ds = schema(columns, 4)
    for use in (ds.to_pandas, ds.to_arrow, ds.report, lambda: ds.save(tmp_path / "x.csv")):
        with pytest.raises(InputError, match="nothing has been generated yet"):
            use()
    table = ds.generate()
    rows = table.to_list()
    assert ds.table is table
    assert ds.to_pandas().to_dict("records") == rows
    assert ds.to_polars().to_dicts() == rows
    assert ds.to_arrow().to_pylist() == rows
    for name in ("a.parquet", "a.json", "a.jsonl", "a.arrow", "a.xlsx"):
        assert Table.open(ds.save(tmp_path / name)).to_list() == rows, name
    said = Table.open(ds.save(tmp_path / "a.csv")).to_list()
    assert said == [{name: str(value) for name, value in row.items()} for row in rows]
    ds.save(tmp_path / "odd", format="jsonl").rename(tmp_path / "odd.jsonl")
    assert Table.open(tmp_path / "odd.jsonl").to_list() == rows
    with pytest.raises(InputError):
        ds.save(tmp_path / "a.docx")
    ds.generate(2)
    assert len(ds.table) == 2


def test_a_report_says_what_is_in_it(schema: Schema, columns: dict[str, Any]) -> None:
    ds = schema({**columns, "bad": lambda n: 1 // n}, 6, dedupe="x")
    ds.generate()
    said = str(ds.report())
    assert "6" in said and "x" in said


def test_progress_is_shown_while_it_goes_on(
    schema: Schema, columns: dict[str, Any], simulator: Simulator
) -> None:
    simulator.set(latency="150")
    seen: list[tuple[int, int | None]] = []

    def watch(progress: Any) -> Any:
        return lambda: seen.append((progress.rows_done, progress.rows_total))

    schema(columns, 12, concurrency=4).generate(watch=watch)
    simulator.set(latency="0")
    assert seen[0] == (0, 12) and len(seen) > 1


def test_a_viewer_is_opened_when_asked_for(
    schema: Schema, columns: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    ds = schema(columns, 3)
    table = penstock.generate_with_viewer(ds)
    assert len(table) == 3
    assert ds.viewer is not None
    assert ds.viewer.url in capfd.readouterr().err
    ds.viewer.close()


def test_the_run_is_in_the_catalog_with_its_counts(
    schema: Schema, columns: dict[str, Any], bench: Workbench
) -> None:
    table = schema(columns, 5, name="my set").generate()
    [run] = bench.catalog.all_runs()
    assert (run["id"], run["kind"], run["name"]) == (table.run.id, "generate", "my set")
    assert run["state"] == "completed" and run["counters"]["rows_done"] == 5
    assert run["counters"]["asked"] == 5
