"""Results on disk: never overwritten, found again, told when they cannot be read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from penstock.bench import BenchRun, all_results, find_result
from penstock.bench.running import BenchJob
from penstock.bench.wishes import Wishes
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.errors import DamagedError, InputError, NewerWorkspaceError, NotFoundError
from penstock.simulator import Simulator
from tests.bench.bench_kit import Run, recipe, sent, statuses, told
from tests.grade.grade_gate import Gate
from tests.grade.test_grading_secrets import CANARY, look_through

At = Callable[..., Endpoint]


def test_a_run_taken_up_again_writes_another_result_and_other_items(
    bench: Workbench, saved: Any, gate: Gate, simulator: Simulator, tmp_path: Path
) -> None:
    saved("gated", url=gate.url)
    job = BenchJob(Wishes(recipes=(recipe(tmp_path),), endpoints=("gated",), name="nightly"))
    gate.refuse("What is 2 and 2?")
    first = job.run(bench, run_id="bench-1")
    before = (first.folder / "result.json").read_bytes()
    gate.refuse()
    second = job.run(bench, run_id="bench-1")
    assert (statuses(first).count("failed"), statuses(second).count("failed")) == (1, 0)
    assert (first.folder / "result.json").read_bytes() == before
    names = {path.name for path in first.folder.iterdir()}
    assert {"result.json", "items.arrow", "result-2.json", "items-2.arrow"} <= names
    found = find_result("bench-1", bench)
    assert found.result == second.result and told(found) == told(second)
    assert len(list(all_results(bench))) == 1, "one run has one line, the latest"
    (first.folder / "result.json").unlink()
    job.run(bench, run_id="bench-1")
    assert {path.name for path in first.folder.glob("result*")} == {
        "result-2.json",
        "result-3.json",
    }
    assert sent(simulator) == 5


def test_killed_before_its_result_was_written_a_run_has_none_and_writes_one(
    bench: Workbench, saved: Any, simulator: Simulator, tmp_path: Path
) -> None:
    job = BenchJob(Wishes(recipes=(recipe(tmp_path),), endpoints=(saved("lab"),)))
    done = job.run(bench, run_id="bench-1")
    (done.folder / "result.json").unlink()
    with pytest.raises(NotFoundError, match=r"has no result\n.*penstock runs resume bench-1"):
        find_result("bench-1", bench)
    assert job.run(bench, run_id="bench-1").result.state == "completed" and sent(simulator) == 5
    assert sorted(path.name for path in done.folder.glob("*.arrow")) == ["items.arrow"]


def test_a_retry_that_waits_for_batches_leaves_the_old_result_whole(
    bench: Workbench, saved: Any, gate: Gate, simulator: Simulator, tmp_path: Path
) -> None:
    saved("gated", url=gate.url)
    wishes: dict[str, Any] = {"recipes": (recipe(tmp_path),), "endpoints": ("gated",)}
    gate.refuse("What is 2 and 2?")
    BenchJob(Wishes(**wishes)).run(bench, run_id="bench-1")
    simulator.set(batch_seconds=3600)
    waits = BenchJob(Wishes(**wishes, lane="batch")).run(bench, run_id="bench-1", waits=False)
    assert waits.result.state == "waiting"
    found = find_result("bench-1", bench)
    assert found.result.recipes[0].endpoints[0].items == len(found) == 5
    simulator.advance_batches()


def test_a_result_is_found_by_its_run_the_beginning_the_name_and_as_the_latest(
    run: Run, bench: Workbench, tmp_path: Path
) -> None:
    assert list(all_results(bench)) == []
    with pytest.raises(NotFoundError, match="there are no results yet"):
        find_result("latest", bench)
    what = recipe(tmp_path, count=1)
    first, second, third = run(what, name="nightly"), run(what, name="nightly"), run(what)
    for name, wanted in (
        ("latest", third),
        (first.id, first),
        ("nightly", second),
        (third.id[:-1], third),
    ):
        assert find_result(name, bench).id == wanted.id
    assert [each.id for each in all_results(bench)] == [third.id, second.id, first.id]
    with pytest.raises(NotFoundError, match="there is no run 'gone'"):
        find_result("gone", bench)
    with pytest.raises(NotFoundError, match="several runs begin with 'bench-'"):
        find_result("bench-", bench)


def test_a_run_of_another_kind_is_no_result(bench: Workbench) -> None:
    bench.catalog.add_run("grade-1", "grade", "", {})
    with pytest.raises(NotFoundError, match="grade-1 is no benchmark but of the kind grade"):
        find_result("grade-1", bench)


def test_what_cannot_be_read_is_told_and_hides_no_other(
    run: Run, bench: Workbench, tmp_path: Path
) -> None:
    what = recipe(tmp_path, count=1)
    whole, newer, damaged = run(what), run(what), run(what)
    path = newer.folder / "result.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema": "penstock.bench/2"}))
    with pytest.raises(NewerWorkspaceError, match=r"bench/2'.*knows 'penstock\.bench/1'"):
        find_result(newer.id, bench)
    path = damaged.folder / "result.json"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DamagedError, match=r"result\.json cannot be read"):
        find_result("latest", bench)
    problems: list[Exception] = []
    assert [each.id for each in all_results(bench, problems.append)] == [whole.id]
    assert len(problems) == 2
    (whole.folder / "items.arrow").unlink()
    with pytest.raises(DamagedError, match="the items of the result are gone"):
        find_result(whole.id, bench)


def test_a_result_says_what_was_asked_of_it(run: Run, at: At, bench: Workbench) -> None:
    models = [at("simulated-echo", name="echo"), at()]
    done = run(
        "quick-look", endpoints=models, sample=2, seed=3, epochs=2, system_prompt="",
        params={"temperature": 0.5}, name="a look",
    )  # fmt: skip
    settings = done.result.settings
    assert (settings["sample"], settings["seed"], settings["epochs"]) == ("2", 3, 2)
    assert settings["system_prompt"] == "" and settings["cookbooks"] == ["quick-look"]
    assert list(done.result.endpoints) == ["echo", "openai/simulated"]
    assert done.result.name == "a look" and done.result.version
    kept = find_result(done.id, bench).result
    assert msgspec.json.encode(kept) == msgspec.json.encode(done.result)
    recipe_id = done.result.recipes[0].id
    assert done.metric(recipe_id, endpoint="echo") == done.result.recipes[0].endpoints[0].metrics[0]
    with pytest.raises(NotFoundError, match="has nothing of x, y"):
        done.metric("x", "y")
    assert set(done.grades()) == {each.id for each in done.result.recipes}
    assert str(done).startswith("a look: completed\n")


def test_two_endpoints_of_one_run_and_two_runs_are_compared(
    run: Run, at: At, tmp_path: Path
) -> None:
    what = recipe(tmp_path, count=6, metrics=["contains"])
    one, two = at("simulated-echo", name="one"), at("simulated-fixed", name="two")
    both, alone = run(what, endpoints=[one, two]), run(what, endpoints=two)
    assert str(both.compare()) and str(both.compare(a="two", b="one"))
    assert str(both.compare(alone)), "the endpoint that both have is meant"
    with pytest.raises(InputError, match="nothing to compare it with"):
        alone.compare()
    with pytest.raises(NotFoundError, match="has no endpoint 'three'"):
        both.compare(a="three")
    with pytest.raises(InputError, match="has several endpoints: one, two"):
        both.compare(run(what, endpoints=[at(name="x"), at("simulated-empty", name="y")]))


def test_no_byte_of_the_workspace_and_no_export_holds_a_key(
    at: At, run: Run, simulator: Simulator, bench: Workbench, tmp_path: Path
) -> None:
    simulator.set(key=CANARY)
    done = run(recipe(tmp_path), endpoints=at(key=CANARY))
    assert simulator.summary()["answered"] == 5, "it was really used"
    for name in ("items.csv", "all.json", "items.jsonl"):
        done.export(tmp_path / name)
    done.report(tmp_path / "report.html")
    assert CANARY not in repr(done) + str(done) and look_through(tmp_path) > 8
    assert isinstance(find_result(done.id, bench), BenchRun)
