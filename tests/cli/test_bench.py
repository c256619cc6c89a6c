"""`penstock bench`: recipes and cookbooks over endpoints, in the shell."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from penstock.errors import Exit
from penstock.simulator import Simulator
from tests.bench.bench_kit import JUDGE, cookbook, dataset, recipe, sent, written
from tests.cli.conftest import PENSTOCK, Said, Shell
from tests.grade.grade_gate import Gate

QUICK = ("--check-interval", "0.1", "--outage-patience", "0")
HERE = Path()


@pytest.fixture
def lab(simulator: Simulator, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Simulator:
    """The simulator's server as the models `lab` and `echo`."""
    monkeypatch.setenv("LAB_KEY", "a-key-of-no-worth")
    for name, model in (("lab", "simulated"), ("echo", "simulated-echo")):
        shell("endpoints", "add", name, f"{simulator.url}#{model}", "--key", "env:LAB_KEY")
    return simulator


def ran(shell: Shell, *arguments: str) -> Said:
    return shell("bench", "run", *arguments, *QUICK)


def result(shell: Shell, name: str = "latest") -> dict[str, Any]:
    made: dict[str, Any] = json.loads(shell("bench", "results", "show", name, "--json").out)
    return made


def test_a_cookbook_runs_offline_and_is_shown_to_people_and_to_programs(shell: Shell) -> None:
    said = ran(shell, "quick-look", "-e", "simulated", "--sample", "2", "--name", "first look")
    assert said.code == Exit.OK
    assert "7 recipes, 14 questions to simulated/simulated" in said.err
    assert "first look" in said.out and "Arithmetic" in said.out and "overall" in said.out
    shown = shell("bench", "results", "show", "first look")
    assert shown.out.split("\n")[3:] == said.out.split("\n")[3:]
    listed = json.loads(shell("bench", "results", "list", "--json").out)
    assert [each["name"] for each in listed] == ["first look"]
    assert "first look" in shell("bench", "results", "list").out
    again = ran(shell, "quick-look", "-e", "simulated", "--sample", "2", "--json")
    made = json.loads(again.out)
    assert made["schema"] == "penstock.bench/1" and made["counters"]["recorded"] == 14
    assert Path(made["folder"], "result.json").is_file()


def test_every_way_to_say_what_is_run(shell: Shell, lab: Simulator) -> None:
    what = recipe(HERE, count=6, metrics=["contains", "refusal"])
    book = cookbook(HERE, "book", ["./sums.yaml"])
    said = ran(
        shell, what, "./book.yaml", "-e", "lab", "-e", "echo", "--sample", "50%", "--seed", "3",
        "--epochs", "2", "--reducer", "max", "--system-prompt", "Be brief.", "--param",
        "temperature=0.5", "--judge-accuracy", "refusal=0.9,0.8", "--json",
    )  # fmt: skip
    assert said.code == Exit.OK and sent(lab) == 12
    made = json.loads(said.out)
    assert made["settings"]["params"] == {"temperature": 0.5} and list(made["endpoints"]) == [
        "lab",
        "echo",
    ]
    assert made["recipes"][0]["epochs"] == 2 and made["recipes"][0]["reducer"] == "max"
    assert made["recipes"][0]["endpoints"][0]["metrics"][1]["corrected"] is not None
    assert [each["id"] for each in made["cookbooks"]] == [Path(book).stem]


def test_a_runner_is_kept_and_used(shell: Shell, lab: Simulator) -> None:
    written(HERE / "nightly.yaml", {"name": "Nightly", "endpoints": ["lab", "echo"]})
    assert shell("bench", "create", "nightly.yaml").out == "the runner nightly is kept\n"
    said = ran(shell, recipe(HERE, count=2), "--runner", "nightly", "--json")
    assert said.code == Exit.OK and sent(lab) == 4
    assert json.loads(said.out)["name"] == "nightly"
    assert "--runner and --endpoint" in ran(shell, "sums.yaml", "--runner", "x", "-e", "lab").err


def test_one_item_is_shown_and_nothing_in_it_is_obeyed(shell: Shell, lab: Simulator) -> None:
    rows = [{"input": "\x1b[31mred\x07 \u202eback", "target": "[bold]x[/]"}]
    what = recipe(HERE, datasets=[dataset(HERE, "d", rows)])
    assert ran(shell, what, "-e", "echo").code == Exit.OK
    shown = shell("bench", "results", "show", "--item", "0")
    assert shown.code == Exit.OK and "red" in shown.out and "[bold]x[/]" in shown.out
    assert not {"\x1b", "\x07", "\u202e"} & set(shown.out)
    item = json.loads(shell("bench", "results", "show", "latest", "--item", "0", "--json").out)
    assert item["prompt"] == item["answer"] == rows[0]["input"]
    gone = shell("bench", "results", "show", "latest", "--item", "7")
    assert gone.code == Exit.INPUT and "has no item 7" in gone.err


def test_failures_have_their_exit_code_and_are_retried(
    shell: Shell, lab: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Gate(lab.url) as gate:
        shell("endpoints", "add", "gated", f"{gate.url}#simulated", "--key", "env:LAB_KEY")
        gate.refuse("What is 1 and 1?")
        said = ran(shell, recipe(HERE, count=3), "-e", "gated")
        assert said.code == Exit.FAILURES and "1 failed" in said.out
        run = result(shell)["id"]
        assert "completed with failures" in shell("runs", "list").out
        assert "bench" in shell("runs", "show", run).out
        gate.refuse()
        again = shell("runs", "retry", run)
    assert again.code == Exit.OK and sent(lab) == 3
    assert {path.name for path in Path(result(shell)["folder"]).glob("result*")} == {
        "result.json",
        "result-2.json",
    }


def test_an_endpoint_that_serves_nobody_has_its_own_exit_code(shell: Shell, lab: Simulator) -> None:
    lab.set(key="another-key")
    said = ran(shell, recipe(HERE), "-e", "lab", "-e", "echo")
    assert said.code == Exit.API and "answered nothing: authentication" in said.err
    assert "penstock runs resume bench-" in said.err
    missing = ran(shell, recipe(HERE, metrics=[JUDGE]), "-e", "lab")
    assert missing.code == Exit.INPUT and "--judge ENDPOINT" in missing.err


def test_a_judge_is_named_for_all(shell: Shell, lab: Simulator) -> None:
    what = recipe(HERE, count=2, metrics=[JUDGE])
    said = ran(shell, what, "-e", "echo", "--judge", "lab")
    assert said.code == Exit.OK and "judged by lab" in said.err and sent(lab) == 4


def test_batches_are_submitted_and_collected_later(shell: Shell, lab: Simulator) -> None:
    lab.set(batch_seconds=3600)
    said = ran(shell, recipe(HERE, count=4), "-e", "lab", "-e", "echo", "--batch", "--no-wait")
    assert said.code == Exit.SUBMITTED and "penstock runs resume bench-" in said.err
    run = said.err.rpartition("penstock runs resume ")[2].split()[0]
    assert shell("bench", "results", "list").out == ""
    lab.advance_batches()
    done = shell("runs", "resume", run, "--json")
    assert done.code == Exit.OK and json.loads(done.out)["state"] == "completed"
    assert sent(lab) == lab.summary()["lines"] == 8


def test_what_is_demanded_is_checked_for_ci(shell: Shell, lab: Simulator) -> None:
    what = recipe(HERE, count=4, metrics=["contains"])
    said = ran(
        shell, what, "-e", "lab", "--fail-under", "contains=0.99", "--junit", "junit.xml",
        "--report", "report.html",
    )  # fmt: skip
    assert said.code == Exit.BELOW and "contains" in said.err
    suite = ElementTree.parse("junit.xml").getroot()
    assert suite.findall(".//failure") and "<html" in Path("report.html").read_text()[:500]
    fine = ran(shell, what, "-e", "lab", "--fail-under", "sums:contains=0")
    assert fine.code == Exit.OK
    before = sent(lab)
    for flags, message in (
        (("--fail-under", "contians=1"), "contians"),
        (("--fail-under", "contains"), "is no check"),
        (("--report", "report.html"), "is there already"),
        (("--junit", "no/such/folder.xml"), "there is no folder no/such"),
    ):
        wrong = ran(shell, what, "-e", "echo", *flags)
        assert wrong.code == Exit.INPUT and message in wrong.err
    assert sent(lab) == before, "told before anything is sent"
    over = ran(shell, what, "-e", "lab", "--report", "report.html", "--overwrite")
    assert over.code == Exit.OK


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("quicklook",), "Did you mean 'quick-look'?"),
        (("gone.yaml",), "there is no file gone.yaml"),
        ((), "there is nothing to run"),
        (("sums.yaml", "--batch", "--lane", "online"), "contradict each other"),
        (("sums.yaml", "--no-wait"), "--no-wait is for the batch lane"),
        (("sums.yaml", "--no-wait", "--lane", "online"), "--no-wait is for the batch lane"),
        (("sums.yaml", "--sample", "none"), "such as 10%"),
        (("sums.yaml", "--judge-accuracy", "x=1"), "METRIC=SENSITIVITY,SPECIFICITY"),
        (("sums.yaml", "--param", "temperature"), "temperature"),
        (("sums.yaml", "-e", "nobody"), "no endpoint that Penstock knows"),
        (("sums.yaml", "--runner", "weekly"), "there is no runner 'weekly'"),
        (("broken.yaml",), "broken.yaml:2"),
        (("wrong.yaml",), "wrong.yaml:3: metrcs"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_sent(
    shell: Shell, lab: Simulator, flags: tuple[str, ...], message: str
) -> None:
    recipe(HERE)
    Path("broken.yaml").write_text("name: x\n  - : [\n")
    Path("wrong.yaml").write_text("name: x\ndatasets: [arithmetic]\nmetrcs: [contains]\n")
    endpoint = () if "-e" in flags or "--runner" in flags else ("-e", "lab")
    said = ran(shell, *flags, *endpoint)
    assert said.code == Exit.INPUT and message in said.err, said.err
    assert sent(lab) == 0 and said.out == ""


def test_the_library_is_listed_shown_kept_and_deleted(shell: Shell) -> None:
    listed = json.loads(shell("bench", "list", "--json").out)
    assert {each["kind"] for each in listed} == {"recipe", "cookbook"}
    for kind in ("recipes", "cookbooks", "datasets", "templates", "metrics", "runners", "recipe"):
        assert shell("bench", "list", kind).code == Exit.OK
    assert "there are no runners yet" in shell("bench", "list", "runners").out
    wrong = shell("bench", "list", "colours")
    assert wrong.code == Exit.INPUT and "There are: datasets" in wrong.err
    mine = {"name": "Mine", "datasets": ["arithmetic"], "metrics": ["contains"]}
    written(HERE / "my-own.yaml", mine)
    assert shell("bench", "create", "my-own.yaml").out == "the recipe my-own is kept\n"
    twice = shell("bench", "create", "my-own.yaml")
    assert twice.code == Exit.INPUT and "already" in twice.err
    assert shell("bench", "create", "my-own.yaml", "--force").code == Exit.OK
    shown = shell("bench", "show", "my-own")
    assert "Mine (recipe my-own)" in shown.out and "contains" in shown.out
    assert json.loads(shell("bench", "show", "my-own", "--json").out)["datasets"] == ["arithmetic"]
    assert "name: Mine" not in shown.out and "letter" in shell("bench", "show", "letter-only").out
    close = shell("bench", "show", "my-onw")
    assert close.code == Exit.INPUT and "Did you mean 'my-own'?" in close.err
    assert shell("bench", "delete", "my-own").out == "the recipe my-own is deleted\n"
    ships = shell("bench", "delete", "arithmetic")
    assert ships.code == Exit.INPUT and "ships with Penstock and stays" in ships.err
    assert shell("bench", "delete", "../x").code == Exit.INPUT


def test_what_is_kept_names_ids(shell: Shell) -> None:
    what = recipe(HERE)
    said = shell("bench", "create", what)
    assert said.code == Exit.INPUT and "names the file './sums-data.yaml'" in said.err
    assert shell("bench", "create", "sums-data.yaml").code == Exit.OK
    written(HERE / "kept.yaml", {"name": "k", "datasets": ["sums-data"], "metrics": ["contains"]})
    assert shell("bench", "create", "kept.yaml").code == Exit.OK
    assert ran(shell, "kept", "-e", "simulated").code == Exit.OK
    assert shell("bench", "delete", "sums-data").out == "the dataset sums-data is deleted\n"
    gone = ran(shell, "kept", "-e", "simulated")
    assert gone.code == Exit.INPUT and "there is no dataset 'sums-data'" in gone.err
    assert "there is no dataset 'sums-data'" in shell("bench", "show", "kept").out
    written(HERE / "odd.yaml", {"name": "odd"})
    odd = shell("bench", "create", "odd.yaml")
    assert odd.code == Exit.INPUT and "Say so with --kind" in odd.err


def test_a_broken_file_in_the_library_hides_no_other(shell: Shell) -> None:
    written(HERE / "fine.yaml", {"name": "f", "datasets": ["arithmetic"], "metrics": ["contains"]})
    shell("bench", "create", "fine.yaml")
    Path(".penstock/library/recipes/bad.yaml").write_text("name: [\n")
    said = shell("bench", "list", "recipes")
    assert said.code == Exit.OK and "fine" in said.out and "bad.yaml" in said.err


def test_schemas_are_printed(shell: Shell) -> None:
    for kind in ("recipe", "cookbook", "dataset", "template", "metric", "runner", "recipes"):
        found = json.loads(shell("bench", "schema", kind).out)
        assert "name" in found["properties"]
    for kind in ("result", "item"):
        assert json.loads(shell("bench", "schema", kind).out)
    assert shell("bench", "schema", "colour").code == Exit.INPUT


def test_results_are_exported_compared_and_rescored(shell: Shell, lab: Simulator) -> None:
    what = recipe(HERE, count=5, metrics=["contains"])
    assert ran(shell, what, "-e", "lab", "-e", "echo", "--name", "old").code == Exit.OK
    assert ran(shell, what, "-e", "echo", "--name", "new").code == Exit.OK
    for name in ("items.csv", "items.jsonl", "all.json", "report.html", "junit.xml"):
        assert shell("bench", "results", "export", "old", "-o", name).code == Exit.OK
    with Path("items.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["number"] for row in rows] == [str(n) for n in range(10)]
    assert "is already there" in shell("bench", "results", "export", "old", "-o", "all.json").err
    moon = ("bench", "results", "export", "old", "-o", "moon.json", "--format", "moonshot")
    assert shell(*moon).code == Exit.OK and "metadata" in json.loads(Path("moon.json").read_text())
    compared = shell("bench", "results", "compare", "old", "--a", "lab", "--b", "echo")
    assert compared.code == Exit.OK and "contains" in compared.out
    assert json.loads(shell("bench", "results", "compare", "old", "new", "--json").out)
    wrong = shell("bench", "results", "compare", "old", "--a", "nobody")
    assert wrong.code == Exit.INPUT and "has no endpoint 'nobody'" in wrong.err
    before = sent(lab)
    again = shell("bench", "rescore", "old", "--metric", "rouge1", "--name", "by rouge", "--json")
    assert again.code == Exit.OK and json.loads(again.out)["rescored_from"]
    assert "by rouge" in shell("bench", "results", "list").out and sent(lab) == before
    resumed = shell("runs", "resume", json.loads(again.out)["id"])
    assert resumed.code == Exit.INPUT and "scored the answers of" in resumed.err
    assert shell("bench", "results", "show", "gone").code == Exit.INPUT


def test_there_are_no_results_yet(shell: Shell) -> None:
    said = shell("bench", "results", "list")
    assert said.code == Exit.OK and "penstock bench run quick-look" in said.err
    assert shell("bench", "results", "show").code == Exit.INPUT
    assert not Path(".penstock").exists(), "looking makes no workspace"


@pytest.mark.parametrize(
    "words",
    [
        ("bench",),
        *(("bench", word) for word in ("run", "list", "show", "create", "delete", "schema")),
        *(("bench", word) for word in ("rescore", "results", "import")),
        *(("bench", "results", word) for word in ("list", "show", "compare", "export")),
    ],
)
def test_every_command_says_what_it_does(shell: Shell, words: tuple[str, ...]) -> None:
    said = shell(*words, "--help")
    assert said.code == Exit.OK and "Usage: penstock " + " ".join(words) in said.out
    assert max(map(len, said.out.splitlines())) <= 80


@pytest.mark.timeout(90)
def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(shell: Shell, lab: Simulator) -> None:
    lab.set(latency="60")
    what = recipe(HERE, count=600)
    process = subprocess.Popen(
        [PENSTOCK, "bench", "run", what, "-e", "lab", *QUICK],
        env={**os.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while lab.summary()["answered"] < 50:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    said, error = process.communicate(timeout=30)
    assert process.returncode == Exit.CANCELLED and "Traceback" not in error
    assert "stopping: nothing new is sent" in error and "cancelled" in said
    run = error.rpartition("penstock runs resume ")[2].split()[0]
    kept = result(shell, run)
    assert kept["recipes"][0]["endpoints"][0]["items"] == lab.summary()["answered"] < 600
    lab.set(latency="0")
    done = shell("runs", "resume", run)
    assert done.code == Exit.OK and sent(lab) == 600
