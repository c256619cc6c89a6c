"""`penstock prompt`, and what `runs` and `usage` make of it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from penstock.errors import Exit
from penstock.simulator import Simulator
from tests.cli.conftest import Shell


@pytest.fixture
def topics() -> str:
    Path("topics.csv").write_text("topic,form\nriver,haiku\n=1+1,poem\nstone,riddle\n")
    return "topics.csv"


def test_every_row_gets_its_answer_in_the_format_of_the_suffix(shell: Shell, topics: str) -> None:
    for name in ("out.csv", "out.jsonl", "out.json", "out.parquet", "out.xlsx", "out.arrow"):
        said = shell("prompt", topics, "-t", "A {form} on {topic}", "-m", "simulated", "-o", name)
        assert said.code == 0, said.err
        assert Path(name).exists()
    with Path("out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["topic"] for row in rows] == ["river", "'=1+1", "stone"], "safe in a spreadsheet"
    lines = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [line["topic"] for line in lines] == ["river", "=1+1", "stone"]
    assert all(line["response"] for line in lines)


def test_an_output_that_is_there_is_replaced_only_when_asked(shell: Shell, topics: str) -> None:
    Path("out.csv").write_text("mine")
    command = ("prompt", topics, "-t", "{topic}", "-m", "simulated", "-o", "out.csv")
    assert shell(*command).code == Exit.INPUT
    assert Path("out.csv").read_text() == "mine"
    assert shell(*command, "--force").code == 0
    assert Path("out.csv").read_text() != "mine"


def test_a_schema_makes_columns(shell: Shell, topics: str) -> None:
    schema = {
        "type": "object",
        "properties": {"title": {"type": "string"}, "stars": {"type": "integer"}},
        "required": ["title", "stars"],
    }
    Path("schema.json").write_text(json.dumps(schema))
    said = shell(
        "prompt", topics, "-t", "Review {topic}", "--schema", "schema.json", "-m", "simulated",
        "-o", "out.jsonl",
    )  # fmt: skip
    assert said.code == 0, said.err
    first = json.loads(Path("out.jsonl").read_text().splitlines()[0])
    assert isinstance(first["stars"], int) and first["title"] and first["topic"] == "river"


def test_an_estimate_sends_nothing(shell: Shell, topics: str, simulator: Simulator) -> None:
    model = ("--model", f"{simulator.url}#simulated")
    command = ("prompt", topics, "-t", "{topic}", "--max-tokens", "100", *model)
    found = json.loads(shell(*command, "--estimate", "--json").out)
    assert (found["questions"], found["recorded"], found["output_tokens"]) == (3, 0, 300)
    assert simulator.summary()["requests"] == 0
    assert shell(*command).code == 0
    found = json.loads(shell(*command, "--estimate", "--json").out)
    assert (found["questions"], found["recorded"]) == (3, 3)
    assert simulator.summary()["requests"] == 3


def test_only_the_first_rows_and_several_draws(shell: Shell, topics: str) -> None:
    said = shell(
        "prompt", topics, "-t", "{topic}", "-m", "simulated", "--sample", "2", "--draws", "3",
        "-o", "out.jsonl",
    )  # fmt: skip
    assert said.code == 0, said.err
    lines = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [line["topic"] for line in lines] == ["river"] * 3 + ["=1+1"] * 3
    assert len({line["response"] for line in lines}) == 6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.csv", "-t", "x"], ["none.csv"]),
        (["topics.csv", "-t", "{tpic}"], ["{tpic}", "Did you mean {topic}?"]),
        (["topics.csv", "-t", "{topic"], ["lone {", "{{"]),
        (["topics.csv", "-t", "x", "--budget", "much"], ["'much'"]),
        (["empty.csv", "-t", "x"], ["empty.csv is empty"]),
        (["picture.csv", "-t", "x"], ["picture.csv"]),
        (["topics.csv"], ["--template"]),
        (["topics.csv", "-t", "x", "--schema", "none.json"], ["none.json"]),
    ],
)
def test_a_wrong_input_is_named_before_anything_is_sent(
    shell: Shell, topics: str, arguments: list[str], words: list[str]
) -> None:
    Path("empty.csv").write_text("")
    Path("picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    said = shell("prompt", *arguments, "--model", "simulated")
    assert said.code == Exit.INPUT, said
    for word in words:
        assert word in " ".join(said.err.split()), said.err


def test_failed_rows_are_listed_and_retried_alone(
    shell: Shell, topics: str, simulator: Simulator
) -> None:
    simulator.set(errors="400:0.5", seed=1)
    command = ("prompt", topics, "-t", "{topic}", "--model", f"{simulator.url}#simulated")
    said = shell(*command, "-o", "out.jsonl")
    assert said.code == Exit.FAILURES, said
    assert "invalid_request" in said.err
    run = json.loads(shell("runs", "list", "--json").out)[0]
    failed = run["counters"]["rows_failed"]
    assert 0 < failed < 3
    simulator.set(errors="")
    before = simulator.summary()["requests"]
    assert shell("runs", "retry", run["id"]).code == 0
    assert simulator.summary()["requests"] == before + failed
    assert len(Path("out.jsonl").read_text().splitlines()) == 3


def test_an_endpoint_that_answers_nothing_ends_the_command_and_is_gone_on_with(
    shell: Shell, topics: str, simulator: Simulator
) -> None:
    simulator.set(key="the-right-key-12345")
    shell("endpoints", "add", "lab", f"{simulator.url}#simulated", "--key", "env:LAB_KEY")
    command = ("prompt", topics, "-t", "{topic}", "-m", "lab", "-o", "out.jsonl")
    said = shell(*command, LAB_KEY="the-wrong-key-12345")
    assert said.code == Exit.API, said
    assert "penstock: lab answered nothing: authentication: " in said.err
    assert "the-wrong-key" not in said.err + said.out
    assert not Path("out.jsonl").exists(), "there is nothing to write"
    run = json.loads(shell("runs", "list", "--json").out)[0]
    assert run["state"] == "failed"
    assert f"Put its key right, then go on with: penstock runs resume {run['id']}." in said.err
    shown = shell("runs", "show", run["id"]).out
    assert "authentication: 3" in shown and "why" in shown
    said = shell("runs", "resume", run["id"], LAB_KEY="the-right-key-12345")
    assert said.code == 0, said
    assert len(Path("out.jsonl").read_text().splitlines()) == 3


def test_a_run_is_exported_raw_and_deleted_while_its_answers_stay(
    shell: Shell, topics: str, simulator: Simulator
) -> None:
    command = ("prompt", topics, "-t", "{topic}", "--model", f"{simulator.url}#simulated")
    run = json.loads(shell(*command, "--json").out)["run"]
    assert shell("runs", "export", run, "raw.jsonl").code == 0
    lines = [json.loads(line) for line in Path("raw.jsonl").read_text().splitlines()]
    assert [line["row"] for line in lines] == [0, 1, 2]
    assert lines[0]["request"]["messages"][0]["content"] == "river"
    assert lines[0]["response"]["object"] == "chat.completion"
    assert shell("runs", "delete", run).code == 0
    assert shell("runs", "show", run).code == Exit.INPUT
    assert shell(*command).code == 0
    assert simulator.summary()["requests"] == 3


def test_usage_adds_up_what_was_paid(shell: Shell, topics: str, simulator: Simulator) -> None:
    shell(
        "endpoints", "add", "mine", f"{simulator.url}#simulated",
        "--input-price", "1", "--output-price", "10",
    )  # fmt: skip
    run = json.loads(shell("prompt", topics, "-t", "{topic}", "-m", "mine", "--json").out)
    shell("prompt", topics, "-t", "{topic}", "-m", "mine")
    [by_day] = json.loads(shell("usage", "--json").out)
    assert by_day["answers"] == 3, "what came from the journal is not counted again"
    assert by_day["cost"] == run["cost"]
    assert by_day["input_tokens"] == run["input_tokens"]
    [by_run] = json.loads(shell("usage", "--by", "run", "--since", "1h", "--json").out)
    assert by_run["name"] == run["run"]
    assert json.loads(shell("usage", "--since", "2999-01-01", "--json").out) == []
    assert shell("usage", "--by", "moon").code == Exit.INPUT
    assert shell("usage", "--since", "soon").code == Exit.INPUT


def test_a_run_of_a_program_says_how_it_is_resumed(shell: Shell) -> None:
    shell("demo")
    run = json.loads(shell("runs", "list", "--json").out)[0]
    said = shell("runs", "resume", run["id"])
    assert said.code == Exit.INPUT
    assert "Run that program again" in said.err
