"""So many accepted rows, and no row twice: in order, the same each time, within a bound."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.errors import InputError, ProcessingError
from penstock.generate.samplers import sample
from penstock.generate.schemajob import SchemaJob
from penstock.generate.spec import load
from penstock.simulator import Simulator
from penstock.tables import Table
from tests.generate.schema_kit import Gen, Schema, plain, sent


def tenth(n: int) -> bool:
    return n % 10 == 0


NUMBERS = {"n": sample.sequence()}


def test_it_goes_on_until_so_many_rows_are_accepted(schema: Schema) -> None:
    table = schema(NUMBERS, until=25, check=tenth).generate()
    assert table["n"] == [10 * n for n in range(25)]
    assert table.run.state == "completed"
    counters = table.run.counters
    assert (counters["rows_total"], counters["rows_done"], counters["rows_failed"]) == (25, 25, 0)
    assert {each["kind"] for each in table.failures} == {"rejected"}


@pytest.mark.parametrize(("until", "most"), [(1, 1), (7, 70), (7, 61), (33, 400)])
def test_it_is_exact_whatever_the_numbers(schema: Schema, until: int, most: int) -> None:
    table = schema(NUMBERS, until=until, most=most, check=tenth).generate()
    assert table["n"] == [10 * n for n in range(until)]


def test_where_the_bound_is_met_it_stops_and_says_so(schema: Schema, bench: Workbench) -> None:
    table = schema(NUMBERS, until=5, most=40, check=tenth).generate()
    assert table["n"] == [0, 10, 20, 30]
    assert table.run.state == "stopped"
    [run] = bench.catalog.all_runs()
    assert run["message"] == "4 of 5 rows were accepted of 40 (36 rejected)"
    nothing = schema(NUMBERS, until=3, check=lambda n: False).generate()
    assert (len(nothing), nothing.run.state) == (0, "stopped")
    told = {run["message"] for run in bench.catalog.all_runs()}
    assert "0 of 3 rows were accepted of 30 (30 rejected)" in told


def test_failed_rows_do_not_count_and_are_made_up_for(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    columns = {
        "n": sample.sequence(),
        "x": gen("simulated-echo")("about {n}", check=lambda text, n: n % 2 == 0, tries=1),
        "y": lambda n: 1 // n,
    }
    table = schema(columns, until=12).generate()
    assert table["n"] == list(range(2, 26, 2))
    assert set(table["status"]) == {"ok"}
    kinds = {(each["column"], each["kind"]) for each in table.failures}
    assert kinds == {("x", "rejected"), ("y", "input")}
    asked = sent(simulator)
    assert asked < 60
    assert schema(columns, until=12).generate().to_list() == table.to_list()
    assert sent(simulator) == asked
    longer = schema(columns, until=20).generate()
    assert longer["n"][:12] == table["n"] and len(longer) == 20


def test_the_same_rows_are_accepted_at_any_concurrency(
    simulator: Simulator, tmp_path: Path
) -> None:
    simulator.set(latency="0-10")
    tables: list[Any] = []
    for number, limits in enumerate(
        ({"max_concurrent_rows": 1}, {"concurrency": 3}, {"max_concurrent_rows": 100})
    ):
        with Workbench(workspace=tmp_path / str(number)) as bench:
            made: Any = penstock.dataset(
                {
                    "n": sample.sequence(),
                    "x": penstock.generator(
                        Endpoint("openai", "simulated", simulator.url, key="of-no-worth")
                    )("Tell me about {n}"),
                },
                until=8,
                check=lambda x: len(x) % 3 == 0,
                dedupe=0.8,
                workbench=bench,
                **limits,  # type: ignore[arg-type]
            )
            table = made.generate()
            tables.append((table.to_list(), table.failures.to_list()))
    assert len(tables[0][0]) == 8
    assert tables[0] == tables[1] == tables[2]


# Duplicates -------------------------------------------------------------------------------------


def test_rows_that_say_the_same_are_there_once(schema: Schema, gen: Gen) -> None:
    columns = {
        "k": sample.range(1, 4),
        "x": gen("simulated-echo")("number {k}"),
        "id": sample.uuid(),
    }
    table = schema(columns, 60, dedupe=["x"]).generate()
    assert sorted(table["k"]) == [1, 2, 3, 4]
    plain_table = schema(columns, 60).generate()
    first = {row["k"]: row for row in reversed(plain_table.to_list())}
    rows = sorted(first.values(), key=lambda row: plain_table["id"].index(row["id"]))
    assert table.to_list() == rows, "the first of each, in order"
    assert len(table.failures) == 56
    assert {each["kind"] for each in table.failures} == {"duplicate"}
    assert table.run.state == "completed"
    assert len(schema(columns, 60, dedupe=True).generate()) == 60, "each has an id of its own"


def test_until_makes_up_for_duplicates(schema: Schema, gen: Gen, bench: Workbench) -> None:
    columns = {"k": sample.range(1, 30), "x": gen("simulated-echo")("number {k}")}
    table = schema(columns, until=20, most=400, dedupe="x").generate()
    assert len(set(table["x"])) == len(table) == 20
    short = schema(columns, until=31, most=400, dedupe="x").generate()
    assert (len(short), short.run.state) == (30, "stopped")
    assert short["x"][:20] == table["x"]
    assert any("370 duplicate" in run["message"] for run in bench.catalog.all_runs())


def test_near_duplicates_by_likeness(schema: Schema, gen: Gen) -> None:
    text = "The quick brown fox jumps over the lazy dog near the river bank at dawn, word {n}"
    columns = {"n": sample.sequence(), "x": gen("simulated-echo")(text)}
    near = schema(columns, 20, dedupe={"columns": "x", "threshold": 0.6}).generate()
    assert near["n"] == [0]
    assert len(schema(columns, 20, dedupe={"columns": ["x"]}).generate()) == 20
    other = {"n": sample.sequence(), "x": gen()("Something quite new about {n}")}
    assert len(schema(other, 20, dedupe=0.8).generate()) == 20


def test_failed_rows_are_no_duplicates_of_each_other(schema: Schema) -> None:
    table = schema({"x": lambda: 1 / 0}, 4, dedupe=True).generate()
    assert table["status"] == ["failed"] * 4


def test_failures_raise_where_rows_failed_also_with_duplicates(schema: Schema) -> None:
    columns = {"n": sample.sequence(), "x": lambda n: 1 // n}
    with pytest.raises(ProcessingError, match="1 rows failed; the first, row 0"):
        schema(columns, 5, dedupe="x", failures="raise").generate()


def test_sifted_rows_keep_values_of_every_kind(schema: Schema) -> None:
    columns: dict[str, Any] = {
        "n": sample.sequence(),
        "when": sample.datetime("2024-01-01", "2024-12-31"),
        "odd": lambda n: [None, 1.5, "text", {"a": [n]}][n % 4] if n % 4 != 2 else "text",
        "nested": lambda n: {"a": [n, {"b": None}]},
        "blob": lambda n: bytes([n]),
    }
    straight = schema(columns, 12).generate()
    assert schema(columns, 12, dedupe="n").generate().to_list() == straight.to_list()
    assert schema(columns, until=12).generate().to_list() == straight.to_list()


# In the open ------------------------------------------------------------------------------------


def test_a_stream_gives_only_what_is_kept(schema: Schema) -> None:
    stream = schema(NUMBERS, until=25, check=tenth).stream()
    rows: Iterator[dict[str, Any]] = iter(stream)
    assert [row["n"] for row in rows] == [10 * n for n in range(25)]


def test_a_number_given_to_generate_is_that_many_rows(schema: Schema) -> None:
    ds = schema(NUMBERS, until=25, check=tenth)
    assert len(ds.generate(12)) == 12
    assert ds.generate(12)["status"].count("rejected") == 10
    assert len(ds.preview()) == 5
    assert len(ds.generate(until=2)) == 2
    assert len(ds.generate()) == 25


def test_no_quota_in_the_middle_does_not_go_on_for_nothing(
    schema: Schema, gen: Gen, simulator: Simulator, bench: Workbench
) -> None:
    simulator.set(quota=20)
    columns = {"n": sample.sequence(), "x": gen()("about {n}")}
    table = schema(columns, until=100, most=100_000, concurrency=4).generate()
    assert table.run.state == "stopped"
    assert 0 < len(table) <= 20
    assert simulator.summary()["requests"] < 30
    assert len(table.failures) < 2000, "no row is made that cannot be"
    assert "no quota" in bench.catalog.all_runs()[0]["message"]
    simulator.set(quota=None)
    simulator.reset()
    assert len(plain(schema(columns, until=100).generate())) == 100
    assert sent(simulator) == 100 - len(table)


def test_the_reason_is_in_the_run_that_is_kept(schema: Schema, bench: Workbench) -> None:
    table = schema(NUMBERS, until=3, most=10, check=tenth).generate()
    again = Table.open(Path(table.run.folder) / "dataset.arrow")
    assert again["n"] == [0]
    assert not list(Path(table.run.folder).glob("*.part")), "nothing half-written is left"


# Data that has an end -----------------------------------------------------------------------------

TWENTY = [{"n": number} for number in range(20)]


def test_of_data_that_is_drawn_once_only_what_is_wanted_must_be_there(schema: Schema) -> None:
    source = sample.from_dataset(TWENTY, replace=False)
    table = schema({"n": source["n"]}, until=8, check=lambda n: n % 2 == 0).generate()
    assert len(table) == 8
    assert len(set(table["n"])) == 8 and all(n % 2 == 0 for n in table["n"])
    with pytest.raises(InputError, match="21 rows were asked for, but the data has 20"):
        schema({"n": source["n"]}, until=21).generate()


def test_where_the_data_ends_nothing_more_is_asked(
    schema: Schema, gen: Gen, simulator: Simulator, bench: Workbench
) -> None:
    source = sample.from_dataset(TWENTY, replace=False)
    columns = {"n": source["n"], "x": gen("simulated-echo")("a word")}
    table = schema(columns, until=15, check=lambda n: n % 2 == 0).generate()
    assert (len(table), table.run.state) == (10, "stopped")
    assert sent(simulator) == 20, "one for each row that there is"
    assert {each["kind"] for each in table.failures} == {"rejected"}
    [run] = bench.catalog.all_runs()
    assert run["message"] == "10 of 15 rows were accepted of 20 (10 rejected)"


def test_a_file_may_ask_for_accepted_rows_of_data_that_has_an_end(
    tmp_path: Path, bench: Workbench
) -> None:
    (tmp_path / "words.csv").write_text("word\nriver\nlake\nsea\n")
    drawn = "{file: words.csv, column: word, replace: false}"
    spec = tmp_path / "spec.yaml"
    spec.write_text(f"until: 2\ncolumns:\n  w: {{from_dataset: {drawn}}}\n")
    assert len(SchemaJob(load(spec)).run(bench)) == 2
    spec.write_text(f"until: 4\ncolumns:\n  w: {{from_dataset: {drawn}}}\n")
    with pytest.raises(InputError, match=r"spec.yaml:3: w: 4 rows were asked for.* has 3"):
        SchemaJob(load(spec)).run(bench)
