"""The progress of a job, as people see it."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from decimal import Decimal
from pathlib import Path

import pytest

from penstock.cli.progress import ProgressView, facts, fitting
from penstock.engine.outlook import Outlook
from penstock.engine.progress import Progress
from penstock.outcome import FailureKind
from penstock.simulator import Simulator
from tests.cli.conftest import PENSTOCK, Shell


def progress(**more: object) -> Progress:
    return Progress(1000, 100, input_tokens=1_000, output_tokens=234, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spent", "in_all", "said"),
    [
        ("0.25", "2.50", "$0.25 of about $2.50"),
        ("0.0123456", "0.123456", "$0.012 of about $0.12"),
        ("0.0000123", "0.000123", "$0.000012 of about $0.00012"),
        ("12.344", "1234.5", "$12.34 of about $1234.50"),
        ("0.1", "0.5", "$0.10 of about $0.50"),
        ("0", "0", "$0.00"),
        ("0.0123456", None, "$0.0123456"),
    ],
)
def test_the_cost_so_far_and_in_the_end(spent: str, in_all: str | None, said: str) -> None:
    cost = None if in_all is None else Decimal(in_all)
    made = facts(progress(cost=Decimal(spent)), Outlook(12.5, 72, cost))
    assert made == ["12.5 rows/s", "1m12s left", said, "1,234 tokens"]


def test_an_unknown_price_is_called_unknown() -> None:
    made = facts(progress(unpriced=1, recorded=7), Outlook(1, 5000, None))
    assert made == [
        "1.0 rows/s",
        "1h23m left",
        "cost unknown",
        "1,234 tokens",
        "7 from the journal",
    ]


def test_failures_are_told_before_what_matters_less() -> None:
    now = progress()
    now.failures[FailureKind.TIMEOUT] = 3
    assert facts(now, Outlook(1, None, None)) == [
        "1.0 rows/s",
        "$0.00",
        "3 timeout",
        "1,234 tokens",
    ]


def test_what_has_no_room_is_left_out_from_the_end() -> None:
    said = ["12.5 rows/s", "1m12s left", "1,234 tokens"]
    assert fitting(said, 99) == "12.5 rows/s, 1m12s left, 1,234 tokens"
    assert fitting(said, 23) == "12.5 rows/s, 1m12s left"
    assert fitting(said, 22) == "12.5 rows/s"
    assert fitting(said, 3) == ""


def test_lines_come_every_five_seconds_and_at_the_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("penstock.cli.progress.time.monotonic", lambda: now)
    seen = Progress(1000)
    with ProgressView(seen, "prompt") as view:
        for _ in range(88):
            now += 0.125
            seen.rows_done += 1
            seen.asked += 1
            seen.cost += Decimal("0.001")
            view.tick()
    assert capsys.readouterr().err.splitlines() == [
        "prompt: 40/1,000 rows, 8.0 rows/s, 2m00s left, $0.04 of about $1.00, 0 tokens",
        "prompt: 80/1,000 rows, 8.0 rows/s, 1m55s left, $0.08 of about $1.00, 0 tokens",
        "prompt: 88/1,000 rows, 8.0 rows/s, $0.088, 0 tokens",
    ]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_on_a_terminal_the_line_has_room_and_says_what_it_will_cost(
    shell: Shell, simulator: Simulator, columns: int
) -> None:
    simulator.set(latency="30")
    shell(
        "endpoints", "add", "lab", f"{simulator.url}#llama", "--concurrency", "4",
        "--input-price", "1", "--output-price", "10",
    )  # fmt: skip
    Path("in.csv").write_text("text\n" + "".join(f"row {n}\n" for n in range(200)))
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [PENSTOCK, "prompt", "in.csv", "-t", "{text}", "-m", "lab"],
        env={**os.environ, "TERM": "xterm", "COLUMNS": str(columns)},
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
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())
    lines = [line.rstrip() for line in re.split(r"[\r\n]+", plain) if line.startswith("prompt ")]
    assert all(len(line) <= columns for line in lines)
    assert not any("…" in line for line in lines)
    assert any(re.search(r" \d+/200 [\d.]+ rows/s, \d+s left", line) for line in lines)
    if columns >= 80:
        assert any(re.search(r"left, \$0\.\d+ of about \$0\.\d+", line) for line in lines)
    assert re.search(r"200/200 [\d.]+ rows/s, \$0\.\d+", lines[-1])
