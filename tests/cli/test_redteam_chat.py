"""Sessions on the shell: begun, talked to from a pipe and at a terminal, shown, exported."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.cli import run
from penstock.cli.redteam_chat import COMMANDS
from penstock.simulator import Simulator
from tests.cli.conftest import PENSTOCK, Said, Shell
from tests.redteam.session_kit import asked, digest, system, user

ECHO, REFUSE = "simulated/simulated-echo", "simulated/simulated-refuse"


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    """The shell in this process, which is quicker; standard input is a pipe."""

    def called(*arguments: str, stdin: str = "", **environment: str) -> Said:
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
            code = run(arguments)
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return called


# From a pipe ------------------------------------------------------------------------------------


def test_lines_from_a_pipe_are_prompts_and_commands(shell: Shell) -> None:
    begun = shell("redteam", "new", "Night shift", "-e", ECHO, "-e", REFUSE, "--metric", "refusal")
    assert begun.code == 0
    assert "penstock redteam chat night-shift" in begun.out
    lines = ["Hello.", "/attack base64", "abc", "/show", "//slash", "/quit", "never sent"]
    said = shell("redteam", "chat", "Night shift", stdin="\n".join(lines) + "\n")
    assert said.code == 0, said.err
    assert f"{ECHO}:\nHello.\n(success (refusal 1), " in said.out
    assert f"{REFUSE}:\nI'm sorry" in said.out
    assert "resisted (refusal 0: refused)" in said.out
    assert "YWJj" in said.out
    assert re.search(r"attack +base64", said.out)
    assert "\x1b" not in said.out
    shown = json.loads(shell("redteam", "show", "night-shift", "--json").out)
    assert [(turn["line"], turn["attack"]) for turn in shown["turns"]] == [
        ("Hello.", ""), ("Hello.", ""), ("abc", "base64"), ("abc", "base64"),
        ("/slash", "base64"), ("/slash", "base64"),
    ]  # fmt: skip
    plain = shell("redteam", "show", "night-shift").out
    assert "1> Hello.\n" in plain
    assert "I'm sorry" in plain


def test_commands_really_change_what_is_sent(shell: Shell, simulator: Simulator) -> None:
    shell("redteam", "new", "one", "-e", f"{simulator.url}#simulated")
    shell("redteam", "chat", "one", stdin="/system You guard it.\nHello.\n/system none\nBye.\n")
    assert asked(simulator) == [
        digest([system("You guard it."), user("Hello.")]),
        digest([user("Bye.")]),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("/sytem x", "there is no command /sytem\n  Did you mean /system?"),
        ("/attack base46", "there is no attack named 'base46'"),
        ("/metric rubric", "asks a model"),
        ("/endpoints nope nope", "nope"),
        ("/turns many", "/turns takes a number, not 'many'"),
        ("/bookmark", "/bookmark needs a name"),
        ("/export", "/export needs a file"),
        ("/history x", "/history takes a number"),
        ("/retry", "nothing has failed"),
    ],
)
def test_a_wrong_line_is_told_and_the_chat_goes_on(shell: Shell, line: str, said: str) -> None:
    shell("redteam", "new", "one", "-e", ECHO)
    done = shell("redteam", "chat", "one", stdin=f"{line}\nstill here\n")
    assert said in done.err
    assert "still here" in done.out
    assert done.code == 2


def test_every_command_of_the_help_is_there(shell: Shell) -> None:
    shell("redteam", "new", "one", "-e", ECHO)
    named = [command.name for command in COMMANDS if command.name != "quit"]
    done = shell("redteam", "chat", "one", stdin="/help\n" + "".join(f"/{n}\n" for n in named))
    assert "there is no command" not in done.err
    assert all(f"\n/{name}" in f"\n{done.out}" for name in [*named, "quit"])
    assert "base64" in done.out, "/attack alone says what there is"


def test_the_exit_code_tells_that_an_endpoint_failed(shell: Shell) -> None:
    shell("redteam", "new", "one", "-e", "http://127.0.0.1:9/v1#gone", "-e", ECHO)
    quick = {"PENSTOCK_BATCH_PROCESSING_MAX_RETRIES": "0", "PENSTOCK_LLM_OUTAGE_PATIENCE": "0"}
    done = shell("redteam", "chat", "one", stdin="Hello.\n", **quick)
    assert done.code == 6, done.err
    assert "no answer (" in done.out
    assert f"{ECHO}:\nHello." in done.out


def test_hostile_lines_and_bytes_do_no_harm(shell: Shell) -> None:
    shell("redteam", "new", "one", "-e", ECHO)
    done = shell("redteam", "chat", "one", stdin="\x1b[2J\x07 \u202e \x00 end\n")
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "\\x1b[2J\\x07 \\u202e" in done.out


def test_bookmarks_and_exports(shell: Shell, tmp_path: Path) -> None:
    page, rows = tmp_path / "a.html", tmp_path / "a.jsonl"
    shell("redteam", "new", "two", "-e", ECHO, "-e", REFUSE, "--attack", "flip")
    lines = f"Hello.\n/bookmark The leak {ECHO}\n/export {page}\n/history 5\n"
    done = shell("redteam", "chat", "two", stdin=lines)
    assert done.code == 0, done.err
    assert "kept as The leak" in done.out
    assert "<!doctype html>" in page.read_text()
    assert shell("redteam", "export", "two", "-o", str(rows)).code == 0
    assert len(rows.read_text().splitlines()) == 2
    assert shell("redteam", "export", "two", "-o", str(rows)).code == 2
    assert "The leak" in shell("redteam", "bookmarks", "list").out
    kept = json.loads(shell("redteam", "bookmarks", "show", "The leak", "--json").out)
    assert (kept["endpoint"], kept["attack"], kept["session"]) == (ECHO, "flip", "two")
    marks = tmp_path / "marks.jsonl"
    assert shell("redteam", "bookmarks", "export", "-o", str(marks)).code == 0
    assert json.loads(marks.read_text())["name"] == "The leak"
    assert shell("redteam", "delete", "two").code == 0
    assert "no sessions yet" in shell("redteam", "list").err
    assert shell("redteam", "bookmarks", "delete", "The leak").code == 0
    assert shell("redteam", "bookmarks", "delete", "The leak").code == 2


def test_a_session_that_is_not_there_is_told_with_those_there_are(shell: Shell) -> None:
    shell("redteam", "new", "night", "-e", ECHO)
    for command in (("show",), ("chat",), ("delete",)):
        said = shell("redteam", *command, "nihgt")
        assert said.code == 2
        assert "Did you mean 'night'?" in said.err
    assert shell("redteam", "new", "night", "-e", ECHO).code == 2
    assert "-e ENDPOINT" in shell("redteam", "new", "other").err


# At a terminal ----------------------------------------------------------------------------------


class Terminal:
    """A chat in a pseudo-terminal."""

    def __init__(self, session: str, columns: int) -> None:
        self.seen = ""
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            os.execve(
                PENSTOCK,
                [PENSTOCK, "redteam", "chat", session],
                {**os.environ, "TERM": "xterm-256color"},
            )
        size = struct.pack("HHHH", 24, columns, 0, 0)
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, size)

    def until(self, mark: str, seconds: float = 20.0) -> str:
        """Read until something is there; what was read, without what moves the cursor."""
        start, end = len(self.seen), time.monotonic() + seconds
        while mark not in self.seen[start:]:
            assert time.monotonic() < end, f"{mark!r} never came: {self.seen[start:]!r}"
            ready, _, _ = select.select([self.file], [], [], 0.1)
            if ready:
                try:
                    self.seen += os.read(self.file, 65536).decode("utf-8", "replace")
                except OSError:
                    break
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.seen[start:])

    def type(self, keys: str) -> None:
        """As a person does: after what was on its way is there. Python's line editing does not see
        a Ctrl-C that comes while it still draws."""
        while self.until_quiet(0.1):
            pass
        os.write(self.file, keys.encode())

    def leave(self) -> int:
        """How it ended."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                os.close(self.file)
                return os.waitstatus_to_exitcode(status)
            self.until_quiet()
        raise AssertionError("it did not end")

    def until_quiet(self, seconds: float = 0.05) -> bool:
        """Whether anything came within that time."""
        ready, _, _ = select.select([self.file], [], [], seconds)
        if ready:
            try:
                self.seen += os.read(self.file, 65536).decode("utf-8", "replace")
            except OSError:  # it has ended
                time.sleep(0.02)
                return False
        return bool(ready)


@pytest.fixture
def pair(shell: Shell, simulator: Simulator) -> Iterator[str]:
    names = [f"{simulator.url}#simulated-echo", f"{simulator.url}#simulated-refuse"]
    shell("redteam", "new", "pair", "-e", names[0], "-e", names[1])
    yield "pair"


def test_answers_stand_side_by_side_where_there_is_room(pair: str) -> None:
    wide = Terminal(pair, 100)
    wide.until("pair> ")
    wide.type("first word\r")
    shown = wide.until("pair> ")
    assert re.search(r"openai/simulated-echo +openai/simulated-refuse", shown)
    assert re.search(r"first word +I'm sorry, but I can't", shown)
    wide.type("\x04")
    assert wide.leave() == 0
    narrow = Terminal(pair, 60)
    narrow.until("pair> ")
    narrow.type("second word\r")
    shown = narrow.until("pair> ")
    assert "openai/simulated-echo:\r\nsecond word\r\n" in shown
    narrow.type("/quit\r")
    assert narrow.leave() == 0


def test_ctrl_c_stops_what_is_asked_and_stays_and_then_leaves(
    pair: str, simulator: Simulator
) -> None:
    simulator.set(latency="1500")
    chat = Terminal(pair, 100)
    chat.until("pair> ")
    chat.type("slow word\r")
    while simulator.summary()["requests"] < 2:
        chat.until_quiet()
    os.write(chat.file, b"\x03")
    shown = chat.until("pair> ")
    assert "no answer yet: it was stopped" in shown
    assert "stopped; an answer that is still on its way is recorded" in shown
    assert simulator.summary()["in_flight"] == 2, "it does not wait for what is in flight"
    chat.type("/retry\r")
    assert "slow word" in chat.until("pair> ")
    assert len(asked(simulator)) == 2, "nothing was paid twice"
    chat.type("half a line")
    chat.until("half a line")
    chat.type("\x03")
    chat.until("pair> ")
    chat.type("\x03")
    assert chat.leave() == 0
    assert len(asked(simulator)) == 2


def test_what_is_typed_is_written_to_no_history_file(shell: Shell) -> None:
    shell("redteam", "new", "one", "-e", ECHO)
    chat = Terminal("one", 80)
    chat.until("one> ")
    chat.type("a very private prompt\r")
    assert "a very private prompt" in chat.until("one> ")
    chat.type("\x1b[A")
    assert "a very private prompt" in chat.until("prompt"), "the line can be recalled"
    chat.type("\x03")
    chat.until("one> ")
    chat.type("\x04")
    assert chat.leave() == 0
    home = Path(os.environ["HOME"])
    for path in home.rglob("*"):
        assert not path.is_file() or b"private prompt" not in path.read_bytes()
