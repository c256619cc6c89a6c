"""What an answer took: facts that come with the sample, and no value where there is none."""

from __future__ import annotations

from decimal import Decimal

import pytest

from penstock.endpoint import Endpoint
from penstock.engine.engine import Engine
from penstock.engine.station import Station
from penstock.errors import InputError
from penstock.metrics import Metric, Sample, ScoreStatus, summarise
from penstock.metrics.resources import Cost, Latency, Tokens, facts_of
from penstock.outcome import Answer, Usage
from penstock.request import Request

ALL: list[Metric] = [Latency(), Cost(), Tokens()]
ANSWER = Answer("Paris.", usage=Usage(10, 5, 2, 0, 3), cost=Decimal("0.0025"), latency=1.5)


def test_the_facts_of_an_answer_are_its_numbers() -> None:
    sample = Sample("Paris.", facts=facts_of(ANSWER))
    assert [metric.score(sample).value for metric in ALL] == [1.5, 0.0025, 5]
    assert Tokens(count="input").score(sample).value == 10
    assert Tokens(count="total").score(sample).value == 15
    assert Tokens(count="cached").score(sample).value == 2
    assert Tokens(count="reasoning").score(sample).value == 3


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_a_fact_that_is_not_known_is_an_error_and_not_0(metric: Metric) -> None:
    score = metric.score(Sample("Paris."))
    assert score.status is ScoreStatus.ERROR
    assert "among the sample's facts" in score.reason


def test_no_price_and_no_latency_are_no_facts() -> None:
    facts = facts_of(Answer("Paris.", cost=None, latency=0.0))
    assert "cost" not in facts
    assert "latency" not in facts
    assert facts_of(Answer("", cost=Decimal(0)))["cost"] == 0


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_less_is_better_and_refusals_are_paid_for_too(metric: Metric) -> None:
    assert (metric.direction, metric.low) == ("lower", 0)
    assert metric.needs == {"facts"}
    facts = facts_of(ANSWER)
    assert metric.score(Sample("No.", refused=True, facts=facts)).status is ScoreStatus.SCORED
    assert metric.score(Sample(None, facts=facts)).status is ScoreStatus.NO_ANSWER
    assert metric.score(Sample("", facts={**facts, metric.name: -1.0, "output_tokens": -1})).reason


def test_totals_and_ranks_of_all_answers() -> None:
    seconds = [Sample("", facts={"latency": float(number)}) for number in range(100, 0, -1)]
    metric = Latency()
    assert summarise(metric, metric.score_many(seconds)).overall == {"p50": 50, "p95": 95}
    dollars = [Sample("", facts={"cost": 0.1})] * 10
    assert summarise(Cost(), Cost().score_many(dollars)).overall == {"total": 1.0}
    one = summarise(metric, metric.score_many(seconds[:1]))
    assert one.overall == {"p50": 100, "p95": 100}


async def test_a_real_answer_has_tokens(station: Station) -> None:
    request = Request.of(Endpoint("simulated", "simulated"), "How are you?")
    answer = await Engine(station).ask(request)
    assert isinstance(answer, Answer)
    sample = Sample(answer.text, facts=facts_of(answer))
    assert Tokens().score(sample).value == answer.usage.output_tokens > 0


def test_a_count_that_is_not_known_is_refused() -> None:
    with pytest.raises(InputError, match="count"):
        Tokens(count="all")  # type: ignore[arg-type]
    assert Tokens(count="input").parameters == {"count": "input"}
