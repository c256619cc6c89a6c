"""A data folder as a whole: what goes in, what is told, and what is left alone."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from penstock.bench.importing import import_folder
from penstock.documents.examples import Examples, Share
from penstock.engine.workbench import Workbench
from penstock.errors import InputError, NotFoundError
from tests.bench.importing.moonshot_kit import LOWER, Moon, everything

EXAMPLES = Path(__file__).parents[4] / "shared" / "examples" / "moonshot-data"


def whole(moon: Moon) -> None:
    moon.endpoint("mini")
    moon.dataset("sums", {"input": "1+1?", "target": "2"}, {"input": "2+2?", "target": ["4", "IV"]})
    moon.template("short")
    moon.recipe("adding", prompt_templates=["short"])
    moon.cookbook("maths", "adding")


def test_everything_goes_onto_the_shelves(moon: Moon) -> None:
    whole(moon)
    done = moon.brought()
    assert done.complete
    assert done.imported == {
        "endpoint": ("mini",),
        "dataset": ("sums",),
        "template": ("short",),
        "recipe": ("adding",),
        "cookbook": ("maths",),
    }
    shelves = moon.shelves
    recipe = shelves.recipes.read("adding").value
    assert recipe.name == "The adding"
    assert recipe.templates == ("short",)
    assert recipe.metrics[0].metric == "exact_match"
    assert recipe.metrics[0].params == {"strip": False}
    assert recipe.grading == {"A": (80, 100), "B": (50, 79), "C": (0, 49)}
    assert list(recipe.grading) == ["A", "B", "C"]
    assert shelves.templates.read("short").value.template == "Answer: {{ prompt }}"
    assert shelves.cookbooks.read("maths").value.recipes == ("adding",)
    examples = list(Examples(shelves.datasets.read("sums"), Share()))
    assert [(each.input, each.target) for each in examples] == [
        ("1+1?", ("2",)),
        ("2+2?", ("4", "IV")),
    ]


def test_a_second_time_everything_is_unchanged(moon: Moon) -> None:
    whole(moon)
    first = moon.brought()
    before = everything(moon.shelves.own)
    again = moon.brought()
    assert again.unchanged == first.imported
    assert not any(again.imported.values())
    assert again.complete
    assert everything(moon.shelves.own) == before


def test_what_is_there_and_differs_is_told_and_left(moon: Moon) -> None:
    whole(moon)
    moon.brought()
    before = everything(moon.shelves.own), moon.saved("mini")
    moon.endpoint("mini", model="gpt-4o-mini")
    moon.dataset("sums", {"input": "3+3?", "target": "6"})
    moon.template("short", "Now: {{ prompt }}")
    moon.recipe("adding", name="Other")
    moon.cookbook("maths", "adding", description="Other")
    done = moon.brought()
    assert [each.kind for each in done.not_imported] == [
        *("endpoint", "dataset", "template", "recipe", "cookbook")
    ]
    assert all("and it differs" in each.reason for each in done.not_imported)
    assert all("--overwrite" in each.reason for each in done.not_imported)
    assert (everything(moon.shelves.own), moon.saved("mini")) == before


def test_what_differs_is_replaced_where_that_is_asked_for(moon: Moon) -> None:
    whole(moon)
    moon.brought()
    moon.endpoint("mini", model="gpt-4o-mini")
    moon.dataset("sums", {"input": "3+3?", "target": "6"})
    moon.template("short", "Now: {{ prompt }}")
    moon.recipe("adding", name="Other")
    moon.cookbook("maths", "adding", description="Other")
    done = moon.brought(overwrite=True)
    assert done.complete
    assert not any(done.unchanged.values())
    assert moon.saved("mini")["model"] == "gpt-4o-mini"
    assert moon.rows("sums") == [{"input": "3+3?", "target": "6"}]
    assert moon.shelves.templates.read("short").value.template == "Now: {{ prompt }}"
    assert moon.shelves.recipes.read("adding").value.name == "Other"


def test_only_the_rows_may_differ(moon: Moon) -> None:
    moon.dataset("sums", {"input": "1+1?", "target": "2"})
    moon.brought()
    moon.dataset("sums", {"input": "1+1?", "target": "3"})
    [told] = moon.brought().not_imported
    assert told.id == "sums"
    assert moon.rows("sums")[0]["target"] == "2"


def test_an_object_that_cannot_be_read_any_more_is_replaced_only_when_asked(moon: Moon) -> None:
    moon.template("short")
    moon.brought()
    file = moon.shelves.templates.folder / "short.yaml"
    file.write_text("template: [")
    assert [each.id for each in moon.brought().not_imported] == ["short"]
    assert file.read_text() == "template: ["
    assert moon.brought(overwrite=True).imported["template"] == ("short",)
    assert moon.shelves.templates.read("short").value.name == "short"


def test_what_ships_is_there_already_and_is_shadowed_only_when_asked(
    moon: Moon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = tmp_path / "shipped"
    (shipped / "templates").mkdir(parents=True)
    (shipped / "datasets").mkdir()
    ships = shipped / "templates" / "short.yaml"
    ships.write_text("name: short\ndescription: Asks.\ntemplate: 'Answer: {{ prompt }}'\n")
    rows = shipped / "datasets" / "sums.jsonl"
    rows.write_text('{"input":"1+1?","target":"2"}\n')
    (shipped / "datasets" / "sums.yaml").write_text("name: Sums\nfile: sums.jsonl\n")
    monkeypatch.setattr("penstock.library.__path__", [str(shipped)])
    example = {"input": "1+1?", "target": "2"}
    moon.template("short")
    moon.write("datasets/sums.json", {"name": "Sums", "examples": [example]})
    done = moon.brought()
    assert (done.unchanged["template"], done.unchanged["dataset"]) == (("short",), ("sums",))
    moon.template("short", "Now: {{ prompt }}")
    moon.dataset("sums")
    assert [each.id for each in moon.brought().not_imported] == ["sums", "short"]
    assert moon.brought(overwrite=True).complete
    assert moon.shelves.templates.read("short").value.template == "Now: {{ prompt }}"
    assert "Answer:" in ships.read_text()


def test_rows_that_lie_there_without_a_dataset_are_not_overwritten(moon: Moon) -> None:
    moon.dataset("sums")
    moon.brought()
    moon.shelves.datasets.delete("sums")
    assert moon.brought().imported["dataset"] == ("sums",)
    moon.shelves.datasets.delete("sums")
    file = moon.shelves.datasets.folder / "sums.jsonl"
    file.write_text('{"input": "mine"}\n')
    [told] = moon.brought().not_imported
    assert "sums.jsonl" in told.reason
    assert file.read_text() == '{"input": "mine"}\n'
    assert "sums" not in moon.shelves.datasets


def test_what_lies_in_the_workspace_is_private_and_nothing_is_left_over(moon: Moon) -> None:
    old = os.umask(0o022)
    try:
        whole(moon)
        moon.dataset("empty", "no example")
        moon.brought()
    finally:
        os.umask(old)
    files = [path for path in moon.shelves.own.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert sorted(path.name for path in moon.shelves.datasets.folder.iterdir()) == [
        *("sums.jsonl", "sums.yaml")
    ]


def test_any_part_of_a_folder_may_be_missing(moon: Moon) -> None:
    moon.template("short")
    done = moon.brought()
    assert done.complete
    assert done.imported["template"] == ("short",)


def test_a_folder_without_anything_of_moonshots_is_an_error_that_says_what_is_wanted(
    moon: Moon,
) -> None:
    moon.write("datasets/notes.txt", "nothing")
    moon.write("datasets/cache.json", {"sums": {}})
    with pytest.raises(InputError, match="nothing of Moonshot's") as told:
        moon.brought()
    assert "connectors-endpoints" in told.value.remedy
    assert not moon.bench.workspace.exists


def test_the_folder_above_is_told_which_one_is_meant(moon: Moon) -> None:
    moon.template("short")
    with pytest.raises(InputError) as told:
        import_folder(moon.folder.parent, moon.bench)
    assert f"Did you mean {moon.folder}" in told.value.remedy


def test_what_is_no_folder_is_an_error(moon: Moon, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        import_folder(tmp_path / "nowhere", moon.bench)
    file = moon.template("short")
    with pytest.raises(InputError, match="not a folder"):
        import_folder(file, moon.bench)


def test_code_in_the_folder_is_never_run(moon: Moon, tmp_path: Path) -> None:
    whole(moon)
    mark = tmp_path / "was-run"
    code = f"open({str(mark)!r}, 'w').write('run')\n"
    for folder in ("", "connectors-endpoints/", "datasets/", "prompt-templates/", "recipes/",
                   "cookbooks/", "metrics/", "attack-modules/"):  # fmt: skip
        for name in ("__init__", "penstock", "short", "evil"):
            moon.write(f"{folder}{name}.py", code)
    before = set(sys.modules)
    assert moon.brought().complete
    assert not mark.exists()
    assert not [name for name in set(sys.modules) - before if "evil" in name]


def test_links_out_of_the_folder_are_not_followed(moon: Moon, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"name": "secret", "template": "{{ prompt }} hidden-thing"}')
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "far.json").write_text(secret.read_text())
    moon.template("near")
    (moon.folder / "prompt-templates" / "link.json").symlink_to(secret)
    (moon.folder / "prompt-templates" / "loop.json").symlink_to("loop.json")
    (moon.folder / "prompt-templates" / "dead.json").symlink_to("gone.json")
    (moon.folder / "prompt-templates" / "same.json").symlink_to("near.json")
    (moon.folder / "recipes").symlink_to(outside)
    done = moon.brought()
    assert done.imported["template"] == ("near", "same")
    assert {each.file for each in done.not_imported} == {
        *("prompt-templates/link.json", "prompt-templates/loop.json", "prompt-templates/dead.json"),
        "recipes",
    }
    assert b"hidden-thing" not in everything(moon.bench.workspace.path)


def test_a_pipe_or_a_folder_with_a_files_name_is_passed_by(moon: Moon) -> None:
    moon.template("near")
    os.mkfifo(moon.folder / "prompt-templates" / "pipe.json")
    (moon.folder / "prompt-templates" / "folder.json").mkdir()
    assert moon.brought().imported["template"] == ("near",)


def test_two_files_that_give_one_id_are_told(moon: Moon) -> None:
    moon.template("My Template")
    moon.template("my-template")
    done = moon.brought()
    assert done.imported["template"] == ("my-template",)
    [told] = done.not_imported
    assert told.file == "prompt-templates/my-template.json"
    assert "prompt-templates/My Template.json" in told.reason


def test_a_name_of_which_no_id_can_be_made_is_told(moon: Moon) -> None:
    moon.template("数据")
    moon.template("fine")
    done = moon.brought()
    assert done.imported["template"] == ("fine",)
    assert done.not_imported[0].file == "prompt-templates/数据.json"


def test_an_id_never_looks_like_a_file(moon: Moon) -> None:
    moon.write("datasets/sums.json.json", {"name": "a", "examples": [{"input": "1"}]})
    moon.write("datasets/other.csv.json", {"name": "b", "examples": [{"input": "1"}]})
    moon.recipe("adding", datasets=["sums.json", "other.csv"])
    done = moon.brought()
    assert done.complete
    assert done.imported["dataset"] == ("other-csv", "sums-json")
    assert moon.shelves.recipes.read("adding").value.datasets == ("sums-json", "other-csv")


def test_a_file_name_that_is_no_text_is_shown_all_the_same(moon: Moon) -> None:
    moon.template("fine")
    bad = os.fsencode(moon.folder / "prompt-templates") + b"/b\xffd\x1b.json"
    Path(os.fsdecode(bad)).write_text("{")
    [told] = moon.brought().not_imported
    assert told.file.isprintable()
    told.file.encode()


def test_the_public_examples_come_in_as_they_are(bench: Workbench) -> None:
    if not EXAMPLES.is_dir():
        pytest.skip("the examples are not here")
    done = import_folder(EXAMPLES, bench)
    assert len(done.imported["endpoint"]) == 4
    assert len(done.imported["dataset"]) == 8
    assert len(done.imported["template"]) == 3
    assert len(done.imported["recipe"]) == 3
    assert done.imported["cookbook"] == ("singapore-context",)
    [told] = done.not_imported
    assert told.id == "answercarefully-en"
    assert [each.reason for each in done.missing] == [
        "its dataset 'answercarefully-en' is not here"
    ]
    [wrong] = done.backwards
    assert (wrong.recipe, wrong.direction, wrong.scale, wrong.fixed) == (
        *("answercarefully-en", "higher", "lower", False),
    )
    assert [each.metric for each in done.unmapped] == ["answercarefully-annotator"]
    assert import_folder(EXAMPLES, bench).unchanged == done.imported


def test_what_came_of_it_can_be_given_to_a_program(moon: Moon) -> None:
    whole(moon)
    moon.recipe("odd", "advglue", "exactstrmatch", grading_scale=LOWER, datasets=["gone"])
    made = moon.brought().to_dict()
    assert made["imported"] == {
        "endpoints": ["mini"],
        "datasets": ["sums"],
        "templates": ["short"],
        "recipes": ["adding", "odd"],
        "cookbooks": ["maths"],
    }
    assert made["unchanged"]["recipes"] == []
    assert made["not_imported"] == []
    assert made["missing"][0]["reason"] == "its dataset 'gone' is not here"
    assert made["unmapped_metrics"][0]["metric"] == "advglue"
    assert made["backwards"] == []
