"""Recipes and cookbooks: metrics, judges, gradings, and what is not there."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bench.importing.moonshot_kit import HIGHER, LOWER, Moon


def test_a_judge_is_the_endpoint_that_the_configuration_names(moon: Moon) -> None:
    moon.dataset("sums")
    moon.endpoint("The Judge")
    moon.config(gpt4annotator={"endpoints": ["The Judge"]}, refusal={"endpoints": ["gone"]})
    moon.recipe("harm", "gpt4annotator")
    moon.recipe("other", "refusal", grading_scale=LOWER)
    done = moon.brought()
    [use] = moon.shelves.recipes.read("harm").value.metrics
    assert (use.metric, use.judge, use.params) == ("refusal_judge", "the-judge", {})
    [use] = moon.shelves.recipes.read("other").value.metrics
    assert (use.judge, use.params) == ("gone", {"counts": "complied"})
    assert [(each.id, each.reason) for each in done.missing] == [
        ("other", "its judge 'gone' (of refusal) is not among the endpoints")
    ]


def test_without_a_configuration_a_judge_is_named_when_it_is_run(moon: Moon) -> None:
    moon.dataset("sums")
    moon.recipe("harm", "gpt4annotator")
    done = moon.brought()
    assert moon.shelves.recipes.read("harm").value.metrics[0].judge is None
    assert any("no judge is named for gpt4annotator" in note for note in done.notes)
    assert done.complete


def test_of_several_judges_the_first_is_taken_and_said(moon: Moon) -> None:
    moon.dataset("sums")
    moon.endpoint("one")
    moon.endpoint("two")
    moon.config(gpt4annotator={"endpoints": ["two", "one"]})
    moon.recipe("harm", "gpt4annotator")
    done = moon.brought()
    assert moon.shelves.recipes.read("harm").value.metrics[0].judge == "two"
    assert any("gpt4annotator has 2 judges" in note for note in done.notes)


@pytest.mark.parametrize("entry", [5, [], "x", {"endpoints": "one"}, {"endpoints": [1]}])
def test_an_entry_of_the_configuration_that_makes_no_sense_takes_no_other_with_it(
    moon: Moon, entry: Any
) -> None:
    moon.dataset("sums")
    moon.endpoint("one")
    moon.config(refusal=entry, gpt4annotator={"endpoints": ["one"]})
    moon.recipe("harm", "gpt4annotator")
    done = moon.brought()
    [told] = done.not_imported
    assert (told.kind, told.id, told.file, told.line) == (
        *("metric", "refusal", "metrics/metrics_config.json", 2),
    )
    assert moon.shelves.recipes.read("harm").value.metrics[0].judge == "one"


def test_a_broken_configuration_is_told_and_the_recipes_go_in(moon: Moon) -> None:
    moon.dataset("sums")
    moon.write("metrics/metrics_config.json", "{")
    moon.recipe("adding")
    done = moon.brought()
    assert done.imported["recipe"] == ("adding",)
    assert [each.kind for each in done.not_imported] == ["metric"]


def test_a_metric_without_a_counterpart_is_left_out_and_told(moon: Moon) -> None:
    moon.dataset("sums")
    moon.recipe("both", "exactstrmatch", "toxicity-classifier", "their-own")
    done = moon.brought()
    made = moon.shelves.recipes.read("both").value
    assert [use.metric for use in made.metrics] == ["exact_match"]
    assert made.grading
    assert [(each.metric, each.recipes) for each in done.unmapped] == [
        ("their-own", ("both",)),
        ("toxicity-classifier", ("both",)),
    ]
    assert not done.complete


def test_a_recipe_without_any_metric_left_is_not_imported(moon: Moon) -> None:
    moon.dataset("sums")
    moon.recipe("none", "bertscore", "their-own")
    moon.cookbook("book", "none")
    done = moon.brought()
    [told] = done.not_imported
    assert told.reason == "none of its metrics has a counterpart: bertscore, their-own"
    assert "none" not in moon.shelves.recipes
    assert [each.reason for each in done.missing] == ["its recipe 'none' is not here"]


def test_a_grading_goes_with_its_metric_and_never_to_another(moon: Moon) -> None:
    moon.dataset("sums")
    moon.recipe("first", "toxicity-classifier", "exactstrmatch", grading_scale=LOWER)
    moon.recipe("ungraded", "rougescorer", "exactstrmatch")
    moon.recipe("wrong", "toxicity-classifier", "exactstrmatch", grading_scale=HIGHER)
    done = moon.brought(fix_grading=True)
    assert [(each.recipe, each.fixed) for each in done.backwards] == [("wrong", False)]
    assert moon.shelves.recipes.read("first").value.grading == {}
    assert moon.shelves.recipes.read("ungraded").value.grading == {}
    notes = [note for note in done.notes if "the grading was left out" in note]
    assert notes == [
        "the grading was left out: it belongs to toxicity-classifier, which has no counterpart "
        "(recipes first, wrong)",
        "the grading was left out: it belongs to rougescorer, which Moonshot does not grade "
        "(recipe ungraded)",
    ]


@pytest.mark.parametrize(
    ("metric", "direction"),
    [
        *(("exactstrmatch", "higher"), ("relaxstrmatch", "higher"), ("refusal", "lower")),
        *(("gpt4annotator", "higher"), ("bleuscore", "higher"), ("flagjudgeannotator", "higher")),
    ],
)
def test_a_grading_that_runs_backwards_is_told_and_turned_round_when_asked(
    moon: Moon, metric: str, direction: str
) -> None:
    right, wrong = (HIGHER, LOWER) if direction == "higher" else (LOWER, HIGHER)
    moon.dataset("sums")
    moon.recipe("right", metric, grading_scale=right)
    moon.recipe("wrong", metric, grading_scale=wrong)
    [told] = moon.brought().backwards
    assert (told.recipe, told.metric, told.direction, told.fixed) == (
        *("wrong", metric, direction, False),
    )
    assert told.scale != direction
    scale = moon.shelves.recipes.read("wrong").value.scale
    assert scale is not None
    assert scale.contradicts(told.direction)
    [told] = moon.brought(fix_grading=True, overwrite=True).backwards
    assert told.fixed
    scale = moon.shelves.recipes.read("wrong").value.scale
    assert scale is not None
    assert scale.direction == direction
    assert [band.label for band in scale.bands] == ["A", "B", "C"]
    low, high = wrong["C"]
    assert (scale.bands[0].low, scale.bands[0].high) == (low, high)


def test_a_backward_grading_is_told_although_its_metric_is_not_to_be_had(moon: Moon) -> None:
    moon.recipe("careful", "answercarefully-annotator", grading_scale=LOWER, datasets=["gone"])
    moon.recipe("toxic", "toxicity-classifier", grading_scale=HIGHER)
    moon.recipe("pictures", "q16_metric", grading_scale=HIGHER)
    done = moon.brought(fix_grading=True)
    assert [(each.recipe, each.direction, each.fixed) for each in done.backwards] == [
        ("careful", "higher", False),
        ("toxic", "lower", False),
    ]
    assert "its dataset 'gone' is not here" in [each.reason for each in done.missing]


def test_a_backward_grading_of_a_recipe_that_was_not_replaced_is_not_called_fixed(
    moon: Moon,
) -> None:
    moon.dataset("sums")
    moon.recipe("wrong", grading_scale=LOWER)
    moon.brought()
    done = moon.brought(fix_grading=True)
    assert [each.fixed for each in done.backwards] == [False]
    assert [each.id for each in done.not_imported] == ["wrong"]


def test_grades_in_words_keep_their_order(moon: Moon) -> None:
    words = {"Low Risk": [0, 33], "Medium Risk": [34, 66], "High Risk": [67, 100]}
    moon.dataset("sums")
    moon.recipe("risk", "refusal", grading_scale=words)
    assert moon.brought().backwards == ()
    assert list(moon.shelves.recipes.read("risk").value.grading) == list(words)


def test_a_recipe_whose_parts_are_not_here_goes_in_and_says_so(moon: Moon) -> None:
    moon.recipe("adding", datasets=["gone", "Also Gone"], prompt_templates=["none"])
    done = moon.brought()
    assert done.imported["recipe"] == ("adding",)
    assert [each.reason for each in done.missing] == [
        "its dataset 'gone' is not here",
        "its dataset 'Also Gone' is not here",
        "its template 'none' is not here",
    ]
    assert moon.shelves.recipes.read("adding").value.datasets == ("gone", "also-gone")


def test_a_cookbook_says_which_recipes_are_not_here(moon: Moon) -> None:
    moon.dataset("sums")
    moon.recipe("adding")
    moon.cookbook("maths", "adding", "gone")
    done = moon.brought()
    assert moon.shelves.cookbooks.read("maths").value.recipes == ("adding", "gone")
    assert [(each.kind, each.id, each.reason) for each in done.missing] == [
        ("cookbook", "maths", "its recipe 'gone' is not here")
    ]


@pytest.mark.parametrize(
    "trick", ["../../../etc/passwd", "/etc/passwd.json", "a/b.yaml", "~/secret.json", "x\x00y.csv"]
)
def test_a_name_that_is_a_path_never_stays_one(moon: Moon, trick: str) -> None:
    moon.dataset("sums")
    moon.recipe("trick", datasets=["sums", trick], prompt_templates=[trick])
    moon.recipe("judged", "gpt4annotator")
    moon.config(gpt4annotator={"endpoints": [trick]})
    moon.cookbook("book", "trick", trick)
    done = moon.brought()
    recipe = moon.shelves.recipes.read("trick").value
    judge = moon.shelves.recipes.read("judged").value.metrics[0].judge
    names = (*recipe.datasets, *recipe.templates, judge or "",
             *moon.shelves.cookbooks.read("book").value.recipes)  # fmt: skip
    assert len(names) == 6
    for name in names:
        assert "/" not in name
        assert not name.endswith((".json", ".yaml", ".csv"))
    assert len(done.missing) == 4


def test_a_name_of_which_no_id_can_be_made_is_left_out(moon: Moon) -> None:
    moon.dataset("sums")
    moon.recipe("adding", datasets=["sums", "../.."])
    moon.recipe("nothing", datasets=["数据"])
    done = moon.brought()
    assert moon.shelves.recipes.read("adding").value.datasets == ("sums",)
    assert [each.id for each in done.not_imported] == ["nothing"]
    assert len(done.missing) == 2


def test_a_metric_that_stands_there_twice_counts_once_and_equal_ones_get_names(moon: Moon) -> None:
    moon.dataset("sums")
    moon.recipe("twice", "gpt4annotator", "refusal", "gpt4annotator", "rougescorer")
    moon.brought()
    names = [use.name for use in moon.shelves.recipes.read("twice").value.metrics]
    assert names == ["refusal_judge", "refusal", "rouge1", "rouge2", "rougeL"]


WRONG: list[tuple[dict[str, Any], int, str]] = [
    ({"name": None}, 1, "name is missing"),
    ({"name": [1]}, 2, "name"),
    ({"tags": "one"}, 4, "tags"),
    ({"tags": [1]}, 5, "tags"),
    ({"datasets": []}, 8, "datasets"),
    ({"datasets": {"a": 1}}, 8, "datasets"),
    ({"datasets": [None]}, 9, "datasets"),
    ({"datasets": None}, 1, "datasets is missing"),
    ({"metrics": []}, 12, "metrics"),
    ({"metrics": [{"a": 1}]}, 12, "metrics"),
    ({"metrics": None}, 12, "metrics"),
    ({"grading_scale": [1]}, 15, "grading"),
    ({"grading_scale": {"A": [0, 50], "B": [60, 100]}}, 15, "leave a gap"),
    ({"grading_scale": {"A": [0, 100]}}, 15, "two grades"),
    ({"grading_scale": {"A": "x", "B": None}}, 16, "grading"),
    ({"grading_scale": {"A": [0, 10**400], "B": [1, 2]}}, 18, "grading"),
    ({"grading_scale": {"A": [0, 1, 2], "B": []}}, 16, "grading"),
]


@pytest.mark.parametrize(("fields", "line", "said"), WRONG)
def test_a_wrong_value_is_told_at_its_line_and_takes_no_other_with_it(
    moon: Moon, fields: dict[str, Any], line: int, said: str
) -> None:
    moon.dataset("sums")
    moon.recipe("bad", **fields)
    moon.recipe("good")
    done = moon.brought()
    assert done.imported["recipe"] == ("good",)
    [told] = done.not_imported
    assert (told.kind, told.id, told.file) == ("recipe", "bad", "recipes/bad.json")
    assert said in told.reason
    assert told.line == line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no place for it", "{{ prompt }}"),
        ("{{ prompt", "template"),
        ("{{ prompt() }}", "template"),
        ("{% include 'x' %}{{ prompt }}", "template"),
        (5, "a text is wanted"),
    ],
)
def test_a_template_that_asks_nothing_or_too_much_is_told(moon: Moon, text: Any, said: str) -> None:
    moon.template("bad", text)
    moon.template("good")
    done = moon.brought()
    assert done.imported["template"] == ("good",)
    [told] = done.not_imported
    assert said in told.reason
    assert told.line == 4


def test_a_template_is_kept_to_the_letter(moon: Moon) -> None:
    text = "  \"{{ prompt }}\"\n\n\tno: yes # {'a': 1} \x1b[0m é \u2028 😀\n"
    moon.template("odd", text)
    assert moon.brought().complete
    assert moon.shelves.templates.read("odd").value.template == text
    assert moon.brought().unchanged["template"] == ("odd",)


def test_fields_that_mean_nothing_here_are_noted(moon: Moon) -> None:
    moon.dataset("sums")
    moon.recipe("adding", attack_modules=["x"], stats={"n": 1}, empty="")
    assert "attack_modules has no place here (recipe adding)" in moon.brought().notes


def test_json_that_yaml_would_not_take_is_read_without_lines(moon: Moon) -> None:
    moon.write("prompt-templates/long.json",
               json.dumps({"name": "a", "template": "{{ prompt }}", "k" * 2000: 1}))  # fmt: skip
    moon.write("prompt-templates/twice.json", '{"name":"a","name":"b","template":"{{ prompt }}"}')
    moon.write("prompt-templates/tabs.json", '{\n\t"name": "c",\n\t"template": "{{ prompt }}"\n}')
    done = moon.brought()
    assert done.imported["template"] == ("long", "tabs", "twice")
    assert moon.shelves.templates.read("twice").value.name == "b"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
FIELDS = {
    "recipes": ("name", "tags", "datasets", "prompt_templates", "metrics", "grading_scale"),
    "cookbooks": ("name", "categories", "recipes"),
    "prompt-templates": ("name", "description", "template"),
    "connectors-endpoints": ("name", "connector_type", "uri", "model", "params", "token",
                             "max_concurrency", "max_calls_per_second"),
    "metrics": ("gpt4annotator", "endpoints"),
}  # fmt: skip
USUAL = {
    "name": "a",
    "metrics": ["gpt4annotator"],
    "datasets": ["x"],
    "recipes": ["any"],
    "template": "{{ prompt }}",
    "connector_type": "openai-connector",
    "model": "m",
}


@settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.data())
def test_any_json_at_all_is_imported_or_told(moon: Moon, data: st.DataObject) -> None:
    for folder, fields in FIELDS.items():
        name = "metrics_config" if folder == "metrics" else "any"
        whole = st.fixed_dictionaries({}, optional=dict.fromkeys(fields, VALUES))
        made = data.draw(whole.map(lambda drawn: {**USUAL, **drawn}) | VALUES)
        moon.write(f"{folder}/{name}.json", json.dumps(made))
    done = moon.brought(overwrite=True)
    for kind, ids in done.imported.items():
        told = [each for each in done.not_imported if each.kind == kind]
        expected = 0 if kind == "dataset" else 1
        assert len(ids) + len(done.unchanged[kind]) + len(told) == expected
    json.dumps(done.to_dict(), ensure_ascii=False).encode()
