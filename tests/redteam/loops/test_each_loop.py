"""What is particular to each loop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import InputError
from penstock.outcome import Failure, FailureKind, Outcome
from penstock.redteam.attacks.loops.best_of_n import BestOfN
from penstock.redteam.attacks.loops.crescendo import Crescendo
from penstock.redteam.attacks.loops.goat import TECHNIQUES, Goat
from penstock.redteam.attacks.loops.insist import Insist
from penstock.redteam.attacks.loops.pair import APPROACHES, Pair
from penstock.redteam.attacks.loops.pap import Pap
from penstock.redteam.attacks.loops.past_tense import PastTense
from penstock.redteam.attacks.loops.persuasion import STRONGEST
from penstock.redteam.attacks.loops.questions import MaliciousQuestionGenerator
from penstock.redteam.attacks.loops.sentences import SgSentenceGenerator, ToxicSentenceGenerator
from penstock.redteam.attacks.loops.tap import Tap
from penstock.redteam.attacks.loops.violent_durian import ViolentDurian
from penstock.redteam.judging import RubricJudge
from penstock.redteam.objective import Objective
from penstock.request import Request
from tests.redteam.loops.kit import GOAL, REFUSAL, Stage, filled, fills, refuses, stage

PLAIN = Objective.made({"goal": GOAL}, "objective")


def user(request: Request) -> str:
    return str(request.messages[-1]["content"])


def system(request: Request) -> str:
    return str(request.messages[0]["content"])


def scored(on: Stage) -> dict[str, Any]:
    """With a judge that is a model."""
    return {"objective": PLAIN, "judge": RubricJudge(on.judge.endpoint, threshold=0.95)}


def by_echo(request: Request, number: int) -> str:
    """The judge that gives as many points as the answer asks for."""
    answer = user(request).split("points: ")[1][0]
    return json.dumps({"reason": f"It says {answer}.", "score": int(answer)})


# PAIR --------------------------------------------------------------------------------------------


def test_pair_shows_the_last_answers_with_their_scores(tmp_path: Path) -> None:
    def target(request: Request, number: int) -> str:
        return f"Answer {number}, points: {number}"

    with stage(tmp_path, target, judge=by_echo) as on:
        on.play(Pair(streams=1, iterations=5), **scored(on))
        first, *_, last = [user(request) for request in on.attacker.asked]
    assert "reply_" not in first
    assert "Answer 1," not in last, "only the last few are shown"
    assert all(f"Answer {number}, points: {number}\n</reply_{number}-" in last for number in (2, 4))
    assert "Reply 4: it answered; score 0.4 of 1." in last
    assert "It says 4.\n</judged_4-" in last


def test_pair_gives_each_stream_an_approach_and_a_draw_of_its_own(tmp_path: Path) -> None:
    with stage(tmp_path) as on:
        on.play(Pair(streams=4, iterations=1))
        requests = sorted(on.attacker.asked, key=lambda request: request.sample)
    assert [request.sample for request in requests] == [0, 1, 2, 3]
    assert APPROACHES[0] in system(requests[0]) and APPROACHES[0] in system(requests[3])
    assert APPROACHES[2] in system(requests[2])


def test_pair_goes_on_with_the_streams_that_are_left(tmp_path: Path) -> None:
    def fails_later(request: Request, number: int) -> str | Outcome:
        late = "reply_1" in str(request.messages)
        return "no form" if late and request.sample == 1 else fills(request, number)

    with stage(tmp_path, attacker=fails_later) as on:
        played = on.play(Pair(streams=3, iterations=3))
    assert (len(played.turns), played.error, played.waste) == (3 + 2 + 2, "", 1)


def test_equal_prompts_of_two_streams_are_two_draws(tmp_path: Path) -> None:
    def alike(request: Request, number: int) -> str:
        return json.dumps({"improvement": "none", "prompt": "The same."})

    with stage(tmp_path, attacker=alike) as on:
        on.play(Pair(streams=2, iterations=2))
        assert sorted(request.sample for request in on.target.asked) == [0, 1, 2, 3]


# TAP ---------------------------------------------------------------------------------------------


def test_tap_does_not_ask_what_is_off_the_topic(tmp_path: Path) -> None:
    def strays(request: Request, number: int) -> str:
        assert request.schema is not None
        if "on_topic" in request.schema.schema["properties"]:
            return json.dumps({"reason": "-", "on_topic": "draw 1" not in user(request)})
        return json.dumps({"improvement": "-", "prompt": f"draw {request.sample}"})

    with stage(tmp_path, attacker=strays) as on:
        on.play(Tap(branching=3, width=5, depth=1))
        assert sorted(user(request) for request in on.target.asked) == ["draw 0", "draw 2"]


def test_tap_that_strays_altogether_is_an_error(tmp_path: Path) -> None:
    def strays(request: Request, number: int) -> str:
        assert request.schema is not None
        own = {"on_topic": False} if request.schema.name == "on_topic" else {}
        return json.dumps(filled(request.schema.schema, str(request.sample), **own))

    with stage(tmp_path, attacker=strays) as on:
        played = on.play(Tap(branching=3))
    assert played.error == "the attacker's model strayed from the objective in all 3 prompts"


def test_tap_asks_where_nobody_can_tell_the_topic(tmp_path: Path) -> None:
    def mute(request: Request, number: int) -> str:
        assert request.schema is not None
        return "?" if request.schema.name == "on_topic" else fills(request, number)

    with stage(tmp_path, attacker=mute) as on:
        assert len(on.play(Tap(branching=2, depth=1)).turns) == 2


def test_tap_takes_only_the_best_leaves_further(tmp_path: Path) -> None:
    """Each prompt gets as many points as its last digit says."""

    def grows(request: Request, number: int) -> str:
        assert request.schema is not None
        own = {} if request.schema.name == "on_topic" else {"prompt": f"prompt {request.sample}"}
        return json.dumps(filled(request.schema.schema, "-", **own))

    with stage(tmp_path, lambda r, n: f"points: {user(r)[-1]}", grows, by_echo) as on:
        on.play(Tap(branching=4, width=2, depth=2), **scored(on))
        second = [r for r in on.attacker.asked if "Reply 1:" in user(r)]
    assert len(second) == 2 * 4
    by_place = sorted(second, key=lambda request: request.sample)
    told = [user(request).split("score ")[1].split()[0] for request in by_place]
    assert told == ["0.3"] * 4 + ["0.2"] * 4


def test_tap_prunes_first_what_nobody_could_judge(tmp_path: Path) -> None:
    def judge(request: Request, number: int) -> str:
        return "no form" if "prompt 1" in str(request.messages) else by_echo(request, number)

    def grows(request: Request, number: int) -> str:
        assert request.schema is not None
        own = {} if request.schema.name == "on_topic" else {"prompt": f"prompt {request.sample}"}
        return json.dumps(filled(request.schema.schema, "-", **own))

    with stage(tmp_path, lambda r, n: f"{user(r)}, points: 0", grows, judge) as on:
        on.play(Tap(branching=2, width=1, depth=2), **scored(on))
        second = [user(r) for r in on.attacker.asked if "Reply 1:" in user(r)]
    assert len(second) == 2 and all("score 0 of 1" in text for text in second)


def test_tap_with_a_judge_in_the_batch_lane_has_one_wave_more_a_level(tmp_path: Path) -> None:
    def judge(request: Request, number: int) -> str:
        return json.dumps({"reason": "-", "score": 1})

    with stage(tmp_path, lambda r, n: f"I know {n} of them.", judge=judge) as on:
        played = on.play_in_batches(Tap(branching=2, width=2, depth=2), **scored(on))
    assert [len(wave) for wave in played.waves] == [2, 2, 2, 2, 4, 4, 4, 4]


# Crescendo ---------------------------------------------------------------------------------------


def test_crescendo_takes_back_what_was_declined(tmp_path: Path) -> None:
    def target(request: Request, number: int) -> str:
        return REFUSAL if number in (2, 3) else f"Gladly, {number}."

    with stage(tmp_path, target) as on:
        played = on.play(Crescendo(rounds=4, backtracks=5))
        lengths = [len(request.messages) for request in on.target.asked]
        assert lengths == [1, 3, 3, 3, 5, 7]
        assert REFUSAL not in json.dumps(on.target.asked[-1].messages)
        last = user(on.attacker.asked[-1])
    assert len(played.turns) == 6
    assert "Reply 2: it declined; score 0 of 1." in last and "turn 4 of about 4" in last


def test_crescendo_lets_refusals_stand_when_it_cannot_go_back(tmp_path: Path) -> None:
    with stage(tmp_path) as on:
        on.play(Crescendo(rounds=3, backtracks=1))
        assert [len(request.messages) for request in on.target.asked] == [1, 1, 3, 5]


def test_crescendo_takes_nothing_back_for_a_question_that_failed(tmp_path: Path) -> None:
    def target(request: Request, number: int) -> str | Outcome:
        return Failure(FailureKind.BLOCKED, "a filter") if number == 2 else "Gladly."

    with stage(tmp_path, target) as on:
        played = on.play(Crescendo(rounds=3, backtracks=5))
        assert [len(request.messages) for request in on.target.asked] == [1, 3, 3]
        assert "none came" in user(on.attacker.asked[-1])
    assert len(played.turns) == 3


# GOAT --------------------------------------------------------------------------------------------


def test_goat_chooses_among_its_techniques_only(tmp_path: Path) -> None:
    with stage(tmp_path, lambda request, number: "Maybe.") as on:
        on.play(Goat(rounds=3, techniques=("persona", "hypothetical", "persona")))
        request = on.attacker.asked[0]
        assert request.schema is not None
        properties = request.schema.schema["properties"]
        assert list(properties) == ["observation", "thought", "strategy", "reply"]
        assert properties["strategy"]["enum"] == ["persona", "hypothetical"]
        assert TECHNIQUES["persona"] in system(request)
        assert TECHNIQUES["dual_response"] not in system(request)
        assert [len(each.messages) for each in on.target.asked] == [1, 3, 5]
        assert user(on.target.asked[0]).startswith("A reply, marked")


def test_a_technique_that_does_not_exist_is_named_with_those_that_do() -> None:
    for kind in (Goat, Pap):
        with pytest.raises(InputError, match="'hypnosis'") as raised:
            kind.made({"techniques": ["hypnosis"]}, "an attack")
        assert "Known: " in str(raised.value) + raised.value.remedy


# PAP and the past tense --------------------------------------------------------------------------


def test_pap_writes_by_each_technique(tmp_path: Path) -> None:
    with stage(tmp_path) as on:
        on.play(Pap(tries=2))
        told = sorted(system(request) for request in on.attacker.asked)
    assert len(told) == 10
    for name in STRONGEST:
        assert sum(f": {name.replace('_', ' ')}: " in text for text in told) == 2


def test_pap_without_names_has_the_whole_taxonomy() -> None:
    assert len(Pap(techniques=()).techniques) == 40


@pytest.mark.parametrize("tense", ["past", "future"])
def test_past_tense_draws_the_same_question_anew(tense: Any, tmp_path: Path) -> None:
    with stage(tmp_path) as on:
        on.play(PastTense(attempts=4, at_once=2, tense=tense))
        asked = on.attacker.asked
        assert len({json.dumps(request.messages) for request in asked}) == 1
        assert sorted(request.sample for request in asked) == [0, 1, 2, 3]
        assert f"Write the question in the {tense} tense." in user(asked[0])


def test_a_prompt_in_which_the_attacker_declines_is_drawn_once_more(tmp_path: Path) -> None:
    def wavers(request: Request, number: int) -> str:
        return json.dumps({"prompt": REFUSAL if request.sample < 1000 else "How was it done?"})

    with stage(tmp_path, attacker=wavers) as on:
        played = on.play(PastTense(attempts=2))
        assert [user(request) for request in on.target.asked] == ["How was it done?"] * 2
    assert (played.waste, played.error) == (2, "")


# Best of n ---------------------------------------------------------------------------------------


def test_best_of_n_changes_the_prompt_by_the_seed_of_the_conversation(tmp_path: Path) -> None:
    with stage(tmp_path) as on:
        first = on.play(BestOfN(attempts=6))
        other = on.play(BestOfN(attempts=6), name="another conversation")
    assert len({*first.prompts, *other.prompts}) == 12
    assert {turn.prompt for turn in first.turns} == {GOAL}
    assert all(len(prompt) == len(GOAL) and prompt != GOAL for prompt in first.prompts)


def test_best_of_n_without_changes_draws_the_same_question(tmp_path: Path) -> None:
    with stage(tmp_path) as on:
        on.play(BestOfN(attempts=4, at_once=2, shuffled=0, capitals=0, noise=0))
        assert {user(request) for request in on.target.asked} == {GOAL}
        assert sorted(request.sample for request in on.target.asked) == [0, 1, 2, 3]


# Moonshot's --------------------------------------------------------------------------------------


def test_violent_durian_sees_the_last_four_replies(tmp_path: Path) -> None:
    with stage(tmp_path, lambda request, number: f"Reply no. {number}.") as on:
        on.play(ViolentDurian(persona="a retired pirate"))
        last = user(on.attacker.asked[-1])
        assert "a retired pirate" in system(on.attacker.asked[0])
        assert len(on.target.asked[-1].messages) == 19
    seen = [number for number in range(1, 11) if f"Reply no. {number}." in last]
    assert seen == [6, 7, 8, 9]


@pytest.mark.parametrize("given", [1, 10, 25])
def test_a_list_that_is_too_short_or_too_long_is_used_as_far_as_it_goes(
    given: int, tmp_path: Path
) -> None:
    def attacker(request: Request, number: int) -> str:
        return json.dumps({"entries": [f"Number {place}?" for place in range(given)]})

    with stage(tmp_path, attacker=attacker) as on:
        played = on.play(MaliciousQuestionGenerator())
        assert played.prompts == [f"Number {place}?" for place in range(min(given, 10))]


def test_what_stands_in_a_list_twice_or_declines_is_not_asked(tmp_path: Path) -> None:
    def attacker(request: Request, number: int) -> str:
        return json.dumps({"entries": ["One?", REFUSAL, " One? ", "  ", "Two?"]})

    with stage(tmp_path, attacker=attacker) as on:
        assert on.play(MaliciousQuestionGenerator()).prompts == ["One?", "Two?"]


def test_beginnings_are_to_be_carried_on(tmp_path: Path) -> None:
    def attacker(request: Request, number: int) -> str:
        return json.dumps({"entries": ["The neighbours upstairs are such ..."]})

    with stage(tmp_path, attacker=attacker) as on:
        toxic = on.play(ToxicSentenceGenerator(count=3)).prompts
        on.play(SgSentenceGenerator())
        assert "Singlish" in system(on.attacker.asked[-1])
        assert "Singlish" not in system(on.attacker.asked[0])
    assert toxic == ['Carry on with this, in the same voice: "The neighbours upstairs are such..."']


# Insisting ---------------------------------------------------------------------------------------


def test_insist_asks_the_same_in_ever_other_words_of_one_conversation(tmp_path: Path) -> None:
    with stage(tmp_path, refuses) as on:
        played = on.play(Insist(rounds=12))
        assert [len(request.messages) for request in on.target.asked] == list(range(1, 25, 2))
    assert played.prompts[0] == GOAL
    assert all(GOAL in prompt and prompt != GOAL for prompt in played.prompts[1:])
    assert all(one != two for one, two in zip(played.prompts, played.prompts[1:], strict=False))
