"""New metrics on old answers: nothing is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.bench import find_result, rescore
from penstock.bench.running import BenchJob
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.plugins import register
from penstock.simulator import Simulator
from tests.bench.bench_kit import (
    GRADES,
    JUDGE,
    Run,
    dataset,
    recipe,
    sent,
    sums,
    template,
    told,
    values,
    written,
)  # fmt: skip

At = Callable[..., Endpoint]


def test_the_same_metrics_give_the_same_scores_and_send_nothing(
    run: Run, at: At, bench: Workbench, simulator: Simulator, tmp_path: Path
) -> None:
    what = recipe(tmp_path, count=20, metrics=["contains", "rouge1", "latency"], epochs=2)
    done = run(what, endpoints=[at(), at("simulated-refuse")], sample=7, seed=2)
    asked = sent(simulator)
    again = rescore(done, workbench=bench)
    assert sent(simulator) == asked == 28
    assert told(again) == told(done) and again.result.recipes == done.result.recipes
    assert again.id != done.id and again.result.rescored_from == done.id
    assert again.result.endpoints == done.result.endpoints
    assert find_result("latest", bench).id == again.id
    assert told(rescore(again, workbench=bench)) == told(done)


def test_other_metrics_and_other_parameters_score_anew(
    run: Run, bench: Workbench, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    rows = [{"input": "Say YES", "target": "say yes"}, {"input": "no", "target": "no"}]
    what = recipe(tmp_path, datasets=[dataset(tmp_path, "d", rows)], grading=GRADES)
    done = run(what, endpoints=at("simulated-echo"))
    assert values(done, "exact_match") == [0.0, 1.0]
    assert done.grades() == {"sums": {"openai/simulated-echo": "C"}}
    folded = rescore(
        done, [{"metric": "exact_match", "params": {"casefold": True}}, "contains"], workbench=bench
    )
    assert values(folded, "exact_match") == [1.0, 1.0]
    assert folded.grades() == {"sums": {"openai/simulated-echo": "A"}}
    other = rescore(done, ["edit_similarity"], name="by edits", workbench=bench)
    assert other.result.name == "by edits" and other.grades() == {
        "sums": {"openai/simulated-echo": None}
    }
    assert told(find_result(done.id, bench)) == told(done), "the old result is as it was"
    assert sent(simulator) == 2


def test_the_metrics_that_a_recipe_has_now_are_those_that_score(
    run: Run, bench: Workbench, simulator: Simulator, tmp_path: Path
) -> None:
    done = run(recipe(tmp_path))
    recipe(tmp_path, metrics=["contains"])
    assert values(rescore(done, workbench=bench), "contains") and sent(simulator) == 5


def test_metrics_see_the_whole_row_again(
    run: Run, at: At, bench: Workbench, tmp_path: Path
) -> None:
    from penstock.metrics import Metric, Sample

    class Hinted(Metric):
        name = "hinted"

        def measure(self, answer: str, sample: Sample) -> float:
            return float(sample.row["hint"] in answer)

    register("metric", "hinted-by-a-test", Hinted)
    form = template(tmp_path, "t", "{{ prompt }} {{ hint }}")
    data = [dataset(tmp_path, "a", sums(9)), dataset(tmp_path, "b", sums(5, 40))]
    what = recipe(tmp_path, datasets=data, templates=[form], epochs=2, metrics=["contains"])
    done = run(what, endpoints=[at("simulated-echo"), at()], sample="50%")
    found = rescore(done, ["hinted-by-a-test"], workbench=bench)
    echoed = [item for item in found if item.endpoint.endswith("echo")]
    assert [item.scores[0].value for item in echoed] == [1.0] * len(echoed) != []


def test_rows_of_a_dataset_that_was_changed_are_not_taken_for_the_old_ones(
    run: Run, at: At, bench: Workbench, tmp_path: Path
) -> None:
    what = recipe(tmp_path, count=3, metrics=["contains"])
    done = run(what, endpoints=at("simulated-echo"))
    dataset(tmp_path, "sums-data", sums(3, 50))
    again = rescore(done, workbench=bench)
    assert told(again) == told(done), "targets are kept with the items"


def test_what_a_judge_said_is_kept_and_another_judge_is_refused(
    run: Run, at: At, saved: Any, bench: Workbench, simulator: Simulator, tmp_path: Path
) -> None:
    saved("judge")
    what = recipe(tmp_path, count=3, metrics=[JUDGE, "contains"], judge="judge")
    done = run(what, endpoints=at("simulated-echo"))
    again = rescore(find_result(done.id, bench), workbench=bench)
    assert values(again, "llm_judge") == values(done, "llm_judge") and sent(simulator) == 6
    without = rescore(done, ["contains"], workbench=bench)
    assert [len(item.scores) for item in without] == [1] * 3
    other = {"metric": "llm_judge", "judge": "judge", "params": {"rubric": "Is it short?"}}
    for metrics in ([other], ["refusal_judge"]):
        with pytest.raises(InputError, match="asks a model, and rescoring asks nothing") as caught:
            rescore(done, metrics, workbench=bench)
        assert "only the judge is asked" in caught.value.remedy
    assert sent(simulator) == 6


def test_a_failing_metric_spoils_its_own_scores_only(
    run: Run, bench: Workbench, tmp_path: Path
) -> None:
    from penstock.metrics import Metric, Sample, Score

    class Broken(Metric):
        name = "broken"

        def score_many(self, samples: Any) -> list[Score]:
            raise RuntimeError("nothing works")

        def measure(self, answer: str, sample: Sample) -> float:
            return 1.0

    register("metric", "broken-by-a-test", Broken)
    done = run(recipe(tmp_path, count=2, metrics=["contains", "broken-by-a-test"]))
    found = rescore(done, ["broken-by-a-test", "contains"], workbench=bench)
    for made in (done, found):
        reasons = [s.reason for i in made for s in i.scores if s.metric == "broken-by-a-test"]
        assert reasons == ["broken: RuntimeError: nothing works"] * 2
        assert None not in values(made, "contains")


def test_a_rescored_run_is_not_resumed_but_the_one_it_came_from(
    run: Run, bench: Workbench, tmp_path: Path
) -> None:
    done = run(recipe(tmp_path))
    made = rescore(done, workbench=bench)
    spec = bench.catalog.run(made.id)["spec"]
    with pytest.raises(InputError, match=f"scored the answers of {done.id} anew"):
        BenchJob.from_spec(spec)


def test_endpoints_that_differ_only_by_their_keys_stay_two(
    run: Run, at: At, bench: Workbench, tmp_path: Path
) -> None:
    done = run(recipe(tmp_path, count=2), endpoints=[at(key="one-key"), at(key="other-key")])
    assert list(done.result.endpoints) == ["openai/simulated", "openai/simulated (2)"]
    assert told(rescore(done, workbench=bench)) == told(done)


def test_a_recipe_that_is_gone_is_told(run: Run, bench: Workbench, tmp_path: Path) -> None:
    what = recipe(tmp_path)
    done = run(what)
    written(
        tmp_path / "sums.yaml",
        {"name": "sums", "datasets": ["./gone.yaml"], "metrics": ["contains"]},
    )
    with pytest.raises(InputError, match=r"there is no file .*gone\.yaml"):
        rescore(done, workbench=bench)
