"""`penstock grade`: files and a rubric in, the same files with grades out."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from penstock import cli
from penstock.errors import Exit
from penstock.settings import give_flags
from penstock.simulator import Simulator
from penstock.tables import Table
from tests.cli.conftest import PENSTOCK, Said, Shell
from tests.grade.grade_gate import Gate

QUICK = ("--check-interval", "0.1", "--outage-patience", "0")
DAY = 86_400
RUBRIC = """
name: Short answers
criteria:
  - name: clarity
    scale: [1, 5]
    weight: 2
  - name: tone
    labels: {rude: 0, plain: 1, kind: 2}
"""
ADDED = ["clarity", "clarity_reason", "tone", "tone_reason", "total", "status", "error"]


@pytest.fixture(autouse=True)
def _rubric() -> None:
    Path("rubric.yaml").write_text(RUBRIC)


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    """The shell without a process of its own: a second less each time."""

    def run(*arguments: str, stdin: str = "", **environment: str) -> Said:
        assert not stdin
        capsys.readouterr()
        with monkeypatch.context() as world:
            for name, value in environment.items():
                world.setenv(name, value)
            code = cli.run(arguments)
        give_flags({})
        said = Said(code, *capsys.readouterr())
        assert "a fault of Penstock" not in said.err, said.err
        return said

    return run


@pytest.fixture
def essays() -> str:
    """Twenty rows with an id that begins with zeros."""
    return written("essays.csv", 20)


@pytest.fixture
def lab(simulator: Simulator, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Simulator:
    """The simulator's server as the model `lab`, which has a price."""
    monkeypatch.setenv("LAB_KEY", "a-key-of-no-worth")
    added(shell, "lab", simulator.url)
    return simulator


@pytest.fixture
def gate(lab: Simulator, shell: Shell) -> Iterator[Gate]:
    """Before that server, as the model `gated`: it refuses what it is told to."""
    with Gate(lab.url) as gate:
        added(shell, "gated", gate.url)
        yield gate


def added(shell: Shell, name: str, url: str) -> None:
    shell(
        "endpoints", "add", name, f"{url}#llama", "--key", "env:LAB_KEY",
        "--input-price", "1", "--output-price", "10",
    )  # fmt: skip


def written(name: str, count: int, word: str = "essay") -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{n:03d},{word} number {n:03d}\n" for n in range(count)]
    path.write_text("id,text\n" + "".join(lines))
    return name


def command(*inputs: str, model: str = "simulated", out: str = "graded") -> tuple[str, ...]:
    return ("grade", *inputs, "--rubric", "rubric.yaml", "--model", model, "-o", out, *QUICK)


def read(name: str) -> list[dict[str, str]]:
    with Path(name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(name).read_text().splitlines()]


def statuses(name: str = "graded/essays.csv") -> list[str]:
    return [row["status"] for row in read(name)]


def runs(shell: Shell) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shell("runs", "list", "--json").out)
    return found


def sent(simulator: Simulator) -> int:
    """Questions that the server has seen, by either lane."""
    found = simulator.summary()
    return int(found["requests"]) - int(found["errands"]) + int(found["lines"])


def told(said: Said) -> str:
    return " ".join(said.err.split())


# A folder -------------------------------------------------------------------------------------


@pytest.fixture
def folder() -> str:
    """What people have: good files of several formats, and bad ones."""
    top = Path("essays")
    written("essays/good.csv", 30)
    with xlsxwriter.Workbook("essays/sheet.xlsx") as book:
        sheet = book.add_worksheet()
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        sheet.write_row(0, 0, ["id", "handed in", "text"])
        for n in range(1, 4):
            sheet.write_string(n, 0, f"{n:04d}")
            sheet.write_datetime(n, 1, datetime(2026, 1, n), day)
            sheet.write_string(n, 2, f"sheet {n}")
    (top / "empty.csv").write_bytes(b"")
    (top / "latin.csv").write_bytes("id;text\n1;Über Flüsse\n2;naïve\n".encode("latin-1"))
    (top / "other.csv").write_text("id,body\n1,no text here\n")
    (top / "broken.jsonl").write_text('{"text": "a"}\n{"text": \n{"text": "c"}\n')
    Table.from_rows([{"id": n, "text": f"row {n}"} for n in range(2000)]).save(
        str(top / "many.parquet")
    )
    (top / "notes.txt").write_text("no table")
    return str(top)


def test_a_folder_of_all_kinds_is_graded_by_one_command(shell: Shell, folder: str) -> None:
    said = shell(*command(folder), "--column", "text")
    assert said.code == Exit.FAILURES, said
    rows = read("graded/good.csv")
    assert [row["id"] for row in rows] == [f"{n:03d}" for n in range(30)]
    assert list(rows[0]) == ["id", "text", *ADDED]
    assert all(row["status"] == "ok" and row["clarity"] in "12345" for row in rows)
    sheet = Table.open("graded/sheet.xlsx").to_list()
    assert [row["id"] for row in sheet] == ["0001", "0002", "0003"]
    assert [_day(row["handed in"]) for row in sheet] == [date(2026, 1, n) for n in (1, 2, 3)]
    latin = Path("graded/latin.csv").read_bytes().decode("latin-1")
    assert "1;Über Flüsse;" in latin and latin.startswith("id;text;clarity;")
    many = Table.open("graded/many.parquet")
    assert many["id"] == list(range(2000)) and set(many["status"]) == {"ok"}
    broken = lines("graded/broken.jsonl")
    assert [row["status"] for row in broken] == ["ok", "error", "ok"]
    assert broken[1]["bad_line"] == '{"text": ' and broken[1]["error"]
    assert not Path("graded/empty.csv").exists() and not Path("graded/other.csv").exists()
    for words in (
        "good.csv 30 rows, 30 graded -> graded/good.csv",
        "broken.jsonl 3 rows, 2 graded, 1 unreadable -> graded/broken.jsonl",
        "empty.csv problem: essays/empty.csv is empty",
        "other.csv problem: there is no column 'text' There are: id, body.",
        "7 files, 2,038 rows: 2,037 graded, 1 unreadable",
        "1 file left out: no tables",
        "report: graded/report.html",
        "put right",
    ):
        assert words in told(said), said.err
    assert json.loads(Path("graded/report.json").read_text())["rows"]["ok"] == 2037
    assert "<html" in Path("graded/report.html").read_text()


def _day(value: Any) -> date:
    return value.date() if isinstance(value, datetime) else date.fromisoformat(str(value)[:10])


def test_a_run_as_json(shell: Shell, essays: str) -> None:
    found = json.loads(shell(*command(essays), "--json", "--name", "Class 9b").out)
    assert found["state"] == "completed" and found["rows"]["ok"] == 20
    assert found["files"][0]["output"].endswith("graded/essays.csv")
    assert Path(found["report"]).exists()
    row = runs(shell)[0]
    assert (row["id"], row["kind"], row["name"]) == (found["run"], "grade", "Class 9b")


def test_the_starter_is_written_once_and_grades(shell: Shell, essays: str) -> None:
    said = shell("grade", "init", "mine.yaml")
    assert said.code == 0 and "penstock grade FILES --rubric mine.yaml" in said.out
    mine = Path("mine.yaml").read_text()
    Path("mine.yaml").write_text(mine + "# changed\n")
    said = shell("grade", "init", "mine.yaml")
    assert said.code == Exit.INPUT and "--force" in said.err
    assert Path("mine.yaml").read_text().endswith("# changed\n")
    assert shell("grade", "init", "mine.yaml", "--force").code == 0
    assert Path("mine.yaml").read_text() == mine
    said = shell("grade", essays, "-r", "mine.yaml", "-m", "simulated", "-o", "graded")
    assert said.code == 0 and "argument" in read("graded/essays.csv")[0]


def test_a_folder_that_is_named_like_the_command_is_graded(shell: Shell) -> None:
    written("init/a.csv", 2)
    assert shell(*command("./init")).code == 0
    assert len(read("graded/a.csv")) == 2


# Looking first --------------------------------------------------------------------------------


def test_tokens_are_counted_without_a_key_and_without_a_workspace(
    shell: Shell, essays: str
) -> None:
    Path("more.csv").write_text("text\none\n\n")
    said = shell(*command(essays, "more.csv", model="gpt-4o-mini"), "--count-tokens")
    assert said.code == 0, said
    head, *rows = said.out.splitlines()
    assert head.split() == ["file", "rows", "texts", "tokens", "chunks"]
    cells = [row.replace(",", "").split() for row in rows]
    assert [row[:3] + row[4:] for row in cells] == [
        ["essays.csv", "20", "20", "1"],
        ["more.csv", "1", "1", "1"],
        ["all", "21", "21", "2"],
    ]
    assert int(cells[0][3]) + int(cells[1][3]) == int(cells[2][3]) > 21
    assert not Path(".penstock").exists() and not Path("graded").exists()


def test_chunks_are_made_as_the_flags_say(shell: Shell, essays: str) -> None:
    def total(*flags: str) -> dict[str, int]:
        found = json.loads(shell(*command(essays), "--count-tokens", "--json", *flags).out)
        return dict(found["total"])

    plain = total()
    assert plain["chunks"] == 1
    assert total("--row-limit", "6")["chunks"] == 4
    assert total("--chunks", "3")["chunks"] == 3
    assert total("--token-limit", str(plain["tokens"] // 3))["chunks"] == 4
    assert total("--chunk-size", "5")["chunks"] == 4, "the setting"
    tight = total("--token-limit", "5")
    assert (tight["chunks"], tight["over"]) == (0, 20)
    assert total("--graders", "3")["tokens"] == 3 * plain["tokens"]


def test_a_count_says_which_limits_would_be_broken(shell: Shell, essays: str) -> None:
    limits = ("--file-token-limit", "50", "--daily-token-limit", "60")
    said = shell(*command(essays), "--count-tokens", *limits)
    assert said.code == 0
    assert "and a file may take 50" in said.err and "60 are left for today" in said.err


def test_an_estimate_in_dollars_sends_nothing(shell: Shell, essays: str, lab: Simulator) -> None:
    def found(*flags: str) -> dict[str, Any]:
        said = shell(*command(essays, model="lab"), "--estimate", "--json", *flags)
        assert said.code == 0, said
        return dict(json.loads(said.out))

    first = found("--max-tokens", "100", "--batch")["total"]
    assert (first["questions"], first["recorded"], first["output_tokens"]) == (20, 0, 2000)
    cost = (first["input_tokens"] * 1 + 2000 * 10) / 1_000_000
    assert float(first["cost"]) == pytest.approx(cost)
    assert float(first["batch_cost"]) == pytest.approx(cost / 2)
    assert lab.summary()["requests"] == 0 and not Path("graded").exists()
    guess = found()
    assert guess["answers_seen"] == 0 and guess["total"]["batch_cost"] is None
    assert shell(*command(essays, model="lab"), "--preview", "5").code == 0
    better = found("--daily-token-limit", "100000")
    assert (better["total"]["recorded"], better["answers_seen"]) == (5, 5)
    left = better["tokens_left_today"]
    total = better["total"]
    assert 0 < left < 100_000, "the preview has used some"
    assert better["tokens_left_after"] == left - total["input_tokens"] - total["output_tokens"]
    said = shell(*command(essays, model="lab"), "--json")
    used = json.loads(said.out)["usage"]
    assert total["output_tokens"] == pytest.approx(used["output_tokens"], rel=0.25)
    assert found()["total"]["cost"] == "0"


def test_an_estimate_for_people(shell: Shell, essays: str, lab: Simulator) -> None:
    written("other.csv", 5, "other")
    said = shell(*command(essays, "other.csv", model="lab"), "--estimate", "--budget", "0.0001")
    assert said.code == 0, said
    head, first, second, both, *_ = said.out.splitlines()
    assert head.split()[-3:] == ["online", "by", "batch"]
    assert first.startswith("essays.csv") and second.startswith("other.csv")
    assert both.startswith("all") and "$0." in both and both.rstrip().endswith("-")
    assert "a guess by the rubric" in said.out and "prices: endpoint" in said.out
    assert "the budget of $0.0001 would not be enough" in said.err
    said = shell(*command(essays, model=f"{lab.url}#nobody"), "--estimate")
    assert "unknown" in said.out and "no price is known" in said.err


def test_a_preview_is_shown_and_not_paid_for_again(
    shell: Shell, essays: str, lab: Simulator
) -> None:
    said = shell(*command(essays, model="lab"), "--batch", "--preview", "2")
    assert said.code == 0, said
    assert lab.summary()["requests"] == 2 and not Path("graded").exists()
    assert said.out.startswith("essays.csv\nrow 1\n  text     essay number 000\n  clarity  ")
    assert "row 2\n" in said.out and "row 3" not in said.out
    assert "\n  tone     " in said.out and "\n  total    " in said.out
    assert "2 rows: 2 graded" in said.err and "will not pay for them again" in said.err
    assert "nothing was asked" in shell(*command(essays, model="lab"), "--preview", "2").err
    found = json.loads(shell(*command(essays, model="lab"), "--preview", "2", "--json").out)
    rows = found["previews"][0]["rows"]
    assert [row["text"] for row in rows] == ["essay number 000", "essay number 001"]
    assert rows[0]["grades"]["status"] == "ok" and rows[0]["grades"]["clarity_reason"]
    assert shell(*command(essays, model="lab")).code == 0
    assert (sent(lab), lab.summary()["repeated"]) == (20, 0)


def test_a_preview_obeys_nothing_and_shows_what_cannot_be_graded(shell: Shell) -> None:
    Path("bad.jsonl").write_text('{"text": "\\u001b[31mred"}\n{"text": ""}\n{"tex\n')
    Path("none.csv").write_text("a,b\n1,2\n")
    said = shell(*command("bad.jsonl", "none.csv"), "--preview", "5")
    assert said.code == Exit.FAILURES, said
    assert "\x1b" not in said.out and "\\x1b[31mred" in said.out
    assert "status   empty" in said.out and "status   error" in said.out
    assert "problem: it is not clear which column is graded" in said.err
    [run] = runs(shell)
    folder = Path(json.loads(shell("runs", "show", run["id"], "--json").out)["folder"])
    assert not list(folder.glob("file-*/records")), "no copy of the texts is left behind"


def test_parts_are_written_and_nothing_is_sent(shell: Shell, essays: str, lab: Simulator) -> None:
    said = shell(*command(essays, model="lab", out="parts"), "--split", "--row-limit", "8")
    assert said.code == 0, said
    names = sorted(path.name for path in Path("parts").glob("*.csv"))
    assert names == [f"essays-part-00{n}-of-003.csv" for n in (1, 2, 3)]
    rows = [row for name in names for row in read(f"parts/{name}")]
    assert rows == read(essays)
    assert lab.summary()["requests"] == 0 and runs(shell) == []
    again = command(essays, out="parts")
    assert "is there already" in shell(*again, "--split", "--row-limit", "8").err
    said = shell(*again, "--split", "--row-limit", "10", "--overwrite")
    assert said.code == Exit.INPUT and "of an earlier split into 3" in said.err
    assert shell(*again, "--split", "--row-limit", "8", "--overwrite").code == 0
    said = shell(*command("parts"))
    assert said.code == 0 and "3 files, 20 rows: 20 graded" in said.err


def test_parts_by_tokens_leave_long_rows_apart(shell: Shell) -> None:
    long = "word " * 2000
    Path("a.csv").write_text(f"text\nshort\n{long}\nshort again\n")
    Path("b.csv").write_text("x,y\n1,2\n")
    split = (*command("a.csv", "b.csv", out="parts"), "--split", "--token-limit", "1500")
    said = shell(*split, "--json")
    assert said.code == Exit.INPUT and "1 rows are over the limit" in said.err
    said = shell(*split, "--on-over-limit", "skip", "--json")
    assert said.code == Exit.FAILURES, said
    found = json.loads(said.out)
    assert len(found["files"][0]["parts"]) == 2
    assert read(found["files"][0]["left_out"]) == [{"text": long}]
    assert found["refused"][0]["path"] == "b.csv"


# What is wrong --------------------------------------------------------------------------------


GOOD = ("-r", "rubric.yaml", "-m", "simulated")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["there is nothing to grade", "Give files or folders"]),
        (["essays.csv"], ["--rubric is missing", "penstock grade init"]),
        (["essays.csv", "--split"], ["--rubric is missing", "--split counts"]),
        (["essays.csv", "-r", "none.yaml"], ["none.yaml"]),
        (["essays.csv", "-r", "wrong.yaml"], ["wrong.yaml:2", "scale"]),
        (["essays.csv", "-r", "rubric.yaml"], ["no model is given", "--model simulated"]),
        (["essays.csv", "-r", "rubric.yaml", "-m", "hal"], ["'hal'"]),
        (["none.csv", *GOOD], ["there is no file none.csv"]),
        (["rubric.yaml", *GOOD], ["'yaml' is no format that can be graded"]),
        (["hollow", *GOOD], ["there is no file to grade in hollow"]),
        (["essays.csv", *GOOD, "--column", "txt"], ["no column 'txt'", "mean 'text'?"]),
        (["essays.csv", *GOOD, "-t", "{txt}"], ["{txt}", "{text}"]),
        (["essays.csv", *GOOD, "-t", "{id}", "--column", "id"], ["--column and --template"]),
        (["essays.csv", "other.csv", *GOOD, "--on-file-error", "halt"], ["other.csv", "--column"]),
        (["other.csv", *GOOD], ["other.csv: it is not clear which column", "--template"]),
        (["other.csv", "empty.csv", *GOOD], ["none of the 2 files", "empty.csv is empty"]),
        (["essays.csv", *GOOD, "--graders", "0"], ["--graders is 0"]),
        (["essays.csv", *GOOD, "--preview", "0"], ["--preview is 0"]),
        (["essays.csv", *GOOD, "--chunks", "-1"], ["--chunks is -1"]),
        (["essays.csv", *GOOD, "--chunks", "2", "--row-limit", "3"], ["--chunks and --row-limit"]),
        (["essays.csv", *GOOD, "--combine", "vote"], ["--combine", "vote"]),
        (["essays.csv", *GOOD, "--output-format", "docx"], ["'docx'", "parquet"]),
        (["essays.csv", *GOOD, "--budget", "much"], ["'much'"]),
        (["essays.csv", *GOOD, "--no-wait"], ["--no-wait is for the batch lane"]),
        (["essays.csv", *GOOD, "--batch", "--lane", "online"], ["contradict"]),
        (["essays.csv", *GOOD, "--estimate", "--preview", "3"], ["--estimate and --preview"]),
        (["essays.csv", *GOOD, "--temperature", "9"], ["--temperature is 9.0", "0 to 2"]),
        (["essays.csv", *GOOD, "--max-tokens", "0"], ["--max-tokens is 0"]),
        (["essays.csv", *GOOD, "--retry-failed"], ["no run of this workspace", "without --retry"]),
        (["essays.csv", *GOOD, "--retry-failed", "--cache", "refresh"], ["contradict"]),
        (["essays.csv", *GOOD, "--file-token-limit", "5"], ["a file may take 5", "skip"]),
        (["essays.csv", *GOOD, "--daily-token-limit", "5"], ["5 are left for today"]),
        (["essays.csv", *GOOD, "--token-limit", "5"], ["20 rows are over the limit of 5 tokens"]),
        (["essays.csv", *GOOD, "-o", "essays.csv"], ["essays.csv is a file"]),
        (["essays.csv", *GOOD, "-o", "."], ["replaced by its own output"]),
    ],
)
def test_a_wrong_input_is_named_before_anything_is_sent(
    shell: Shell, essays: str, arguments: list[str], words: list[str]
) -> None:
    Path("wrong.yaml").write_text("criteria:\n  - {name: a, scale: high}\n")
    Path("other.csv").write_text("a,b\n1,2\n")
    Path("empty.csv").write_text("")
    Path("hollow").mkdir()
    said = shell("grade", *arguments)
    assert said.code == Exit.INPUT, said
    for word in words:
        assert word in told(said), said.err
    assert not list(Path(".penstock").glob("runs/*")), "what never began is no run"
    assert not Path("graded").exists()


def test_a_missing_key_is_said_before_anything_is_sent(
    shell: Shell, essays: str, lab: Simulator
) -> None:
    said = shell(*command(essays, model="lab"), LAB_KEY="")
    assert said.code == Exit.API and "LAB_KEY" in said.err
    assert lab.summary()["requests"] == 0 and runs(shell) == []


def test_a_wrong_key_ends_it_and_the_run_is_gone_on_with(
    shell: Shell, essays: str, lab: Simulator
) -> None:
    lab.set(key="the-right-key-12345")
    said = shell(*command(essays, model="lab"), LAB_KEY="the-wrong-key-12345")
    assert said.code == Exit.API, said
    assert "lab answered nothing: authentication" in said.err and "runs resume" in said.err
    again = (*command(essays, model="lab"), "--retry-failed")
    assert shell(*again, LAB_KEY="the-right-key-12345").code == 0
    assert statuses() == ["ok"] * 20


def test_files_that_are_there_are_replaced_only_when_asked(shell: Shell, essays: str) -> None:
    Path("graded").mkdir()
    Path("graded/essays.csv").write_text("mine")
    said = shell(*command(essays))
    assert said.code == Exit.INPUT and Path("graded/essays.csv").read_text() == "mine"
    assert "graded/essays.csv is there already" in said.err
    assert "--overwrite" in said.err and "--retry-failed" in said.err
    assert shell(*command(essays), "--overwrite").code == 0
    assert statuses() == ["ok"] * 20
    assert shell(*command(essays)).code == Exit.INPUT, "they are of another run"


# Going on -------------------------------------------------------------------------------------


def test_retry_failed_asks_only_what_failed_and_replaces_its_own_outputs(
    shell: Shell, essays: str, gate: Gate, lab: Simulator
) -> None:
    gate.refuse("number 003", "number 011")
    said = shell(*command(essays, model="gated"))
    assert said.code == Exit.FAILURES, said
    assert "18 graded, 2 failed" in said.err and "to go on: penstock runs resume" in said.err
    assert [n for n, status in enumerate(statuses()) if status == "failed"] == [3, 11]
    assert "the gate says no" in read("graded/essays.csv")[3]["error"]
    gate.refuse()
    before = len(gate.bodies)
    assert shell(*command(essays, model="gated"), "--preview", "1").code == 0, "is no such run"
    said = shell(*command(essays, model="gated"), "--retry-failed")
    assert said.code == 0, said
    asked = gate.bodies[before:]
    assert len(asked) == 2 and {"003", "011"} == set(re.findall(r"number (\d+)", "".join(asked)))
    assert statuses() == ["ok"] * 20 and lab.summary()["repeated"] == 0
    assert len(runs(shell)) == 2, "the run went on, and the preview"
    said = shell(*command(essays, model="gated"), "--retry-failed")
    assert said.code == 0 and len(gate.bodies) == before + 2, "nothing is left to ask"


def test_retry_failed_names_what_is_another_run(shell: Shell, essays: str) -> None:
    assert shell(*command(essays)).code == 0
    run = runs(shell)[0]["id"]
    for flags, words in (
        (("--graders", "2"), "the number of graders differs"),
        (("--temperature", "0.5"), "temperature or max_tokens differs"),
        (("--column", "text"), "the column differs"),
    ):
        said = shell(*command(essays), "--retry-failed", *flags)
        assert said.code == Exit.INPUT and words in told(said), said.err
        assert f"penstock runs resume {run}" in said.err
    Path("rubric.yaml").write_text(RUBRIC.replace("weight: 2", "weight: 3"))
    assert "the rubric differs" in told(shell(*command(essays), "--retry-failed"))
    said = shell(*command(essays, out="elsewhere"), "--retry-failed")
    assert said.code == Exit.INPUT and "into elsewhere" in said.err


def test_a_file_that_is_put_right_is_graded_by_a_retry(shell: Shell, lab: Simulator) -> None:
    written("in/a.csv", 3)
    Path("in/b.csv").write_text("id,body\n1,other\n")
    Path("in/c.jsonl").write_text('{"text": "one"}\n{"text": \n')
    grade = (*command("in", model="lab"), "--column", "text")
    assert shell(*grade).code == Exit.FAILURES
    assert sent(lab) == 4
    written("in/0-new.csv", 2, "new")
    Path("in/b.csv").write_text("id,text\n1,other\n")
    Path("in/c.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n')
    os.utime("in/c.jsonl", (time.time() + 5, time.time() + 5))
    said = shell(*grade, "--retry-failed")
    assert said.code == 0, said
    assert sent(lab) == 8, "the new file, the one put right, the line put right"
    assert [row["text"] for row in read("graded/a.csv")] == [f"essay number 00{n}" for n in "012"]
    assert [row["text"] for row in read("graded/0-new.csv")] == ["new number 000", "new number 001"]
    assert read("graded/b.csv")[0]["status"] == "ok"
    assert [row["text"] for row in lines("graded/c.jsonl")] == ["one", "two"]


def test_runs_retry_and_resume_know_grading(shell: Shell, essays: str, gate: Gate) -> None:
    gate.refuse("number 003")
    assert shell(*command(essays, model="gated")).code == Exit.FAILURES
    run = runs(shell)[0]["id"]
    gate.refuse()
    Path("rubric.yaml").unlink()
    found = json.loads(shell("runs", "retry", run, "--json").out)
    assert (found["state"], found["rows"]["ok"]) == ("completed", 20)
    assert len(gate.bodies) == 21 and statuses() == ["ok"] * 20
    said = shell("runs", "resume", run)
    assert said.code == 0 and "20 rows: 20 graded" in said.err and len(gate.bodies) == 21


def test_ctrl_c_keeps_what_was_done(shell: Shell, lab: Simulator) -> None:
    lab.set(latency="300")
    grade = [*command(written("essays.csv", 40), model="lab"), "--concurrency", "4"]
    child = subprocess.Popen([PENSTOCK, *grade], stderr=subprocess.PIPE, text=True)
    while lab.summary()["answered"] < 4:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert child.returncode == Exit.CANCELLED, err
    assert "stopping: nothing new is sent" in err and "Traceback" not in err
    assert "to go on: penstock runs resume" in err
    assert set(statuses()) == {"ok", "pending"} and len(statuses()) == 40
    lab.set(latency="0")
    answered = lab.summary()["answered"]
    assert answered < 40
    said = shell(*grade, "--retry-failed")
    assert said.code == 0, said
    assert statuses() == ["ok"] * 40
    assert (lab.summary()["answered"], lab.summary()["repeated"]) == (40, 0)


def test_a_budget_stops_it_and_says_so(shell: Shell, lab: Simulator) -> None:
    grade = command(written("essays.csv", 60), model="lab")
    said = shell(*grade, "--budget", "0.03", "--concurrency", "2")
    assert said.code == Exit.STOPPED, said
    assert "stopped: " in said.err and "budget" in said.err
    answered = lab.summary()["answered"]
    assert 0 < answered < 60 and set(statuses()) == {"ok", "pending"}
    assert shell(*grade, "--retry-failed", "--budget", "5").code == 0
    assert lab.summary()["answered"] == 60 and statuses() == ["ok"] * 60


def test_a_failed_chunk_halts_it_or_does_not(shell: Shell, essays: str, gate: Gate) -> None:
    chunks = ("--row-limit", "5", "--max-workers", "1")
    gate.refuse("number 00")
    said = shell(*command(essays, model="gated"), *chunks)
    assert said.code == Exit.STOPPED, said
    assert "stopped: a chunk of essays.csv failed (rows 1 to 5): the gate says no" in said.err
    assert len(gate.bodies) == 5
    assert statuses() == ["failed"] * 5 + ["pending"] * 15
    again = (*command(essays, model="gated"), *chunks, "--no-halt-on-chunk-failure")
    said = shell(*again, "--retry-failed")
    assert said.code == Exit.FAILURES, said
    assert statuses() == ["failed"] * 10 + ["ok"] * 10
    assert len(gate.bodies) == 25


def test_limits_leave_out_what_is_over_them(shell: Shell, essays: str, lab: Simulator) -> None:
    small = written("small.csv", 2)
    tokens = json.loads(shell(*command(essays, small), "--count-tokens", "--json").out)
    large, less = (file["tokens"] for file in tokens["files"])
    skip = ("--on-over-limit", "skip")
    limit = ("--file-token-limit", str(large - 1))
    said = shell(*command(essays, small, model="lab"), *limit, *skip)
    assert said.code == Exit.FAILURES and f"a file may take {large - 1:,}" in said.err
    assert sent(lab) == 2 and not Path("graded/essays.csv").exists()
    limit = ("--daily-token-limit", str(less))
    said = shell(*command(essays, small, model="lab", out="day"), *limit, *skip)
    assert said.code == Exit.INPUT and "left for today" in said.err, "some were used before"
    Path("long.csv").write_text("text\nshort\n" + "word " * 2000 + "\n")
    said = shell(*command("long.csv", model="lab"), "--token-limit", "1500", *skip, "--overwrite")
    assert said.code == Exit.FAILURES, said
    assert [row["status"] for row in read("graded/long.csv")] == ["ok", "skipped"]
    assert sent(lab) == 3


def test_a_retry_is_not_held_up_by_what_the_run_itself_used_today(
    shell: Shell, essays: str, gate: Gate
) -> None:
    counts = json.loads(shell(*command(essays), "--count-tokens", "--json").out)
    limit = ("--daily-token-limit", str(int(1.6 * counts["total"]["tokens"])))
    gate.refuse("number 003")
    assert shell(*command(essays, model="gated"), *limit).code == Exit.FAILURES
    said = shell(*command(essays, model="lab", out="other"), *limit)
    assert said.code == Exit.INPUT and "left for today" in said.err, "a new run would be too much"
    gate.refuse()
    said = shell(*command(essays, model="gated"), *limit, "--retry-failed")
    assert said.code == 0, said
    assert statuses() == ["ok"] * 20


# What each flag does --------------------------------------------------------------------------


def test_several_graders_and_how_they_are_combined(
    shell: Shell, essays: str, lab: Simulator
) -> None:
    grades = {}
    for how in ("mean", "median", "majority"):
        said = shell(*command(essays, out=how), "--graders", "5", "--combine", how)
        assert said.code == 0, said
        grades[how] = [row["clarity"] for row in read(f"{how}/essays.csv")]
    assert len({tuple(each) for each in grades.values()}) == 3
    report = json.loads(Path("mean/report.json").read_text())
    assert report["graders"] == 5 and report["agreement"]["clarity"] is not None
    assert shell(*command(essays, model="lab", out="one"), "--graders", "2").code == 0
    assert sent(lab) == 40
    said = shell(*command(essays, model="lab", out="two"), "--model", f"{lab.url}#other")
    assert said.code == 0 and sent(lab) == 60, "of the first model an opinion was there"


def test_columns_templates_and_parameters_reach_the_grader(shell: Shell, gate: Gate) -> None:
    Path("qa.csv").write_text("question,answer\nWhy is it so?,Because.\n")
    gated = command("qa.csv", model="gated")
    assert shell(*gated, "--column", "answer").code == 0
    assert "Because." in gate.bodies[0] and "Why is it so?" not in gate.bodies[0]
    both = ("-t", "Q: {question} A: {answer}", "--overwrite")
    assert shell(*gated, *both, "--temperature", "0.5", "--max-tokens", "700").code == 0
    assert "Q: Why is it so? A: Because." in gate.bodies[1]
    body = json.loads(gate.bodies[1])
    assert body["temperature"] == 0.5 and 700 in (
        body.get("max_tokens"),
        body.get("max_completion_tokens"),
    )


def test_outputs_in_another_format(shell: Shell, essays: str) -> None:
    for form in ("jsonl", "parquet", ".XLSX"):
        said = shell(*command(essays, out=form.strip(".")), "--output-format", form)
        assert said.code == 0, said
    assert [row["id"] for row in lines("jsonl/essays.jsonl")][:2] == ["000", "001"]
    assert len(Table.open("parquet/essays.parquet")) == 20
    assert len(Table.open("XLSX/essays.xlsx")) == 20


def test_the_cache_is_used_as_it_is_said(shell: Shell, essays: str, lab: Simulator) -> None:
    grade = (*command(essays, model="lab"), "--overwrite")
    said = shell(*grade, "--cache", "read")
    assert said.code in (Exit.FAILURES, Exit.STOPPED) and sent(lab) == 0
    assert shell(*grade).code == 0 and sent(lab) == 20
    assert shell(*grade).code == 0 and sent(lab) == 20
    assert shell(*grade, "--cache", "read").code == 0 and sent(lab) == 20
    assert shell(*grade, "--cache", "refresh").code == 0 and sent(lab) == 40
    assert shell(*grade, "--cache", "off").code == 0 and sent(lab) == 60
    assert shell(*grade, "--retry-failed").code == 0
    assert sent(lab) == 60, "its own answers are found"


def test_chunks_are_worked_on_side_by_side(shell: Shell, lab: Simulator) -> None:
    grade = command(written("essays.csv", 4), model="lab")
    lab.set(latency="300")
    for workers, most in (("1", 1), ("4", 4)):
        lab.reset()
        flags = ("--row-limit", "1", "--max-workers", workers, "--overwrite", "--cache", "off")
        found = json.loads(shell(*grade, *flags, "--json").out)
        assert len(found["files"][0]["chunks"]) == 4
        assert lab.summary()["max_in_flight"] == most


def test_settings_are_flags_here_too_but_for_those_of_the_command(
    shell: Shell, essays: str, lab: Simulator
) -> None:
    grade = ("grade", essays, "--rubric", "rubric.yaml", *QUICK)
    said = shell(*grade, "--concurrency", "2", "--log-level", "DEBUG", PENSTOCK_LLM_MODEL="lab")
    assert said.code == 0, said
    assert lab.summary()["answered"] == 20 and lab.summary()["max_in_flight"] <= 2
    assert statuses() == ["ok"] * 20, "without -o it is the folder `graded`"
    said = shell(*grade, "--concurrency", "many", PENSTOCK_LLM_MODEL="lab")
    assert said.code == Exit.INPUT and "--concurrency" in said.err
    assert shell("grade", "init", "x.yaml", "--log-level", "DEBUG").code == 0


# By batch -------------------------------------------------------------------------------------


def test_chunks_go_by_batch_are_left_and_collected(
    shell: Shell, essays: str, lab: Simulator
) -> None:
    lab.set(batch_seconds=DAY)
    grade = (*command(essays, model="lab"), "--batch", "--row-limit", "8")
    said = shell(*grade, "--no-wait")
    assert said.code == Exit.SUBMITTED, said
    run = runs(shell)[0]["id"]
    assert "20 rows lie in batches" in said.err and f"penstock runs resume {run}" in said.err
    assert not Path("graded").exists() and len(lab.batches()) == 3
    assert shell("runs", "resume", run, "--no-wait", *QUICK).code == Exit.SUBMITTED
    lab.advance_batches()
    said = shell(*grade, "--retry-failed")
    assert said.code == 0, said
    assert statuses() == ["ok"] * 20
    found = lab.summary()
    assert (found["lines"], found["answered"], found["repeated"]) == (20, 20, 0)


def test_what_failed_in_a_batch_may_be_asked_online(
    shell: Shell, essays: str, lab: Simulator
) -> None:
    lab.set(batch_seconds=0, batch_faults="failed:1")
    said = shell(*command(essays, model="lab"), "--lane", "batch", "--no-halt-on-chunk-failure")
    assert said.code == Exit.FAILURES, said
    assert shell("runs", "retry", runs(shell)[0]["id"], "--online").code == 0
    assert statuses() == ["ok"] * 20


# On a terminal --------------------------------------------------------------------------------


def on_a_terminal(*arguments: str) -> tuple[int, str]:
    """Run on a terminal of 70 columns."""
    main, other = pty.openpty()
    environment = {**os.environ, "COLUMNS": "70", "TERM": "xterm"}
    child = subprocess.Popen(
        [PENSTOCK, *arguments], stdin=other, stdout=other, stderr=other, env=environment
    )
    os.close(other)
    said = ""
    while child.poll() is None or select.select([main], [], [], 0)[0]:
        if select.select([main], [], [], 0.1)[0]:
            try:
                said += os.read(main, 1 << 16).decode(errors="replace")
            except OSError:  # the other end is closed
                break
    os.close(main)
    return child.wait(20), re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", said)


def test_a_terminal_shows_chunks_as_they_are_done(lab: Simulator) -> None:
    lab.set(latency="150")
    grade = command(written("essays.csv", 12), model="lab")
    code, said = on_a_terminal(*grade, "--row-limit", "2", "--max-workers", "2")
    assert code == 0, said
    assert re.search(r"chunk [2-5] of 6", said) and "12/12 chunk 6 of 6" in said
    assert "report: graded/report.html" in said


def test_a_preview_fits_the_terminal(essays: str) -> None:
    code, said = on_a_terminal(*command(essays), "--preview", "2")
    assert code == 0, said
    shown = said[said.index("row 1") : said.index("essays.csv  2 rows")]
    assert max(len(line.rstrip("\r")) for line in shown.split("\n")) <= 70, shown
