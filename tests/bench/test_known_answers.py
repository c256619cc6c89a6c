"""Fixed answers through every recipe that ships, by the runner itself: scores, intervals, grades
and p values are those that scipy computes of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import numpy as np
import orjson
import pytest
from scipy import stats  # type: ignore[import-untyped]

from penstock import bench, plugins
from penstock.bench.results import BenchRun
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.outcome import Answer, Finish
from penstock.providers.provider import OnText, Provider, Sent
from penstock.request import Request
from tests.bench.test_library import RECIPES, answers, prompt, rows

# Each of the two gets every so many of the examples wrong.
EVERY = {"able": 5, "weak": 3}


class Known(Provider):
    """Answers every question of the recipes that ship, rightly or wrongly as it is told."""

    uses_network: ClassVar[bool] = False
    said: ClassVar[dict[tuple[str, str], str]] = {}

    async def send(self, request: Request, on_text: OnText | None = None) -> Sent:
        text = self.said[self.endpoint.model, request.messages[-1]["content"]]
        return Sent(Answer(text, Finish.STOP), orjson.dumps(text), b"{}")

    @classmethod
    def read(cls, body: bytes) -> Answer:
        return Answer(orjson.loads(body), Finish.STOP)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BenchRun]:
    plugins.register("provider", "known", Known)
    for model, every in EVERY.items():
        for name in RECIPES:
            for place, row in enumerate(rows(name)):
                right, bad = answers(name, row)
                Known.said[model, prompt(name, row)] = right[0] if place % every else bad[0]
    endpoints = [Endpoint("known", model, name=model) for model in EVERY]
    home: Path = tmp_path_factory.mktemp("known")
    with Workbench(workspace=home) as workbench:
        yield bench.run("quick-look", endpoints=endpoints, workbench=workbench)
    plugins.unregister("provider", "known")
    Known.said.clear()


def right(name: str, model: str) -> list[float]:
    return [float(place % EVERY[model] > 0) for place in range(len(rows(name)))]


@pytest.mark.parametrize("model", EVERY)
@pytest.mark.parametrize("name", [name for name in RECIPES if name != "reading-comprehension"])
def test_a_recipe_gives_the_share_that_is_right_with_wilsons_limits(
    run: BenchRun, name: str, model: str
) -> None:
    values = right(name, model)
    found = run.metric(name, endpoint=model)
    wanted = stats.binomtest(int(sum(values)), len(values)).proportion_ci(method="wilson")
    assert found.mean.value == pytest.approx(np.mean(values), abs=1e-12)
    assert (found.mean.low, found.mean.high) == pytest.approx((wanted.low, wanted.high), abs=1e-9)
    assert (found.count, found.scored, found.errors) == (len(values), len(values), 0)


@pytest.mark.parametrize("model", EVERY)
def test_questions_about_one_passage_count_as_belonging_together(run: BenchRun, model: str) -> None:
    """The cluster-robust limits, written out: sums of residuals by passage, Student's t."""
    name = "reading-comprehension"
    values = np.array(right(name, model))
    passages = [row["passage"] for row in rows(name)]
    sums = dict.fromkeys(passages, 0.0)
    for value, passage in zip(values, passages, strict=True):
        sums[passage] += value - values.mean()
    groups = len(sums)
    error = np.sqrt(groups / (groups - 1) * sum(each**2 for each in sums.values())) / len(values)
    half = stats.t.ppf(0.975, groups - 1) * error
    found = run.metric(name, endpoint=model).mean
    assert found.value == pytest.approx(values.mean(), abs=1e-12)
    assert found.low == pytest.approx(max(0.0, values.mean() - half), abs=1e-9)
    assert found.high == pytest.approx(min(1.0, values.mean() + half), abs=1e-9)


def test_grades_follow_from_the_shares(run: BenchRun) -> None:
    for name, by_endpoint in run.grades().items():
        for model, grade in by_endpoint.items():
            share = 100 * np.mean(right(name, model))
            assert grade == ("A" if share >= 80 else "B"), (name, model, share)
    [book] = run.result.cookbooks
    assert {each.endpoint: each.worst for each in book.grades} == {"able": "A", "weak": "B"}


def test_two_endpoints_differ_by_mcnemars_exact_p_values_corrected_after_holm(
    run: BenchRun,
) -> None:
    found = run.compare(a="able", b="weak")
    wanted: dict[tuple[str, str], float] = {}
    for recipe, metric, comparison in found.comparisons:
        ones, others = right(recipe, "able"), right(recipe, "weak")
        better = sum(a < b for a, b in zip(ones, others, strict=True))
        worse = sum(a > b for a, b in zip(ones, others, strict=True))
        assert (len(comparison.better), len(comparison.worse)) == (better, worse)
        if recipe != "reading-comprehension":
            p = stats.binomtest(better, better + worse).pvalue
            assert comparison.p == pytest.approx(p, abs=1e-12)
        assert comparison.p is not None
        wanted[recipe, metric] = comparison.p
    order = sorted(wanted, key=lambda each: wanted[each])
    running = 0.0
    corrected: dict[tuple[str, str], float] = {}
    for place, each in enumerate(order):
        running = max(running, min(1.0, (len(order) - place) * wanted[each]))
        corrected[each] = running
    for recipe, metric, comparison in found.comparisons:
        assert comparison.adjusted == pytest.approx(corrected[recipe, metric], abs=1e-12)
    assert found.flipped >= 7 * 10
