"""Plans: all that recipes and cookbooks name is found; what is data reaches nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.bench import Shelves
from penstock.bench.naming import sorted_names
from penstock.bench.needs import needs_of, needs_of_all
from penstock.bench.plan import Plan
from penstock.bench.planning import planned
from penstock.bench.wishes import Wishes
from penstock.engine.workbench import Workbench
from penstock.errors import InputError, NotFoundError
from tests.bench.bench_kit import JUDGE, cookbook, dataset, recipe, sums, template


def plan(bench: Workbench, *recipes: str, **wishes: Any) -> Plan:
    return planned(Wishes(recipes=recipes, **{"endpoints": ("simulated",), **wishes}), bench)


def test_every_recipe_that_ships_can_be_planned(bench: Workbench) -> None:
    shelves = Shelves(bench)
    made = planned(
        Wishes(cookbooks=tuple(shelves.cookbooks), endpoints=("simulated",), judge="simulated"),
        bench,
    )
    assert {each.id for each in made.recipes} == set(shelves.recipes)
    assert made.prompts == sum(1 for _ in made) > 50
    assert [question.place for question in made] == list(range(made.prompts))


def test_a_recipe_in_a_file_names_what_lies_beside_it_and_ids(
    bench: Workbench, tmp_path: Path
) -> None:
    folder = tmp_path / "deep" / "er"
    what = recipe(folder, datasets=[dataset(folder, "d", sums(2)), "arithmetic"])
    assert [each.id for each in plan(bench, what).recipes[0].datasets] == ["d", "arithmetic"]


def test_a_recipe_in_the_library_names_ids_and_no_files(bench: Workbench, tmp_path: Path) -> None:
    shelves = Shelves(bench)
    shelves.datasets.create({"name": "data-1.5", "examples": sums(2)})
    shelves.recipes.create({"name": "good", "datasets": ["data-1.5"], "metrics": ["contains"]})
    assert plan(bench, "good").prompts == 2, "an id may have a dot"
    for number, name in enumerate(("../x.yaml", "/etc/passwd", "./d.yaml", "d.json")):
        made = {"name": f"bad {number}", "datasets": [name], "metrics": ["contains"]}
        shelves.recipes.create(made)
        with pytest.raises(InputError, match="kept in the library names ids"):
            plan(bench, f"bad-{number}")
    shelves.cookbooks.create({"name": "book", "recipes": ["../../good.yaml"]})
    with pytest.raises(InputError, match="kept in the library names ids"):
        planned(Wishes(cookbooks=("book",), endpoints=("simulated",)), bench)


def test_what_is_resumed_elsewhere_has_its_files_in_full_and_its_ids_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = Wishes(recipes=("r.yaml", "sub/r", "gsm8k-1.5"), accuracy={"m": (0.9, 0.8)})
    spec = made.spec()
    assert spec["bench"]["recipes"] == [f"{tmp_path}/r.yaml", f"{tmp_path}/sub/r", "gsm8k-1.5"]
    again = Wishes.from_spec(spec)
    assert again.accuracy == {"m": (0.9, 0.8)} and again.spec() == spec
    with pytest.raises(InputError, match="made by another version: it has colour"):
        Wishes.from_spec({"bench": {**spec["bench"], "colour": "red"}})


def test_names_are_recipes_or_cookbooks_by_what_they_are(bench: Workbench, tmp_path: Path) -> None:
    one, book = recipe(tmp_path, "one"), cookbook(tmp_path, "book", ["./one.yaml"])
    found = sorted_names([book, "arithmetic", "quick-look", one, one], Shelves(bench))
    assert found.recipes == ("arithmetic", one) and found.cookbooks == (book, "quick-look")
    with pytest.raises(NotFoundError, match="there is no recipe or cookbook 'quicklook'") as caught:
        sorted_names(["quicklook"], Shelves(bench))
    assert "Did you mean 'quick-look'?" in caught.value.remedy


def test_two_files_with_the_same_id_are_told(bench: Workbench, tmp_path: Path) -> None:
    one, two = recipe(tmp_path / "a", "r"), recipe(tmp_path / "b", "r")
    with pytest.raises(InputError, match="two recipes have the id 'r'"):
        plan(bench, one, two)
    assert len(plan(bench, one, f"{tmp_path}/a/../a/r.yaml").recipes) == 1, "the same file is one"
    for name in "ab":
        dataset(tmp_path / name, "d", sums(1))
        template(tmp_path / name, "t", "{{ prompt }}")
    both = ["./a/d.yaml", "./b/d.yaml"]
    with pytest.raises(InputError, match="two datasets with the id 'd'"):
        plan(bench, recipe(tmp_path, "x", datasets=both))
    forms = ["./a/t.yaml", "./b/t.yaml"]
    with pytest.raises(InputError, match="two templates with the id 't'"):
        plan(bench, recipe(tmp_path, "y", templates=forms))
    twice = recipe(tmp_path, "z", datasets=["./a/d.yaml"] * 2, templates=["./a/t.yaml"] * 2)
    assert plan(bench, twice).prompts == 1, "named twice it is asked once"


def test_a_template_may_name_a_column_that_only_some_examples_have(
    bench: Workbench, tmp_path: Path
) -> None:
    form = template(tmp_path, "t", "{{ prompt }} {{ more }}")
    rows = [{"input": "a"}, {"input": "b", "more": "c"}]
    made = plan(bench, recipe(tmp_path, datasets=[dataset(tmp_path, "d", rows)], templates=[form]))
    first, second = made
    assert "more" in first.problem and (second.prompt, second.problem) == ("b c", "")


def test_a_metric_of_ones_own_stands_for_another_with_its_parameters(
    bench: Workbench, tmp_path: Path
) -> None:
    Shelves(bench).metrics.create(
        {"name": "kind", "metric": "llm_judge", "judge": "simulated", "params": {"rubric": "Kind?"}}
    )
    made = plan(bench, recipe(tmp_path, metrics=[{"metric": "kind", "label": "kindness"}]))
    [(label, metric)] = made.recipes[0].metrics.items()
    assert label == "kindness" and "Kind?" in str(metric.parameters["rubric"])
    assert list(made.judges) == ["simulated/simulated"]


def test_several_epochs_at_temperature_zero_are_remarked_upon(
    bench: Workbench, tmp_path: Path
) -> None:
    what = recipe(tmp_path, epochs=3, params={"temperature": 0})
    assert plan(bench, what).problems == (
        "sums: 3 epochs at temperature 0 mostly repeat the same answer",
    )
    assert plan(bench, what, params={"temperature": 1}).problems == ()


def test_what_a_recipe_needs_is_told_whole_also_what_is_missing(
    bench: Workbench, tmp_path: Path
) -> None:
    shelves = Shelves(bench)
    what = recipe(tmp_path, count=4, metrics=[JUDGE, "contains"], templates=["gone"], epochs=2)
    found = needs_of(shelves.recipes.read(what), bench, shelves)
    assert found["prompts"] == 8 and found["judge"] == "(give --judge)"
    assert found["missing"] == ["there is no template 'gone'"]
    book = cookbook(tmp_path, "book", ["./sums.yaml", "arithmetic", "nothing"])
    all_of_them = needs_of_all(shelves.cookbooks.read(book), bench, shelves)
    assert [each["recipe"] for each in all_of_them] == ["sums", "arithmetic", "nothing"]
    assert all_of_them[2]["missing"] == ["there is no recipe 'nothing'"]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(
            [
                "a0: &a0 [x]",
                *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)),
            ]
        ),
        "!!python/object/apply:os.system ['true']",
        "name: x\n" * 3,
        "[" * 5000,
        "\x00",
    ],
)
def test_hostile_files_are_refused_in_words(bench: Workbench, tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"r\.yaml"):
        plan(bench, str(path))


@pytest.mark.parametrize("name", ["../x", "a/b", "A B", ".hidden", "x" * 65, ""])
def test_ids_stay_in_their_folder(bench: Workbench, name: str) -> None:
    shelves = Shelves(bench)
    made = {"name": "x", "datasets": ["arithmetic"], "metrics": ["contains"]}
    with pytest.raises(InputError):
        shelves.recipes.create(made, id=name)
    with pytest.raises(InputError):
        shelves.recipes.delete(name)
    assert not bench.workspace.library.exists() or not list(bench.workspace.library.rglob("*.yaml"))


def test_mistakes_of_a_recipe_are_told_with_their_lines(bench: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text("name: r\ndatasets: [arithmetic]\nmetrcs: [contains]\nepochs: 0\n")
    with pytest.raises(InputError) as caught:
        plan(bench, str(path))
    said = str(caught.value)
    assert "r.yaml:3: metrcs" in said and "r.yaml:4: epochs" in said and "metrics" in said
