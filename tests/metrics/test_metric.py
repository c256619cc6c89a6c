"""What is the same for all metrics: statuses, ranges, rows that fail alone, summaries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import metrics
from penstock.errors import HostError, InputError
from penstock.metrics import (
    Bleu,
    EditDistance,
    ExactMatch,
    FunctionMetric,
    Metric,
    Sample,
    Score,
    ScoreStatus,
    summarise,
)
from penstock.metrics.metric import Measured
from tests.metrics.texts import patient


class Length(Metric):
    """Characters, in tens."""

    high = 10.0

    def measure(self, answer: str, sample: Sample) -> Measured:
        if answer == "boom":
            raise RuntimeError("a bad row")
        if answer == "exit":
            raise KeyboardInterrupt
        return len(answer) / 10


class Batched(Length):
    """One that measures all at once, and cannot when one of them is bad."""

    def measure_many(self, samples: Sequence[Sample]) -> Sequence[Measured]:
        if any(sample.answer == "boom" for sample in samples):
            raise RuntimeError("the whole batch")
        return [0.5] * len(samples)


def test_the_face_shows_what_is_there() -> None:
    assert metrics.__all__ == list(metrics._ROOMS) == sorted(metrics.__all__)
    assert dir(metrics) == sorted(metrics.__all__)
    for name in metrics.__all__:
        assert getattr(metrics, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Blue'"):
        _ = metrics.Blue


def test_a_missing_answer_is_no_answer_and_an_empty_one_is_scored() -> None:
    assert Length().score(Sample(None)).status is ScoreStatus.NO_ANSWER
    assert Length().score(Sample("")) == Score(0.0)


def test_a_refused_answer_is_refused_unless_the_metric_reads_refusals() -> None:
    class Refusals(Length):
        reads_refusals = True

    sample = Sample("I cannot help with that.", refused=True)
    assert Length().score(sample).status is ScoreStatus.REFUSED
    assert Refusals().score(sample).status is ScoreStatus.SCORED
    assert Refusals().score(Sample(None, refused=True)).status is ScoreStatus.NO_ANSWER


def test_an_exception_is_an_error_in_its_own_row() -> None:
    scores = Length().score_many([Sample("abc"), Sample("boom"), Sample("abcd")])
    assert [score.value for score in scores] == [0.3, None, 0.4]
    assert scores[1].status is ScoreStatus.ERROR
    assert scores[1].reason == "RuntimeError: a bad row"


def test_a_batch_that_fails_is_measured_row_by_row() -> None:
    scores = Batched().score_many([Sample("abc"), Sample("boom"), Sample(None)])
    assert [score.status for score in scores] == ["scored", "error", "no_answer"]
    assert scores[0].value == 0.3, "not from the batch"
    assert Batched().score(Sample("abc")).value == 0.5


def test_a_batch_of_another_length_is_not_trusted() -> None:
    class Short(Batched):
        def measure_many(self, samples: Sequence[Sample]) -> Sequence[Measured]:
            return [0.9]

    assert [score.value for score in Short().score_many([Sample("a"), Sample("bb")])] == [0.1, 0.2]


def test_an_interrupt_is_no_score() -> None:
    with pytest.raises(KeyboardInterrupt):
        Length().score(Sample("exit"))


def test_what_cannot_be_prepared_fails_the_work_and_not_each_row() -> None:
    class Unready(Length):
        def prepare(self) -> None:
            raise HostError("the weights are damaged")

    with pytest.raises(HostError, match="weights"):
        Unready().score_many([Sample("abc")])


@pytest.mark.parametrize("made", [math.nan, math.inf, -0.1, 1.1, None, "0.5", [1], Score(7.0)])
def test_what_is_no_number_in_the_range_is_an_error_and_never_a_value(made: Any) -> None:
    score = FunctionMetric(lambda answer: made, name="mine").score(Sample("x"))
    assert (score.value, score.status) == (None, ScoreStatus.ERROR)
    assert score.reason


def test_a_value_beside_another_status_is_an_error() -> None:
    odd = Score(0.5, ScoreStatus.REFUSED)
    assert FunctionMetric(lambda answer: odd).score(Sample("x")).status is ScoreStatus.ERROR


def test_a_value_outside_by_rounding_alone_is_put_right() -> None:
    assert FunctionMetric(lambda answer: 1 + 1e-12).score(Sample("x")).value == 1.0


def test_a_missing_target_or_one_that_is_no_text_is_an_error_that_says_so() -> None:
    exact = ExactMatch()
    for target, said in (
        (None, "there is no target, which exact_match needs"),
        ([], "there is no target"),
        (42, "of type int"),
        (["a", 42], "of type int"),
    ):
        score = exact.score(Sample("a", target))  # type: ignore[arg-type]
        assert score.status is ScoreStatus.ERROR
        assert said in score.reason
    assert "of type float" in exact.score(Sample(1.5, "a")).reason  # type: ignore[arg-type]


def test_a_question_is_asked_for_by_a_metric_that_needs_one() -> None:
    class Relevance(Length):
        needs = frozenset({"question"})

    assert "no question" in Relevance().score(Sample("abc")).reason
    assert Relevance().score(Sample("abc", question="Why?")).value == 0.3


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"direction": "up"}, "'up'"),
        ({"low": 1.0, "high": 1.0}, "1.0 to 1.0"),
        ({"needs": frozenset({"gold"})}, "'gold'"),
    ],
)
def test_a_metric_that_declares_nonsense_cannot_be_made(
    declared: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        type("Bad", (Length,), declared)


def test_a_metric_says_what_was_computed_as_plain_data() -> None:
    described = Bleu(lowercase=True).describe()
    assert described["name"] == "bleu"
    assert described["direction"] == "higher"
    assert described["needs"] == ["target"]
    assert described["parameters"] == {
        "order": 4,
        "lowercase": True,
        "tokenizer": "13a",
        "smoothing": "exp",
    }
    assert EditDistance().describe()["high"] is None, "JSON knows no infinity"
    assert msgspec.json.decode(msgspec.json.encode(described)) == described


def test_a_score_travels_as_json() -> None:
    score = Bleu().score(Sample("the cat", "the cat"))
    assert score.parts
    assert msgspec.json.decode(msgspec.json.encode(score), type=Score) == score


# Summaries ----------------------------------------------------------------------------------------


def test_a_summary_means_only_what_was_scored_and_counts_the_rest() -> None:
    scores = [Score(1.0), Score(0.0), Score.no_answer(), Score.refused(), Score.error("x")]
    summary = summarise(ExactMatch(), scores)
    assert (summary.mean, summary.count, summary.scored) == (0.5, 5, 2)
    assert (summary.no_answer, summary.refused, summary.errors) == (1, 1, 1)
    assert float(summary) == 0.5
    assert str(summary) == (
        "exact_match: 0.5 (higher is better), mean of 2 of 5; 1 without an answer; 1 refused; "
        "1 error"
    )


def test_a_summary_of_nothing_scored_has_no_mean() -> None:
    summary = summarise(Bleu(), [Score.error("x"), Score.error("y")])
    assert summary.mean is None
    assert math.isnan(float(summary))
    assert summary.overall == {}
    assert str(summary) == "bleu: nothing scored of 2; 2 errors"
    assert summarise(Bleu(), []).count == 0


def test_a_summary_shows_the_values_of_the_corpus() -> None:
    metric = Bleu()
    scores = metric.score_many([Sample("the cat sat on it", "the cat sat on it")])
    assert str(summarise(metric, scores)).endswith("mean of 1 of 1; corpus_bleu 1")


@patient
@given(st.lists(st.floats(0, 1), min_size=1), st.randoms(use_true_random=False))
def test_the_mean_does_not_depend_on_the_order(values: list[float], random: Any) -> None:
    scores = [Score(value) for value in values]
    before = summarise(ExactMatch(), scores).mean
    random.shuffle(scores)
    assert summarise(ExactMatch(), scores).mean == before
