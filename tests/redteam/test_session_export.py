"""Sessions as files: rows for programs, a page for people. Nothing in them is obeyed."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.redteam.session import Session

HOSTILE = "=1+1 <script>alert(1)</script> <img src=x onerror=alert(2)> \x1b[31m \u202e & \"'"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Workbench(workspace=tmp_path / "home") as bench:
        made = Session.create(
            "Hostile <b>name</b>",
            ["simulated/simulated-echo", "simulated/simulated-refuse"],
            metric="refusal",
            description="<i>about</i>",
            workbench=bench,
        )
        made.send(HOSTILE)
        made.set(attack="base64", system_prompt="<u>guard</u>", strategy="previous_turns")
        made.send("two")
        yield made


def test_jsonl_has_every_turn_whole(session: Session, tmp_path: Path) -> None:
    path = session.export(tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len(rows) == 4
    assert {row["line"] for row in rows} == {HOSTILE, "two"}
    echoed = next(row for row in rows if row["send"] == 1 and "echo" in row["endpoint"])
    assert echoed["answer"] == HOSTILE
    assert (echoed["metric"], echoed["success"], echoed["attack"]) == ("refusal", True, "")
    last = rows[-1]
    assert (last["attack"], last["system_prompt"], last["context"]) == (
        "base64", "<u>guard</u>", 2,
    )  # fmt: skip


def test_csv_runs_no_formula(session: Session, tmp_path: Path) -> None:
    path = session.export(tmp_path / "out.csv")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert all(not row[name].startswith("=") for row in rows for name in ("answer", "line"))
    assert rows[0]["line"].startswith("'=1+1")


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_shows_everything_and_obeys_nothing(session: Session, tmp_path: Path) -> None:
    body = session.export(tmp_path / "out.html").read_text("utf-8")
    page = Tags()
    page.feed(re.sub(r"<script>.*?</script>\n</body>", "</body>", body, flags=re.S))
    assert page.tags.isdisjoint({"script", "img", "b", "i", "u", "iframe", "link"})
    for said in ("Hostile <b>name</b>", "<i>about</i>", "<u>guard</u>", "<script>alert(1)",
                 "success", "resisted", "attack: base64", "dHdv", "\\x1b[31m"):  # fmt: skip
        assert said in page.text, said
    assert "\x1b" not in body
    assert "\u202e" not in body


def test_both_endpoints_of_a_line_stand_in_one_row(session: Session, tmp_path: Path) -> None:
    body = session.export(tmp_path / "out.html").read_text("utf-8")
    tables = re.findall(r"<table.*?</table>", body, flags=re.S)[1:]
    assert len(tables) == 2
    for table in tables:
        assert table.count("<th ") == 2
        assert table.count("<tr>") == 2


def test_a_file_that_is_there_is_replaced_only_when_asked(session: Session, tmp_path: Path) -> None:
    for name in ("out.jsonl", "out.html"):
        session.export(tmp_path / name)
        with pytest.raises(InputError, match="already there"):
            session.export(tmp_path / name)
        session.export(tmp_path / name, overwrite=True)
    with pytest.raises(InputError, match="no format that can be written"):
        session.export(tmp_path / "out.docx")


def test_a_session_without_turns_is_exported_too(tmp_path: Path) -> None:
    with Workbench(workspace=tmp_path / "home") as bench:
        session = Session.create("Empty", "simulated", workbench=bench)
        assert session.export(tmp_path / "out.jsonl").read_text() == ""
        assert "Empty" in session.export(tmp_path / "out.html").read_text()
