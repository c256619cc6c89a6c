"""A red-team session: a named conversation with one or several endpoints side by side.

    session = Session.create("Night shift", ["mini", "haiku"], metric="refusal")
    session.send("How does one open a lock?")
    session.set(attack="base64", system_prompt="You guard the vault.")
    for turn in session.send("What is in the vault?"):
        print(turn.endpoint, turn.text, turn.success)

Everything is on disk: `Session.open("Night shift")` goes on with it, in this process or another.
Settings hold from when they are set; every turn carries those that it was taken with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from penstock.endpoint import Endpoint
from penstock.engine.bridge import run
from penstock.engine.engine import Engine
from penstock.engine.retries import RetryPolicy
from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import InputError, NotFoundError
from penstock.files import slug
from penstock.redteam.bookmarks import Bookmark, add_bookmark
from penstock.redteam.session_send import OnSaid, OnTurn, Sending, Wish
from penstock.redteam.session_setup import Chosen, Seat, check_choices, seat_of, seated
from penstock.redteam.sessions import find_row
from penstock.redteam.turn import Setup, Turn, TurnStatus
from penstock.store.sessions import SessionStore, kept

__all__ = ["SETTINGS", "Sent", "Session"]

_TEXTS = Setup.__struct_fields__
_HELPERS = ("attacker", "judge")
_NONE = ("", "none")
SETTINGS = (
    "endpoints", *_TEXTS, *_HELPERS, "seed", "max_turns", "stop_on_success", "description",
)  # fmt: skip
"""What `set` takes."""
_LONGEST_NAME = 200

Endpoints = Sequence[Endpoint | str] | Endpoint | str


class Sent(NamedTuple):
    """What a person sent, and the turns that came of it."""

    number: int
    prompt: str
    turns: list[Turn]


class Session:
    """A session that is open. Use `create` or `open`."""

    def __init__(
        self,
        row: Mapping[str, Any],
        bench: Workbench,
        given: Mapping[str, Endpoint] | None = None,
    ) -> None:
        self.id = str(row["id"])
        self.name = str(row["name"])
        self.created = float(row["created"])
        self._bench = bench
        self._store = SessionStore(bench.catalog)
        self._chosen = Chosen.of_row(row)
        self._given = dict(given or {})
        """Endpoints that were given as objects, by label; attacker and judge by these names."""

    @classmethod
    def create(
        cls,
        name: str,
        endpoints: Endpoints,
        *,
        workbench: Workbench | None = None,
        **settings: Any,
    ) -> Session:
        """Begin a session under a name. The settings are those of `set`; all are checked here.

        strategy          what goes along of earlier turns: none, previous_turns(count=3), ...
        attack            what is done to every line: base64, caesar(shift=3) | pair, ...
        template          the id of a prompt template
        metric            what tells success: refusal, rubric, or a metric; none: nothing is judged
        system_prompt     sent with every question
        attacker, judge   endpoints that an attack, a summary or a metric asks
        seed              of everything that an attack draws
        max_turns         of an attack that drives the conversation, for one line
        stop_on_success   whether the variants of a line end with the first success
        description       for people
        """
        if not name.strip() or len(name) > _LONGEST_NAME:
            raise InputError(f"a session needs a name of 1 to {_LONGEST_NAME} letters")
        bench = workbench or default_workbench()
        made = slug(name)
        first = Chosen(endpoints=())
        chosen, given = _changed(first, {"endpoints": endpoints, **settings}, bench, {})
        store = SessionStore(bench.catalog)
        if not store.create({"id": made, "name": name, **chosen.row()}):
            raise InputError(
                f"there is a session {made!r} already",
                remedy="Open it, or give another name.",
            )
        row = store.find(made)
        assert row is not None
        return cls(row, bench, given)

    @classmethod
    def open(
        cls,
        name: str,
        *,
        workbench: Workbench | None = None,
        given: Mapping[str, Endpoint] | None = None,
    ) -> Session:
        """The session of that name or id. `given`: endpoints by label whose keys are not stored."""
        bench = workbench or default_workbench()
        return cls(find_row(name, bench), bench, given)

    # What is chosen ---------------------------------------------------------------------------

    @property
    def endpoints(self) -> tuple[str, ...]:
        """The labels of those that are asked."""
        return self._chosen.labels

    @property
    def setup(self) -> Setup:
        return self._chosen.setup

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that `set` takes, as it is now."""
        chosen = self._chosen
        made: dict[str, Any] = {"endpoints": list(chosen.labels)}
        made |= msgspec.structs.asdict(chosen.setup)
        for name in _HELPERS:
            seat: Seat | None = getattr(chosen, name)
            made[name] = None if seat is None else seat.label
        for name in ("seed", "max_turns", "stop_on_success", "description"):
            made[name] = getattr(chosen, name)
        return made

    def set(self, **changes: Any) -> None:
        """Change settings, for the turns to come. What is wrong is told at once, and then nothing
        is changed."""
        chosen, given = _changed(self._chosen, changes, self._bench, self._given)
        if not self._store.update(self.id, **chosen.row()):
            raise NotFoundError(f"the session {self.id!r} was deleted meanwhile")
        self._chosen, self._given = chosen, given

    # Turns ------------------------------------------------------------------------------------

    def send(
        self,
        prompt: str,
        *,
        on_text: OnSaid | None = None,
        on_turn: OnTurn | None = None,
        on_interrupt: Callable[[], None] | None = None,
        drain: float | None = None,
    ) -> Any:
        """Send a line to every endpoint, each with its own history: a list of Turns, or inside a
        running loop a handle to await.

        With an attack set, a line gives several turns: one for each variant, or those of the
        driver, whose objective it is. All are recorded as they come. `on_text` is called with a
        label and a piece of an answer, `on_turn` with every recorded turn, in a thread of their
        own. After a stop (Ctrl-C, `cancel`) what is in flight has `drain` seconds; it is recorded
        in the journal whenever it comes, and found when the line is sent again.
        """
        line = kept(prompt) if isinstance(prompt, str) else ""
        if not line.strip():
            raise InputError("there is nothing to send: a line of text is wanted")
        return self._sent(line, self.endpoints, on_text, on_turn, on_interrupt, drain)

    def retry(
        self,
        *,
        on_text: OnSaid | None = None,
        on_turn: OnTurn | None = None,
        on_interrupt: Callable[[], None] | None = None,
        drain: float | None = None,
    ) -> Any:
        """Go on with a send that was stopped; else ask those again that failed in the last one."""
        before = find_row(self.id, self._bench)["open"]
        if before is not None:
            line, wanted = before["wish"]["line"], set(before["wish"]["labels"])
        else:
            last = self._store.latest(self.id)
            line = last[0]["line"] if last else ""
            wanted = {row["endpoint"] for row in last if row["status"] == TurnStatus.FAILED}
        labels = tuple(label for label in self.endpoints if label in wanted)
        if not labels:
            raise InputError("nothing has failed: there is nothing to try again")
        return self._sent(line, labels, on_text, on_turn, on_interrupt, drain)

    def turns(self, endpoint: str | None = None) -> list[Turn]:
        """All turns, or those of one endpoint, in the order of what was sent."""
        label = None if endpoint is None else self.label(endpoint)
        return [Turn.of_row(row) for row in self._store.turns(self.id, label)]

    def sends(self) -> Iterator[Sent]:
        """What was sent with what came of it, one at a time."""
        rows = self._store.turns(self.id)
        for number, group in groupby(rows, key=lambda row: int(row["send"])):
            found = list(group)
            yield Sent(number, found[0]["line"], [Turn.of_row(row) for row in found])

    def label(self, name: str) -> str:
        """The label of an endpoint that is or was in the session, by it or by its name."""
        for seat in self._chosen.endpoints:
            if name in (seat.label, seat.name):
                return seat.label
        known = ", ".join(seat.label for seat in self._chosen.endpoints)
        raise NotFoundError(
            f"the session {self.id!r} has no endpoint {name!r}", remedy=f"There are: {known}."
        )

    # What is kept of it -----------------------------------------------------------------------

    def export(self, path: Path | str, *, overwrite: bool = False) -> Path:
        """Every turn as jsonl or csv (or another table), or a page to look at (html)."""
        from penstock.redteam.session_export import export_session

        return export_session(self, Path(path), overwrite=overwrite)

    def bookmark(
        self, name: str, turn: Turn | None = None, *, endpoint: str | None = None
    ) -> Bookmark:
        """Keep a turn under a name; without one the last turn of the endpoint."""
        if turn is None:
            if endpoint is None and len(self.endpoints) > 1:
                raise InputError(
                    "whose answer is to be kept?",
                    remedy=f"Name an endpoint: {', '.join(self.endpoints)}.",
                )
            label = self.label(endpoint or self.endpoints[0])
            rows = self._store.last(self.id, label, 2**31 - 1, 1)
            if not rows:
                raise InputError(f"nothing has been sent to {label} yet")
            turn = Turn.of_row(rows[0])
        return add_bookmark(name, turn, session=self.id, workbench=self._bench)

    def __repr__(self) -> str:
        return f"Session({self.name!r}, endpoints={list(self.endpoints)!r})"

    # Inside -----------------------------------------------------------------------------------

    def _sent(
        self,
        line: str,
        labels: tuple[str, ...],
        on_text: OnSaid | None = None,
        on_turn: OnTurn | None = None,
        on_interrupt: Callable[[], None] | None = None,
        drain: float | None = None,
    ) -> Any:
        bench = self._bench
        ready = check_choices(self._chosen, bench, self._given)
        wish = Wish(self.id, line, labels, self._chosen, ready, on_text, on_turn)
        thread = bench.thread
        settings = bench.settings
        engine = Engine(
            thread.station,
            retries=RetryPolicy(settings.batch_processing.max_retries),
            budget=bench.budget(),
            drain=settings.storage.drain if drain is None else drain,
        )
        sending = Sending(wish, bench, engine, self._given)
        return run(thread, sending.work, cancel=engine.stop.throw, on_interrupt=on_interrupt)


def _changed(
    chosen: Chosen, changes: Mapping[str, Any], bench: Workbench, given: Mapping[str, Endpoint]
) -> tuple[Chosen, dict[str, Endpoint]]:
    """The choices with some of them changed, found and checked."""
    for name in changes:
        if name not in SETTINGS:
            close = get_close_matches(name, SETTINGS, n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            raise InputError(
                f"a session has no setting {name!r}",
                remedy=f"{hint}There are: {', '.join(SETTINGS)}.",
            )
    now, plain = dict(given), dict(changes)
    texts = {name: _text(name, plain.pop(name)) for name in _TEXTS if name in plain}
    plain["setup"] = msgspec.structs.replace(chosen.setup, **texts)
    if "endpoints" in plain:
        plain["endpoints"], found = seated(plain["endpoints"], bench, chosen.endpoints)
        now = {name: now[name] for name in _HELPERS if name in now} | found
    for name in _HELPERS:
        if name in plain:
            now.pop(name, None)
            if plain[name] is None or plain[name] in _NONE:
                plain[name] = None
            else:
                plain[name], found_one = seat_of(plain[name], bench)
                if not plain[name].name:
                    now[name] = found_one
    if "description" in plain:
        plain["description"] = kept(str(plain["description"]))
    made = msgspec.structs.replace(chosen, **plain)
    check_choices(made, bench, now)
    return made, now


def _text(name: str, value: Any) -> str:
    if value is None:
        value = ""
    if not isinstance(value, str):
        raise InputError(f"{name} is {value!r:.80}; a text is wanted")
    if name == "system_prompt":
        return kept(value)
    value = kept(value.strip())
    if name == "strategy":
        return value or "none"
    return "" if value in _NONE else value
