"""A result for other programs: read back, it is what it was."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pytest import approx

from penstock.bench.exports import export_items, export_json, export_moonshot
from penstock.bench.item import Item, ItemScore, ItemStatus
from penstock.bench.result import BenchResult
from penstock.errors import InputError
from penstock.metrics.score import ScoreStatus
from penstock.outcome import FailureKind
from penstock.secret import Secret
from penstock.tables import Table, rows
from tests.bench.report.made import item, items, result_of, table, written
from tests.tables.values import PEAK

FOUND = list(items(12))


def flat(each: Item, labels: list[str]) -> dict[str, Any]:
    """As the table should have it."""
    row = {name: getattr(each, name) for name in each.__struct_fields__ if name != "scores"}
    row |= {"status": str(each.status), "target": each.target and list(each.target)}
    scores = {score.metric: score for score in each.scores}
    for label in labels:
        score = scores.get(label)
        row[label] = score.value if score else None
        row[f"{label}_status"] = str(score.status) if score else None
        row[f"{label}_reason"] = (score.reason or None) if score else None
        row[f"{label}_extracted"] = score.extracted if score else None
    return row


LABELS = ["number_match", "tokens", "rougeL", "bleu", "exact_match", "attack_success"]


@pytest.mark.parametrize("suffix", ["jsonl", "json", "parquet", "arrow", "feather"])
def test_items_read_back_are_what_they_were(tmp_path: Path, suffix: str) -> None:
    path = export_items(table(FOUND), tmp_path / "new" / f"items.{suffix}")
    back = Table.open(path)
    assert back.to_list() == [flat(each, LABELS) for each in FOUND]
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_in_a_spreadsheet_stands_the_same_as_text(tmp_path: Path, suffix: str) -> None:
    path = export_items(table(FOUND), tmp_path / f"items.{suffix}")
    back = list(rows(path))
    assert len(back) == len(FOUND)
    for row, each in zip(back, FOUND, strict=True):
        wanted = flat(each, LABELS)
        assert list(row) == list(wanted)
        assert str(row["prompt"]) == each.prompt and (row["answer"] or None) == each.answer
        for label in LABELS:
            value = row[label]
            # A workbook keeps 15 digits.
            assert (float(value) if value not in (None, "") else None) == approx(wanted[label])


def test_an_answer_that_is_a_formula_is_harmless_in_csv_and_comes_back(tmp_path: Path) -> None:
    path = export_items(table([item(0, answer="=1+1", prompt="@SUM(A1)")]), tmp_path / "a.csv")
    text = path.read_text()
    assert "'=1+1" in text and "'@SUM(A1)" in text
    [row] = rows(path)
    assert row["answer"] == "=1+1"


def test_a_label_that_is_a_column_already_is_set_apart(tmp_path: Path) -> None:
    scores = tuple(ItemScore(name, 0.5) for name in ("id", "x", "x_status"))
    [row] = rows(export_items(table([item(0, scores=scores)]), tmp_path / "a.jsonl"))
    assert row["id"] == "q0" and row["metric_id"] == 0.5 and row["metric_id_status"] == "scored"
    assert row["x"] == 0.5 and row["x_status"] == "scored"
    assert row["metric_x_status"] == 0.5 and row["metric_x_status_status"] == "scored"


def test_columns_in_which_nothing_stands_have_a_type_all_the_same(tmp_path: Path) -> None:
    bare = item(0, cost=None, latency=None, target=None, scores=(ItemScore("m", None, _ERROR),))
    schema = Table.open(export_items(table([bare]), tmp_path / "a.arrow")).schema
    kinds = {name: str(schema.field(name).type) for name in ("cost", "latency", "target", "m")}
    assert kinds["latency"] == kinds["m"] == "double" and kinds["cost"] == "string"
    assert kinds["target"].startswith("list<")


_ERROR = ScoreStatus.ERROR


def test_the_given_format_counts_and_an_unknown_one_is_refused_first(tmp_path: Path) -> None:
    path = export_items(table(FOUND), tmp_path / "items.txt", format="csv")
    assert path.read_text().startswith("number,recipe,dataset")
    with pytest.raises(InputError, match=r"items\.doc"):
        export_items(table(FOUND), tmp_path / "items.doc")


@pytest.mark.parametrize("write", [export_json, export_moonshot])
def test_no_file_is_replaced_unasked(tmp_path: Path, write: Any) -> None:
    path = tmp_path / "there.json"
    path.write_text("mine")
    found = result_of(FOUND), table(FOUND)
    with pytest.raises(InputError, match=r"there\.json is already there"):
        write(*found, path)
    with pytest.raises(InputError, match=r"there\.json is already there"):
        export_items(found[1], path)
    assert path.read_text() == "mine"
    assert write(*found, path, overwrite=True) == path
    assert json.loads(path.read_text())


# One document ---------------------------------------------------------------------------------


class Document(BenchResult, frozen=True, kw_only=True):
    items: tuple[Item, ...]


def test_the_document_holds_the_result_and_every_item(tmp_path: Path) -> None:
    odd = item(
        900, answer="a\u2028\x00\n\"]}<script>", target=("a", "b"), cluster="c", recorded=True,
        scores=(
            ItemScore("number_match", 0.25, parts=(1.0, 2.0), extracted="", reason="r"),
            ItemScore("tokens", None, _ERROR, "no judge", failure=FailureKind.TIMEOUT),
        ),
    )  # fmt: skip
    found = [*FOUND, odd]
    result = result_of(found)
    path = export_json(result, table(found), tmp_path / "r.json")
    body = path.read_bytes()
    back = msgspec.json.decode(body, type=Document)
    assert back.items == tuple(found)
    assert msgspec.json.decode(body, type=BenchResult) == result
    plain = json.loads(body)
    assert plain["items"][0]["scores"][0]["status"] == "scored"  # said, though it is the usual


def test_a_document_without_items_is_whole(tmp_path: Path) -> None:
    path = export_json(result_of(FOUND), Table.from_rows([]), tmp_path / "r.json")
    assert json.loads(path.read_text())["items"] == []


def test_half_characters_nan_and_keys_do_not_reach_the_document(tmp_path: Path) -> None:
    Secret("a-very-secret-value-0815")
    result = result_of(
        FOUND, name="half \ud800", message="a-very-secret-value-0815",
        settings={"x": float("nan"), "path": Path("/a")},
    )  # fmt: skip
    for write in (export_json, export_moonshot):
        text = write(result, table(FOUND), tmp_path / f"{write.__name__}.json").read_text("utf-8")
        assert "very-secret" not in text and "NaN" not in text
        assert json.loads(text)


# Moonshot's form ------------------------------------------------------------------------------


def moonshot(tmp_path: Path, found: list[Item], **more: Any) -> dict[str, Any]:
    path = export_moonshot(result_of(found, **more), table(found), tmp_path / "m.json")
    made: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return made


def test_moonshot_finds_what_it_knows(tmp_path: Path) -> None:
    shuffled = FOUND.copy()
    random.Random(5).shuffle(shuffled)
    result = result_of(FOUND)
    path = export_moonshot(result, table(shuffled), tmp_path / "m.json")
    made = json.loads(path.read_text("utf-8"))
    told = made["metadata"]
    assert told["id"] == result.id and told["cookbooks"] == ["school-and-safety"]
    assert told["status"] == "completed_with_errors" and told["duration"] == 312
    assert told["random_seed"] == 815 and told["endpoints"] == list(result.endpoints)
    assert told["recipes"] == [] and list(made["results"]) == ["cookbooks"]
    [book] = made["results"]["cookbooks"]
    assert book["total_num_of_prompts"] == len(FOUND)
    assert [each["overall_grade"] for each in book["overall_evaluation_summary"]] == [
        grade.worst for grade in result.cookbooks[0].grades
    ]
    for recipe, there in zip(result.recipes, book["recipes"], strict=True):
        assert there["id"] == recipe.id
        assert there["grading_scale"] == {name: list(band) for name, band in recipe.grading.items()}
        assert [
            (each["model_id"], each["num_of_prompts"], each["avg_grade_value"], each["grade"])
            for each in there["evaluation_summary"]
        ] == [(e.endpoint, e.items, e.grade_value, e.grade or "-") for e in recipe.endpoints]
        assert len(there["details"]) == 3 * len(recipe.datasets)
        for part in there["details"]:
            template = "" if part["prompt_template_id"] == "no-template" else "brief"
            group = (recipe.id, part["model_id"], part["dataset_id"], template)
            mine = [
                each
                for each in shuffled
                if (each.recipe, each.endpoint, each.dataset, each.template) == group
            ]
            assert mine and [datum["prompt"] for datum in part["data"]] == [
                each.prompt for each in mine
            ]
            assert [datum["predicted_result"] for datum in part["data"]] == [
                each.answer for each in mine
            ]


def test_values_are_in_per_cent_and_the_first_metric_is_graded(tmp_path: Path) -> None:
    found = [item(n, scores=(ItemScore("bleu", 25.0), ItemScore("rougeL", 0.5))) for n in range(2)]
    made = moonshot(tmp_path, found, cookbooks=(), grading={})
    [part] = made["results"]["recipes"][0]["details"]
    assert part["metrics"] == [
        {"bleu": 25.0, "grading_criteria": {"bleu": 25.0}},
        {"rougeL": 50.0, "grading_criteria": {}},
    ]
    assert part["data"][0]["target"] == "0" and made["metadata"]["recipes"] == ["sums"]


@pytest.mark.parametrize(
    ("sample", "share"), [(None, 100), ("10%", 10), ("2.5%", 2.5), ("50", None)]
)
def test_the_share_that_was_asked_is_told(
    tmp_path: Path, sample: str | None, share: float | None
) -> None:
    made = moonshot(tmp_path, FOUND[:2], settings={"sample": sample})
    assert made["metadata"]["prompt_selection_percentage"] == share


# However many there are -----------------------------------------------------------------------


_CHILD = """
import sys
from pathlib import Path
import msgspec
from penstock.bench.exports import export_items, export_json, export_moonshot
from penstock.bench.junit import write_junit
from penstock.bench.result import BenchResult
from penstock.tables import Table

folder, name = Path(sys.argv[1]), sys.argv[2]
result = msgspec.json.decode((folder / "result.json").read_bytes(), type=BenchResult)
items = Table.open(folder / f"{name}.arrow")
export_json(result, items, folder / f"{name}.json")
export_moonshot(result, items, folder / f"{name}-m.json")
export_items(items, folder / f"{name}.csv")
write_junit(result, items, folder / f"{name}.xml")
print(peak())
"""


def test_more_items_take_hardly_more_memory(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_bytes(msgspec.json.encode(result_of([item(0)])))
    peaks = []
    for count in (2_000, 5_000):
        text = f"{count} is said here. " * 400
        down = {"status": ItemStatus.FAILED, "failure": "timeout", "error": text}
        many = (item(n, answer=text, **(down if n % 2 else {})) for n in range(count))
        written(many, tmp_path / f"{count}.arrow")
        command = [sys.executable, "-c", PEAK + _CHILD, str(tmp_path), str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout))
    small, large = peaks
    assert (tmp_path / "5000.json").stat().st_size > 38 << 20
    assert large < small + 25, f"{small} MiB, then {large} MiB"
