"""Success rates: known values, what counts and what does not, tries that hang together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import msgspec
import pytest
from scipy import stats  # type: ignore[import-untyped]

from penstock.metrics.statistics import JudgeAccuracy, corrected_rate
from penstock.metrics.statistics.means import clustered_error
from penstock.redteam.conversation import Conversation, Fate, fate_of
from penstock.redteam.rates import BY, CLUSTERED, Rate, rates_of
from penstock.redteam.turn import Turn, TurnStatus, Verdict

YES, NO, NONE, ERROR = Fate.SUCCEEDED, Fate.RESISTED, Fate.NO_ANSWER, Fate.ERROR


def talk(objective: object, fate: Fate, **more: Any) -> Conversation:
    plain: dict[str, Any] = {
        "number": 0, "id": "c", "endpoint": "e", "attack": "a", "objective": str(objective),
        "goal": "g", "fate": fate, "turns": 1, "judge": "rubric",
    }  # fmt: skip
    if fate is YES:
        plain["success_turn"] = 1
    return Conversation(**{**plain, **more})


def only(found: Iterable[Conversation], **more: Any) -> Rate:
    """The rate of the one endpoint."""
    [rate] = [rate for rate in rates_of(found, **more) if rate.by == {"endpoint": "e"}]
    return rate


def each_once(*fates: Fate) -> list[Conversation]:
    return [talk(place, fate) for place, fate in enumerate(fates)]


# Known values ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("succeeded", "of"), [(0, 12), (1, 20), (7, 20), (20, 20), (130, 400)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_limits_of_independent_tries_are_those_of_wilson(
    succeeded: int, of: int, level: float
) -> None:
    rate = only(each_once(*[YES] * succeeded, *[NO] * (of - succeeded)), level=level)
    known = stats.binomtest(succeeded, of).proportion_ci(level, method="wilson")
    assert rate.rate == succeeded / of and rate.decided == of
    assert (rate.low, rate.high) == pytest.approx((known.low, known.high), abs=1e-12)
    assert (rate.method, rate.level) == ("Wilson", level)


def test_a_textbook_example_by_hand() -> None:
    # Newcombe (1998): 15 of 148, 95 %: 0.0624 to 0.1605.
    rate = only(each_once(*[YES] * 15, *[NO] * 133))
    assert (round(rate.low or 0, 4), round(rate.high or 0, 4)) == (0.0624, 0.1605)


def test_errors_and_missing_answers_are_counted_apart_and_change_no_rate() -> None:
    decided = each_once(YES, NO, NO, YES)
    others = [talk(f"x{n}", fate) for n, fate in enumerate([NONE, ERROR, ERROR])]
    alone, together = only(decided), only([*decided, *others])
    assert (together.succeeded, together.resisted) == (2, 2)
    assert (together.no_answer, together.errors) == (1, 2)
    assert (together.rate, together.low, together.high) == (alone.rate, alone.low, alone.high)


def test_nothing_decided_has_no_rate_and_says_that_it_may_be_anything() -> None:
    rate = only([talk(1, NONE), talk(2, ERROR)], accuracy=JudgeAccuracy(0.9, 0.9))
    assert (rate.rate, rate.low, rate.high, rate.corrected) == (None, 0.0, 1.0, None)
    assert (rate.decided, rate.no_answer, rate.errors, rate.turns) == (0, 1, 1, None)


def test_no_conversations_have_no_rates() -> None:
    assert rates_of([]) == ()


def test_the_turns_to_success_are_those_of_the_successes() -> None:
    found = [talk(1, YES, turns=9, success_turn=2), talk(2, YES, success_turn=5), talk(3, NO)]
    assert only(found).turns == 3.5
    assert only(each_once(NO, NO)).turns is None


def test_a_success_on_the_way_to_more_turns_counts_once() -> None:
    turns = [_turn(1, True), _turn(2, False)]
    assert fate_of(turns, "") == (YES, "")
    assert fate_of(turns, "the attack broke later") == (YES, "")


def test_one_unjudged_turn_leaves_a_conversation_undecided() -> None:
    unjudged = Turn(
        number=2, endpoint="e", prompt="p", prepared="p", answer="x",
        status=TurnStatus.ANSWERED, verdict=Verdict(reason="the judge gave no score"),
    )  # fmt: skip
    assert fate_of([_turn(1, False), unjudged], "")[0] is ERROR
    assert "the judge gave no score" in fate_of([unjudged], "")[1]
    assert fate_of([_turn(1, False)], "") == (NO, "")
    failed = Turn(
        number=1, endpoint="e", prompt="p", prepared="p", status=TurnStatus.FAILED, error="down"
    )
    assert fate_of([failed], "") == (NONE, "down")
    assert fate_of([failed, _turn(2, False)], "") == (NO, "")
    assert fate_of([], "")[0] is NONE


def _turn(number: int, success: bool) -> Turn:
    return Turn(
        number=number, endpoint="e", prompt="p", prepared="p", answer="x",
        status=TurnStatus.ANSWERED, verdict=Verdict(success=success, value=float(success)),
    )  # fmt: skip


# By what --------------------------------------------------------------------------------------


def test_rates_are_told_by_every_way_to_group_them() -> None:
    found = [
        talk(n, YES if attack == "b64" else NO, endpoint=endpoint, attack=attack, category=kind)
        for n, kind in enumerate(["k1", "k2", "k1"])
        for endpoint in ("m1", "m2")
        for attack in ("plain", "b64")
    ]
    made = {tuple(sorted(rate.by.items())): rate for rate in rates_of(found)}
    assert len(made) == 2 + 2 + 2 + 4 + 4 + 8
    assert {tuple(rate.by) for rate in made.values()} == set(BY)
    assert made[("attack", "b64"),].succeeded == 6 and made[("attack", "plain"),].succeeded == 0
    assert made[("attack", "b64"), ("endpoint", "m2")].decided == 3
    assert made[("category", "k1"), ("endpoint", "m1")].decided == 4
    key = ("attack", "b64"), ("category", "k1"), ("endpoint", "m1")
    assert (made[key].succeeded, made[key].decided) == (2, 2)


def test_rates_stand_in_the_order_of_the_conversations() -> None:
    found = [talk(n, NO, endpoint=name) for n, name in enumerate(["z", "a", "m", "z"])]
    named = [rate.by["endpoint"] for rate in rates_of(found) if list(rate.by) == ["endpoint"]]
    assert named == ["z", "a", "m"]


def test_no_category_is_no_category() -> None:
    assert not any(list(rate.by) == ["category"] for rate in rates_of(each_once(YES, NO)))


def test_a_rate_is_written_and_read_again_unchanged() -> None:
    for rate in rates_of(clustered(3, seed=1), accuracy=JudgeAccuracy(0.9, 0.8)):
        assert msgspec.json.decode(msgspec.json.encode(rate), type=Rate) == rate


# Tries that hang together ---------------------------------------------------------------------


def clustered(tries: int, *, seed: int, objectives: int = 30) -> list[Conversation]:
    """Objectives that mostly succeed or fail whole, each tried several times."""
    chance = Random(seed)
    found = []
    for name in range(objectives):
        likely = chance.choice([0.1, 0.9])
        found += [talk(name, YES if chance.random() < likely else NO) for _ in range(tries)]
    return found


def test_tries_of_one_objective_that_agree_tell_no_more_than_one_try() -> None:
    once = each_once(*[YES] * 9, *[NO] * 21)
    rate = only([each for each in once for _ in range(6)])
    assert rate.method == CLUSTERED and rate.rate == 0.3
    alone = only(once)
    assert rate.low is not None and alone.low is not None
    assert rate.high is not None and alone.high is not None
    # Student's t for 29 degrees, and n - 1 under the error, widen it a little.
    assert rate.low < alone.low < rate.low + 0.02
    assert rate.high - 0.02 < alone.high < rate.high


def test_the_clustered_limits_are_those_made_by_hand() -> None:
    found = clustered(4, seed=3, objectives=12)
    rate = only(found)
    values = [float(each.fate is YES) for each in found]
    error = clustered_error(values, [each.objective for each in found])
    assert error is not None and rate.rate is not None and rate.method == CLUSTERED
    share, z, t = rate.rate, stats.norm.ppf(0.975), stats.t.ppf(0.975, 11)
    n = share * (1 - share) / error**2 * (z / t) ** 2
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n * n))
    assert (rate.low, rate.high) == pytest.approx((middle - half, middle + half), abs=1e-9)


def test_tries_that_differ_within_objectives_are_never_called_certain() -> None:
    # Every objective falls to the one attack and never to the other: no spread between objectives.
    found = [talk(n, fate) for n in range(4) for fate in (YES, NO)]
    rate, known = only(found), stats.binomtest(4, 8).proportion_ci(0.95, method="wilson")
    assert rate.rate == 0.5
    assert (rate.low, rate.high) == pytest.approx((known.low, known.high))


@pytest.mark.parametrize("fate", [YES, NO])
def test_where_all_or_none_succeeded_the_limits_stay_open_to_one_side(fate: Fate) -> None:
    rate = only([talk(n, fate) for n in range(5) for _ in range(4)])
    known = stats.binomtest(20 * (fate is YES), 20).proportion_ci(0.95, method="wilson")
    assert (rate.low, rate.high) == pytest.approx((known.low, known.high), abs=1e-12)
    assert rate.low == 0 or rate.high == 1
    assert (rate.low, rate.high) != (rate.rate, rate.rate)


def test_one_objective_tried_often_has_limits_too() -> None:
    rate = only([talk(1, YES), talk(1, NO), talk(1, NO)])
    assert rate.low is not None and rate.high is not None
    assert 0 < rate.low < 1 / 3 < rate.high < 1


def test_limits_hold_the_rate_and_are_never_narrower_than_for_independent_tries() -> None:
    for seed in range(40):
        found = clustered(1 + seed % 5, seed=seed, objectives=2 + seed % 9)
        rate = only(found)
        count = sum(each.fate is YES for each in found)
        known = stats.binomtest(count, len(found)).proportion_ci(0.95, method="wilson")
        assert rate.rate is not None and rate.low is not None and rate.high is not None
        assert 0 <= rate.low <= rate.rate <= rate.high <= 1
        assert rate.high - rate.low >= known.high - known.low - 1e-12


def test_clustered_limits_hold_the_truth_about_as_often_as_they_say() -> None:
    # Half of the objectives fall nine times in ten, half of them once in ten: the truth is 1/2.
    held = 0
    for seed in range(150):
        rate = only(clustered(6, seed=seed))
        assert rate.low is not None and rate.high is not None
        held += rate.low <= 0.5 <= rate.high
    assert 0.9 <= held / 150 <= 0.995


# Corrected for the judge ----------------------------------------------------------------------


def test_a_known_judge_is_corrected_for_as_rogan_and_gladen_do() -> None:
    rate = only(each_once(*[YES] * 30, *[NO] * 70), accuracy=JudgeAccuracy(0.9, 0.8))
    assert rate.corrected == pytest.approx((0.3 + 0.8 - 1) / 0.7)
    known = stats.binomtest(30, 100).proportion_ci(0.95, method="wilson")
    assert rate.corrected_low == pytest.approx((known.low - 0.2) / 0.7)
    assert rate.corrected_high == pytest.approx((known.high - 0.2) / 0.7)
    assert rate.rate == 0.3


def test_a_judge_that_never_errs_changes_nothing() -> None:
    for rate in rates_of(clustered(3, seed=2), accuracy=JudgeAccuracy(1.0, 1.0)):
        found = (rate.corrected, rate.corrected_low, rate.corrected_high)
        assert found == pytest.approx((rate.rate, rate.low, rate.high), abs=1e-12)


def test_a_corrected_rate_stays_between_nothing_and_everything() -> None:
    rate = only(each_once(YES, *[NO] * 19), accuracy=JudgeAccuracy(0.95, 0.8))
    assert (rate.corrected, rate.corrected_low) == (0.0, 0.0)
    assert rate.corrected_high is not None and 0 < rate.corrected_high < 1


def test_a_judge_known_from_a_sample_leaves_more_open() -> None:
    found = each_once(*[YES] * 30, *[NO] * 70)
    known = only(found, accuracy=JudgeAccuracy(0.9, 0.8))
    sampled = only(found, accuracy=JudgeAccuracy(0.9, 0.8, positives=40, negatives=40))
    by_hand = corrected_rate(30, 100, JudgeAccuracy(0.9, 0.8, positives=40, negatives=40))
    assert _width(sampled) > _width(known)
    assert sampled.corrected_high == by_hand.high


def test_tries_that_hang_together_leave_more_open_after_the_correction_too() -> None:
    accuracy = JudgeAccuracy(0.9, 0.9)
    together, apart = clustered(6, seed=4), clustered(6, seed=4)
    loose = [msgspec.structs.replace(each, objective=str(n)) for n, each in enumerate(apart)]
    assert _width(only(together, accuracy=accuracy)) > 1.5 * _width(only(loose, accuracy=accuracy))


def _width(rate: Rate) -> float:
    assert rate.corrected_low is not None and rate.corrected_high is not None
    return rate.corrected_high - rate.corrected_low


@pytest.mark.parametrize("judge", ["canary", "pattern", "json_valid", "leakage"])
def test_what_is_told_by_a_secret_or_a_rule_is_not_corrected(judge: str) -> None:
    found = [talk(n, YES if n < 3 else NO, judge=judge) for n in range(10)]
    rate = only(found, accuracy=JudgeAccuracy(0.8, 0.8))
    assert (rate.rate, rate.corrected, rate.corrected_low) == (0.3, None, None)


@pytest.mark.parametrize("judge", ["rubric", "refusal", "safety_judge", "gone_with_its_package"])
def test_whoever_may_err_is_corrected_for(judge: str) -> None:
    found = [talk(n, YES if n < 5 else NO, judge=judge) for n in range(10)]
    assert only(found, accuracy=JudgeAccuracy(0.9, 0.9)).corrected == pytest.approx(0.5)


def test_where_both_were_used_only_the_judged_part_is_corrected() -> None:
    exact = [talk(f"x{n}", YES if n < 20 else NO, judge="canary") for n in range(40)]
    judged = [talk(n, YES if n < 30 else NO) for n in range(60)]
    rate = only([*exact, *judged], accuracy=JudgeAccuracy(0.9, 0.8))
    part = only(judged, accuracy=JudgeAccuracy(0.9, 0.8))
    alone = only(exact)
    assert part.corrected == pytest.approx((0.5 - 0.2) / 0.7)
    value = 0.4 * 0.5 + 0.6 * (part.corrected or 0)
    assert rate.corrected == pytest.approx(value)
    below = math.hypot(
        0.4 * (0.5 - (alone.low or 0)), 0.6 * ((part.corrected or 0) - (part.corrected_low or 0))
    )
    assert rate.corrected_low == pytest.approx(value - below)
    assert rate.corrected_high is not None and rate.corrected_high > value


def test_without_a_known_judge_nothing_is_corrected() -> None:
    found: Sequence[Rate] = rates_of(each_once(YES, NO))
    assert all(rate.corrected is rate.corrected_low is None for rate in found)
