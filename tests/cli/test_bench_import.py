"""`penstock bench import`: folders, files and datasets of Hugging Face."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from penstock.bench.shelves import Shelves
from penstock.cli.benchimport import app
from penstock.engine.workbench import Workbench
from penstock.errors import Exit, InputError, NotFoundError

TOKEN = "canary-77aa-token-of-an-endpoint"
ENDPOINT = {"name": "Mini", "connector_type": "openai-connector", "uri": "", "token": TOKEN,
            "model": "gpt-4o", "max_concurrency": 1, "params": {"temperature": 0}}  # fmt: skip
SCALE = {"A": [80, 100], "B": [0, 79]}
RECIPE = {"name": "Adding", "description": "", "datasets": ["sums"], "prompt_templates": [],
          "metrics": ["exactstrmatch"], "grading_scale": SCALE}  # fmt: skip
DATASET = {"name": "Sums", "examples": [{"input": "1+1?", "target": "2"}]}


def run(*arguments: str | Path) -> int:
    code = app([str(each) for each in arguments], result_action="return_value")
    assert isinstance(code, int)
    return code


def write(path: str, data: Any) -> None:
    file = Path("data", path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(data if isinstance(data, str) else json.dumps(data))


@pytest.fixture
def data() -> Path:
    write("connectors-endpoints/mini.json", ENDPOINT)
    write("datasets/sums.json", DATASET)
    write("recipes/adding.json", RECIPE)
    return Path("data")


def test_a_whole_folder_goes_in_and_is_counted(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(data) == Exit.OK
    said = capsys.readouterr().out
    lines = [line.split() for line in said.splitlines()]
    assert ["endpoints", "1", "0"] in lines
    assert ["recipes", "1", "0"] in lines
    assert "OPENAI_API_KEY is read instead (endpoint mini)" in said
    assert TOKEN not in said
    with Workbench() as bench:
        assert bench.endpoint("mini").model == "gpt-4o"
        assert Shelves(bench).recipes.read("adding").value.name == "Adding"
    assert run(data) == Exit.OK
    assert ["endpoints", "0", "1"] in [
        line.split() for line in capsys.readouterr().out.splitlines()
    ]


def test_what_did_not_go_in_is_listed_with_its_place_and_reason(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("recipes/bad.json", '{\n "name": 5,\n "metrics": ["exactstrmatch"]}')
    write("recipes/odd.json", RECIPE | {"metrics": ["bertscore"], "datasets": ["gone"]})
    write("recipes/wrong.json", RECIPE | {"grading_scale": {"A": [0, 20], "B": [21, 100]}})
    assert run(data) == Exit.FAILURES
    said = capsys.readouterr().out
    assert "recipes/bad.json:1: recipe bad: 2 mistakes in recipes/bad.json:" in said
    assert "line 2: name: it is 5; a text is wanted" in said
    assert "recipe odd: none of its metrics has a counterpart: bertscore" in said
    assert "recipe odd: its dataset 'gone' is not here" in said
    assert "bertscore: it needs the weights of BERT (odd)" in said
    assert "--fix-grading" in said
    assert "wrong: of exactstrmatch higher is better, its scale has lower" in said


def test_gradings_are_turned_round_when_asked(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("recipes/wrong.json", RECIPE | {"grading_scale": {"A": [0, 20], "B": [21, 100]}})
    assert run(data, "--fix-grading") == Exit.OK
    said = capsys.readouterr().out
    assert "its scale has lower; turned round" in said
    assert "--fix-grading" not in said
    with Workbench() as bench:
        grading = Shelves(bench).recipes.read("wrong").value.grading
    assert grading == {"A": (21, 100), "B": (0, 20)}


def test_a_program_gets_json_without_a_token(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(data, "--json") == Exit.OK
    text = capsys.readouterr().out
    assert TOKEN not in text
    made = json.loads(text)
    assert made["imported"]["datasets"] == ["sums"]
    assert list(made) == [
        *("imported", "unchanged", "not_imported", "missing", "unmapped_metrics", "backwards"),
        "notes",
    ]


def test_what_differs_is_replaced_with_overwrite(data: Path) -> None:
    run(data)
    write("recipes/adding.json", RECIPE | {"name": "Other"})
    assert run(data) == Exit.FAILURES
    assert run(data, "--overwrite") == Exit.OK
    with Workbench() as bench:
        assert Shelves(bench).recipes.read("adding").value.name == "Other"


def test_nothing_in_a_name_is_obeyed_by_the_terminal(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("recipes/odd.json", RECIPE | {"metrics": ["\x1b[2J[bold]evil[/bold]"]})
    assert run(data) == Exit.FAILURES
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "[bold]evil[/bold]" in said


def test_a_folder_with_nothing_of_moonshots_is_an_error() -> None:
    Path("empty").mkdir()
    with pytest.raises(InputError, match="nothing of Moonshot's"):
        run("empty")
    with pytest.raises(NotFoundError):
        run("gone.csv")


def test_a_table_becomes_a_dataset(capsys: pytest.CaptureFixture[str]) -> None:
    Path("Trivia Night.csv").write_text("question,hint,answer\nWho?,a,me\nWhy?,b,so\n")
    code = run("Trivia Night.csv", "--input", "hint", "--input", "question", "--target", "answer",
               "--license", "MIT", "--reference", "the pub", "--json")  # fmt: skip
    assert code == Exit.OK
    made = json.loads(capsys.readouterr().out)
    assert (made["id"], made["examples"], made["left_out"]) == ("trivia-night", 2, [])
    with Workbench() as bench:
        dataset = Shelves(bench).datasets.read("trivia-night").value
    assert (dataset.name, dataset.license, dataset.reference) == ("Trivia Night", "MIT", "the pub")
    rows = Path(made["file"]).with_suffix(".jsonl").read_text().splitlines()
    assert json.loads(rows[0])["input"] == "a\nWho?"


def test_rows_with_nothing_to_ask_are_left_out_only_when_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("t.jsonl").write_text('{"input": "a"}\n{"input": ""}\n')
    with pytest.raises(InputError, match="row 2"):
        run("t.jsonl", "--target", "")
    assert run("t.jsonl", "--target", "", "--skip-empty", "--name", "T") == Exit.FAILURES
    said = capsys.readouterr().out
    assert "the dataset t has 1 examples" in said
    assert "1 rows with nothing to ask were left out: 2" in said


def test_a_missing_column_names_the_file_and_its_columns() -> None:
    Path("t.csv").write_text("question,answer\na,b\n")
    with pytest.raises(InputError, match=r"t\.csv has no column 'input'") as told:
        run("t.csv")
    assert "question, answer" in told.value.remedy


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give a folder"),
        (("data", "--hf", "x/y"), "contradict"),
        (("data", "--input", "a"), "--input is for a file"),
        (("data", "--license", "MIT"), "--license is for a file"),
        (("data", "--config", "c"), "--config is for --hf"),
        (("t.csv", "--fix-grading"), "--fix-grading is for a folder"),
    ],
)
def test_flags_that_make_no_sense_together_are_errors(
    data: Path, arguments: tuple[str, ...], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        run(*arguments)


def test_a_dataset_of_hugging_face_is_read_from_a_folder(
    capsys: pytest.CaptureFixture[str],
) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_dict({"q": ["a", "b"], "a": [1, 2]}).save_to_disk("saved")
    capsys.readouterr()
    assert run("--hf", "saved", "--input", "q", "--target", "a", "--name", "Two") == Exit.OK
    assert "the dataset two has 2 examples" in capsys.readouterr().out
