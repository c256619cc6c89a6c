"""Reports on datasets: for the terminal, as a page and as JSON; whatever the data holds."""

from __future__ import annotations

import json
import random
import unicodedata
from datetime import date, datetime
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.generate.profile import profile
from penstock.generate.report import DatasetReport, RunFacts
from penstock.secret import Secret
from penstock.tables import Table

HOSTILE = [
    "<script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "\x1b[2J\x1b]0;owned\x07 red \x1b[31m",
    "left \u202e right",
    "two\nlines\r\nand\ttabs",
    "日本語" * 60,
    "\"quotes\" & ampersands 'too'",
    "half \ud800",
    "x" * 5_000,
]
OBEYED = ("Cc", "Cf", "Cs", "Zl", "Zp")
FACTS = RunFacts(
    run="20260114-8f3a",
    state="completed with failures",
    title="Support tickets",
    models=("openai/gpt-4.1-mini",),
    input_tokens=412_233,
    output_tokens=188_201,
    cost=Decimal("0.46610"),
    questions=3_600,
    recorded=212,
    seconds=184.2,
    seed=7,
    wanted=2_000,
    rejected={"duplicate": 150, "too short": 50},
)


def report(rows: list[dict[str, Any]], facts: RunFacts = FACTS, **more: Any) -> DatasetReport:
    return DatasetReport(profile(Table.from_rows(rows), **more), facts)


def width(line: str) -> int:
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in line)
    return len(line) + wide - sum(bool(unicodedata.combining(letter)) for letter in line)


def check_text(text: str) -> None:
    for line in text.split("\n"):
        assert not any(unicodedata.category(letter) in OBEYED for letter in line), repr(line)
        assert width(line) <= 100, line


class Tags(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


# What it says ----------------------------------------------------------------------------------


def test_the_terminal_text_says_what_it_took_and_what_is_in_it() -> None:
    rows = [{"topic": "ab"[n % 2], "n": n, "text": f"Some words about {n}"} for n in range(60)]
    text = str(report(rows))
    check_text(text)
    for said in (
        *("Support tickets", "60 of 2,000 asked for", "200 rows (duplicate: 150, too short: 50)"),
        *("3,600, 212 answered from the journal", "412,233 in, 188,201 out", "$0.4661"),
        *("3 min 04 s", "topic  (text, 100 % filled, 2 different)", "50 %", "0 to 59, mean 29.5"),
        *("begin with “some words about”", "openings    some words about …  100 %"),
    ):
        assert said in text


def test_what_is_worth_a_look_is_said() -> None:
    rows = [
        {"q": None if n < 10 else f"{n}", "same": 1, "t": "" if n == 1 else f"{n}"}
        | {"loop": f"round {n} and round and round and round and round and round we go again"}
        for n in range(100)
    ]
    found = {(each.column, each.text) for each in report([*rows, rows[50]]).findings}
    assert ("", "1 row (1 %) is equal to an earlier one") in found
    assert ("q", "9.9 % of the rows have no value") in found
    assert ("same", "every row has the same value") in found
    assert ("t", "1 text is blank") in found
    assert any(text.startswith("two texts share 71.") for _, text in found)  # five of seven words
    assert any("it has said before" in text for column, text in found if column == "loop")


def test_what_is_well_is_not_said() -> None:
    rng = random.Random(3)
    rows = [
        {"n": n, "t": " ".join(f"w{rng.randrange(5_000)}" for _ in range(30))} for n in range(100)
    ]
    assert report(rows).findings == []


def test_failures_and_statuses_are_shown() -> None:
    failures = Table.from_rows(
        [
            {"row": 1, "column": "q", "kind": "timeout", "message": "too late", "attempts": 3}
            | {"may_be_paid": True}
        ]
        * 4
    )
    made = report([{"q": "a", "status": "ok"}], failures=failures, status_column="status")
    text, page = str(made), made.html()
    assert "4  q timeout: too late" in text and "4 cells failed: timeout" in text
    assert "4 may have been paid for" in text
    assert "Rows by status" in text and "too late" in page and "failed cells" in page


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (RunFacts(cost=Decimal(0)), "$0.00"),
        (RunFacts(cost=Decimal("1234.567")), "$1,234.57"),
        (RunFacts(cost=Decimal("0.000012")), "$0.000012"),
        (
            RunFacts(cost=Decimal("0.5"), unpriced=3),
            "$0.5, and 3 answers of which no price is known",
        ),
        (RunFacts(unpriced=2), "unknown: 2 answers of which no price is known"),
        (RunFacts(cost=Decimal(0), seconds=0.84), "0.8 s"),
        (RunFacts(seconds=59.7), "1 min 00 s"),
        (RunFacts(seconds=5_000), "1 h 23 min"),
    ],
)
def test_money_and_time_are_said_as_people_say_them(facts: RunFacts, said: str) -> None:
    assert said in str(report([{"a": 1}], facts))


def test_a_report_without_a_run_says_nothing_of_one() -> None:
    text = str(DatasetReport(profile(Table.from_rows([{"a": 1}]))))
    assert text.startswith("Dataset\n") and "cost" not in text and "tokens" not in text


# Whatever the data holds -----------------------------------------------------------------------


def test_hostile_values_names_and_facts_stay_text() -> None:
    rows = [dict.fromkeys(HOSTILE[:7], value) for value in HOSTILE for _ in range(3)]
    failures = Table.from_rows(
        [{"row": 0, "column": text, "kind": text, "message": text} for text in HOSTILE]
    )
    facts = RunFacts(HOSTILE[0], HOSTILE[2], HOSTILE[1], tuple(HOSTILE), rejected={HOSTILE[3]: 1})
    made = report(rows, facts, failures=failures, status_column=HOSTILE[0])
    check_text(str(made))
    page = made.html()
    seen = Tags(page)
    assert seen.tags.count("script") == 1 and seen.tags.count("style") == 1
    assert not {"img", "iframe", "object", "link"} & set(seen.tags)
    assert not {name for name in seen.attributes if name.startswith("on")}
    assert not any(ord(letter) < 32 and letter not in "\t\n" for letter in page)
    assert "\u202e" not in page and "\\u202e" in page
    page.encode()
    assert Tags(made._repr_html_()).tags == ["iframe"]
    json.loads(json.dumps(made.to_dict()))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=40), min_size=1, max_size=12), st.text(max_size=30))
def test_any_text_gives_printable_lines_of_at_most_100_columns(texts: list[str], name: str) -> None:
    check_text(str(report([{name: text} for text in texts], RunFacts(title=name))))


def test_keys_that_this_process_knows_are_masked() -> None:
    Secret("a-very-secret-value-123")
    made = report([{"t": "a-very-secret-value-123"}] * 4)
    assert "very-secret" not in str(made) and "very-secret" not in made.html()


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [{}],
        [{"a": None}],
        [{"a": "only"}],
        [{"a": None, "b": None}] * 3,
        [{"a": 1e308}, {"a": -1e308}, {"a": float("nan")}],
        [{"a": date(2024, 1, 1)}, {"a": date(1, 1, 1)}],
        [{"a": datetime(9999, 12, 31)}, {"a": None}],
        [{"a": {"k": [1, {"deep": "x"}]}}, {"a": {"other": 1}}],
        [{"a": 1}, {"a": "text"}, {"a": [1]}, {"a": {"k": b"bytes"}}],
        [{"a": b"\x00\xff"}, {"a": b""}],
        [{f"column {number}": number for number in range(60)}] * 2,
    ],
)
def test_every_table_has_a_report(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    made = report(rows)
    check_text(str(made))
    Tags(made.html())
    made.save(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["profile"]["rows"] == len(rows)


def test_many_columns_unfold_and_are_counted() -> None:
    made = report([{f"column {number}": number for number in range(60)}] * 2)
    assert "and 20 more columns" in str(made)
    assert made.html().count("<details>") == 48


# Files -----------------------------------------------------------------------------------------


def test_a_page_is_one_file_that_needs_no_other(tmp_path: Path) -> None:
    made = report([{"n": number, "t": f"text number {number}"} for number in range(40)])
    path = made.save(str(tmp_path / "folder" / "Report.HTML"))
    page = path.read_text("utf-8")
    assert page == made.html() and page.startswith("<!doctype html>")
    assert "default-src 'none'" in page and "<svg" in page
    assert "://" not in page.replace("http://www.w3.org/2000/svg", "")


def test_json_holds_all_of_it_and_no_digit_of_the_money_is_lost(tmp_path: Path) -> None:
    made = report([{"t": "a b c d e"}] * 3)
    saved = json.loads(made.save(tmp_path / "report.json").read_text())
    assert saved == json.loads(json.dumps(made.to_dict()))
    assert saved["run"]["cost"] == "0.46610" and saved["run"]["rejected"]["duplicate"] == 150
    assert saved["profile"]["duplicate_rows"] == 2
    assert saved["profile"]["columns"][0]["common"] == [{"value": "a b c d e", "count": 3}]
    assert saved["findings"][0]["text"].startswith("2 rows")


def test_another_ending_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"report\.pdf: a report is written as HTML or JSON"):
        report([{"a": 1}]).save(tmp_path / "report.pdf")
