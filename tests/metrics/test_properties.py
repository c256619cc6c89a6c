"""Every built-in metric keeps to the range and the direction that it declares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.endpoint import Endpoint
from penstock.engine.engine import Engine
from penstock.engine.station import Station
from penstock.metrics import (
    Bleu,
    Chrf,
    Contains,
    EditDistance,
    EditSimilarity,
    ExactMatch,
    LlmJudge,
    Metric,
    Rouge1,
    Rouge2,
    RougeL,
    RougeLsum,
    Sample,
    ScoreStatus,
    SemanticSimilarity,
)
from penstock.simulator.scripts import SCRIPTS, Script
from tests.metrics.builtin import BUILT_IN
from tests.metrics.texts import patient, texts


def letters(given: list[str]) -> list[list[float]]:
    """An embedding of sorts, with values on both sides of 0."""
    return [[1.0, *(text.count(each) - 1.0 for each in "aeiost ")] for text in given]


METRICS: list[Metric] = [
    *(ExactMatch(), ExactMatch(casefold=True, normalise=True), Contains(), Contains(casefold=True)),
    *(EditDistance(), EditSimilarity(), EditSimilarity(normalise=True, casefold=True)),
    *(Bleu(), Bleu(tokenizer="char", order=2), Bleu(smoothing="none"), Chrf(), Chrf(word_order=2)),
    *(Rouge1(), Rouge2(), RougeL(stemmer=True), RougeLsum(), RougeLsum(words="unicode")),
    SemanticSimilarity(letters),
]


def test_every_built_in_metric_is_held_to_this() -> None:
    assert {metric.name for metric in METRICS} | {"llm_judge"} == set(BUILT_IN)


def ids(metric: Metric) -> str:
    changed = {k: v for k, v in metric.parameters.items() if v != getattr(type(metric), k, v)}
    return "-".join([metric.name, *(f"{name}={value}" for name, value in changed.items())])


@pytest.mark.parametrize("metric", METRICS, ids=ids)
@patient
@given(answer=texts | st.none(), target=texts | st.lists(texts, max_size=3) | st.none())
def test_a_value_is_within_the_declared_range_or_there_is_none(
    metric: Metric, answer: str | None, target: str | list[str] | None
) -> None:
    score = metric.score(Sample(answer, target))
    if score.status is ScoreStatus.SCORED:
        assert score.value is not None
        assert metric.low <= score.value <= metric.high
    else:
        assert score.value is None
        assert score.reason
        assert "outside its range" not in score.reason
    if answer is None:
        assert score.status is ScoreStatus.NO_ANSWER
    assert metric.score(Sample(answer, target)) == score


@pytest.mark.parametrize("metric", METRICS, ids=ids)
@patient
@given(text=texts, other=texts)
def test_nothing_is_better_than_the_target_itself(metric: Metric, text: str, other: str) -> None:
    best = metric.score(Sample(text, text))
    any_other = metric.score(Sample(other, text))
    if best.value is None or any_other.value is None:
        return
    if metric.direction == "higher":
        assert best.value >= any_other.value - 1e-9
    else:
        assert best.value <= any_other.value
        assert best.value == metric.low


@pytest.mark.parametrize("metric", METRICS, ids=ids)
def test_the_target_itself_is_better_than_something_else(metric: Metric) -> None:
    right, wrong = "the cat sat on the mat", "zzz qqq"
    best, worst = metric.score_many([Sample(right, right), Sample(wrong, right)])
    assert best.value is not None
    assert worst.value is not None
    assert (best.value > worst.value) == (metric.direction == "higher")
    if metric.direction == "higher":
        assert best.value == pytest.approx(metric.high)


@pytest.mark.parametrize("metric", METRICS, ids=ids)
@patient
@given(answer=texts, targets=st.lists(texts, min_size=1, max_size=3), more=texts)
def test_another_target_never_makes_it_worse(
    metric: Metric, answer: str, targets: list[str], more: str
) -> None:
    if metric.name == "bleu":  # several targets count together there, their lengths too
        return
    before = metric.score(Sample(answer, targets)).value
    after = metric.score(Sample(answer, [*targets, more])).value
    if before is not None and after is not None:
        assert metric.best([before, after]) == pytest.approx(after)


@pytest.fixture
def verdicts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    said: list[Any] = []
    script = Script("", lambda question: f'{{"reason": "", "score": {said[0]}}}')
    monkeypatch.setitem(SCRIPTS, "simulated-properties", script)
    yield said


async def test_a_judges_value_rises_with_its_score_from_0_to_1_and_knows_nothing_beyond(
    tmp_path: Path, station: Station, verdicts: list[Any]
) -> None:
    metric = LlmJudge(Endpoint("simulated", "simulated-properties"), "Good?", reasks=0)
    values = []
    for raw in range(-1, 8):
        verdicts[:] = [raw]
        values.append((await metric.judge(Engine(station), Sample(f"answer {raw}"))).value)
    assert values == [None, None, 0.0, 0.25, 0.5, 0.75, 1.0, None, None]
