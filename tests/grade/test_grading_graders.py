"""Several graders: draws and models, their marks as one, and how far they agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.simulator import Simulator
from tests.grade.grade_gate import Gate
from tests.grade.grade_kit import (
    RUBRIC,
    Grade,
    bodies,
    essays,
    read,
    sent,
    states,
    statuses,
    write_csv,
)

At = Callable[..., Endpoint]


def answers(bench: Workbench, run: str, tmp_path: Path) -> dict[int, list[dict[str, Any]]]:
    """What every grader said of each row."""
    from penstock.engine.exports import export_run

    path = tmp_path / "answers.jsonl"
    export_run(bench, run, path)
    found: dict[int, list[dict[str, Any]]] = {}
    for line in map(json.loads, path.read_text().splitlines()):
        said = line["response"]["choices"][0]["message"]["content"]
        found.setdefault(line["row"], []).append(json.loads(said))
    return found


@pytest.mark.parametrize("how", ["mean", "median", "majority"])
def test_draws_of_one_model_come_to_one_mark(
    grade: Grade, bench: Workbench, simulator: Simulator, tmp_path: Path, how: str
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(12))
    done = grade(path, graders=3, combine=how, row_limit=5)
    assert sent(simulator) == 36 and done.ok and done.graders == 3
    said = answers(bench, done.run.id, tmp_path)
    differed = False
    for row in read(done.files[0].output):
        scores = [each["clarity"]["score"] for each in said[int(row["id"])]]
        labels = [each["tone"]["score"] for each in said[int(row["id"])]]
        assert len(scores) == 3
        differed |= len(set(scores)) > 1
        if how == "mean":
            assert float(row["clarity"]) == pytest.approx(sum(scores) / 3, abs=1e-3)
        elif how == "median":
            assert float(row["clarity"]) == sorted(scores)[1]
        else:
            assert float(row["clarity"]) in scores
        if len(set(labels)) < 3:
            assert row["tone"] == max(labels, key=labels.count)
        assert row["clarity_reason"] in [each["clarity"]["reason"] for each in said[int(row["id"])]]
    assert differed, "else nothing was combined"


def test_how_far_they_agree_is_told_for_each_criterion(
    grade: Grade, at: At, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(10))
    alone = grade(path, out=tmp_path / "alone")
    assert alone.agreement is None and alone.graders == 1
    done = grade(path, model=[at(), at("simulated-invalid")], graders=2)
    assert done.graders == 4 and done.agreement is not None
    assert set(done.agreement) == {"clarity", "tone"}
    for alpha in done.agreement.values():
        assert alpha is not None and -1 <= alpha < 1, "chance, not agreement"
    assert done.report is not None
    told = json.loads(done.report.with_suffix(".json").read_text())["agreement"]
    assert told == pytest.approx(dict(done.agreement))


def test_a_resumed_run_tells_the_same_agreement_as_one_that_was_not_stopped(
    grade: Grade, gate: Gate, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(9))
    options: dict[str, Any] = {
        "model": at().with_(url=gate.url), "graders": 2, "row_limit": 3, "max_workers": 1,
    }  # fmt: skip
    gate.refuse("number 3", "number 4", "number 5")
    assert grade(path, run="g-1", **options).run.state == "stopped"
    gate.refuse()
    resumed = grade(path, run="g-1", **options)
    whole = grade(path, out=tmp_path / "whole", **options)
    assert resumed.agreement == whole.agreement
    assert read(resumed.files[0].output) == read(whole.files[0].output)
    assert sent(simulator) == 18


def test_one_grader_that_fails_is_noted_and_loses_no_row(
    grade: Grade, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(4))
    done = grade(path, model=[at(), at("simulated-refuse")])
    assert done.files[0].counts == {"ok": 4} and states(done) == [["success"]]
    for row in read(done.files[0].output):
        assert row["clarity"] and row["status"] == "ok"
        assert "1 of 2 graders failed" in row["error"] and "refused" in row["error"]
    assert done.run.state == "completed"


def test_a_grader_whose_endpoint_serves_nobody_takes_nothing_from_the_other(
    grade: Grade, gate: Gate, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    gate.rule = lambda body: 401
    path = write_csv(tmp_path / "in.csv", essays(6))
    broken = at().with_(url=gate.url)
    for order in ([at(), broken], [broken, at()]):
        done = grade(path, model=order, row_limit=2, max_workers=1, overwrite=True)
        assert done.files[0].counts == {"ok": 6} and states(done) == [["success"] * 3]
        assert all("1 of 2 graders failed" in row["error"] for row in read(done.files[0].output))
    assert sent(simulator) == 6


def test_a_chunk_fails_only_for_what_the_working_grader_met(
    grade: Grade, gate: Gate, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    """One endpoint is stopped for good; the other refuses the first chunk and no other."""

    def rule(body: str) -> int | None:
        if '"simulated-echo"' in body:
            return 401
        return 400 if "number 0" in body or "number 1" in body else None

    gate.rule = rule
    models = [at("simulated-echo").with_(url=gate.url), at().with_(url=gate.url)]
    path = write_csv(tmp_path / "in.csv", essays(6))
    done = grade(path, model=models, row_limit=2, max_workers=1, halt_on_chunk_failure=False)
    assert states(done) == [["failure", "success", "success"]]
    assert statuses(done.files[0].output) == ["failed"] * 2 + ["ok"] * 4


def test_when_all_graders_fail_the_row_fails(grade: Grade, at: At, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "in.csv", essays(2))
    done = grade(path, model=[at("simulated-refuse"), at("simulated-echo")])
    assert done.files[0].counts == {"failed": 2} and done.agreement == {
        "clarity": None,
        "tone": None,
    }


# Once --------------------------------------------------------------------------------------------


def test_equal_texts_are_one_question(
    grade: Grade, simulator: Simulator, bench: Workbench, tmp_path: Path
) -> None:
    rows = [{"id": n, "text": f"text {n % 4}"} for n in range(20)]
    done = grade(write_csv(tmp_path / "in.csv", rows), row_limit=3)
    assert sent(simulator) == 4 and done.counts["ok"] == 20
    found = read(done.files[0].output)
    assert len({tuple(list(row.values())[1:]) for row in found}) == 4, "equal marks for equal texts"
    assert len(bodies(bench, done, tmp_path)) == 20, "each row knows what it asked"


def test_further_graders_ask_only_for_further_opinions(
    grade: Grade, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(5))
    grade(path, out=tmp_path / "one")
    grade(path, graders=3, out=tmp_path / "three")
    assert sent(simulator) == 15, "the first opinion was there"
    grade(path, graders=3, combine="median", out=tmp_path / "median")
    assert sent(simulator) == 15, "to combine them otherwise costs nothing"
    weights = {**RUBRIC, "criteria": [{**each, "weight": 7} for each in RUBRIC["criteria"]]}
    grade(path, rubric=weights, out=tmp_path / "weights")
    assert sent(simulator) == 15, "nor do other weights"
    other = {**RUBRIC, "instructions": "Be stricter."}
    grade(path, rubric=other, out=tmp_path / "other")
    assert sent(simulator) == 20, "other instructions do"


def test_names_and_endpoints_are_not_mixed(
    bench: Workbench, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(1))
    with pytest.raises(InputError, match="name all graders"):
        penstock.grade(path, RUBRIC, model=[at(), "simulated"], out=tmp_path / "o", workbench=bench)


def test_a_model_that_is_named_twice_is_told(
    grade: Grade, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    """Its two opinions would be one and the same, and agree perfectly."""
    with pytest.raises(InputError, match="graders=2"):
        grade(write_csv(tmp_path / "in.csv", essays(1)), model=[at(), at()])
    assert simulator.summary()["requests"] == 0
