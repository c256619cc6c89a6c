"""The batch lane from the shell: submitted, left, collected, cancelled. The simulator is judge."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import Exit
from penstock.simulator import Simulator
from tests.cli.conftest import PENSTOCK, Shell

PROMPT = ("prompt", "in.csv", "-t", "{text}", "-m", "lab", "-o", "out.jsonl")
QUICK = ("--check-interval", "0.1")
DAY = 86_400


@pytest.fixture
def judge(simulator: Simulator, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Simulator:
    """A server whose batches take a day, under the name `lab`, and ten rows for it."""
    simulator.set(batch_seconds=DAY)
    shell(
        "endpoints", "add", "lab", f"{simulator.url}#llama", "--key", "env:LAB_KEY",
        "--input-price", "1", "--output-price", "10",
    )  # fmt: skip
    Path("in.csv").write_text("text\n" + "".join(f"row {n}\n" for n in range(10)))
    monkeypatch.setenv("LAB_KEY", "a-key-of-no-worth")
    return simulator


@pytest.fixture
def submitted(judge: Simulator, shell: Shell) -> str:
    """A run that left two batches at the server."""
    said = shell(*PROMPT, "--batch", "--batch-size", "6", "--no-wait", *QUICK)
    assert said.code == Exit.SUBMITTED, said
    run: str = json.loads(shell("runs", "list", "--json").out)[0]["id"]
    assert f"go on with: penstock runs resume {run}" in said.err
    return run


def texts() -> list[str]:
    return [json.loads(line)["text"] for line in Path("out.jsonl").read_text().splitlines()]


def batches(shell: Shell, *more: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shell("batches", "list", "--json", *more).out)
    return found


def lines(judge: Simulator) -> tuple[int, int, int]:
    """Questions answered in batches, those answered online, and how many were asked twice."""
    found = judge.summary()
    return found["lines"], found["answered"] - found["lines"], found["repeated"]


ALL = [f"row {n}" for n in range(10)]


def test_submitted_left_and_collected_by_the_run(
    submitted: str, judge: Simulator, shell: Shell
) -> None:
    assert not Path("out.jsonl").exists(), "an unfinished table is not written"
    assert json.loads(shell("runs", "list", "--json").out)[0]["state"] == "waiting"
    assert "waiting" in shell("runs", "list").out
    shown = shell("runs", "show", submitted).out
    assert "2 batches (2 submitted), 0 of 10 done" in shown
    assert f"penstock runs resume {submitted}\n" in shown
    said = shell("runs", "resume", submitted, "--no-wait", *QUICK)
    assert said.code == Exit.SUBMITTED, "they take a day"
    judge.advance_batches()
    said = shell("runs", "resume", submitted, *QUICK)
    assert said.code == Exit.OK, said
    assert texts() == ALL
    assert lines(judge) == (10, 0, 0)
    assert len(judge.batches()) == 2


def test_the_same_command_again_collects(submitted: str, judge: Simulator, shell: Shell) -> None:
    judge.advance_batches()
    said = shell(*PROMPT, "--batch", *QUICK)
    assert said.code == Exit.OK, said
    assert texts() == ALL
    assert (lines(judge), len(judge.batches())) == ((10, 0, 0), 2)


def test_a_command_that_waits_ends_when_its_batches_do(judge: Simulator, shell: Shell) -> None:
    judge.set(batch_seconds=0.5)
    said = shell(*PROMPT, "--lane", "batch", "--json", *QUICK)
    assert said.code == Exit.OK, said
    assert json.loads(said.out)["rows_done"] == 10
    assert texts() == ALL


def test_what_is_collected_costs_the_run_nothing_more(
    submitted: str, judge: Simulator, shell: Shell
) -> None:
    said = shell("batches", "collect")
    assert said.code == Exit.SUBMITTED, said
    assert said.out.count("submitted") == 2
    judge.advance_batches()
    said = shell("batches", "collect")
    assert said.code == Exit.OK, said
    assert f"go on with: penstock runs resume {submitted}" in said.err
    assert [batch["state"] for batch in batches(shell)] == ["downloaded"] * 2
    assert "its batches are collected" in shell("runs", "show", submitted).out
    [paid] = json.loads(shell("usage", "--by", "lane", "--json").out)
    assert (paid["name"], paid["answers"]) == ("batch", 10)
    run = json.loads(shell("runs", "show", submitted, "--json").out)
    assert run["counters"]["cost"] == paid["cost"], "it is the run's, whoever collects"
    judge.set(outages="0-1000")
    said = shell("runs", "resume", submitted, "--json", *QUICK)
    assert said.code == Exit.OK, "it needs no server"
    assert json.loads(said.out)["cost"] == paid["cost"]
    assert texts() == ALL
    assert "all batches are collected" in shell("batches", "collect").out


def test_one_batch_or_those_of_a_run_may_be_collected(
    submitted: str, judge: Simulator, shell: Shell
) -> None:
    first, second = (batch["id"] for batch in batches(shell))
    judge.advance_batches()
    [seen] = json.loads(shell("batches", "collect", first, "--json").out)
    assert (seen["id"], seen["state"], seen["done"]) == (first, "downloaded", 6)
    assert [batch["id"] for batch in batches(shell, "--open")] == [second]
    [seen] = json.loads(shell("batches", "collect", submitted, "--wait", "--json").out)
    assert seen["id"] == second
    assert batches(shell, "--open", "--run", submitted) == []


def test_a_cancelled_batch_keeps_what_is_finished_and_frees_the_rest(
    submitted: str, judge: Simulator, shell: Shell
) -> None:
    first, _ = (batch["id"] for batch in batches(shell))
    judge.advance_batches(DAY / 2)
    said = shell("batches", "cancel", first)
    assert said.code == Exit.OK, said
    assert "cancelling was asked for" in shell("batches", "show", first).out
    judge.advance_batches()
    assert shell("batches", "collect").code == Exit.OK
    done = batches(shell)[0]["done"]
    assert 0 < done < 6
    assert json.loads(shell("usage", "--by", "lane", "--json").out)[0]["answers"] == done + 4
    said = shell("runs", "resume", submitted, "--online", *QUICK)
    assert said.code == Exit.OK, said
    assert texts() == ALL
    assert lines(judge) == (done + 4, 6 - done, 0)
    assert shell("batches", "cancel", first).code == Exit.INPUT


@pytest.mark.parametrize(
    "command", [("runs", "retry", "RUN", "--online"), PROMPT], ids=["resumed", "new"]
)
def test_what_lies_in_a_batch_is_not_asked_online_as_well(
    submitted: str, judge: Simulator, shell: Shell, command: tuple[str, ...]
) -> None:
    said = shell(*(submitted if word == "RUN" else word for word in command))
    assert said.code == Exit.SUBMITTED, said
    assert "not asked online as well" in said.err
    assert judge.summary()["answered"] == 0
    judge.advance_batches()
    shell("batches", "collect")
    said = shell(*(submitted if word == "RUN" else word for word in command))
    assert said.code == Exit.OK, said
    assert (texts(), lines(judge)) == (ALL, (10, 0, 0))


def test_rows_that_a_batch_failed_are_finished_online(judge: Simulator, shell: Shell) -> None:
    judge.set(batch_seconds=0, batch_faults="failed:1")
    said = shell(*PROMPT, "--batch", *QUICK)
    assert said.code == Exit.FAILURES, said
    run = json.loads(shell("runs", "list", "--json").out)[0]["id"]
    said = shell("runs", "retry", run, "--online")
    assert said.code == Exit.OK, said
    assert (texts(), lines(judge)) == (ALL, (0, 10, 0))


def test_a_batch_that_never_left_is_the_runs_own_and_can_be_given_up(
    judge: Simulator, shell: Shell
) -> None:
    judge.set(key="the-right-key-12345")
    said = shell(*PROMPT, "--batch", *QUICK)
    assert said.code == Exit.API, said
    [batch] = batches(shell)
    assert (batch["state"], batch["cost"]) == ("unsubmitted", "0")
    said = shell("batches", "collect", LAB_KEY="the-right-key-12345")
    assert said.code == Exit.SUBMITTED
    assert f"penstock runs resume {batch['run']}" in said.out
    assert judge.batches() == [], "collecting submits nothing"
    said = shell("batches", "cancel", batch["id"], LAB_KEY="the-right-key-12345")
    assert "its questions are free" in said.out
    assert batches(shell, "--open") == []
    said = shell("runs", "resume", batch["run"], "--online", LAB_KEY="the-right-key-12345")
    assert (said.code, texts(), judge.batches()) == (Exit.OK, ALL, [])


def test_batches_that_have_no_room_at_the_provider_are_left_to_the_next_time(
    judge: Simulator, shell: Shell
) -> None:
    judge.set(max_batches=1)
    said = shell(*PROMPT, "--batch", "--batch-size", "6", "--no-wait", *QUICK)
    assert said.code == Exit.SUBMITTED, said
    assert sorted(batch["state"] for batch in batches(shell)) == ["submitted", "unsubmitted"]
    judge.set(max_batches=None)
    run = batches(shell)[0]["run"]
    assert shell("runs", "resume", run, "--no-wait", *QUICK).code == Exit.SUBMITTED
    assert [batch["state"] for batch in batches(shell)] == ["submitted"] * 2
    judge.advance_batches()
    assert shell("runs", "resume", run, *QUICK).code == Exit.OK
    assert (texts(), lines(judge)) == (ALL, (10, 0, 0))


def test_a_wrong_key_while_collecting_is_said_and_loses_nothing(
    submitted: str, judge: Simulator, shell: Shell
) -> None:
    judge.set(key="the-right-key-12345")
    judge.advance_batches()
    said = shell("batches", "collect", LAB_KEY="the-wrong-key-12345")
    assert said.code == Exit.API, said
    assert "authentication" in said.out
    assert "the-wrong-key" not in said.err + said.out
    assert shell("batches", "collect", LAB_KEY="the-right-key-12345").code == Exit.OK


def test_a_run_with_open_batches_is_not_deleted(
    submitted: str, judge: Simulator, shell: Shell
) -> None:
    said = shell("runs", "delete", submitted)
    assert said.code == Exit.INPUT
    assert "2 batches" in said.err
    judge.advance_batches()
    shell("batches", "collect")
    assert shell("runs", "delete", submitted).code == Exit.OK


def test_show_tells_all_that_is_known(submitted: str, judge: Simulator, shell: Shell) -> None:
    first = batches(shell)[0]
    shown = json.loads(shell("batches", "show", first["id"], "--json").out)
    assert {**shown, "age": 0} == {**first, "age": 0}
    assert (shown["run"], shown["endpoint"], shown["questions"]) == (submitted, "lab", 6)
    assert shown["at_provider"] in {batch["id"] for batch in judge.batches()}
    assert Path(shown["file"]).read_text().count("\n") == 5
    plain = shell("batches", "show", first["id"][:-2]).out
    assert f"          id  {first['id']}\n" in plain
    assert "     age  " in plain


def test_an_id_that_is_not_there_or_fits_several_is_said(submitted: str, shell: Shell) -> None:
    for command, name in (("show", "no"), ("cancel", "no"), ("collect", "no"), ("collect", "")):
        said = shell("batches", command, name)
        assert said.code == Exit.INPUT, said
        assert f"there is no batch {name!r}" in said.err
        assert "penstock batches list" in said.err
    for command in ("show", "cancel"):
        said = shell("batches", command, submitted)
        assert said.code == Exit.INPUT
        assert "fits several batches" in said.err


def test_where_nothing_was_ever_run_nothing_is_written(shell: Shell) -> None:
    assert "there are no batches here" in shell("batches", "list").err
    assert shell("batches", "list", "--json").out == "[]\n"
    assert shell("batches", "collect").code == Exit.OK
    assert shell("batches", "show", "x").code == Exit.INPUT
    assert not Path(".penstock").exists()


def test_flags_that_make_no_sense_are_refused(judge: Simulator, shell: Shell) -> None:
    for model, flags, words in (
        ("lab", "--batch --lane auto", "contradict"),
        ("lab", "--batch-size 5", "Give --batch"),
        ("lab", "--no-wait", "Give --batch"),
        ("lab", "--batch --batch-size 0", "batch_size is 0"),
        ("lab", "--batch --cache refresh", "refresh"),
        ("simulated", "--batch", "no batch lane"),
    ):
        said = shell("prompt", "in.csv", "-t", "{text}", "-m", model, *flags.split())
        assert said.code == Exit.INPUT, said
        assert words in said.err
    assert judge.summary()["requests"] == 0
    assert json.loads(shell("runs", "list", "--json").out) == []


def test_the_rule_is_shown_by_an_estimate_before_it_is_followed(
    judge: Simulator, shell: Shell
) -> None:
    judge.set(batch_seconds=0)
    for name, price in (("cheap", "1"), ("dear", "1000")):
        shell(
            "endpoints", "add", name, f"{judge.url}#llama", "--input-price", price,
            "--output-price", price, "--batch-input-price", "0", "--batch-output-price", "0",
        )  # fmt: skip
    command = ("prompt", "in.csv", "-t", "{text}", "--lane", "auto", *QUICK)
    assert "(by batch $0.0000)" in shell(*command, "-m", "cheap", "--estimate").out
    assert "by batch; cost $0.0000 (online $5." in shell(*command, "-m", "dear", "--estimate").out
    found = json.loads(shell(*command, "-m", "dear", "--estimate", "--json").out)
    assert (found["lane"], found["batch_cost"]) == ("batch", "0.000000")
    assert judge.summary()["requests"] == 0
    assert shell(*command, "-m", "cheap").code == Exit.OK
    assert lines(judge) == (0, 10, 0)
    judge.reset()
    assert shell(*command, "-m", "dear", "--cache", "off").code == Exit.OK
    assert lines(judge) == (10, 0, 0)


def test_a_terminal_shows_each_batch(judge: Simulator) -> None:
    judge.set(batch_seconds=2)
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [PENSTOCK, *PROMPT, "--batch", "--batch-size", "6", "--check-interval", "0.2"],
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=follower,
    )
    os.close(follower)
    seen = b""
    while True:
        try:
            seen += os.read(leader, 65536)
        except OSError:
            break
    os.close(leader)
    assert process.wait() == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode()).replace("\r", "\n")
    assert re.search(r"0001-\w{6} +submitted +\d +0 +6 +\ds", plain)
    assert re.search(r"10/10 2 batches \(2 downloaded\), 10 of 10 done", plain)
    assert re.search(r"0002-\w{6} +downloaded +4 +0 +4 +\ds +\$0\.\d+", plain)


def test_a_pipe_gets_a_line_when_something_changes(judge: Simulator, shell: Shell) -> None:
    judge.set(batch_seconds=7)
    said = shell(*PROMPT, "--batch", "--check-interval", "0.2")
    assert said.code == Exit.OK, said
    [line] = [line for line in said.err.splitlines() if "1 batch (" in line]
    assert re.fullmatch(r"prompt: 0/10 rows, 1 batch \(1 submitted\), \d of 10 done", line)
