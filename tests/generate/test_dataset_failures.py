"""What fails stays in its cell and in those that need it; the rest of the table is made."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.errors import ApiError, ProcessingError
from penstock.generate.columns import column
from penstock.generate.samplers import sample
from penstock.outcome import Failure, FailureKind
from penstock.simulator import Simulator
from penstock.tables import Table
from tests.generate.schema_kit import Gen, Schema, failures, sent


@pytest.fixture
def broken() -> Iterator[Simulator]:
    """Another server, whose key is wrong."""
    with Simulator(errors="401:1") as simulator:
        yield simulator


def third(n: int) -> int:
    if n % 3 == 2:
        raise RuntimeError(f"no {n}")
    return n


def test_a_failed_cell_fails_only_its_dependents(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    echo = gen("simulated-echo")
    columns = {
        "n": sample.sequence(),
        "bad": column(lambda n: third(n)),
        "asks": echo("about {bad}"),
        "beside": echo("beside {n}"),
        "deep": lambda asks: asks,
        "reads": lambda row: row["bad"],
        "tolerant": lambda row: row.get("bad", -1),
        "careful": lambda row: row["n"] * 10,
        "caught": lambda row: _caught(row),
        "match": penstock.eval.exact_match("asks", "beside"),
        "talk": echo.conversation("About {bad}"),
    }
    table = schema(columns, 6).generate()
    assert table["status"] == ["ok", "ok", "failed"] * 2
    assert [row["n"] for row in table] == list(range(6)), "every row once, in order"
    for row in table:
        failed = row["n"] in (2, 5)
        for name in ("bad", "asks", "deep", "reads", "match", "talk"):
            assert (row[name] is None) is failed, name
        assert row["beside"] == f"beside {row['n']}"
        assert row["careful"] == row["n"] * 10
        assert row["caught"] == ("caught" if failed else "fine")
        assert row["tolerant"] == (-1 if failed else row["n"])
    assert failures(table) == [
        (row, name, "input" if name == "bad" else "needed")
        for row in (2, 5)
        for name in ("bad", "asks", "deep", "reads", "match", "talk")
    ]
    messages = {each["column"]: each["message"] for each in table.failures if each["row"] == 5}
    assert messages["bad"] == "the function raised RuntimeError: no 5"
    assert messages["asks"] == "bad failed" and messages["deep"] == "asks failed"
    assert table.run.state == "completed with failures"
    assert (table.run.counters["rows_done"], table.run.counters["rows_failed"]) == (6, 2)
    assert sent(simulator) == 4 + 6 + 4, "nothing is asked for what cannot be made"


def _caught(row: Any) -> str:
    try:
        row["bad"]
    except KeyError:
        return "caught"
    return "fine"


def test_whatever_a_function_raises_is_told_in_its_cell(schema: Schema) -> None:
    errors: list[BaseException] = [
        ValueError("a value"), KeyError("k"), StopIteration(), SystemExit(3), KeyboardInterrupt(),
        asyncio.CancelledError(), GeneratorExit(), TimeoutError(), RecursionError("deep"),
        MemoryError(), ExceptionGroup("two", [ValueError("x")]),
    ]  # fmt: skip

    def raises(n: int) -> None:
        raise errors[n]

    async def later(n: int) -> None:
        await asyncio.sleep(0)
        raise errors[n]

    columns = {"n": sample.sequence(), "now": raises, "later": later, "other": lambda n: n}
    table = schema(columns, len(errors)).generate()
    assert table["other"] == list(range(len(errors)))
    assert failures(table) == [
        (n, name, "input") for n in range(len(errors)) for name in ("now", "later")
    ]
    for failure in table.failures:
        assert type(errors[failure["row"]]).__name__ in failure["message"]


def test_a_function_can_say_itself_that_it_failed(schema: Schema) -> None:
    said = Failure(FailureKind.INPUT, "of my own")
    table = schema({"a": lambda: said, "b": lambda a: a, "c": 1}, 1).generate()
    assert [each["message"] for each in table.failures] == ["of my own", "a failed"]


def test_conditions_checks_and_prompts_that_raise_fail_their_cell_and_ask_nothing_more(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    def raises(*_: Any) -> Any:
        raise TypeError("of mine")

    echo = gen("simulated-echo")
    columns = {
        "when": echo("a", when=lambda: raises()),
        "prompt": echo(lambda: raises()),
        "no_prompt": echo(lambda: None),
        "odd_prompt": echo(lambda: [{"role": "nobody", "content": "x"}]),
        "check": echo("b", check=lambda text: raises()),
        "fine": echo("c"),
    }
    table = schema(columns, 2).generate()
    assert table["fine"] == ["c", "c"]
    assert failures(table) == [(n, name, "input") for n in (0, 1) for name in list(columns)[:-1]]
    told = {each["column"]: each["message"] for each in table.failures}
    assert told["when"] == "the when function raised TypeError: of mine"
    assert told["check"] == "the check function raised TypeError: of mine"
    assert told["prompt"] == "the prompt function raised TypeError: of mine"
    assert sent(simulator) == 4, "what is checked was asked once, what is fine as well"


def test_answers_of_no_sense_to_conditions_and_checks_are_told(schema: Schema, gen: Gen) -> None:
    class Ambiguous:
        def __bool__(self) -> bool:
            raise ValueError("neither")

    echo = gen("simulated-echo")
    columns = {
        "when": echo("a", when=lambda: Ambiguous()),
        "check": echo("b", check=lambda text: Ambiguous()),
    }
    table = schema(columns, 1).generate()
    assert failures(table) == [(0, "when", "input"), (0, "check", "input")]
    table = schema({"a": echo("c")}, 1, check=lambda a: Ambiguous()).generate()
    assert failures(table) == [(0, None, "input")]
    assert table["a"] == ["c"], "what was paid for is kept"


def test_a_wrong_key_stops_at_once_and_is_told(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    columns = {"n": sample.sequence(), "x": gen()("about {n}"), "y": gen()("{x}")}
    simulator.set(errors="401:1")
    for work in (
        lambda: schema(columns, 500).generate(),
        lambda: schema(columns, until=500).generate(),
        lambda: list(schema(columns, 500).stream()),
    ):
        before = simulator.summary()["requests"]
        with pytest.raises(ApiError, match="authentication"):
            work()
        assert simulator.summary()["requests"] - before < 100
    simulator.set(errors="")
    simulator.reset()
    assert len(schema(columns, 20).generate()) == 20
    assert sent(simulator) == 40


def test_servers_that_stumble_fail_nothing(schema: Schema, gen: Gen, simulator: Simulator) -> None:
    simulator.set(errors="500:0.03,reset:0.02,429:0.01", seed=11)
    columns = {"n": sample.sequence(), "x": gen()("about {n}"), "y": gen()("more of {x}")}
    table = schema(columns, 60).generate()
    simulator.set(errors="")
    assert set(table["status"]) == {"ok"} and len(set(table["y"])) == 60
    ledger = simulator.summary()
    assert ledger["distinct"] == 120 and ledger["answered"] == 120


def test_a_server_that_fails_for_good_fails_those_rows_and_a_re_run_heals_them(
    schema: Schema, gen: Gen, simulator: Simulator, bench: Workbench, at: Any
) -> None:
    simulator.set(errors="400:0.3", seed=5)
    columns = {"n": sample.sequence(), "x": gen()("about {n}"), "y": gen()("more of {x}")}
    table = schema(columns, 40).generate()
    failed = [row["n"] for row in table if row["status"] == "failed"]
    assert 0 < len(failed) < 40
    assert all(row["y"] is None for row in table if row["status"] == "failed")
    kinds = {(each["column"], each["kind"]) for each in table.failures}
    assert kinds == {("x", "invalid_request"), ("y", "needed"), ("y", "invalid_request")}
    simulator.set(errors="")
    answered = simulator.summary()["answered"]
    healed = schema(columns, 40).generate()
    assert set(healed["status"]) == {"ok"}
    assert simulator.summary()["answered"] == 80 > answered, "only what was missing"
    fine = [row for row in table if row["status"] == "ok"]
    assert [row for row in healed if row["n"] not in failed] == fine


def test_one_endpoint_of_two_is_broken(
    schema: Schema, gen: Gen, simulator: Simulator, broken: Simulator, bench: Workbench
) -> None:
    """The good one is asked and kept; the bad one is named, and asked alone the next time."""
    bad = penstock.generator(Endpoint("openai", "simulated-bad", broken.url, key="of-no-worth"))
    columns = {"n": sample.sequence(), "a": gen()("A {n}"), "b": bad("B {n}"), "c": lambda b: b}
    with pytest.raises(ApiError, match="openai/simulated-bad answered nothing: authentication"):
        schema(columns, 50).generate()
    assert sent(simulator) == 50
    [run] = bench.catalog.all_runs()
    assert run["state"] == "failed"
    kept = Table.open(Path(bench.workspace.run(run["id"])) / "dataset.arrow")
    assert len(kept) == 50 and all(kept["a"]) and not any(kept["b"])
    broken.set(errors="")
    broken.reset()
    table = schema(columns, 50).generate()
    assert (sent(simulator), sent(broken)) == (50, 50)
    assert kept["a"] == table["a"]


def test_where_some_rows_do_without_the_broken_endpoint_the_table_is_given(
    schema: Schema, gen: Gen, broken: Simulator
) -> None:
    bad = penstock.generator(Endpoint("openai", "simulated-bad", broken.url, key="of-no-worth"))
    columns = {"n": sample.sequence(), "b": bad("B {n}", when=lambda n: n > 3), "c": gen()("C {n}")}
    table = schema(columns, 6).generate()
    assert table["status"] == ["ok"] * 4 + ["failed"] * 2
    assert all(table["c"])
    assert [each["kind"] for each in table.failures] == ["authentication"] * 2
    with pytest.raises(ProcessingError, match="2 rows failed; the first, row 4: "):
        schema(columns, 6, failures="raise").generate()


def test_failures_raise_counts_rows_and_keeps_the_table(schema: Schema, bench: Workbench) -> None:
    columns = {"n": sample.sequence(), "a": lambda n: third(n), "b": lambda a: a, "c": lambda b: b}
    with pytest.raises(ProcessingError) as raised:
        schema(columns, 9, failures="raise").generate()
    assert raised.value.message == (
        "3 rows failed; the first, row 2: the function raised RuntimeError: no 2"
    )
    [run] = bench.catalog.all_runs()
    assert run["id"] in raised.value.remedy and run["state"] == "completed with failures"
    assert len(Table.open(bench.workspace.run(run["id"]) / "dataset.arrow")) == 9
    assert len(schema({"a": 1}, 3, failures="raise").generate()) == 3


def test_what_was_removed_on_purpose_is_no_failure_to_raise(schema: Schema) -> None:
    table = schema({"a": 1}, 5, dedupe=True, failures="raise").generate()
    assert len(table) == 1 and len(table.failures) == 4
    assert table.run.state == "completed"


def test_a_source_that_breaks_in_the_middle_fails_its_cells(schema: Schema) -> None:
    items = sample.subcategory("kind", {"a": ["x"]})
    columns = {"kind": sample.choice(["a", "b"]), "what": items, "other": 1}
    table = schema(columns, 20).generate()
    for row in table:
        assert (row["what"] == "x") is (row["kind"] == "a") is (row["status"] == "ok")
    assert {each["kind"] for each in table.failures} == {"input"}


def test_a_million_messages_of_failure_do_not_end_up_in_a_data_column(
    schema: Schema, gen: Gen
) -> None:
    columns = {"x": gen("simulated-refuse")("a", response_format={"type": "object"}), "n": 1}
    table = schema(columns, 3).generate()
    assert table["x"] == [None] * 3 and table["status"] == ["failed"] * 3
    assert all("refused" in each["message"] for each in table.failures)


def test_deep_recursion_in_a_function_is_its_own_trouble(schema: Schema) -> None:
    def deep(n: int) -> int:
        return deep(n + 1)

    limit = sys.getrecursionlimit()
    table = schema({"n": 0, "x": lambda n: deep(n), "y": 1}, 2).generate()
    assert failures(table) == [(0, "x", "input"), (1, "x", "input")]
    assert sys.getrecursionlimit() == limit
