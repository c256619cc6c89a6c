"""`penstock redteam chat`: lines to every endpoint of a session, settings by slash commands.

On a terminal the answers stream, side by side where there is room, and Ctrl-C stops what is being
asked and stays in the chat. From a pipe every line is a prompt or a command, and the output is
plain. What was typed is kept in memory only: prompts may be nobody else's business.
"""

from __future__ import annotations

import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from penstock.cli import complain
from penstock.cli.redteam_panes import Panes, print_turns, shown
from penstock.cli.show import out
from penstock.errors import Exit, InputError, NotFoundError, PenstockError
from penstock.redteam.session import Session
from penstock.redteam.turn import Turn, TurnStatus

__all__ = ["COMMANDS", "Chat", "print_settings"]

_MOST_LISTED = 200


class Command(NamedTuple):
    """A slash command."""

    name: str
    argument: str
    help: str


COMMANDS = (
    Command("system", "TEXT", "the system prompt; none takes it back"),
    Command("template", "ID", "the prompt template"),
    Command("strategy", "NAME", "what goes along of earlier turns: previous_turns(count=3)"),
    Command("attack", "NAME", "what is done to every line: base64, caesar(shift=3) | pair"),
    Command("metric", "NAME", "what tells success: refusal, rubric, or a metric"),
    Command("judge", "ENDPOINT", "the endpoint that judges"),
    Command("attacker", "ENDPOINT", "the endpoint that attacks and writes summaries"),
    Command("endpoints", "A B ...", "the endpoints that are asked"),
    Command("turns", "N", "the most turns that a driving attack takes for a line"),
    Command("show", "", "the settings"),
    Command("history", "[N]", "the last lines and what came of them"),
    Command("retry", "", "go on with what was stopped, or ask those again that failed"),
    Command("bookmark", "NAME [ENDPOINT]", "keep the last turn under a name"),
    Command("export", "FILE", "write the session: jsonl, csv or html"),
    Command("help", "", "this"),
    Command("quit", "", "leave; everything is kept"),
)
_SETTINGS = {
    "system": "system_prompt",
    "turns": "max_turns",
    **{name: name for name in ("template", "strategy", "attack", "metric", "judge", "attacker")},
}


class Chat:
    """A session at a prompt."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._live = sys.stdin.isatty()
        self._wrong = self._failed = False
        self._does: dict[str, Callable[[str], None]] = {
            "endpoints": self._endpoints,
            "show": lambda _: print_settings(self._session),
            "history": self._history,
            "retry": lambda _: self._asked("", again=True),
            "bookmark": self._bookmark,
            "export": self._export,
            "help": lambda _: _help(),
        }

    def run(self) -> int:
        """Until it is left: the exit code, which tells a script what went wrong."""
        if self._live:
            said = f"{self._session.name}: {', '.join(self._session.endpoints)}"
            _say(f"{said}\nType a prompt, or /help. Ctrl-D leaves.")
        for line in self._lines():
            if line.strip() == "/quit":
                break
            self._one(line)
        if self._live:
            return Exit.OK
        return Exit.INPUT if self._wrong else Exit.FAILURES if self._failed else Exit.OK

    def _one(self, line: str) -> None:
        """Whatever is wrong with a line is said, and the chat goes on."""
        try:
            if line.startswith("/") and not line.startswith("//"):
                self._command(line)
            elif line.strip():
                self._asked(line.removeprefix("/"))
        except InputError as error:
            self._wrong = True
            complain(error.message, error.remedy)
        except PenstockError as error:
            if not self._live:
                raise
            complain(error.message, error.remedy)

    def _lines(self) -> Iterator[str]:
        if not self._live:
            with suppress(AttributeError):
                sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
            for line in sys.stdin:
                yield line.rstrip("\r\n")
            return
        prompt = f"{self._session.id}> " if sys.stdout.isatty() else ""
        typing = _Typing()
        while True:
            try:
                with typing:
                    line = input(prompt)
            except EOFError:
                _say("")
                return
            except KeyboardInterrupt:
                _say("")
                if not typing.left:
                    return  # at an empty prompt it leaves, else it takes the line back
                continue
            yield line

    # Asking -----------------------------------------------------------------------------------

    def _asked(self, line: str, *, again: bool = False) -> None:
        stopped: list[bool] = []
        session = self._session
        with Panes(session.endpoints, line) as panes:
            how: dict[str, Any] = {
                "on_text": panes.said if panes.on else None,
                "on_turn": panes.took if panes.on else None,
                "on_interrupt": lambda: stopped.append(True),
                "drain": 0.0 if self._live else None,
            }
            turns: list[Turn] = session.retry(**how) if again else session.send(line, **how)
        panes.finish(turns)
        self._failed |= any(turn.status is TurnStatus.FAILED for turn in turns)
        if stopped and not self._live:
            raise KeyboardInterrupt
        if stopped:
            _say("stopped; an answer that is still on its way is recorded, and /retry finds it")

    # Commands ---------------------------------------------------------------------------------

    def _command(self, line: str) -> None:
        name, _, argument = line[1:].partition(" ")
        argument = argument.strip()
        if name in _SETTINGS:
            self._set(name, argument)
        elif name in self._does:
            self._does[name](argument)
        else:
            known = [command.name for command in COMMANDS]
            close = get_close_matches(name, known, n=2)
            hint = f"Did you mean {' or '.join(f'/{each}' for each in close)}? " if close else ""
            raise NotFoundError(
                f"there is no command /{name}",
                remedy=f"{hint}/help lists them; a prompt that begins with / is written //.",
            )

    def _set(self, name: str, argument: str) -> None:
        setting = _SETTINGS[name]
        if not argument:
            now = self._session.settings[setting]
            _say(f"{name}: {now or 'none'}{_known(name)}")
            return
        value: Any = "" if argument == "none" else argument
        if setting == "max_turns":
            if not argument.isdecimal():
                raise InputError(f"/turns takes a number, not {argument!r}")
            value = int(argument)
        self._session.set(**{setting: value})
        _say(f"{name}: {self._session.settings[setting] or 'none'}")

    def _endpoints(self, argument: str) -> None:
        if argument:
            self._session.set(endpoints=argument.split())
        _say(f"endpoints: {', '.join(self._session.endpoints)}")

    def _history(self, argument: str) -> None:
        if argument and not argument.isdecimal():
            raise InputError(f"/history takes a number, not {argument!r}")
        order = {label: place for place, label in enumerate(self._session.endpoints)}
        for sent in deque(self._session.sends(), maxlen=int(argument or 10)):
            _say(f"{sent.number}> {sent.prompt}")
            turns = sorted(sent.turns, key=lambda turn: order.get(turn.endpoint, len(order)))
            print_turns(turns, sent.prompt)

    def _bookmark(self, argument: str) -> None:
        if not argument:
            raise InputError("/bookmark needs a name", remedy="/bookmark NAME [ENDPOINT]")
        session, name, endpoint = self._session, argument, None
        if len(session.endpoints) > 1:
            name, _, last = argument.rpartition(" ")
            endpoint = last if name else None
            name = name.strip() or argument
        _say(f"kept as {session.bookmark(name, endpoint=endpoint).name}")

    def _export(self, argument: str) -> None:
        if not argument:
            raise InputError("/export needs a file", remedy="/export session.html")
        _say(f"written: {self._session.export(Path(argument).expanduser())}")


def print_settings(session: Session) -> None:
    """What holds now."""
    console = out()
    for name, value in session.settings.items():
        told = ", ".join(value) if isinstance(value, list) else value
        if told not in (None, ""):
            console.print(f"{name.replace('_', ' '):>16}  {shown(str(told))}", soft_wrap=True)


def _help() -> None:
    width = max(len(f"/{each.name} {each.argument}") for each in COMMANDS)
    _say("\n".join(f"{f'/{c.name} {c.argument}':{width}}  {c.help}" for c in COMMANDS))


def _known(name: str) -> str:
    """What there is to choose from."""
    from penstock.metrics import metric_names
    from penstock.redteam.finding import attack_names
    from penstock.redteam.strategy import strategy_names

    found: list[str] = []
    if name == "attack":
        found = attack_names()
    elif name == "strategy":
        found = strategy_names()
    elif name == "metric":
        found = ["refusal", "rubric", *metric_names()]
    listed = ", ".join(dict.fromkeys(found[:_MOST_LISTED]))
    return f"\nThere are: {listed}" if found else ""


class _Typing:
    """While a line is typed: editing and recall where the system has them, and, when Ctrl-C is
    pressed, whether anything stood in the line. It is gone once `input` has ended."""

    def __init__(self) -> None:
        self.left = False
        self._before: Any = signal.SIG_DFL
        self._buffer: Callable[[], str] = str
        with suppress(ImportError):
            import readline

            self._buffer = readline.get_line_buffer

    def __enter__(self) -> None:
        self.left = False
        self._before = signal.signal(signal.SIGINT, self._pressed)

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _pressed(self, *_: object) -> None:
        self.left = bool(self._buffer().strip())
        raise KeyboardInterrupt


def _say(text: str) -> None:
    sys.stdout.write(shown(text) + "\n")
    sys.stdout.flush()
