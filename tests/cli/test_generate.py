"""`penstock generate`: a schema of columns, from a file or from a program of one's own."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import Exit
from penstock.simulator import Simulator
from penstock.tables import Table
from tests.cli.conftest import PENSTOCK, Shell

EXAMPLE = Path(__file__).parents[2] / "examples" / "dataset.yaml"
QUICK = ("--check-interval", "0.1")
DAY = 86_400
SPEC = """
n: 6
columns:
  id: {sequence: {start: 1}}
  topic: {choice: [sea, sky, sand]}
  question: {prompt: "Row {id}: ask about {topic}"}
  answer: {prompt: "Answer: {question}"}
"""


@pytest.fixture
def spec() -> str:
    """Two questions a row, of a model that the settings or the flags name."""
    Path("spec.yaml").write_text(SPEC)
    return "spec.yaml"


@pytest.fixture
def lab(simulator: Simulator, shell: Shell, spec: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The simulator's server as the model `lab`, which has a price."""
    monkeypatch.setenv("LAB_KEY", "a-key-of-no-worth")
    shell(
        "endpoints", "add", "lab", f"{simulator.url}#llama", "--key", "env:LAB_KEY",
        "--input-price", "1", "--output-price", "10",
    )  # fmt: skip
    Path("spec.yaml").write_text("model: lab\n" + SPEC)
    return "spec.yaml"


def lines(name: str = "out.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(name).read_text().splitlines()]


def last_run(shell: Shell) -> str:
    run: str = json.loads(shell("runs", "list", "--json").out)[0]["id"]
    return run


# A table --------------------------------------------------------------------------------------


def test_a_file_becomes_a_table_in_the_format_of_the_suffix(shell: Shell, spec: str) -> None:
    for name in ("out.csv", "out.jsonl", "out.parquet", "out.xlsx"):
        said = shell("generate", spec, "-m", "simulated", "-o", name)
        assert said.code == 0, said
        assert "6 rows" in said.err and "completed; the table is " + name in said.err
        assert len(Table.open(name)) == 6
    assert [line["id"] for line in lines()] == [1, 2, 3, 4, 5, 6]
    assert shell("usage", "--json").out.count('"answers": 12'), "asked once for all four"


def test_the_flags_override_the_file(shell: Shell, spec: str) -> None:
    command = ("generate", spec, "--model", "simulated", "-o", "out.jsonl", "--force")
    assert shell(*command, "-n", "3").code == 0
    first = lines()
    assert len(first) == 3
    assert shell(*command, "--until", "2").code == 0
    assert lines() == first[:2]
    assert shell(*command, "-n", "3", "--seed", "7").code == 0
    assert [line["topic"] for line in lines()] != [line["topic"] for line in first]
    assert shell(*command, "-n", "3", "--seed", "0").code == 0
    assert lines() == first


def test_without_a_name_the_table_stays_in_the_workspace(shell: Shell, spec: str) -> None:
    said = shell("generate", spec, "-m", "simulated")
    assert said.code == 0
    assert len(Table.open(said.out.strip())) == 6


def test_the_example_runs_offline(shell: Shell) -> None:
    said = shell("generate", str(EXAMPLE), "-o", "out.jsonl")
    assert said.code == 0, said
    rows = lines()
    assert len(rows) == 20 and all(row["status"] == "ok" for row in rows)
    assert all((row["hint"] is None) == (row["level"] == "easy") for row in rows)
    assert all(1 <= row["minutes"] <= 60 and 0 <= row["score"] <= 1 for row in rows)


def test_a_run_as_json(shell: Shell, spec: str) -> None:
    said = shell("generate", spec, "-m", "simulated", "--json")
    found = json.loads(said.out)
    assert (found["state"], found["rows_done"], found["asked"]) == ("completed", 6, 12)
    assert json.loads(shell("runs", "show", found["run"], "--json").out)["kind"] == "generate"


def test_files_that_are_there_are_replaced_only_when_asked(shell: Shell, spec: str) -> None:
    for flag, name in (("-o", "out.csv"), ("--report", "report.html")):
        Path(name).write_text("mine")
        command = ("generate", spec, "-m", "simulated", flag, name)
        said = shell(*command)
        assert (said.code, Path(name).read_text()) == (Exit.INPUT, "mine")
        assert name in said.err and "--force" in said.err
        assert shell(*command, "--force").code == 0
        assert Path(name).read_text() != "mine"


def test_a_report_is_written_beside_the_table(shell: Shell, spec: str) -> None:
    command = ("generate", spec, "-m", "simulated", "--force")
    said = shell(*command, "--report", "report.html")
    assert said.code == 0 and "the report is report.html" in said.err
    assert "<html" in Path("report.html").read_text()
    assert shell(*command, "--report", "report.json").code == 0
    assert json.loads(Path("report.json").read_text())["run"]["wanted"] == 6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.yaml"], ["none.yaml cannot be read"]),
        (["wrong.yaml"], ["2 mistakes in wrong.yaml", "wrong.yaml:2: a.chioce", "wrong.yaml:3: b"]),
        (["spec.yaml"], ["spec.yaml:6: question.prompt: no model is given", "--model"]),
        (["spec.yaml", "-m", "hal"], ["'hal' is no endpoint"]),
        (["spec.yaml", "-m", "simulated", "-m", "simulated-echo"], ["twice"]),
        (["spec.yaml", "-n", "0"], ["-n is 0"]),
        (["spec.yaml", "--until", "0"], ["--until is 0"]),
        (["spec.yaml", "-n", "3", "--until", "5"], ["contradict"]),
        (["spec.yaml", "--preview", "0", "-m", "simulated"], ["--preview is 0"]),
        (["spec.yaml", "--budget", "much", "-m", "simulated"], ["'much'"]),
        (["spec.yaml", "--cache", "maybe"], ["maybe"]),
        (["spec.yaml", "--lane", "auto", "--batch"], ["contradict"]),
        (["spec.yaml", "--no-wait", "-m", "simulated"], ["--batch as well"]),
        (["spec.yaml", "--batch-size", "5", "-m", "simulated"], ["--batch as well"]),
        (["spec.yaml", "-o", "out.doc"], ["out.doc", "parquet"]),
        (["spec.yaml", "--report", "report.pdf"], ["report.pdf", ".html"]),
        (["none.py:ds"], ["there is no file none.py"]),
        (["program.py:dss"], ["program.py: the dataset 'dss' is not there", "program.py:ds?"]),
        (["program.py:gen"], ["'gen' is a Generator"]),
        (["program.py"], ["makes 2 datasets: ds, other", "program.py:ds"]),
        (["program.py:ds", "-m", "simulated"], ["--model is for YAML files"]),
        (["broken.py"], ["broken.py:3: the program ended with ZeroDivisionError"]),
        (["schema.py"], ["schema.py:2: column 'a': {b}"]),
        (["syntax.py"], ["syntax.py:1", "SyntaxError"]),
        (["leaves.py"], ["leaves.py:1", "SystemExit"]),
        (["nothing.py"], ["nothing.py makes no dataset"]),
    ],
)
def test_a_wrong_input_is_named_before_anything_is_sent(
    shell: Shell, spec: str, arguments: list[str], words: list[str]
) -> None:
    Path("wrong.yaml").write_text("columns:\n  a: {chioce: [x]}\n  b: [1]\n")
    Path("program.py").write_text(PROGRAM + "other = ds\n")
    Path("broken.py").write_text("import os\n\n1 / 0\n")
    Path("schema.py").write_text(
        "import penstock\nds = penstock.dataset({'a': penstock.generator()('{b}')})\n"
    )
    Path("syntax.py").write_text("ds = = 3\n")
    Path("leaves.py").write_text("raise SystemExit(3)\n")
    Path("nothing.py").write_text("x = 3\n")
    said = shell("generate", *arguments)
    assert said.code == Exit.INPUT, said
    for word in words:
        assert word in " ".join(said.err.split()), said.err
    assert shell("runs", "list", "--json").out.strip() == "[]"


# Looking first --------------------------------------------------------------------------------


def test_a_preview_is_shown_and_not_paid_for_again(
    shell: Shell, lab: str, simulator: Simulator
) -> None:
    said = shell("generate", lab, "-n", "6", "-o", "out.jsonl", "--batch", "--preview", "2")
    assert said.code == 0, said
    assert simulator.summary()["requests"] == 4
    assert said.out.startswith("row 0\n  id        1\n  topic     ")
    assert "row 1\n" in said.out and "row 2" not in said.out and "status" not in said.out
    assert "2 rows; " in said.err and "$0.0" in said.err
    assert "the whole run will not pay for them again" in said.err
    assert not Path("out.jsonl").exists(), "a preview writes no file"
    said = shell("generate", lab, "--preview", "2")
    assert "nothing was asked" in said.err
    assert shell("generate", lab, "-o", "out.jsonl").code == 0
    assert simulator.summary()["requests"] == 12
    assert simulator.summary()["repeated"] == 0


def test_a_preview_as_json(shell: Shell, spec: str) -> None:
    found = json.loads(shell("generate", spec, "-m", "simulated", "--preview", "2", "--json").out)
    assert [row["id"] for row in found["rows"]] == [1, 2]
    assert (found["asked"], found["state"]) == (4, "completed")


def test_a_preview_shows_what_failed_and_obeys_nothing(shell: Shell) -> None:
    Path("spec.yaml").write_text(
        'model: simulated-echo\ncolumns:\n  bad: {choice: ["\\e[31mred\\e[0m"]}\n'
        "  said: {prompt: 'Say {bad}'}\n  long: {value: " + "word " * 400 + "}\n"
        "  worse: {prompt: x, check: {min_length: 10000}, tries: 1}\n"
        "  talk: {conversation: [Hello]}\n"
    )
    said = shell("generate", "spec.yaml", "--preview", "1")
    assert said.code == Exit.FAILURES, said
    assert "\x1b" not in said.out and "\\x1b[31mred" in said.out
    assert re.search(r"long +word word .*… \([\d,]+ characters more\)", said.out, re.DOTALL)
    assert "worse   rejected: made once and refused" in said.out
    assert "user: Hello\n" in said.out


def test_an_estimate_sends_nothing(shell: Shell, lab: str, simulator: Simulator) -> None:
    found = json.loads(shell("generate", lab, "-n", "9", "--estimate", "--json").out)
    assert (found["rows"], found["questions"], found["recorded"]) == (9, 18, 0)
    assert float(found["cost"]) > 0
    said = shell("generate", lab, "--estimate", "-o", "out.jsonl")
    assert said.code == 0 and said.out.startswith("6 rows, 12 questions")
    assert simulator.summary()["requests"] == 0
    assert not Path("out.jsonl").exists()


def test_other_models_are_asked_instead(shell: Shell, simulator: Simulator) -> None:
    Path("spec.yaml").write_text(
        f"models: {{one: '{simulator.url}#a', two: '{simulator.url}#b'}}\nn: 1\n"
        "columns: {x: {prompt: X, model: one}, y: {prompt: Y, model: two}}\n"
    )
    assert shell("generate", "spec.yaml", "-m", "simulated").code == 0
    assert simulator.summary()["requests"] == 0, "all of them, so that nothing is paid for"
    said = shell("generate", "spec.yaml", "-m", "two=simulated-echo", "-o", "out.jsonl")
    assert said.code == 0, said
    assert simulator.summary()["requests"] == 1
    assert lines()[0]["y"] == "Y"


# What goes wrong ------------------------------------------------------------------------------


def test_failed_rows_are_retried_alone(shell: Shell, lab: str, simulator: Simulator) -> None:
    simulator.set(errors="400:0.3", seed=3)
    said = shell("generate", lab, "-o", "out.jsonl", "--report", "report.json")
    assert said.code == Exit.FAILURES, said
    assert f"go on with: penstock runs resume {last_run(shell)}" in said.err
    simulator.set(errors="")
    Path("spec.yaml").unlink()
    Path("report.json").unlink()
    answered = simulator.summary()["answered"]
    assert shell("runs", "retry", last_run(shell)).code == 0
    assert [row["status"] for row in lines()] == ["ok"] * 6
    assert simulator.summary()["answered"] == 12 > answered
    assert Path("report.json").exists(), "whatever the command was asked for"


def test_a_budget_stops_the_run_which_is_gone_on_with(
    shell: Shell, lab: str, simulator: Simulator
) -> None:
    said = shell("generate", lab, "-n", "30", "--budget", "0.02", "-o", "out.jsonl")
    assert said.code == Exit.STOPPED, said
    asked = simulator.summary()["answered"]
    assert 0 < asked < 60
    assert shell("runs", "resume", last_run(shell)).code == Exit.STOPPED, "the cap still holds"
    assert shell("generate", lab, "-n", "30", "-o", "out.jsonl", "--force").code == 0
    assert simulator.summary()["answered"] == 60


def test_a_missing_key_is_said_before_anything_is_sent(
    shell: Shell, lab: str, simulator: Simulator
) -> None:
    said = shell("generate", lab, LAB_KEY="")
    assert said.code == Exit.API and "LAB_KEY" in said.err
    assert simulator.summary()["requests"] == 0


def test_a_run_is_resumed_without_its_file_but_not_without_its_data(
    shell: Shell, simulator: Simulator
) -> None:
    Path("topics.csv").write_text("topic\n" + "".join(f"topic {n}\n" for n in range(9)))
    Path("facts.json").write_text('{"type": "object", "properties": {"x": {"type": "string"}}}')
    Path("spec.yaml").write_text(
        f"model: {simulator.url}#simulated\nn: 5\ncolumns:\n"
        "  topic: {from_dataset: {file: topics.csv, column: topic, replace: false}}\n"
        "  facts: {prompt: 'On {topic}', schema: facts.json}\n"
    )
    simulator.set(errors="400:0.5", seed=2)
    assert shell("generate", "spec.yaml", "-o", "out.jsonl").code == Exit.FAILURES
    run = last_run(shell)
    simulator.set(errors="")
    Path("spec.yaml").unlink()
    Path("facts.json").unlink()
    Path("topics.csv").rename("moved.csv")
    said = shell("runs", "resume", run)
    assert said.code == Exit.INPUT
    assert "topic.from_dataset.file: there is no file" in said.err and "topics.csv" in said.err
    Path("moved.csv").rename("topics.csv")
    said = shell("runs", "resume", run)
    assert said.code == 0, said
    assert all(row["facts"] for row in lines()) and len(lines()) == 5


def test_ctrl_c_keeps_what_was_done(shell: Shell, lab: str, simulator: Simulator) -> None:
    simulator.set(latency="300")
    command = [PENSTOCK, "generate", lab, "-n", "40", "--concurrency", "4", "-o", "out.jsonl"]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while simulator.summary()["answered"] < 4:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert child.returncode == Exit.CANCELLED, err
    assert "stopping: nothing new is sent" in err and "Traceback" not in err
    simulator.set(latency="0")
    answered = simulator.summary()["answered"]
    assert answered < 80
    assert shell("runs", "resume", last_run(shell)).code == 0
    assert len(lines()) == 40
    assert (simulator.summary()["answered"], simulator.summary()["repeated"]) == (80, 0)


# By batch -------------------------------------------------------------------------------------


def test_columns_go_by_batch_one_after_the_other(
    shell: Shell, lab: str, simulator: Simulator
) -> None:
    simulator.set(batch_seconds=DAY)
    said = shell("generate", lab, "--batch", "--no-wait", "-o", "out.jsonl", *QUICK)
    assert said.code == Exit.SUBMITTED, said
    run = last_run(shell)
    assert f"go on with: penstock runs resume {run}" in said.err
    assert not Path("out.jsonl").exists()
    simulator.advance_batches()
    said = shell("runs", "resume", run, "--no-wait", *QUICK)
    assert said.code == Exit.SUBMITTED, "the questions are there; now the answers"
    simulator.advance_batches()
    said = shell("runs", "resume", run, *QUICK)
    assert said.code == 0, said
    assert [row["status"] for row in lines()] == ["ok"] * 6
    found = simulator.summary()
    assert (found["lines"], found["answered"], found["repeated"]) == (12, 12, 0)


def test_a_file_may_say_batch_and_the_flags_otherwise(
    shell: Shell, lab: str, simulator: Simulator
) -> None:
    Path(lab).write_text("batch: true\nmodel: lab\n" + SPEC)
    assert shell("generate", lab, "-n", "2", "--lane", "online").code == 0
    assert simulator.summary()["lines"] == 0
    simulator.set(batch_seconds=0.1)
    assert shell("generate", lab, "-n", "4", "--batch-size", "1", *QUICK).code == 0
    assert simulator.summary()["lines"] == 4, "two rows of two questions; the others are known"
    assert len(simulator.batches()) == 4


def test_what_is_left_of_a_batch_may_be_asked_online(
    shell: Shell, lab: str, simulator: Simulator
) -> None:
    simulator.set(batch_seconds=0, batch_faults="failed:1")
    said = shell("generate", lab, "--batch", "-o", "out.jsonl", *QUICK)
    assert said.code == Exit.FAILURES, said
    assert shell("runs", "retry", last_run(shell), "--online").code == 0
    assert [row["status"] for row in lines()] == ["ok"] * 6


# A program of one's own -----------------------------------------------------------------------

PROGRAM = """
import penstock
from penstock import sample

gen = penstock.generator("simulated")
print("this program speaks")

def shout(question):
    return question.upper()

ds = penstock.dataset(
    {"id": sample.sequence(), "question": gen("Ask {id}"), "loud": shout}, n=4, until=2
)
if __name__ == "__main__":
    raise SystemExit("not here")
"""


def test_a_dataset_of_a_program_is_made_like_one_of_a_file(shell: Shell) -> None:
    Path("program.py").write_text(PROGRAM)
    said = shell("generate", "program.py:ds", "-o", "out.jsonl", "--report", "report.json")
    assert said.code == 0, said
    rows = lines()
    assert [row["id"] for row in rows] == [0, 1], "as the program says: until 2 are accepted"
    assert all(row["loud"] == row["question"].upper() for row in rows)
    assert json.loads(Path("report.json").read_text())["run"]["wanted"] == 2
    said = shell("generate", "program.py", "-n", "3", "--json")
    assert json.loads(said.out)["rows_done"] == 3, "what it prints goes to stderr"
    assert "this program speaks" in said.err
    assert "row 0" in shell("generate", "program.py", "--preview", "1").out
    assert "4 rows" in shell("generate", "program.py", "-n", "4", "--estimate").out


def test_a_program_may_use_its_neighbours_and_classes(shell: Shell) -> None:
    Path("lib").mkdir()
    Path("lib/words.py").write_text("WORDS = ['one', 'two']\n")
    Path("lib/program.py").write_text(
        "from __future__ import annotations\nimport penstock\nfrom pydantic import BaseModel\n"
        "from words import WORDS\n"
        "class Fact(BaseModel):\n    part: Part\n"
        "class Part(BaseModel):\n    text: str\n"
        "gen = penstock.generator('simulated')\n"
        "ds = penstock.dataset({'w': penstock.sample.choice(WORDS),"
        " 'f': gen('On {w}', response_format=Fact)}, n=2)\n"
    )
    said = shell("generate", "lib/program.py:ds", "-o", "out.jsonl")
    assert said.code == 0, said
    assert all(row["f"]["part"]["text"] for row in lines())


def test_a_run_of_a_program_is_gone_on_with_by_the_same_command(
    shell: Shell, simulator: Simulator
) -> None:
    text = PROGRAM.replace('"simulated"', f'"{simulator.url}#simulated"').replace(", until=2", "")
    Path("program.py").write_text(text)
    simulator.set(errors="400:0.5", seed=1)
    said = shell("generate", "program.py:ds", "-o", "out.jsonl")
    assert said.code == Exit.FAILURES, said
    assert "go on with: the same command again" in said.err
    assert "runs resume" not in said.err and "invalid_request" in said.err
    assert "Run that program again" in shell("runs", "resume", last_run(shell)).err
    simulator.set(errors="")
    answered = simulator.summary()["answered"]
    assert shell("generate", "program.py:ds", "-o", "out.jsonl", "--force").code == 0
    assert simulator.summary()["answered"] == 4 > answered


# On a terminal --------------------------------------------------------------------------------


def on_a_terminal(*arguments: str, enter_at: str = "") -> tuple[int, str]:
    """Run on a terminal of 60 columns; press Enter when it says something."""
    main, other = pty.openpty()
    environment = {**os.environ, "COLUMNS": "60", "TERM": "xterm", "BROWSER": "true"}
    child = subprocess.Popen(
        [PENSTOCK, *arguments], stdin=other, stdout=other, stderr=other, env=environment
    )
    os.close(other)
    said, pressed = "", not enter_at
    while child.poll() is None or select.select([main], [], [], 0)[0]:
        if select.select([main], [], [], 0.1)[0]:
            try:
                said += os.read(main, 1 << 16).decode(errors="replace")
            except OSError:  # the other end is closed
                break
        if not pressed and enter_at in said:
            os.write(main, b"\n")
            pressed = True
    os.close(main)
    return child.wait(20), said


def test_a_preview_fits_the_terminal(spec: str) -> None:
    code, said = on_a_terminal("generate", spec, "-m", "simulated", "--preview", "2")
    assert code == 0, said
    shown = re.sub(
        r"\x1b\[[0-9;?]*[a-zA-Z]", "", said[said.index("row 0") : said.index("2 rows; ")]
    )
    widths = [len(line.rstrip("\r")) for line in shown.split("\n")]
    assert max(widths) <= 60, shown


def test_the_page_stays_until_enter_is_pressed(shell: Shell, spec: str) -> None:
    command = ("generate", spec, "-m", "simulated", "--view")
    code, said = on_a_terminal(*command, enter_at="Enter or Ctrl-C closes it")
    assert code == 0, said
    assert "live view: http://127.0.0.1:" in said
    quick = shell(*command)
    assert quick.code == 0 and "Enter" not in quick.err, "nobody is there to press it"
