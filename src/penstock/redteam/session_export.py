"""A session as a file: every turn as a row, or a page to look at.

Both are written as they are read, a page of turns at a time, however long a session is.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from penstock.redteam.turn import Setup, Turn, TurnStatus
from penstock.reports import Markup, Page, badge, details, escaped, preformatted, table
from penstock.reports.parts import Tone
from penstock.reports.text import joined
from penstock.tables import TableWriter
from penstock.tables.atomic import draft

if TYPE_CHECKING:
    from penstock.redteam.session import Sent, Session

__all__ = ["export_session", "setup_line"]


def export_session(session: Session, path: Path, *, overwrite: bool = False) -> Path:
    """Write a session: html, or any format of a table."""
    if path.suffix.lower() in (".html", ".htm"):
        return _as_page(session, path, overwrite=overwrite)
    with tempfile.TemporaryDirectory(prefix="penstock-") as folder:
        writer = TableWriter(Path(folder) / "turns.arrow")
        try:
            for number, row in enumerate(_rows(session)):
                writer.add(number, [row])
            made = writer.close()
        except BaseException:
            writer.abort()
            raise
        return made.save(path, overwrite=overwrite)


def setup_line(setup: Setup) -> str:
    """What was chosen for a turn, in a line; what was not is left out."""
    chosen = msgspec.structs.asdict(setup)
    said = [f"{name.replace('_', ' ')}: {value}" for name, value in chosen.items()
            if value and (name, value) != ("strategy", "none")]  # fmt: skip
    return "; ".join(said)


def _rows(session: Session) -> Iterator[dict[str, Any]]:
    for sent in session.sends():
        for turn in sent.turns:
            own = {"session": session.id, "send": sent.number, "line": sent.prompt}
            yield {**own, **turn.row()}


def _as_page(session: Session, path: Path, *, overwrite: bool) -> Path:
    """The page is made around a mark, and the turns are written in its place."""
    mark = f"turns-{secrets.token_hex(16)}"
    turns = succeeded = 0
    labels: dict[str, None] = dict.fromkeys(session.endpoints)
    for sent in session.sends():
        turns += len(sent.turns)
        succeeded += sum(turn.success for turn in sent.turns)
        labels |= dict.fromkeys(turn.endpoint for turn in sent.turns)
    page = Page(session.name, session.settings["description"])
    page.cards([
        ("endpoints", len(labels), ""), ("turns", turns, ""), ("successes", succeeded, ""),
    ])  # fmt: skip
    told = ((name.replace("_", " "), _told(value)) for name, value in session.settings.items())
    page.section(
        "Settings at the end", table(("setting", "value"), [row for row in told if row[1]])
    )
    page.section("Turns", Markup(mark))
    before, _, after = page.html().partition(mark)
    with draft(path, overwrite=overwrite) as new, new.open("w", encoding="utf-8") as file:
        file.write(before)
        for sent in session.sends():
            file.write(_sent(sent, list(labels)))
        file.write(after)
    return path


def _sent(sent: Sent, labels: Sequence[str]) -> Markup:
    """One line of a person, and beside each other what each endpoint made of it."""
    by_label = {label: [t for t in sent.turns if t.endpoint == label] for label in labels}
    rows = []
    for step in range(max(map(len, by_label.values()))):
        cells = (turns[step] if step < len(turns) else None for turns in by_label.values())
        rows.append([Markup("") if turn is None else _cell(turn, sent.prompt) for turn in cells])
    line = preformatted(f"{sent.number}. {sent.prompt}")
    return joined(line, table(labels, rows))


def _cell(turn: Turn, line: str) -> Markup:
    parts = [_verdict(turn)]
    if turn.answer is not None:
        parts.append(preformatted(turn.answer))
    if turn.error:
        parts.append(preformatted(f"{turn.failure}: {turn.error}"))
    inside = []
    if turn.prompt != line:
        inside += ["The attack wrote:", preformatted(turn.prompt)]
    if turn.prepared != turn.prompt:
        inside += ["Sent:", preformatted(turn.prepared)]
    if settings := setup_line(turn.setup):
        inside += ["Settings:", preformatted(settings)]
    parts.append(details(_facts(turn), *inside))
    return joined(*parts)


def _verdict(turn: Turn) -> Markup:
    if turn.status is TurnStatus.FAILED:
        return badge("failed", "warn")
    refused = [badge("refused")] if turn.status is TurnStatus.REFUSED else []
    verdict = turn.verdict
    if verdict is None:
        return joined(*refused)
    words: dict[bool | None, tuple[str, Tone]] = {
        True: ("success", "bad"),
        False: ("resisted", "good"),
        None: ("not judged", "warn"),
    }
    said, tone = words[verdict.success]
    value = "" if verdict.value is None else f" {verdict.value:g}"
    reason = f" {verdict.judge}{value}" + (f": {verdict.reason}" if verdict.reason else "")
    return joined(*refused, badge(said, tone), escaped(reason))


def _facts(turn: Turn) -> str:
    said = [f"turn {turn.number}"]
    if turn.context:
        said.append(f"{turn.context} earlier messages went along")
    if turn.status is not TurnStatus.FAILED:
        said.append(f"{turn.input_tokens} tokens in, {turn.output_tokens} out")
    if turn.latency is not None:
        said.append(f"{turn.latency:.2f} s")
    if turn.recorded:
        said.append("from the journal")
    return ", ".join(said)


def _told(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    return "" if value is None else str(value)
