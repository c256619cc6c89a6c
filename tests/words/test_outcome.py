from __future__ import annotations

from decimal import Decimal

import msgspec
import pytest

from penstock.outcome import Answer, Failure, FailureKind, Finish, Usage


@pytest.mark.parametrize("kind", FailureKind)
def test_every_kind_of_failure_has_a_meaning(kind: FailureKind) -> None:
    assert len(kind.meaning) > 10


def test_no_two_kinds_mean_the_same() -> None:
    assert len({kind.meaning for kind in FailureKind}) == len(FailureKind)


def test_what_stops_an_endpoint_does_not_heal() -> None:
    heals = {kind for kind in FailureKind if kind.heals}
    stops = {kind for kind in FailureKind if kind.stops}
    assert heals
    assert stops
    assert not heals & stops


def test_a_wrong_key_stops_and_a_broken_line_heals() -> None:
    assert FailureKind.AUTHENTICATION.stops
    assert FailureKind.QUOTA.stops
    assert FailureKind.CONNECTION.heals
    assert FailureKind.RATE_LIMITED.heals
    assert not FailureKind.INVALID_REQUEST.heals
    assert not FailureKind.INVALID_REQUEST.stops


@pytest.mark.parametrize("finish", Finish)
def test_a_refusal_is_an_answer(finish: Finish) -> None:
    answer = Answer("no", finish)
    assert answer.ok
    assert answer.refused == (finish in ("refusal", "content_filter"))


def test_a_failure_is_not_ok() -> None:
    assert not Failure(FailureKind.TIMEOUT, "too late").ok


def test_outcomes_do_not_change() -> None:
    for outcome in (Answer("x"), Failure(FailureKind.TIMEOUT, "x"), Usage(1, 2)):
        with pytest.raises(AttributeError):
            outcome.id = "other"  # type: ignore[union-attr, misc]


def test_usage_counts_cached_and_reasoning_tokens_once() -> None:
    assert Usage(10, 5, cached_tokens=8, reasoning_tokens=4).total_tokens == 15


def test_an_answer_survives_being_written_and_read() -> None:
    answer = Answer("hé\n", Finish.LENGTH, Usage(1, 2, 3), cost=Decimal("0.0001"), latency=0.5)
    assert msgspec.json.decode(msgspec.json.encode(answer), type=Answer) == answer
