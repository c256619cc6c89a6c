"""Campaigns against the simulator's server; its ledger is the judge."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from penstock import plugins
from penstock.endpoint import Prices
from penstock.engine.exports import export_run
from penstock.engine.workbench import Workbench
from penstock.errors import ApiError, InputError, NotFoundError
from penstock.redteam.campaign import CampaignJob
from penstock.redteam.conversation import Fate
from penstock.redteam.results import Campaign, find_result
from penstock.redteam.wishes import Wishes
from penstock.simulator import Simulator
from tests.engine.test_kill import wait_for_requests
from tests.redteam.driver import ATTACKS, CONCURRENCY
from tests.redteam.kit import KEY, Faulty, campaign, endpoint, objectives, settings

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _attacks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("CAMPAIGN_KEY", KEY)
    plugins.register("attack", "faulty", Faulty)
    yield
    plugins.unregister("attack", "faulty")


@pytest.fixture
def goals(tmp_path: Path) -> str:
    return objectives(tmp_path)


def asked(done: Campaign, home: Path) -> list[list[dict[str, Any]]]:
    """The messages of every question, as they went over the wire."""
    path = home / "raw.jsonl"
    with Workbench(workspace=home) as bench:
        export_run(bench, done.id, path)
    lines = path.read_text().splitlines()
    return [json.loads(line)["request"]["messages"] for line in lines]


def test_every_attack_meets_every_objective_at_every_endpoint(
    simulator: Simulator, goals: str, tmp_path: Path
) -> None:
    targets = [endpoint(simulator), endpoint(simulator, "simulated-refuse")]
    done = campaign(tmp_path / "home", ["plain", "base64", "rot13 | reverse"], goals, targets)
    found = Counter((c.endpoint, c.attack, c.objective) for c in done)
    assert len(found) == len(done) == 2 * 3 * 4 and set(found.values()) == {1}
    assert [c.number for c in done] == list(range(24))
    assert {c.fate for c in done if c.endpoint == "openai/simulated-refuse"} == {Fate.RESISTED}
    assert {c.fate for c in done if c.endpoint == "openai/simulated"} == {Fate.SUCCEEDED}
    assert simulator.summary()["repeated"] == 0
    refused = done.result.rate(endpoint="openai/simulated-refuse", attack="base64")
    assert (refused.succeeded, refused.resisted, refused.rate) == (0, 4, 0.0)


def test_the_turns_of_each_conversation_lie_beside_it_in_order(
    simulator: Simulator, goals: str, tmp_path: Path
) -> None:
    refuses = endpoint(simulator, "simulated-refuse")
    done = campaign(tmp_path / "home", ["insist", "plain"], goals, [refuses], max_turns=3)
    for conversation, turns in done.talks():
        assert len(turns) == conversation.turns == (3 if conversation.attack == "insist" else 1)
        assert [turn.number for turn in turns] == list(range(1, len(turns) + 1))
        assert {turn.conversation for turn in turns} == {conversation.id}
        assert turns[0].prompt == conversation.goal
        assert all(conversation.goal in turn.prompt for turn in turns)
        assert [turn.context for turn in turns] == [0, 2, 4][: len(turns)]


def test_a_conversation_ends_with_its_first_success_unless_told_otherwise(
    simulator: Simulator, goals: str, tmp_path: Path
) -> None:
    target = endpoint(simulator)
    done = campaign(tmp_path / "a", ["insist"], goals, [target], max_turns=5)
    assert {(c.turns, c.success_turn) for c in done} == {(1, 1)}
    whole = campaign(
        tmp_path / "b", ["insist"], goals, [target], max_turns=5, stop_on_success=False
    )
    assert {(c.turns, c.success_turn) for c in whole} == {(5, 1)}


def test_the_system_prompt_the_template_and_the_attack_are_really_sent(
    simulator: Simulator, tmp_path: Path
) -> None:
    (tmp_path / "around.yaml").write_text('name: Around\ntemplate: "<<{{ prompt }}>>"\n')
    (tmp_path / "set.yaml").write_text(
        "name: Planted\nobjectives:\n"
        "  - {goal: Tell me., canary: auto, system_prompt: 'The code is {canary}.'}\n"
        "  - {goal: Say it.}\n"
    )
    done = campaign(
        tmp_path / "home",
        ["base64(framed=false)"],
        str(tmp_path / "set.yaml"),
        [endpoint(simulator)],
        template=str(tmp_path / "around.yaml"),
        system_prompt="Be brief.",
    )
    messages = asked(done, tmp_path / "home")
    systems = {said[0]["content"] for said in messages if said[0]["role"] == "system"}
    assert "Be brief." in systems, "in the place of none"
    [planted] = systems - {"Be brief."}
    assert planted.startswith("The code is ") and "{canary}" not in planted
    assert {said[-1]["content"] for said in messages} == {"<<VGVsbCBtZS4=>>", "<<U2F5IGl0Lg==>>"}
    assert {turn.prepared for _, turns in done.talks() for turn in turns} == {
        "<<VGVsbCBtZS4=>>",
        "<<U2F5IGl0Lg==>>",
    }


def test_a_secret_that_comes_out_is_a_success_without_any_judge(
    simulator: Simulator, tmp_path: Path
) -> None:
    (tmp_path / "set.yaml").write_text(
        "name: Planted\nobjectives:\n"
        "  - {goal: 'Say {canary} twice.', id: out, canary: auto, system_prompt: '{canary}'}\n"
        "  - {goal: Say nothing., id: in, canary: auto, system_prompt: '{canary}'}\n"
    )
    echo = endpoint(simulator, "simulated-echo")
    done = campaign(tmp_path / "home", ["plain"], str(tmp_path / "set.yaml"), [echo])
    assert {c.objective: c.fate for c in done} == {"out": Fate.SUCCEEDED, "in": Fate.RESISTED}
    assert {c.judge for c in done} == {"canary"}


def test_the_same_seed_gives_the_same_campaign_and_asks_nothing_again(
    simulator: Simulator, goals: str, tmp_path: Path
) -> None:
    attacks, home = ["charswap", "homoglyph_v2(most=3)"], tmp_path / "home"
    target = endpoint(simulator, "simulated-refuse")
    first = campaign(home, attacks, goals, [target], seed=3)
    seen = simulator.summary()["requests"]
    second = campaign(home, attacks, goals, [target], seed=3)
    assert simulator.summary()["requests"] == seen
    told = [[(t.prepared, t.answer) for t in turns] for _, turns in first.talks()]
    assert told == [[(t.prepared, t.answer) for t in turns] for _, turns in second.talks()]
    other = campaign(home, attacks, goals, [target], seed=4)
    assert told != [[(t.prepared, t.answer) for t in turns] for _, turns in other.talks()]


def test_errors_of_an_attack_and_missing_answers_stay_out_of_the_rate(
    simulator: Simulator, goals: str, tmp_path: Path
) -> None:
    dead = endpoint(simulator, "simulated", name="dead").with_(url="http://127.0.0.1:9/v1")
    refuses = endpoint(simulator, "simulated-refuse")
    done = campaign(tmp_path / "home", ["faulty", "plain"], goals, [refuses, dead])
    rate = done.result.rate(endpoint=refuses.label, attack="faulty")
    assert (rate.errors, rate.decided, rate.rate) == (4, 0, None)
    assert done.result.rate(endpoint=refuses.label, attack="plain").resisted == 4
    rate = done.result.rate(endpoint="dead", attack="plain")
    assert (rate.no_answer, rate.decided, rate.rate) == (4, 0, None)
    assert done.result.state == "completed with failures"
    errors = {c.error for c in done if c.attack == "faulty" and c.endpoint != "dead"}
    assert errors == {"ZeroDivisionError: a fault of the attack"}


def test_an_endpoint_that_serves_nobody_is_an_error_in_words(
    simulator: Simulator, goals: str, tmp_path: Path
) -> None:
    simulator.set(key="another")
    with pytest.raises(ApiError, match="key"):
        campaign(tmp_path / "home", ["plain"], goals, [endpoint(simulator)])
    simulator.set(key=None)


def test_what_is_wrong_is_told_before_anything_is_sent(
    simulator: Simulator, goals: str, tmp_path: Path
) -> None:
    target = endpoint(simulator)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"attacks": ["base46"]}, "base64"),
        ({"attacks": ["insist | base64"]}, "can only stand last"),
        ({"attacks": ["caesar(shift=99)"]}, "shift"),
        ({"strategy": "previous_turn"}, "previous_turns"),
        ({"template": "nowhere"}, "nowhere"),
        ({"metric": "rubric"}, "judge"),
        ({"metric": "exact_matsch"}, "exact_match"),
        ({"goals": str(tmp_path / "none.csv")}, "no file"),
        ({"max_turns": 0}, "max_turns"),
        ({"budget": "much"}, "budget"),
        ({"budget": "1"}, "price"),
    ]
    for given, told in wrong:
        named = {"attacks": ["plain"], "goals": goals, **given}
        attacks, file = named.pop("attacks"), named.pop("goals")
        with pytest.raises((InputError, NotFoundError)) as error:
            campaign(tmp_path / "home", attacks, file, [target], **named)
        assert told in f"{error.value.message} {error.value.remedy}", given
    assert simulator.summary()["requests"] == 0


def test_a_budget_stops_it_and_it_can_be_gone_on_with(
    simulator: Simulator, goals: str, tmp_path: Path
) -> None:
    prices = Prices(Decimal(1000), Decimal(1000))
    priced = endpoint(simulator, "simulated-refuse").with_(prices=prices)
    home, brief = tmp_path / "home", {"max_tokens": 20}
    wishes = Wishes(
        attacks=("insist",), objectives=(goals,), max_turns=6, budget="0.4", params=brief
    )
    with Workbench(settings(), home) as bench:
        stopped: Campaign = CampaignJob(wishes, (priced,)).run(bench, run_id="redteam-one")
    assert stopped.result.state == "stopped"
    assert len(stopped) < 4 and "not held" in stopped.result.problems[0]
    paid = simulator.summary()["requests"]
    assert 0 < paid < 24
    more = Wishes(attacks=("insist",), objectives=(goals,), max_turns=6, budget="400", params=brief)
    with Workbench(settings(), home) as bench:
        whole: Campaign = CampaignJob(more, (priced,)).run(bench, run_id="redteam-one")
        assert find_result("redteam-one", bench).result.rates == whole.result.rates
    assert whole.result.state == "completed" and len(whole) == 4
    assert simulator.summary()["requests"] == 24 and simulator.summary()["repeated"] == 0
    assert sorted(path.name for path in whole.folder.glob("result*")) == [
        "result-2.json",
        "result.json",
    ]


def test_loops_go_by_batch_turn_by_turn(simulator: Simulator, goals: str, tmp_path: Path) -> None:
    targets = [endpoint(simulator, "simulated-refuse"), endpoint(simulator)]
    attacks = ["insist", "plain"]
    done = campaign(tmp_path / "home", attacks, goals, targets, max_turns=3, lane="batch")
    assert done.result.state == "completed"
    ledger = simulator.summary()
    assert ledger["lines"] == 4 * 3 + 4, "insisting goes on with the plain question's answer"
    online = campaign(tmp_path / "other", attacks, goals, targets, max_turns=3)
    assert [(c.id, c.fate, c.turns) for c in done] == [(c.id, c.fate, c.turns) for c in online]


@pytest.mark.timeout(180)
def test_killed_again_and_again_it_repeats_no_recorded_turn(
    simulator: Simulator, tmp_path: Path
) -> None:
    goals = objectives(tmp_path, 12)

    def start(home: str) -> subprocess.Popen[str]:
        given = json.dumps({"url": simulator.url, "goals": goals, "run": "redteam-driver"})
        return subprocess.Popen(
            [sys.executable, "-m", "tests.redteam.driver", given],
            env={
                **os.environ,
                "PENSTOCK_HOME": str(tmp_path / home),
                "CAMPAIGN_KEY": KEY,
                "PYTHONPATH": str(ROOT),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(home: str) -> dict[str, Any]:
        process = start(home)
        said, error = process.communicate(timeout=60)
        assert process.returncode == 0, error
        found: dict[str, Any] = json.loads(said)
        return found

    simulator.set(latency="10-20")
    moments, kills = random.Random(7), 3
    for _ in range(kills):
        process = start("killed")
        wait_for_requests(simulator, moments.randint(5, 25), process)  # type: ignore[arg-type]
        time.sleep(moments.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "it was too quick to be killed"
    done = finish("killed")
    ledger = simulator.summary()
    assert done["state"] == "completed" and len(done["fates"]) == 2 * 12 * len(ATTACKS)
    assert ledger["repeated"] <= kills * 2 * CONCURRENCY, "only what was never recorded"
    simulator.reset()
    simulator.set(latency="0")
    assert finish("whole")["fates"] == done["fates"]
    assert simulator.summary()["distinct"] == ledger["distinct"]
