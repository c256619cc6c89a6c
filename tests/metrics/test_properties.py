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
    Choice,
    Chrf,
    Contains,
    Cost,
    Differs,
    EditDistance,
    EditSimilarity,
    ExactMatch,
    FleschKincaidGrade,
    FleschReadingEase,
    Format,
    Gsm8kFlexible,
    Gsm8kStrict,
    GunningFog,
    JsonMatch,
    JsonValid,
    Latency,
    Leakage,
    LlmJudge,
    Metric,
    NumberMatch,
    OneOf,
    Pattern,
    Refusal,
    RelaxedMatch,
    Rouge1,
    Rouge2,
    RougeL,
    RougeLsum,
    Sample,
    ScoreStatus,
    SemanticSimilarity,
    Smog,
    SquadExact,
    SquadF1,
    StartsWith,
    Tokens,
)
from penstock.simulator.scripts import SCRIPTS, Script
from tests.metrics.builtin import BUILT_IN, JUDGES
from tests.metrics.texts import patient, texts


def letters(given: list[str]) -> list[list[float]]:
    """An embedding of sorts, with values on both sides of 0."""
    return [[1.0, *(text.count(each) - 1.0 for each in "aeiost ")] for text in given]


LIKENESS: list[Metric] = [
    *(ExactMatch(), ExactMatch(casefold=True, normalise=True), Contains(), Contains(casefold=True)),
    *(EditDistance(), EditSimilarity(), EditSimilarity(normalise=True, casefold=True)),
    *(Bleu(), Bleu(tokenizer="char", order=2), Bleu(smoothing="none"), Chrf(), Chrf(word_order=2)),
    *(Rouge1(), Rouge2(), RougeL(stemmer=True), RougeLsum(), RougeLsum(words="unicode")),
    *(SemanticSimilarity(letters), RelaxedMatch(), StartsWith(), StartsWith(whole_word=False)),
    *(SquadExact(), SquadF1(), SquadF1(data="v1"), Choice(), Choice(missing="wrong")),
    *(Gsm8kFlexible(), NumberMatch(), NumberMatch(take="only", relative=0.1)),
    *(Pattern(r"(?s).*\S.*", compare=True), JsonMatch(), JsonMatch(whole=True)),
]
"""What is held to a target, and is best where the answer is the target."""

OTHERS: list[Metric] = [
    *(Differs(), Leakage(), Leakage(disguises=False, fold=False, partial_from=0, shortest_run=1)),
    *(FleschReadingEase(), FleschKincaidGrade(), GunningFog(), Smog(), Latency(), Cost(), Tokens()),
    *(Refusal(), Refusal(counts="complied"), JsonValid(), JsonValid(schema={"type": "number"})),
    *(Format(words=(1, 5), bullets=0), OneOf(["the cat", "word"]), Pattern(r"\bcat")),
    Gsm8kStrict(),
]
"""What has another idea of the best answer, or asks for a form that a target need not have."""

RIGHT = "the cat sat on the mat"
PAIRS = {
    "choice": ("B", "A"),
    "json_match": ('{"a": [1, "x"]}', '{"b": 2}'),
    "gsm8k_flexible": ("3.14", "1,000"),
    "number_match": ("3.14", "1,000"),
}
"""What is right and what is wrong, where it is no text."""


def test_every_built_in_metric_is_held_to_this() -> None:
    assert {metric.name for metric in (*LIKENESS, *OTHERS)} | JUDGES == set(BUILT_IN)


def ids(metric: Metric) -> str:
    changed = {k: v for k, v in metric.parameters.items() if v != getattr(type(metric), k, v)}
    return "-".join([metric.name, *(f"{name}={value}" for name, value in changed.items())])


taken = st.floats(0, allow_infinity=False, allow_nan=False)
facts = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("latency", "cost", "output_tokens"), taken)
)


@pytest.mark.parametrize("metric", [*LIKENESS, *OTHERS], ids=ids)
@patient
@given(
    answer=texts | st.none(),
    target=texts | st.lists(texts, max_size=3) | st.none(),
    facts=facts,
)
def test_a_value_is_within_the_declared_range_or_there_is_none(
    metric: Metric, answer: str | None, target: str | list[str] | None, facts: dict[str, float]
) -> None:
    sample = Sample(answer, target, facts=facts)
    score = metric.score(sample)
    if score.status is ScoreStatus.SCORED:
        assert score.value is not None
        assert metric.low <= score.value <= metric.high
    else:
        assert score.value is None
        assert score.reason
        assert "outside its range" not in score.reason
    if answer is None:
        assert score.status is ScoreStatus.NO_ANSWER
    assert metric.score(sample) == score


@pytest.mark.parametrize("metric", LIKENESS, ids=ids)
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


@pytest.mark.parametrize("metric", LIKENESS, ids=ids)
def test_the_target_itself_is_better_than_something_else(metric: Metric) -> None:
    right, wrong = PAIRS.get(metric.name, (RIGHT, "zzz qqq"))
    best, worst = metric.score_many([Sample(right, right), Sample(wrong, right)])
    assert best.value is not None
    assert worst.value is not None
    assert (best.value > worst.value) == (metric.direction == "higher")
    if metric.direction == "higher":
        assert best.value == pytest.approx(metric.high)


@pytest.mark.parametrize("metric", LIKENESS, ids=ids)
@patient
@given(answer=texts, targets=st.lists(texts, min_size=1, max_size=3), more=texts)
def test_another_target_never_makes_it_worse(
    metric: Metric, answer: str, targets: list[str], more: str
) -> None:
    if metric.name == "bleu":  # several targets count together there, their lengths too
        return
    if isinstance(metric, SquadExact | SquadF1) and metric.data == "v2":
        return  # beside another target an empty one does not count there
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
