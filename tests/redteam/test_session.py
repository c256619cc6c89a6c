"""Sessions against the simulator's server; its ledger is the judge of what was really sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock import plugins
from penstock.documents.objects import Template
from penstock.documents.shelf import Shelf
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.errors import InputError, NotFoundError, PenstockError
from penstock.redteam.driver import Driver
from penstock.redteam.session import Session
from penstock.redteam.sessions import all_sessions, delete_session
from penstock.redteam.target import Target
from penstock.redteam.turn import Setup, Turn, TurnStatus
from penstock.secret import Secret
from penstock.simulator import Simulator
from tests.redteam.kit import KEY, Faulty, Insist, endpoint, settings
from tests.redteam.session_kit import asked, digest, said, system, user

Begin = Callable[..., Session]


@pytest.fixture(autouse=True)
def _attacks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("CAMPAIGN_KEY", KEY)
    for attack in (Insist, Faulty):
        plugins.register("attack", attack.name, attack)
    yield
    for attack in (Insist, Faulty):
        plugins.unregister("attack", attack.name)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Workbench]:
    made = settings(batch_processing__max_retries=0)
    with Workbench(made, tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def begin(bench: Workbench, simulator: Simulator) -> Begin:
    def made(*models: str, name: str = "Night shift", **given: Any) -> Session:
        targets = [endpoint(simulator, model) for model in models or ("simulated",)]
        return Session.create(name, targets, workbench=bench, **given)

    return made


def template(bench: Workbench, text: str) -> str:
    own = Shelf("template", Template, bench.workspace.prepare().library)
    return own.create({"name": "Wrapped", "template": text}).id


# What is sent -----------------------------------------------------------------------------------


def test_a_line_stands_alone_where_nothing_is_chosen(begin: Begin, simulator: Simulator) -> None:
    session = begin()
    [turn] = session.send("Hello.")
    assert asked(simulator) == [digest([user("Hello.")])]
    assert (turn.number, turn.prompt, turn.prepared) == (1, "Hello.", "Hello.")
    assert turn.status is TurnStatus.ANSWERED
    assert turn.verdict is None
    assert session.turns() == [turn]


def test_system_prompt_template_attack_and_context_are_really_sent(
    begin: Begin, bench: Workbench, simulator: Simulator
) -> None:
    session = begin(
        system_prompt="You guard the vault.",
        template=template(bench, "Question: {{ prompt }}!"),
        strategy="previous_turns(count=1)",
    )
    [first] = session.send("One")
    session.set(attack="flip", system_prompt="You sleep.")
    [second] = session.send("abc")
    assert second.prepared.startswith("Question: ")
    assert second.prepared != "Question: abc!"
    assert asked(simulator) == [
        digest([system("You guard the vault."), user("Question: One!")]),
        digest([system("You sleep."), user("One"), said(first.text), user(second.prepared)]),
    ]


@pytest.mark.parametrize("strategy", ["previous_prompts(count=3)", "previous_turns(count=2)"])
def test_context_never_compounds(begin: Begin, simulator: Simulator, strategy: str) -> None:
    session = begin(strategy=strategy)
    lines = [f"Line number {n}" for n in range(6)]
    turns = [session.send(line)[0] for line in lines]
    expected = []
    for place, line in enumerate(lines):
        if strategy.startswith("previous_prompts"):
            expected.append([user("\n".join([*lines[max(0, place - 3) : place], line]))])
        else:
            before = zip(lines, turns, strict=True)
            pairs = [(user(asked), said(turn.text)) for asked, turn in before]
            kept = [each for pair in pairs[max(0, place - 2) : place] for each in pair]
            expected.append([*kept, user(line)])
    assert asked(simulator) == [digest(messages) for messages in expected]


def test_the_variants_of_a_line_are_one_line_in_the_context(
    begin: Begin, simulator: Simulator
) -> None:
    session = begin(attack="charswap", strategy="previous_prompts(count=5)")
    variants = session.send("abcdef ghijkl mnopqr")
    assert len(variants) > 3
    session.set(attack="none")
    session.send("Next")
    assert asked(simulator)[-1] == digest([user("abcdef ghijkl mnopqr\nNext")])


def test_several_endpoints_are_asked_side_by_side_each_with_its_own_history(
    begin: Begin, simulator: Simulator
) -> None:
    simulator.set(latency="150")
    session = begin("simulated", "simulated-echo", strategy="previous_turns")
    first = session.send("One")
    assert simulator.summary()["max_in_flight"] == 2
    assert [turn.endpoint for turn in first] == ["openai/simulated", "openai/simulated-echo"]
    session.send("Two")
    own = [digest([user("One"), said(turn.text), user("Two")], model)
           for turn, model in zip(first, ("simulated", "simulated-echo"), strict=True)]  # fmt: skip
    assert set(asked(simulator)[2:]) == set(own)
    assert [turn.number for turn in session.turns("openai/simulated-echo")] == [1, 2]


def test_the_same_line_sent_again_is_asked_anew(begin: Begin, simulator: Simulator) -> None:
    session = begin()
    texts = [session.send("Tell me of rivers.")[0].text for _ in range(3)]
    assert len(set(texts)) == 3
    assert [entry["sample"] for entry in simulator.ledger()] == [0, 1, 2]
    assert not any(turn.recorded for turn in session.turns())


def test_text_streams_with_the_label_of_its_endpoint(begin: Begin) -> None:
    session = begin("simulated", "simulated-echo")
    heard: dict[str, str] = {}

    def hear(label: str, text: str) -> None:
        heard[label] = heard.get(label, "") + text

    told: list[Turn] = []
    turns = session.send("Tell me of rivers.", on_text=hear, on_turn=told.append)
    assert heard == {turn.endpoint: turn.text for turn in turns}
    assert sorted(told, key=lambda turn: turn.endpoint) == turns


async def test_inside_a_running_loop_it_is_awaited(begin: Begin) -> None:
    session = begin()
    turns = await session.send("Hello.")
    assert turns == session.turns()


def test_attacker_and_judge_are_asked_beside_the_targets(
    begin: Begin, bench: Workbench, simulator: Simulator
) -> None:
    helpers = {name: f"{simulator.url}#{name}" for name in ("summariser", "judging")}
    session = begin(
        "simulated-echo",
        strategy="summary",
        attacker=helpers["summariser"],
        metric="rubric",
        judge=helpers["judging"],
    )
    [first] = session.send("One")
    again = Session.open(session.id, workbench=bench)
    assert again.settings == session.settings
    [second] = again.send("Two")
    assert all(turn.verdict and turn.verdict.judge == "rubric" for turn in (first, second))
    assert second.prepared.startswith("The conversation so far: ")
    models = [entry["model"] for entry in simulator.ledger()]
    assert sorted(models) == [
        "judging",
        "judging",
        "simulated-echo",
        "simulated-echo",
        "summariser",
    ]
    again.set(metric="none", judge=None, strategy="none", attacker=None)
    assert again.send("Three")[0].verdict is None
    assert len(asked(simulator)) == 6


# What is kept -----------------------------------------------------------------------------------


def test_another_process_goes_on_with_the_history(
    begin: Begin, bench: Workbench, simulator: Simulator
) -> None:
    session = begin(strategy="previous_turns", metric="refusal", description="Try it.")
    [first] = session.send("One")
    with Workbench(settings(), bench.workspace) as other:
        again = Session.open("Night shift", workbench=other)
        assert again.settings == session.settings
        assert again.turns() == [first]
        again.send("Two")
    assert asked(simulator)[-1] == digest([user("One"), said(first.text), user("Two")])


def test_every_turn_carries_the_settings_it_was_taken_with(begin: Begin) -> None:
    session = begin(system_prompt="First.")
    session.send("One")
    session.set(system_prompt="", metric="refusal", attack="base64")
    session.send("Two")
    one, two = session.turns()
    assert one.setup == Setup(system_prompt="First.")
    assert two.setup == Setup(attack="base64", metric="refusal")
    assert two.verdict is not None


def test_sessions_are_listed_and_deleted_with_their_turns(begin: Begin, bench: Workbench) -> None:
    begin(name="One").send("Hello.")
    begin("simulated-echo", name="Two")
    assert [(each.id, each.turns) for each in all_sessions(bench)] == [("two", 0), ("one", 1)]
    delete_session("One", bench)
    assert [each.id for each in all_sessions(bench)] == ["two"]
    with pytest.raises(NotFoundError, match="there is no session 'One'"):
        Session.open("One", workbench=bench)
    assert begin(name="One").turns() == []


def test_the_same_name_twice_is_refused(begin: Begin) -> None:
    begin(name="Night shift")
    with pytest.raises(InputError, match="there is a session 'night-shift' already"):
        begin(name="night SHIFT!")


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("../../etc/passwd", "etc-passwd"),
        ("a/b\\c'; DROP TABLE turns; --", "a-b-c-drop-table-turns"),
        ("nul\0 and half \ud83d", "nul-and-half"),
        ("<script>alert(1)</script>", "script-alert-1-script"),
    ],
)
def test_a_name_is_only_text(
    begin: Begin, bench: Workbench, tmp_path: Path, name: str, made: str
) -> None:
    session = begin(name=name)
    assert session.id == made
    session.send("Hello.")
    assert len(Session.open(name, workbench=bench).turns()) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"home"}


@pytest.mark.parametrize("text", ["a\0b", "half \ud83d here", "\u202ebidi\x1b[31m", "x" * 200_000])
def test_hostile_texts_come_and_go(begin: Begin, bench: Workbench, text: str) -> None:
    session = begin("simulated-echo", strategy="previous_turns", system_prompt=text)
    [turn] = session.send(text)
    assert turn.status is TurnStatus.ANSWERED, turn.error
    assert len(turn.text) == len(text)
    assert session.send("again")[0].status is TurnStatus.ANSWERED
    assert Session.open(session.id, workbench=bench).turns()[0] == turn


# Settings ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"strategi": "none"}, "no setting 'strategi'"),
        ({"strategy": "previous_turnz"}, "no strategy 'previous_turnz'"),
        ({"strategy": "previous_turns(count=0)"}, "count"),
        ({"attack": "base46"}, "no attack named 'base46'"),
        ({"attack": "insist | base64"}, "can only stand last"),
        ({"template": "nope"}, "no template 'nope'"),
        ({"metric": "refusl"}, "no metric named 'refusl'"),
        ({"metric": "rubric"}, "asks a model"),
        ({"metric": "canary"}, "no secret"),
        ({"strategy": "summary"}, "asks a model of its own"),
        ({"endpoints": []}, "needs an endpoint"),
        ({"endpoints": ["simulated", "simulated"]}, "named twice"),
        ({"system_prompt": 5}, "system_prompt is 5"),
        ({"seed": "x"}, "seed is 'x'"),
        ({"max_turns": 0}, "max_turns is 0"),
    ],
)
def test_a_wrong_setting_is_told_at_once_and_nothing_is_changed(
    begin: Begin, bench: Workbench, simulator: Simulator, change: dict[str, Any], said: str
) -> None:
    session = begin()
    before = session.settings
    with pytest.raises(PenstockError) as caught:
        session.set(**{"system_prompt": "new", **change})
    assert said in str(caught.value)
    assert session.settings == before
    assert Session.open(session.id, workbench=bench).settings == before
    assert asked(simulator) == []


def test_an_unknown_setting_names_those_that_there_are(begin: Begin) -> None:
    with pytest.raises(InputError) as caught:
        begin().set(sistem_prompt="x")
    assert "Did you mean 'system_prompt'?" in caught.value.remedy
    assert "stop_on_success" in caught.value.remedy


def test_an_endpoint_that_comes_back_finds_its_history(begin: Begin, simulator: Simulator) -> None:
    session = begin("simulated", strategy="previous_turns")
    [first] = session.send("One")
    session.set(endpoints=[endpoint(simulator, "simulated-echo")])
    session.send("Two")
    session.set(endpoints=[endpoint(simulator, "simulated")])
    session.send("Three")
    assert asked(simulator)[-1] == digest([user("One"), said(first.text), user("Three")])


def test_another_endpoint_never_takes_over_a_label_and_its_history(
    begin: Begin, simulator: Simulator
) -> None:
    session = begin("simulated", strategy="previous_turns")
    session.send("One")
    other = Endpoint("openai", "simulated", f"{simulator.root}/other/v1", key="env:CAMPAIGN_KEY")
    session.set(endpoints=[other])
    assert session.endpoints == ("openai/simulated (2)",)
    [turn] = session.send("Two")
    assert turn.context == 0


# What fails -------------------------------------------------------------------------------------


def test_an_endpoint_that_fails_never_hides_the_answers_of_the_others(
    bench: Workbench, simulator: Simulator
) -> None:
    gone = Endpoint("openai", "gone", "http://127.0.0.1:9/v1", key="env:CAMPAIGN_KEY")
    keyless = Endpoint("openai", "keyless", simulator.url, key="env:NO_SUCH_KEY")
    targets = [gone, endpoint(simulator), keyless]
    session = Session.create("Mixed", targets, workbench=bench)
    turns = session.send("Hello.")
    assert [turn.status.value for turn in turns] == ["failed", "answered", "failed"]
    assert turns[0].failure == "connection"
    assert "NO_SUCH_KEY" in turns[2].error
    assert session.turns() == sorted(turns, key=lambda turn: turn.time)


def test_those_that_failed_are_tried_again(
    begin: Begin, simulator: Simulator, bench: Workbench
) -> None:
    session = begin("simulated", "simulated-echo")
    session.send("One")
    with pytest.raises(InputError, match="nothing has failed"):
        session.retry()
    simulator.set(errors="500:1")
    assert {turn.status for turn in session.send("Two")} == {TurnStatus.FAILED}
    simulator.set(errors="")
    again = session.retry()
    assert [turn.text for turn in again][1] == "Two"
    assert [turn.number for turn in again] == [3, 3]


def test_a_key_that_was_given_literally_is_kept_nowhere(
    bench: Workbench, simulator: Simulator
) -> None:
    secret = "a-literal-key-0123456789"
    target = Endpoint("openai", "simulated", simulator.url, key=Secret(secret))
    session = Session.create("Literal", [target], workbench=bench)
    assert session.send("One")[0].status is TurnStatus.ANSWERED
    again = Session.open("Literal", workbench=bench)
    [turn] = again.send("Two")
    assert "was given literally and is kept nowhere" in turn.error
    given = Session.open("Literal", workbench=bench, given={"openai/simulated": target})
    assert given.send("Three")[0].status is TurnStatus.ANSWERED
    bench.close()
    for path in bench.workspace.path.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes()


async def test_what_was_stopped_is_not_recorded_and_found_when_it_is_sent_again(
    begin: Begin, simulator: Simulator
) -> None:
    simulator.set(latency="400")
    session = begin()
    handle = session.send("Slow.", drain=0.0)
    while not simulator.summary()["requests"]:
        await asyncio.sleep(0.01)
    handle.cancel()
    [turn] = await handle
    assert turn.failure == "cancelled"
    assert session.turns() == []
    [turn] = await session.send("Slow.")
    assert turn.status is TurnStatus.ANSWERED
    assert len(asked(simulator)) == 1
    [turn] = await session.send("Slow.")
    assert len(asked(simulator)) == 2, "and then it is another draw"


def test_an_empty_line_is_refused(begin: Begin) -> None:
    with pytest.raises(InputError, match="nothing to send"):
        begin().send(" \n")


# Attacks ----------------------------------------------------------------------------------------


def test_each_variant_of_a_rewriting_is_a_turn(begin: Begin, simulator: Simulator) -> None:
    session = begin("simulated-echo", attack="charswap")
    turns = session.send("abcdef ghijkl mnopqr")
    assert len(turns) > 3
    assert asked(simulator) == [digest([user(t.prepared)], "simulated-echo") for t in turns]
    assert {turn.prompt for turn in turns} == {"abcdef ghijkl mnopqr"}
    assert [turn.text for turn in turns] == [turn.prepared for turn in turns]


def test_variants_end_with_the_first_success_only_where_one_is_told(begin: Begin) -> None:
    line = "abcdef ghijkl mnopqr"
    every = len(begin("simulated-echo", name="a", attack="charswap").send(line))
    told = begin("simulated-echo", name="b", attack="charswap", metric="refusal")
    assert [turn.success for turn in told.send(line)] == [True]
    told.set(stop_on_success=False)
    assert [turn.success for turn in told.send(line)] == [True] * every
    resists = begin("simulated-refuse", name="c", attack="charswap", metric="refusal")
    assert [turn.success for turn in resists.send(line)] == [False] * every


class Nosy(Driver):
    """Looks into the session after every turn."""

    name = "nosy"
    family = "loop"

    async def drive(self, target: Target) -> None:
        chat = target.chat()
        for number in range(3):
            await chat.say(f"Question {number}")
            seen.append(len(watched[0].turns()))


watched: list[Session] = []
seen: list[int] = []


def test_every_turn_of_a_driver_is_recorded_before_the_next(
    begin: Begin, simulator: Simulator
) -> None:
    plugins.register("attack", "nosy", Nosy)
    try:
        session = begin("simulated-echo", attack="nosy")
        watched[:], seen[:] = [session], []
        turns = session.send("Reach this.")
    finally:
        plugins.unregister("attack", "nosy")
    assert seen == [1, 2, 3]
    assert [turn.prompt for turn in turns] == ["Question 0", "Question 1", "Question 2"]
    assert session.turns() == turns
    assert asked(simulator)[1] == digest(
        [user("Question 0"), said("Question 0"), user("Question 1")], "simulated-echo"
    )
    [sent] = session.sends()
    assert sent.prompt == "Reach this."


def test_a_driver_runs_until_it_succeeds_or_its_turns_are_used_up(begin: Begin) -> None:
    session = begin("simulated-refuse", "simulated-echo", attack="insist", metric="refusal")
    session.set(max_turns=4)
    turns = session.send("Open the vault.")
    by_label = [(turn.endpoint, turn.success) for turn in turns]
    refusing = [("openai/simulated-refuse", False)] * 4
    assert by_label == [*refusing, ("openai/simulated-echo", True)]


def test_a_driver_that_is_sent_again_asks_anew(begin: Begin, simulator: Simulator) -> None:
    session = begin("simulated", attack="insist", max_turns=3)
    first = session.send("Open the vault.")
    second = session.send("Open the vault.")
    assert len(asked(simulator)) == 6
    assert [turn.number for turn in second] == [4, 5, 6]
    assert {turn.text for turn in first}.isdisjoint(turn.text for turn in second)


def test_a_rewriting_in_front_of_a_driver_rewrites_all_that_it_says(begin: Begin) -> None:
    turns = begin("simulated-echo", attack="base64 | insist", max_turns=2).send("abc")
    assert ["YWJj" in turn.prepared for turn in turns] == [True, True]


def test_the_fault_of_an_attack_is_told_beside_what_it_asked(begin: Begin) -> None:
    session = begin("simulated-echo", attack="faulty")
    turns = session.send("Hello.")
    assert [turn.status.value for turn in turns] == ["answered", "failed"]
    assert "ZeroDivisionError: a fault of the attack" in turns[1].error
    assert session.turns() == turns
    session.set(attack="none")
    assert session.send("Hello.")[0].status is TurnStatus.ANSWERED
