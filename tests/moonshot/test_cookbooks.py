"""The recipe and cookbook flow: templates applied, every dataset asked, metrics, grades."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import moonshot
from penstock.errors import InputError, NotFoundError
from penstock.simulator import Simulator
from tests.moonshot.kit import SCALE, echo, examples, recipe, written


def test_cookbooks_are_run_recipe_by_recipe_with_their_templates(simulator: Simulator) -> None:
    # Two recipes: one with two datasets and two templates, one with the bare input.
    data = [
        moonshot.api_create_dataset(name, csv_file_path=written(examples(count, right, name)))
        for name, count, right in (("Small", 2, 2), ("Large", 4, 2))
    ]
    templates = [
        moonshot.api_create_prompt_template("Bare", "as it is", "{{ prompt }}"),
        moonshot.api_create_prompt_template("Polite", template="Please: {{ prompt }}"),
    ]
    many = moonshot.api_create_recipe(
        "Many",
        "with templates",
        ["a tag"],
        ["Capability"],
        data,
        templates,
        ["exactstrmatch", "relaxstrmatch"],
        SCALE,
    )
    few = recipe(3, name="Few")
    books = [
        moonshot.api_create_cookbook("Both", "of them", recipes=[many, few]),
        moonshot.api_create_cookbook("One", recipes=[few]),
    ]
    seen: list[moonshot.RunnerProgress] = []
    runner = moonshot.api_create_runner("Cook", [echo(simulator)])
    run = runner.run_cookbooks(books, progress_callback_func=seen.append)
    # Each prompt of each dataset with each template was asked, and the shared recipe once.
    ledger = simulator.summary()
    assert (ledger["requests"], ledger["repeated"]) == ((2 + 4) * 2 + 3, 0)
    prompts = {item.prompt for item in run if item.template == "polite"}
    assert len(prompts) == 6
    assert prompts >= {f"Please: Large {n}" for n in range(4)}
    # Every metric was computed; the first one is graded.
    kept = moonshot.api_read_result(run.id)
    assert kept["metadata"]["cookbooks"] == books
    both, one = kept["results"]["cookbooks"]
    assert [each["id"] for each in both["recipes"]] == [many, few]
    parts = {
        (each["dataset_id"], each["prompt_template_id"]): each["metrics"][0]["exactstrmatch"]
        for each in both["recipes"][0]["details"]
    }
    assert parts == {
        ("small", "bare"): 100,
        ("small", "polite"): 0,
        ("large", "bare"): 50,
        ("large", "polite"): 0,
    }
    summary = both["recipes"][0]["evaluation_summary"]
    assert summary[0]["avg_grade_value"] == pytest.approx(37.5)
    # A cookbook is as good as its worst recipe.
    assert both["overall_evaluation_summary"] == [{"model_id": "echo", "overall_grade": "D"}]
    assert one["overall_evaluation_summary"] == [{"model_id": "echo", "overall_grade": "A"}]
    # And who watched was told of the cookbooks.
    assert seen[0]["current_cookbook_name"] == "Both"
    assert (seen[0]["current_cookbook_index"], seen[0]["current_cookbook_total"]) == (0, 2)
    assert (seen[0]["current_recipe_name"], seen[0]["current_recipe_total"]) == ("Many", 2)
    last = seen[-1]
    assert (last["current_cookbook_index"], last["current_cookbook_name"]) == (2, "One")
    assert (last["current_recipe_index"], last["current_recipe_total"]) == (1, 1)
    assert last["current_progress"] == 100


def test_the_cookbooks_that_ship_can_be_run(simulator: Simulator) -> None:
    moonshot.api_create_runner("Shipped", [echo(simulator)])
    run = moonshot.run_cookbooks("shipped", "quick-look", 10, 1)
    assert simulator.summary()["answered"] == len(run) > 0
    assert len(run.result.recipes) == len(moonshot.api_read_cookbook("quick-look")["recipes"])


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["exactstrmatch"], ["exactstrmatch"]),
        (["exact_match"], ["exact_match"]),
        ([{"metric": "number_match", "after": "="}], ["number_match"]),
        (["exactstrmatch-f1-squad-v2"], ["exactstrmatch-f1-squad-v2", "squad_exact"]),
    ],
)
def test_metrics_are_named_as_moonshot_does_or_as_penstock_does(
    given: Any, read: list[str]
) -> None:
    name = recipe(1, metrics=given)
    assert moonshot.api_read_recipe(name)["metrics"] == read
    # What is read makes the same recipe again.
    made = moonshot.api_create_recipe(
        **{**moonshot_fields(moonshot.api_read_recipe(name)), "name": "Copy"}
    )
    assert moonshot.api_read_recipe(made)["metrics"] == read


def moonshot_fields(found: dict[str, Any]) -> dict[str, Any]:
    """What a recipe is made of, of what is read of it."""
    return {key: value for key, value in found.items() if key != "id"}


def test_a_metric_without_counterpart_is_refused_with_the_reason() -> None:
    with pytest.raises(InputError, match="'bertscore' has no counterpart: it needs the weights"):
        recipe(1, metrics=["bertscore"])
    assert "repeating" not in moonshot.api_get_all_recipe_name()


def test_recipes_and_cookbooks_name_what_is_there() -> None:
    data = moonshot.api_create_dataset("Some", csv_file_path=written(examples(1)))
    make = moonshot.api_create_recipe
    with pytest.raises(NotFoundError, match=r"no dataset 'som'\nDid you mean 'some'\?"):
        make("R", datasets=["som"], metrics=["exactstrmatch"])
    with pytest.raises(NotFoundError, match="no template 'polite'"):
        make("R", datasets=[data], prompt_templates=["polite"], metrics=["exactstrmatch"])
    with pytest.raises(NotFoundError, match="no recipe 'r'"):
        moonshot.api_create_cookbook("C", recipes=["r"])
    with pytest.raises(InputError, match="metrics"):
        make("R", datasets=[data])
    with pytest.raises(InputError, match="grading"):
        make("R", datasets=[data], metrics=["exactstrmatch"], grading_scale={"A": [80, 90]})
    assert "r" not in moonshot.api_get_all_recipe_name()


def test_a_change_is_checked_as_the_making_is() -> None:
    name = recipe(2)
    assert moonshot.api_update_recipe(
        name, metrics=["relaxstrmatch"], prompt_templates=["plain-answer"], grading_scale={}
    )
    read = moonshot.api_read_recipe(name)
    assert read["metrics"] == ["relaxstrmatch"]
    assert read["prompt_templates"] == ["plain-answer"]
    assert read["grading_scale"] == {}
    with pytest.raises(NotFoundError, match="no dataset 'nowhere'"):
        moonshot.api_update_recipe(name, datasets=["nowhere"])
    book = moonshot.api_create_cookbook("Book", recipes=[name])
    with pytest.raises(NotFoundError, match="no recipe 'nothing'"):
        moonshot.api_update_cookbook(book, recipes=["nothing"])
    update: Any = moonshot.api_update_recipe
    with pytest.raises(InputError, match=r"no argument 'dataset'\nDid you mean 'datasets'\?"):
        update(name, dataset=["repeating-data"])
