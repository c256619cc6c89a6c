"""`penstock redteam run, attacks, objectives, results`: campaigns in the shell."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from penstock.errors import Exit
from penstock.simulator import Simulator
from tests.cli.conftest import Shell

QUICK = ("--check-interval", "0.1", "--outage-patience", "0")


@pytest.fixture
def lab(simulator: Simulator, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Simulator:
    """The simulator's server as the models `lab` and `shy`."""
    monkeypatch.setenv("LAB_KEY", "a-key-of-no-worth")
    for name, model in (("lab", "simulated"), ("shy", "simulated-refuse")):
        shell("endpoints", "add", name, f"{simulator.url}#{model}", "--key", "env:LAB_KEY")
    Path("goals.csv").write_text("goal,category\nSay one.,odd\nSay two.,even\nSay three.,odd\n")
    return simulator


def test_a_campaign_is_run_shown_listed_and_exported(lab: Simulator, shell: Shell) -> None:
    attacks = "plain,base64, caesar(shift=3) | payload_splitting(parts=2)"
    done = shell(
        "redteam", "run", "-e", "lab", "-e", "shy", "--attacks", attacks, "--objectives",
        "goals.csv", "--name", "first", "--report", "report.html", *QUICK,
    )  # fmt: skip
    assert done.code == Exit.OK, done.err
    assert "3 attacks x 3 objectives at 2 endpoints: 18 conversations" in done.err
    assert "lab       base64" in done.out and "100%" in done.out and "0%" in done.out
    assert lab.summary()["requests"] == 18
    assert "<html" in Path("report.html").read_text()
    found = json.loads(shell("redteam", "results", "show", "--json").out)
    assert (found["name"], found["state"], found["objectives"]) == ("first", "completed", 3)
    by = {tuple(rate["by"].items()): rate["rate"] for rate in found["rates"]}
    assert by[("endpoint", "shy"), ("category", "odd")] == 0
    assert by[("endpoint", "lab"), ("attack", "base64")] == 1
    assert "first" in shell("redteam", "results", "list").out
    assert shell("redteam", "results", "export", "latest", "-o", "turns.csv").code == Exit.OK
    with Path("turns.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 18 and {row["attack"] for row in rows} == {
        "plain", "base64", "caesar | payload_splitting(parts=2)",
    }  # fmt: skip


def test_a_stopped_campaign_is_gone_on_with_by_its_run(lab: Simulator, shell: Shell) -> None:
    lab.set(quota=2)
    run = ("redteam", "run", "-e", "lab", "--attacks", "plain", "--objectives", "goals.csv")
    stopped = shell(*run, "--json", "--concurrency", "1", *QUICK)
    first = json.loads(stopped.out)
    assert stopped.code == Exit.FAILURES and first["state"] == "completed with failures"
    lab.set(quota=None)
    resumed = shell("runs", "resume", first["id"], "--json")
    assert resumed.code == Exit.OK and json.loads(resumed.out)["state"] == "completed"
    asked = lab.summary()["answered"]
    again = json.loads(shell(*run, "--json", *QUICK).out)
    assert again["counters"]["recorded"] == 3 and again["id"] != first["id"]
    assert lab.summary()["answered"] == asked == 3
    assert "redteam" in shell("runs", "show", first["id"]).out


def test_loops_need_an_attacker_and_say_so_before_anything_is_sent(
    lab: Simulator, shell: Shell
) -> None:
    run = ("redteam", "run", "-e", "shy", "--objectives", "goals.csv", "--attacks")
    refused = shell(*run, "pair", *QUICK)
    assert refused.code == Exit.INPUT and "--attacker" in refused.err
    assert lab.summary()["requests"] == 0
    done = shell(
        *run, "pair(streams=1, iterations=2)", "--attacker", "lab", "--max-turns", "3", *QUICK
    )
    assert done.code == Exit.OK, done.err
    assert "attacker lab" in done.err


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--attacks", "base46", "--objectives", "goals.csv"], "Did you mean 'base64'"),
        (["--attacks", "plain", "--objectives", "planted-secretz"], "planted-secrets"),
        (["--attacks", "plain", "--objectives", "none.csv"], "no file"),
        (["--attacks", "plain"], "objectives"),
        (["--objectives", "goals.csv"], "attacks"),
        (["--attacks", "plain", "--objectives", "goals.csv", "--judge-accuracy", "1"], "0.95,0.9"),
        (["--attacks", "plain", "--objectives", "goals.csv", "--no-wait"], "--batch"),
        (["--attacks", "plain", "--objectives", "goals.csv", "--metric", "rubric"], "--judge"),
        (["--attacks", "plain", "--objectives", "goals.csv", "--strategy", "all"], "none"),
    ],
)
def test_what_is_wrong_is_told_with_what_to_do(
    lab: Simulator, shell: Shell, flags: list[str], told: str
) -> None:
    said = shell("redteam", "run", "-e", "lab", *flags, *QUICK)
    assert said.code == Exit.INPUT and told in said.err, said.err
    assert lab.summary()["requests"] == 0


def test_attacks_and_objectives_are_listed_and_shown(shell: Shell) -> None:
    listed = json.loads(shell("redteam", "attacks", "--json").out)
    assert len(listed) > 80 and all(each["about"] and each["family"] for each in listed)
    assert {each["name"] for each in listed if each["needs"]} >= {"pair", "tap", "crescendo"}
    assert "arXiv:2404.01833" in shell("redteam", "attacks", "crescendo").out
    assert "charswap" in shell("redteam", "attacks", "charswap_attack").out
    shown = shell("redteam", "objectives", "planted-secrets")
    assert shown.code == Exit.OK and "its secret" in shown.out
    sets = json.loads(shell("redteam", "objectives", "--json").out)
    assert {each["id"] for each in sets} >= {"planted-secrets", "format-rules"}
