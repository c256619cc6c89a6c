"""The commands as a new user types them, right and wrong."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from penstock.cli.app import COMMANDS
from penstock.errors import Exit
from penstock.simulator import Simulator
from penstock.tables import Table
from tests.cli.conftest import PENSTOCK, Shell


@pytest.fixture
def shell(process: Shell) -> Shell:
    """Here the shell is meant as it is started."""
    return process


def test_the_demo_runs_offline_says_it_is_simulated_and_where_the_files_lie(shell: Shell) -> None:
    said = shell("demo")
    assert said.code == 0
    assert "SIMULATED" in said.out
    assert "--model gpt-4o-mini" in said.out
    assert "tokens in" in said.out and "$0.00" in said.out
    assert "12/12 rows" in said.err
    path = next(line.split()[1] for line in said.out.splitlines() if line.startswith("table"))
    table = Table.open(path)
    assert (len(table), table.column_names) == (12, ["topic", "response"])


def test_the_demo_run_again_asks_nothing(shell: Shell) -> None:
    shell("demo")
    assert "12 answers were in the journal: nothing was sent." in shell("demo").out


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_every_command_explains_itself(shell: Shell, name: str) -> None:
    said = shell(name, "--help")
    assert said.code == 0
    assert "Usage: penstock" in said.out


def test_help_lists_every_command(shell: Shell) -> None:
    said = shell("--help")
    assert all(command.name in said.out and command.help in said.out for command in COMMANDS)


def test_ask_prints_the_answer_and_nothing_else_into_a_pipe(shell: Shell) -> None:
    said = shell("ask", "What is a penstock? In ten words.", "--model", "simulated")
    assert said.code == 0
    assert said.out.strip() and not said.err
    again = shell("ask", "What is a penstock? In ten words.", "--model", "simulated", "--json")
    answer = json.loads(again.out)["answer"]
    assert answer["recorded"] is True
    assert answer["text"] == said.out.rstrip("\n")


def test_ask_reads_standard_input(shell: Shell) -> None:
    said = shell("ask", "-", "--model", "simulated-echo", stdin="echo this")
    assert said.out == "echo this\n"


def test_ask_with_a_schema_prints_json_that_fits(shell: Shell) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    Path("schema.json").write_text(json.dumps(schema))
    said = shell("ask", "A number", "--schema", "schema.json", "--model", "simulated")
    assert isinstance(json.loads(said.out)["n"], int)


def test_ask_streams_on_a_terminal_and_model_output_is_never_obeyed(tmp_path: Path) -> None:
    hostile = "red \x1b[31m alert \x07 \x1b]0;title\x07 end"
    shown = on_terminal(["ask", hostile, "--model", "simulated-echo"])
    assert "red \\x1b[31m alert \\x07" in shown
    assert "\x1b]0;" not in shown and "\x07" not in shown
    assert "tokens in" in shown


def on_terminal(arguments: list[str]) -> str:
    """What a command shows on a real pseudo-terminal."""
    parent, child = pty.openpty()
    process = subprocess.Popen([PENSTOCK, *arguments], stdout=child, stderr=child, stdin=child)
    os.close(child)
    shown = b""
    while select.select([parent], [], [], 30)[0]:
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    process.wait()
    os.close(parent)
    return shown.decode()


def test_progress_is_live_on_a_terminal() -> None:
    shown = on_terminal(["demo"])
    assert "━" in shown and "12/12" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["ask", "hi"], Exit.INPUT, ["no model is given", "--model simulated"]),
        (["ask", "hi", "-m", "nonsense"], Exit.INPUT, ["'nonsense'", "http://host"]),
        (["ask", "hi", "-m", "http://h/v1"], Exit.INPUT, ["names no model", "#my-model"]),
        (["ask", "hi", "-m", "gpt-4o-mini"], Exit.API, ["OPENAI_API_KEY", "export"]),
        (["ask", "hi", "-m", "http://127.0.0.1:9/v1#m"], Exit.API, ["refused", "running?"]),
        (["ask", " ", "-m", "simulated"], Exit.INPUT, ["empty"]),
        (["ask", "hi", "--schema", "no.json", "-m", "simulated"], Exit.INPUT, ["no.json"]),
        (["ask", "hi", "--image", "no.png", "-m", "simulated"], Exit.INPUT, ["no.png"]),
        (["ask", "hi", "--temperature", "warm", "-m", "simulated"], Exit.INPUT, ["warm"]),
        (["ask", "hi", "--cache", "maybe", "-m", "simulated"], Exit.INPUT, ["maybe"]),
        (["ask", "hi", "--modl", "x"], Exit.INPUT, ["--model"]),
        (["nonsense"], Exit.INPUT, ["nonsense"]),
        (["runs", "show", "none"], Exit.INPUT, ["no run 'none'"]),
        (["endpoints", "remove", "none"], Exit.INPUT, ["no endpoint 'none'"]),
        (["endpoints", "add", "../up", "simulated"], Exit.INPUT, ["'../up'"]),
        (["endpoints", "add", "a", "gpt-4o", "--key", "sk-1234567890"], Exit.INPUT, ["env:NAME"]),
        (["endpoints", "add", "a", "http://169.254.169.254/v1#x"], Exit.INPUT, ["metadata"]),
        (["simulate", "--port", "99999"], Exit.INPUT, ["99999", "65535"]),
        (["simulate", "--latency", "soon"], Exit.INPUT, ["soon"]),
    ],
)
def test_a_wrong_input_gets_one_clear_message_and_its_exit_code(
    shell: Shell, arguments: list[str], code: int, words: list[str]
) -> None:
    said = shell(*arguments)
    assert said.code == code, said
    assert not said.out
    for word in words:
        assert word in said.err.replace("\n", " "), said.err
    assert "sk-1234567890" not in said.err


def test_endpoints_are_saved_shown_used_and_removed(shell: Shell, simulator: Simulator) -> None:
    url = f"{simulator.url}#simulated"
    added = shell("endpoints", "add", "mine", url, "--key", "env:MINE", "--param", "temperature=0")
    assert added.code == 0
    assert "mine" in shell("endpoints", "list").out
    shown = json.loads(shell("endpoints", "show", "mine").out)
    assert shown["params"] == {"temperature": 0} and shown["key"] == "env:MINE"
    again = shell("endpoints", "add", "mine", url)
    assert again.code == Exit.INPUT and "--force" in again.err
    tested = shell("endpoints", "test", "mine", MINE="a-key-of-no-worth")
    assert tested.code == 0, tested.err
    missing = shell("endpoints", "test", "mine")
    assert missing.code == Exit.API and "MINE" in missing.err
    used = shell("ask", "Hello", "--model", "mine", MINE="a-key-of-no-worth")
    assert used.code == 0 and used.out
    assert shell("endpoints", "remove", "mine").code == 0
    assert shell("ask", "Hello", "--model", "mine").code == Exit.INPUT


def test_runs_are_listed_and_shown(shell: Shell) -> None:
    shell("demo")
    run, _ = json.loads(shell("runs", "list", "--json").out)
    assert run["state"] == "completed"
    assert run["id"] in shell("runs", "list").out
    shown = shell("runs", "show", run["id"][:-1]).out
    assert "12 of 12, 0 failed" in shown and "tokens in" in shown


def test_a_killed_run_is_shown_as_killed(shell: Shell, tmp_path: Path) -> None:
    shell("demo")
    with sqlite3.connect(".penstock/catalog.db") as connection:
        connection.execute("UPDATE runs SET state = 'running'")
    connection.close()
    assert "killed" in shell("runs", "list").out


def test_a_bad_settings_file_names_file_line_key_and_what_is_allowed(shell: Shell) -> None:
    Path("penstock.yaml").write_text("llm:\n  modle: gpt-4o\n  concurrency: many\n")
    said = shell("ask", "hi", "--model", "simulated")
    assert said.code == Exit.INPUT
    for word in ("penstock.yaml", "2", "modle", "model", "concurrency", "many"):
        assert word in said.err, said.err


def test_a_workspace_of_a_newer_version_is_refused(shell: Shell) -> None:
    shell("ask", "hi", "--model", "simulated")
    Path(".penstock/workspace.json").write_text('{"format": 99}')
    said = shell("ask", "hi", "--model", "simulated")
    assert said.code == Exit.HOST
    assert "99" in said.err and "pgrade" in said.err


def test_a_journal_of_a_newer_workspace_is_not_even_read(shell: Shell) -> None:
    shell("ask", "hi", "--model", "simulated")
    assert shell("journal", "repair").out.startswith("the journal is whole")
    Path(".penstock/workspace.json").write_text('{"format": 99}')
    assert shell("journal", "stats").code == Exit.HOST


def test_a_journal_that_is_none_is_named_and_can_be_repaired(shell: Shell) -> None:
    shell("ask", "hi", "--model", "simulated")
    Path(".penstock/journal.db").write_bytes(b"this is no database, " * 500)
    said = shell("ask", "hi", "--model", "simulated")
    assert said.code == Exit.HOST
    assert "journal.db" in said.err and "penstock journal repair" in said.err
    assert shell("journal", "repair").code == 0
    assert shell("ask", "hi", "--model", "simulated").code == 0


def test_a_flipped_bit_is_noticed_and_the_rest_goes_on(shell: Shell) -> None:
    for number in range(5):
        shell("ask", f"question {number}", "--model", "simulated")
    path = Path(".penstock/journal.db")
    content = bytearray(path.read_bytes())
    at = content.rindex(b'"finish_reason"')
    content[at + 5] ^= 1
    path.write_bytes(bytes(content))
    codes = [shell("ask", f"question {n}", "--model", "simulated").code for n in range(5)]
    assert sorted(codes) == [0, 0, 0, 0, Exit.HOST]
    checked = shell("journal", "check")
    assert checked.code == Exit.HOST and "record" in checked.err
    assert shell("journal", "repair").code == 0
    assert shell("journal", "check").code == 0
    assert {shell("ask", f"question {n}", "--model", "simulated").code for n in range(5)} == {0}


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("chattr") is None, reason="root, no chattr")
def test_a_read_only_workspace_is_named_with_its_remedy(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    if os.geteuid() == 0:
        if subprocess.run(["chattr", "+i", folder], capture_output=True).returncode:
            pytest.skip("this file system has no immutable folders, and root may write everywhere")
    else:
        folder.chmod(0o500)
    try:
        said = shell("ask", "hi", "--model", "simulated", PENSTOCK_HOME=str(folder / "space"))
    finally:
        if os.geteuid() == 0:
            subprocess.run(["chattr", "-i", folder], check=True)
        else:
            folder.chmod(0o700)
    assert said.code == Exit.HOST
    assert "space" in said.err and "writable" in said.err


def test_a_key_never_reaches_the_terminal_the_log_or_the_disk(
    shell: Shell, simulator: Simulator
) -> None:
    canary = "canary-4f8a91c27d6e"
    simulator.set(key="another-key-entirely")
    said = shell(
        "ask", "hi", "--model", "gpt-4o-mini",
        OPENAI_API_KEY=canary, OPENAI_BASE_URL=simulator.url, PENSTOCK_LOGGING_LEVEL="DEBUG",
    )  # fmt: skip
    assert said.code == Exit.API
    assert canary not in said.out + said.err
    for file in Path(".penstock").rglob("*"):
        if file.is_file():
            assert canary.encode() not in file.read_bytes(), file


def test_simulate_serves_until_ctrl_c(shell: Shell) -> None:
    process = subprocess.Popen(
        [PENSTOCK, "simulate", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    first = process.stdout.readline()
    port = next(part for part in first.replace("/", ":").split(":") if part.strip().isdigit())
    asked = shell("ask", "Hello", "--model", f"http://127.0.0.1:{port}/v1#simulated")
    assert asked.code == 0, asked.err
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 0


def test_a_reader_that_goes_away_is_no_fault() -> None:
    command = f"{PENSTOCK} config show | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=30)
    assert "Traceback" not in done.stderr and "fault" not in done.stderr


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_ends_an_ask_after_a_bounded_wait_and_at_once_the_second_time(
    simulator: Simulator, presses: int
) -> None:
    simulator.set(latency="20000")
    process = subprocess.Popen(
        [PENSTOCK, "ask", "hi", "--model", f"{simulator.url}#simulated"],
        env={**os.environ, "PENSTOCK_STORAGE_DRAIN": "0.5" if presses == 1 else "30"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not simulator.summary()["requests"]:
        time.sleep(0.01)
    for _ in range(presses):
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=10)
    assert process.returncode == Exit.CANCELLED
    assert "Traceback" not in error
    assert "Ctrl-C again leaves at once" in error
    assert ("still in flight" if presses == 1 else "run the same command again") in error


def test_a_run_stops_at_its_budget_of_tokens_and_goes_on_with_a_larger_one(shell: Shell) -> None:
    Path("rows.csv").write_text("n\n" + "\n".join(map(str, range(40))))
    command = ("prompt", "rows.csv", "-t", "Say {n}", "-m", "simulated", "--max-tokens", "50")
    small = shell(*command, PENSTOCK_TOKEN_MANAGEMENT_TOKEN_LIMIT="900")
    assert small.code == Exit.STOPPED
    assert "go on with: penstock runs resume" in small.err
    stopped = json.loads(shell("runs", "list", "--json").out)[0]
    assert stopped["state"] == "stopped" and "of the limit of 900 tokens" in stopped["message"]
    assert 0 < stopped["counters"]["rows_done"] < 40
    resumed = shell("runs", "resume", stopped["id"])
    assert resumed.code == 0, resumed.err
    shown = json.loads(shell("runs", "show", stopped["id"], "--json").out)
    assert shown["counters"]["rows_done"] == 40
    assert shown["counters"]["asked"] == 40, "nothing was asked twice"


def test_a_budget_without_a_price_is_refused_before_anything_is_sent(
    shell: Shell, simulator: Simulator
) -> None:
    said = shell("ask", "hi", "--model", f"{simulator.url}#m", PENSTOCK_TOKEN_MANAGEMENT_BUDGET="1")
    assert said.code == Exit.INPUT
    assert "no price is known" in said.err and "--input-price" in said.err
    assert simulator.summary()["requests"] == 0


def test_python_m_penstock_is_the_same_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "penstock", "--help"], capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 0 and "Usage: penstock" in done.stdout


def test_every_setting_is_a_flag_and_the_flags_go_before_the_environment(shell: Shell) -> None:
    said = shell(
        "config", "show", "--json", "--concurrency", "7", "--log-level=DEBUG", "--http2",
        PENSTOCK_LLM_CONCURRENCY="9", PENSTOCK_LLM_REASKS="5",
    )  # fmt: skip
    shown = json.loads(said.out)
    assert shown["llm.concurrency"] == {"value": 7, "origin": "--concurrency"}
    assert shown["logging.level"] == {"value": "DEBUG", "origin": "--log-level"}
    assert shown["llm.http2"]["value"] is True
    assert shown["llm.reasks"] == {"value": 5, "origin": "PENSTOCK_LLM_REASKS"}


def test_a_command_s_own_flag_is_its_own(shell: Shell) -> None:
    said = shell(
        "endpoints", "add", "mine", "simulated", "--concurrency", "3", "--log-level", "DEBUG"
    )
    assert json.loads(said.out)["mine"]["limits"] == {"concurrency": 3}


@pytest.mark.parametrize(
    ("arguments", "word"), [(["--concurrency", "many"], "many"), (["--proxy"], "wants a value")]
)
def test_a_wrong_setting_on_the_command_line_is_named(
    shell: Shell, arguments: list[str], word: str
) -> None:
    said = shell("demo", *arguments)
    assert said.code == Exit.INPUT
    assert word in said.err
