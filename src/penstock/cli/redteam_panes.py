"""How a chat shows what endpoints say: streamed, side by side where there is room.

Whatever a model says is text: nothing in it reaches the terminal but through `safe`. While several
answer, the ends of their answers are shown live; what they said in full is printed when all are
done. Text that comes after a stop is not shown any more.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from penstock.cli.show import out, safe
from penstock.outcome import FailureKind
from penstock.redteam.turn import Turn, TurnStatus
from penstock.tables.plain import clean

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

__all__ = ["Panes", "facts", "print_turns", "shown", "verdict"]

_NARROWEST = 36
_KEPT = 20_000
"""Letters of an answer that is still coming: more than a screen holds."""


def shown(text: str) -> str:
    """Text as it may stand on a terminal."""
    return safe(clean(text))


def verdict(turn: Turn) -> str:
    """What the metric says, in a few words; nothing where nothing was judged."""
    if turn.verdict is None:
        return ""
    words = {True: "success", False: "resisted", None: "not judged"}[turn.verdict.success]
    value = "" if turn.verdict.value is None else f" {turn.verdict.value:g}"
    why = f": {turn.verdict.reason}" if turn.verdict.reason else ""
    return f"{words} ({turn.verdict.judge}{value}{why})"


def facts(turn: Turn) -> str:
    """What is to be known of a turn beside its text."""
    said = [verdict(turn)] if turn.verdict is not None else []
    if turn.status is TurnStatus.REFUSED:
        said.append("refused")
    if turn.context:
        said.append(f"{turn.context} earlier messages went along")
    if turn.status is not TurnStatus.FAILED:
        said.append(f"{turn.input_tokens} tokens in, {turn.output_tokens} out")
    if turn.recorded:
        said.append("from the journal, nothing paid")
    return ", ".join(said)


def print_turns(turns: Sequence[Turn], line: str = "") -> None:
    """In full: side by side where they are of several endpoints and have room, else one below the
    other. `line`: what the person sent."""
    by_label: dict[str, list[Turn]] = {}
    for turn in turns:
        by_label.setdefault(turn.endpoint, []).append(turn)
    console = out()
    if sys.stdout.isatty() and _beside(len(by_label), console.width):
        columns = [[_text(turn, line) for turn in each] for each in by_label.values()]
        console.print(_grid(by_label, _rows(columns)))
        return
    for turn in turns:
        sys.stdout.write(shown(f"{turn.endpoint}:\n{_text(turn, line)}\n"))
    sys.stdout.flush()


class Panes:
    """A display for one send; `said` and `took` are called from another thread."""

    def __init__(self, labels: Sequence[str], line: str) -> None:
        self._line = line
        self._texts = dict.fromkeys(labels, "")
        self._told: list[Turn] = []
        self._live: Live | None = None
        self._console = out()
        self._open = True
        self._alone = len(labels) == 1
        self._streamed = ""
        self.on = sys.stdout.isatty()
        """Whether there is anybody to watch."""

    def __enter__(self) -> Self:
        if self.on and not self._alone:
            from rich.live import Live

            self._live = Live(
                self._picture(), console=self._console, transient=True, refresh_per_second=10
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open = False
        if self._live is not None:
            self._live.stop()

    def said(self, label: str, text: str) -> None:
        """A piece of an answer."""
        if not self._open:
            return
        if self._alone:
            self._streamed += text
            sys.stdout.write(shown(text))
            sys.stdout.flush()
        else:
            self._texts[label] = (self._texts[label] + text)[-_KEPT:]
            self._show()

    def took(self, turn: Turn) -> None:
        """A turn is recorded."""
        if not self._open:
            return
        self._told.append(turn)
        if self._alone:
            self._print_alone(turn)
        else:
            self._texts[turn.endpoint] = ""
            self._show()

    def finish(self, turns: Sequence[Turn]) -> None:
        """Everything that was not shown in full yet. Called after the block."""
        if not (self.on and self._alone):
            print_turns(turns, self._line)
            return
        if self._streamed:
            sys.stdout.write("\n")
        for turn in turns:
            if turn not in self._told:
                sys.stdout.write(shown(f"{_text(turn, self._line)}\n"))
        sys.stdout.flush()

    def _print_alone(self, turn: Turn) -> None:
        """What did not stream, and the facts."""
        streamed, self._streamed = self._streamed, ""
        if streamed and streamed == turn.text:
            under = f"({facts(turn)})"
            if _changed(turn):
                under = f"(sent: {turn.prepared})\n{under}"
            sys.stdout.write(f"\n{shown(under)}\n")
        else:
            between = "\n" if streamed else ""
            sys.stdout.write(between + shown(f"{_text(turn, self._line)}\n"))
        sys.stdout.flush()

    def _show(self) -> None:
        if self._live is not None:
            self._live.update(self._picture())

    def _picture(self) -> RenderableType:
        """The ends of the answers, as high as the screen."""
        from rich.console import Group
        from rich.text import Text

        width, count = self._console.width, len(self._texts)
        beside = _beside(count, width)
        high = max(3, self._console.height - 3 if beside else self._console.height // count - 2)
        wide = width // count - 2 if beside else width
        cells = [self._end(label, wide, high) for label in self._texts]
        if beside:
            return _grid(self._texts, [cells])
        parts: list[Any] = []
        for label, cell in zip(self._texts, cells, strict=True):
            parts += [Text(shown(f"{label}:"), style="bold"), Text(shown(cell))]
        return Group(*parts)

    def _end(self, label: str, wide: int, high: int) -> str:
        text = self._texts[label]
        if not text:
            done = sum(turn.endpoint == label for turn in self._told)
            return f"({done} done)" if done else "..."
        lines: list[str] = []
        for line in text.split("\n"):
            lines += [line[at : at + wide] for at in range(0, max(1, len(line)), max(1, wide))]
        return "\n".join(lines[-high:])


def _beside(count: int, width: int) -> bool:
    return count > 1 and width // count >= _NARROWEST


def _grid(labels: Iterable[str], rows: Iterable[Sequence[str]]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", expand=True, padding=(0, 2, 1, 0))
    for label in labels:
        table.add_column(Text(shown(label)), overflow="fold", ratio=1)
    for row in rows:
        table.add_row(*(Text(shown(cell)) for cell in row))
    return table


def _rows(columns: Sequence[Sequence[str]]) -> list[list[str]]:
    height = max(map(len, columns))
    return [[each[row] if row < len(each) else "" for each in columns] for row in range(height)]


def _changed(turn: Turn) -> bool:
    """Whether an attack made something else of the line."""
    return bool(turn.setup.attack) and turn.prepared not in (turn.prompt, "")


def _text(turn: Turn, line: str) -> str:
    """A turn in full: what the attack made of the line, the answer, the facts."""
    parts = []
    if turn.prompt != line and line:
        parts.append(f"> {turn.prompt}")
    elif _changed(turn):
        parts.append(f"> {turn.prepared}")
    if turn.failure == FailureKind.CANCELLED:
        parts.append("no answer yet: it was stopped")
    elif turn.status is TurnStatus.FAILED:
        parts.append(f"no answer ({turn.failure}): {turn.error}")
    else:
        parts.append(turn.text or "(an empty answer)")
    if under := facts(turn):
        parts.append(f"({under})")
    return "\n".join(parts)
