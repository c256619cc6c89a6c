"""The samples of Chatan's documentation, with only the import changed, and what they promise."""

from __future__ import annotations

import asyncio
import textwrap
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.engine.workbench import Workbench
from penstock.simulator import Simulator
from penstock.tables import Table
from tests.generate.schema_kit import plain, sent

OVERVIEW = """
   ds = chatan.dataset({
       "topic": chatan.sample.choice(["Python", "Rust"]),
       "question": gen("Write a question about {topic}"),
       "answer": gen("Answer: {question}")
   })
   df = ds.generate(n=100)
"""

GENERATOR = """
   gen = chatan.generator("openai", key)
   fn = gen("Write about {topic}")  # GeneratorFunction
   result = fn({"topic": "Python"}) # Makes API call
"""

EVALUATE = """
   result = ds.evaluate({
       "match": ds.eval.exact_match("col1", "col2"),
       "similarity": ds.eval.semantic_similarity("col1", "col2")
   })
"""

MODEL = "simulated"
"""A model that is told which draw is wanted; others leave that to chance, which a server that
answers every text alike has none of."""

QUICK_START = """
import asyncio
import chatan

async def main():
    # 1. Create a generator
    gen = chatan.generator("openai", "your-api-key")

    # 2. Define dataset schema
    ds = chatan.dataset({
        "language": chatan.sample.choice(["Python", "JavaScript", "Rust"]),
        "difficulty": chatan.sample.weighted({"easy": 0.5, "medium": 0.3, "hard": 0.2}),
        "question": gen("Write a {difficulty} coding question about {language}"),
        "solution": gen("Provide a solution for: {question}")
    })

    # 3. Generate data (async for concurrent API calls)
    df = await ds.generate(n=100)

    # 4. Export
    df.to_csv("coding_questions.csv")
    ds.save("dataset.parquet", format="parquet")

asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def _openai(simulator: Simulator, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", simulator.url)
    monkeypatch.setenv("PENSTOCK_HOME", str(tmp_path / "home"))


def run(sample: str, **names: Any) -> dict[str, Any]:
    """Run a sample as it stands but for the import."""
    code = textwrap.dedent(sample).replace("import chatan", "import penstock as chatan")
    names = {"chatan": penstock, "__name__": "sample", **names}
    exec(compile(code, "sample", "exec", dont_inherit=True), names)
    return names


def quick_start(**more: Any) -> penstock.Dataset:
    """The schema of the quick start."""
    gen = penstock.generator("openai", "your-api-key", MODEL)
    return penstock.dataset(
        {
            "language": penstock.sample.choice(["Python", "JavaScript", "Rust"]),
            "difficulty": penstock.sample.weighted({"easy": 0.5, "medium": 0.3, "hard": 0.2}),
            "question": gen("Write a {difficulty} coding question about {language}"),
            "solution": gen("Provide a solution for: {question}"),
        },
        **more,
    )


def test_the_overview_makes_a_hundred_rows(simulator: Simulator) -> None:
    names = run(OVERVIEW, gen=penstock.generator("openai", "your-api-key"))
    table = names["df"]
    assert isinstance(table, Table)
    assert table.column_names == ["topic", "question", "answer", "status"]
    assert len(plain(table)) == 100
    assert set(table["topic"]) == {"Python", "Rust"}
    assert simulator.summary()["requests"] == 200


def test_a_generator_is_called_with_a_row(simulator: Simulator) -> None:
    names = run(GENERATOR, key="your-api-key")
    assert isinstance(names["result"], str) and names["result"]
    again = run(GENERATOR, key="your-api-key")
    assert again["result"] == names["result"]
    assert sent(simulator) == 1


def test_the_quick_start_writes_its_files(simulator: Simulator) -> None:
    run(QUICK_START)
    table = Table.open("dataset.parquet")
    assert table.column_names == ["language", "difficulty", "question", "solution", "status"]
    assert len(plain(table)) == 100
    assert Table.open("coding_questions.csv").to_list() == table.to_list()
    ledger = simulator.summary()
    assert (ledger["requests"], ledger["answered"]) == (200, 200)
    assert {entry["model"] for entry in simulator.ledger()} == {"gpt-4o-mini"}


def test_a_hundred_rows_are_a_hundred_different_questions(simulator: Simulator) -> None:
    table = quick_start().generate(n=100)
    assert len(set(table["question"])) == len(set(table["solution"])) == 100
    assert sent(simulator) == 200


def test_the_quick_start_run_again_asks_nothing_and_says_the_same(simulator: Simulator) -> None:
    run(QUICK_START)
    first = Path("coding_questions.csv").read_bytes()
    penstock.close()
    run(QUICK_START)
    assert Path("coding_questions.csv").read_bytes() == first
    assert simulator.summary()["requests"] == 200


def test_twice_as_many_rows_ask_only_for_the_new_ones(simulator: Simulator) -> None:
    first = plain(quick_start().generate(100))
    table = quick_start().generate(200)
    assert plain(table)[:100] == first
    assert sent(simulator) == 400
    assert (table.run.counters["recorded"], table.run.counters["asked"]) == (200, 200)
    assert plain(quick_start().generate(7)) == first[:7]
    assert sent(simulator) == 400


def test_another_seed_is_another_table(simulator: Simulator) -> None:
    first, other = quick_start(seed=1).generate(30), quick_start(seed=2).generate(30)
    assert first["language"] != other["language"]
    assert first.to_list() == quick_start(seed=1).generate(30).to_list()


def test_every_seed_has_its_own_table() -> None:
    seeds: list[int | str] = [0, -5, 2**70, "", "a word", "0"]

    def table(seed: int | str) -> tuple[int, ...]:
        columns = {"x": penstock.sample.range(0, 10**12)}
        return tuple(penstock.dataset(columns, 5, seed=seed).generate()["x"])

    assert [table(seed) for seed in seeds] == [table(seed) for seed in seeds]
    assert len(set(map(table, seeds))) == len(seeds)


def test_the_table_does_not_depend_on_the_concurrency(simulator: Simulator, tmp_path: Path) -> None:
    simulator.set(latency="0-15")
    tables: list[list[dict[str, Any]]] = []
    limits: list[Any] = [{"concurrency": 1}, {"concurrency": 50}, {}]
    limits.append({"max_concurrent_rows": 3, "max_concurrent_columns": 1})
    for number, limit in enumerate(limits):
        with Workbench(workspace=tmp_path / str(number)) as bench:
            tables.append(plain(quick_start(workbench=bench).generate(40, **limit)))
    assert tables[1:] == tables[:1] * 3


# The schema changes -----------------------------------------------------------------------------


def schema(**columns: Any) -> Table:
    made = penstock.dataset(columns, 20).generate()
    assert isinstance(made, Table)
    return made


def test_another_column_changes_no_other_and_asks_only_its_own(simulator: Simulator) -> None:
    gen, sample = penstock.generator("openai", "k-of-no-worth", MODEL), penstock.sample
    topic, question = sample.choice(["sea", "sky", "sand"]), gen("Ask about {topic}")
    first = schema(topic=topic, question=question, n=sample.range(1, 100))
    assert sent(simulator) == 20
    more = schema(
        before=sample.uuid(),
        topic=topic,
        answer=gen("Answer {question}"),
        question=question,
        chance=lambda rng: rng.random(),
        n=sample.range(1, 100),
    )
    for name in ("topic", "question", "n"):
        assert more[name] == first[name]
    assert sent(simulator) == 40
    last = schema(n=sample.range(1, 100), question=question, topic=topic)
    assert last.column_names == ["n", "question", "topic", "status"]
    assert [last[name] for name in ("n", "question", "topic")] == [
        first[name] for name in ("n", "question", "topic")
    ]
    assert sent(simulator) == 40


def test_a_generated_column_by_another_name_is_not_asked_again(simulator: Simulator) -> None:
    gen = penstock.generator("openai", "k-of-no-worth", MODEL)
    topic = penstock.sample.choice(["sea", "sky", "sand"])
    first = schema(topic=topic, question=gen("Ask about {topic}"), answer=gen("Say: {question}"))
    renamed = schema(topic=topic, q=gen("Ask about {topic}"), a=gen("Say: {q}"))
    assert (renamed["q"], renamed["a"]) == (first["question"], first["answer"])
    assert sent(simulator) == 40


def test_columns_that_ask_the_same_draw_answers_of_their_own(simulator: Simulator) -> None:
    gen = penstock.generator("openai", "k-of-no-worth", MODEL)
    table = schema(one=gen("Name a colour"), two=gen("Name a colour"), three=gen("Name a colour"))
    assert sent(simulator) == 60
    rows = [(row["one"], row["two"], row["three"]) for row in table]
    assert all(len(set(row)) == 3 for row in rows)
    assert len({text for row in rows for text in row}) == 60
    assert schema(one=gen("Name a colour"))["one"] == table["one"]
    assert sent(simulator) == 60


def test_the_seeds_evaluation_gives_a_mean_for_each(simulator: Simulator) -> None:
    pytest.importorskip("onnxruntime")
    ds = penstock.dataset({"col1": "the same", "col2": penstock.sample.choice(["the same", "no"])})
    ds.generate(n=20)
    result = run(EVALUATE, ds=ds)["result"]
    share = ds.table["col2"].count("the same") / 20
    assert result["match"].mean == share
    assert share <= result["similarity"].mean <= 1
    assert result["similarity"].scored == 20


def test_the_modules_of_the_seed_are_there() -> None:
    for name in ("dataset", "generator", "async_generator", "sample", "eval", "evaluate"):
        assert hasattr(penstock, name), name
    for name in ("choice", "weighted", "uuid", "datetime", "range", "from_dataset"):
        assert callable(getattr(penstock.sample, name)), name


def test_both_ways_of_generating_give_the_same(simulator: Simulator) -> None:
    async def awaited() -> Table:
        made: Table = await quick_start().generate(20)
        return made

    table = asyncio.run(awaited())
    assert plain(quick_start().generate(20)) == plain(table)
    assert sent(simulator) == 40
