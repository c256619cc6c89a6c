"""How the columns of a finished table do, and what could not be scored."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

import penstock
from penstock.engine.workbench import Workbench
from penstock.errors import ApiError, InputError
from penstock.generate.samplers import sample
from penstock.simulator import Simulator
from penstock.tables import Table
from tests.generate.schema_kit import Gen, Schema, sent

measure = penstock.eval


def test_measures_over_a_table(schema: Schema, gen: Gen, simulator: Simulator) -> None:
    columns = {
        "n": sample.sequence(),
        "target": lambda n: f"say {n % 2}",
        "answer": gen("simulated-echo")("say {n}"),
    }
    ds = schema(columns, 10)
    ds.generate()
    found = ds.evaluate(
        {
            "match": ds.eval.exact_match("answer", "target"),
            "distance": ds.eval.edit_distance("answer", "target"),
            "bleu": ds.eval.bleu("answer", "target"),
            "mine": ds.eval.function(lambda a: float(len(a) == 5), "answer"),
            "judge": ds.eval.llm_judge("answer", "Right?", model=gen(), question="target"),
        }
    )
    assert found["match"].mean == 0.2 and found["distance"].mean == 0.8
    assert found["mine"].mean == 1 and float(found["bleu"]) > 0
    assert found["bleu"].overall, "also of the whole"
    assert list(found) == ["match", "distance", "bleu", "mine", "judge"] and len(found) == 5
    assert found.scores["match"] == [1, 1] + [0] * 8, "a score for each row, in order"
    scores = found.scores["judge"]
    assert len(set(scores)) > 1 and found["judge"].mean == pytest.approx(math.fsum(scores) / 10)
    assert found["judge"].scored == found["judge"].count == 10
    assert "match" in str(found)
    assert sent(simulator) == 20
    ds.evaluate({"judge": ds.eval.llm_judge("answer", "Right?", model=gen(), question="target")})
    assert sent(simulator) == 20, "a judge is asked once"


def test_what_has_no_answer_or_fails_is_counted_and_not_a_number_in_between(
    schema: Schema, gen: Gen
) -> None:
    def broken(answer: str) -> float:
        if answer == "3":
            raise RuntimeError("no score for this")
        return 1.0

    columns = {"n": sample.sequence(), "a": lambda n: None if n < 2 else str(n), "b": "3"}
    ds = schema(columns, 5)
    ds.generate()
    found = ds.evaluate(
        {"match": measure.exact_match("a", "b"), "f": measure.function(broken, "a")}
    )
    match = found["match"]
    assert (match.count, match.scored, match.no_answer, match.errors) == (5, 3, 2, 0)
    assert match.mean == pytest.approx(1 / 3)
    assert (found["f"].scored, found["f"].errors, found["f"].no_answer) == (2, 1, 2)
    rows = found.scores.to_list()
    assert [row["f_status"] for row in rows] == [
        "no_answer", "no_answer", "scored", "error", "scored",
    ]  # fmt: skip
    assert rows[3]["f"] is None and "no score for this" in rows[3]["f_reason"]
    nothing = ds.evaluate({"x": measure.function(lambda a: 1 / 0, "b")})
    assert nothing["x"].mean is None and math.isnan(float(nothing["x"]))


def test_anything_with_rows_can_be_evaluated(bench: Workbench, tmp_path: Any) -> None:
    rows = [{"a": "x", "b": "x"}, {"a": "y", "b": "x"}]
    Table.from_rows(rows).save(tmp_path / "t.parquet")
    for data in (rows, iter(rows), Table.from_rows(rows), str(tmp_path / "t.parquet"),
                 {"a": ["x", "y"], "b": ["x", "x"]}):  # fmt: skip
        made = penstock.evaluate(data, {"m": measure.exact_match("a", "b")}, workbench=bench)
        assert made["m"].mean == 0.5
    empty = penstock.evaluate([], {"m": measure.exact_match("a", "b")}, workbench=bench)
    assert empty["m"].mean is None and empty["m"].count == 0


def test_what_is_wrong_is_said_before_a_judge_is_asked(
    bench: Workbench, gen: Gen, simulator: Simulator, schema: Schema
) -> None:
    table = Table.from_rows([{"answer": "x"}])
    judge = measure.llm_judge("answer", "Good?", model=gen())
    bad: Any
    for bad in ({}, [], {"m": "exact_match"}, {"m": judge, "x": len}):
        with pytest.raises(InputError):
            penstock.evaluate(table, bad, workbench=bench)
    for problem in (
        {"m": measure.exact_match("anser", "answer"), "j": judge},
        {"m": measure.exact_match("answer", "target"), "j": judge},
        {"j": measure.llm_judge("answer", "Good?", model=gen(), question="asked")},
        {"j": measure.llm_judge("answer", "Good?", model=gen(), template="{answer} {x}")},
    ):
        with pytest.raises(InputError, match="is no column"):
            penstock.evaluate(table, problem, workbench=bench)
    for name, second in (("exakt_match", "b"), ("exact_match", None)):
        with pytest.raises(InputError):
            measure.metric(name, "a", second)
    with pytest.raises(InputError, match="kind is '9'"):
        measure.rouge("a", "b", kind="9")
    with pytest.raises(TypeError, match="nonsense"):
        measure.llm_judge("a", "Good?", model=gen(), nonsense=1)
    with pytest.raises(InputError, match="nothing has been generated yet"):
        schema({"a": 1}).evaluate({"m": judge})
    assert sent(simulator) == 0


def test_a_judge_with_a_wrong_key_is_an_error(
    bench: Workbench, gen: Gen, simulator: Simulator
) -> None:
    simulator.set(errors="401:1")
    judge = measure.llm_judge("a", "Good?", model=gen())
    with pytest.raises(ApiError):
        penstock.evaluate([{"a": "x"}] * 300, {"j": judge}, workbench=bench)
    assert simulator.summary()["requests"] < 100


def test_a_judge_that_stumbles_is_counted_as_errors(
    bench: Workbench, gen: Gen, simulator: Simulator
) -> None:
    simulator.set(errors="400:0.4", seed=3)
    judge = measure.llm_judge("a", "Good?", model=gen())
    rows = [{"a": f"text {n}"} for n in range(30)]
    found = penstock.evaluate(rows, {"j": judge}, workbench=bench)["j"]
    assert found.errors > 0 and found.scored + found.errors == 30
    simulator.set(errors="")
    assert penstock.evaluate(rows, {"j": judge}, workbench=bench)["j"].errors == 0
    assert simulator.summary()["answered"] == 30


def test_inside_a_loop_it_is_awaited(schema: Schema, gen: Gen) -> None:
    ds = schema({"a": "x", "b": "x"}, 3)

    async def main() -> Any:
        await ds.generate()
        return await ds.evaluate({"m": ds.eval.exact_match("a", "b")})

    assert asyncio.run(main())["m"].mean == 1


def test_measures_after_failed_cells_see_no_text_of_the_failure(schema: Schema) -> None:
    ds = schema({"n": sample.sequence(), "a": lambda n: str(1 // n), "b": "1"}, 4)
    ds.generate()
    found = ds.evaluate({"m": ds.eval.exact_match("a", "b")})["m"]
    assert (found.scored, found.no_answer) == (3, 1)
