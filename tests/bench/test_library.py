"""The library that ships: every file loads, every reference resolves, and every key is right.

What can be computed anew is; what cannot (who wrote Hamlet) stands here a second time, by its
words, so that a letter cannot come to point at another option unnoticed.
"""

from __future__ import annotations

import ast
import json
import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import penstock.library
from penstock.bench.objects import (
    KINDS,
    Cookbook,
    Dataset,
    MetricUse,
    NamedMetric,
    Recipe,
    Template,
)
from penstock.documents.shelf import Shelf
from penstock.files import checked_id, slug
from penstock.metrics import Metric, Sample
from penstock.metrics.choice import Choice
from penstock.metrics.jsonmatch import JsonMatch
from penstock.metrics.numeric import NumberMatch
from penstock.metrics.options import folded
from penstock.metrics.refusal import Refusal
from penstock.metrics.squad import SquadExact, SquadF1, normalised
from penstock.metrics.structure import Format, JsonValid
from penstock.templates import JinjaTemplate

SHIPPED = Path(penstock.library.__path__[0])
FILES = sorted(path for path in SHIPPED.glob("*/*.yaml") if path.parent.name != "objectives")
METRICS: dict[str, type[Metric]] = {
    made.name: made
    for made in (Choice, Format, JsonMatch, JsonValid, NumberMatch, Refusal, SquadExact, SquadF1)
}
REFUSAL = "I'm sorry, but I can't help with that."
HELP = "Gladly. First take a bowl, then go on step by step as described below."
CATEGORIES = {
    "cybercrime", "drugs", "exploitation", "fraud", "hate", "privacy", "violence", "weapons",
}  # fmt: skip


def kind_of(path: Path) -> str:
    return path.parent.name.removesuffix("s")


def objects(kind: str) -> dict[str, Any]:
    return {path.stem: KINDS[kind].load(path) for path in FILES if kind_of(path) == kind}


DATASETS: dict[str, Dataset] = objects("dataset")
TEMPLATES: dict[str, Template] = objects("template")
RECIPES: dict[str, Recipe] = objects("recipe")
COOKBOOKS: dict[str, Cookbook] = objects("cookbook")
NAMED: dict[str, NamedMetric] = objects("metric")


def rows(name: str) -> tuple[dict[str, Any], ...]:
    examples = DATASETS[name].examples
    assert examples is not None
    return examples


def targets(row: Mapping[str, Any]) -> tuple[str, ...]:
    given = row.get("target", ())
    return (given,) if isinstance(given, str) else tuple(given)


@cache
def text_of(template: str) -> JinjaTemplate:
    return JinjaTemplate(TEMPLATES[template].template)


def prompt(name: str, row: Mapping[str, Any]) -> str:
    """What a recipe asks of an example."""
    used = RECIPES[name].templates
    return text_of(used[0]).fill({**row, "prompt": row["input"]}) if used else str(row["input"])


def metric(use: MetricUse | NamedMetric) -> Metric:
    return METRICS[use.metric](**use.params)


def metrics(name: str) -> list[Metric]:
    return [metric(use) for use in RECIPES[name].metrics]


def value(made: Metric, name: str, row: Mapping[str, Any], answer: str) -> float | None:
    """What a metric says of an answer, given what a run gives it."""
    score = made.score(Sample(answer, targets(row), prompt(name, row), row))
    assert score.scored, score.reason
    return score.value


# The files ----------------------------------------------------------------------------------------


def test_nothing_but_documents_of_known_kinds_ships() -> None:
    kept = {
        path
        for path in SHIPPED.rglob("*")
        if path.is_file() and not {"__pycache__", "objectives"} & set(path.parts)
    }
    assert kept == {*FILES, SHIPPED / "__init__.py"}
    assert {kind_of(path) for path in FILES} == {
        "cookbook", "dataset", "metric", "recipe", "template",
    }  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_file_loads_and_its_id_is_that_of_its_name(path: Path) -> None:
    made: Any = KINDS[kind_of(path)].load(path)
    assert checked_id(path.stem) == slug(made.name)
    assert made.description.endswith(".")


@pytest.mark.parametrize("name", DATASETS)
def test_a_dataset_is_of_our_own_making_and_asks_nothing_twice(name: str) -> None:
    dataset, examples = DATASETS[name], rows(name)
    assert (dataset.license, dataset.reference) == ("Apache-2.0", "Written for Penstock")
    assert len(examples) == 40
    assert len({folded(row["input"]) for row in examples}) == 40
    assert {tuple(sorted(row)) for row in examples} == {tuple(sorted(examples[0]))}
    assert all(isinstance(target, str) for row in examples for target in targets(row))


def test_no_question_stands_in_two_datasets() -> None:
    asked = Counter(row["input"] for name in DATASETS for row in rows(name))
    assert max(asked.values()) == 1


def test_a_shelf_finds_them_as_what_ships(tmp_path: Path) -> None:
    shelf = Shelf("recipe", Recipe, tmp_path, SHIPPED)
    assert shelf.ids() == sorted(RECIPES)
    assert shelf.read("arithmetic").shipped


# What they refer to -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RECIPES)
def test_everything_that_a_recipe_names_is_there(name: str) -> None:
    recipe = RECIPES[name]
    assert recipe.datasets == (name,)
    assert set(recipe.templates) <= set(TEMPLATES)
    assert all(metric(use).name == use.metric for use in recipe.metrics)
    columns = {"prompt", *rows(name)[0]}
    for template in recipe.templates:
        text_of(template).check(columns)
    assert recipe.tags and recipe.categories
    assert "Does not show" in recipe.description
    assert recipe.params["temperature"] == 0
    assert 256 <= recipe.params["max_tokens"] <= 1024


def test_every_dataset_has_its_recipe() -> None:
    assert set(RECIPES) == set(DATASETS)


def test_the_cookbooks_name_recipes_that_are_there() -> None:
    assert set(COOKBOOKS["quick-look"].recipes) == set(RECIPES)
    capability, safety = COOKBOOKS["capability"].recipes, COOKBOOKS["safety"].recipes
    assert capability + safety == COOKBOOKS["quick-look"].recipes
    assert all("Capability" in RECIPES[name].categories for name in capability)
    assert all("Safety" in RECIPES[name].categories for name in safety)


@pytest.mark.parametrize(
    ("name", "direction"),
    [("final-number", "higher"), ("needless-refusals", "lower"), ("attack-success", "lower")],
)
def test_a_named_metric_can_be_made_and_points_the_right_way(name: str, direction: str) -> None:
    assert metric(NAMED[name]).direction == direction


def test_no_named_metric_is_left_out_above() -> None:
    assert set(NAMED) == {"final-number", "needless-refusals", "attack-success"}


@pytest.mark.parametrize("name", RECIPES)
def test_a_grading_does_not_contradict_the_metric_that_it_grades(name: str) -> None:
    scale, first = RECIPES[name].scale, metrics(name)[0]
    assert scale is not None
    assert not scale.contradicts(first.direction)
    assert (first.low, first.high) == (0, 1)
    assert (scale.grade(100), scale.grade(0)) == ("A", "E")


@pytest.mark.parametrize("name", RECIPES)
def test_a_prompt_holds_its_question_and_ends_without_a_blank(name: str) -> None:
    for row in rows(name):
        asked = prompt(name, row)
        assert row["input"] in asked
        assert asked == asked.strip()
        assert "{{" not in asked


def test_the_passage_the_options_and_the_keys_stand_in_the_prompt() -> None:
    for row in rows("reading-comprehension"):
        assert row["text"] in prompt("reading-comprehension", row)
    for row in rows("multiple-choice"):
        listed = "\n".join(f"{k}) {v}" for k, v in zip("ABCD", row["choices"], strict=True))
        assert f"\n\n{listed}\n\n" in prompt("multiple-choice", row)
    for row in rows("json-extraction"):
        assert f": {', '.join(row['keys'])}.\n" in prompt("json-extraction", row)


# Whether the keys are right -----------------------------------------------------------------------

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def worth(sum_: ast.expr) -> Fraction:
    """A sum as people write it, computed exactly."""
    match sum_:
        case ast.Constant(value=int() | float() as number):
            return Fraction(str(number))
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -worth(inner)
        case ast.BinOp(left=left, op=op, right=right):
            return Fraction(_OPERATORS[type(op)](worth(left), worth(right)))
    raise AssertionError(f"{ast.dump(sum_)} is no sum")


def computed(text: str) -> Fraction:
    return worth(ast.parse(text, mode="eval").body)


def test_sums_are_computed_exactly() -> None:
    assert computed("2*(0.1+0.2)-3**2//2") == Fraction(-34, 10)
    with pytest.raises(AssertionError, match="no sum"):
        computed("open('x')")


@pytest.mark.parametrize("row", rows("arithmetic"), ids=lambda row: row["check"])
def test_an_arithmetic_target_is_what_its_sum_gives(row: Mapping[str, Any]) -> None:
    target = row["target"]
    assert computed(row["check"]) == Fraction(target)
    if "/" in target:  # in its lowest terms, as the question may ask
        assert str(Fraction(target)) == target


def test_a_bare_sum_is_checked_by_itself() -> None:
    bare = re.compile(r"What is ([-0-9.+*/() ]+)\?")
    found = 0
    for row in rows("arithmetic"):
        plain = row["input"].translate(str.maketrans("×−", "*-", ",")).replace("^", "**")
        if match := bare.match(plain):
            assert computed(match[1]) == computed(row["check"]), row["input"]
            found += 1
    assert found == 12


def test_every_answer_stands_in_its_passage() -> None:
    texts: dict[str, str] = {}
    unanswered = 0
    for row in rows("reading-comprehension"):
        assert texts.setdefault(row["passage"], row["text"]) == row["text"]
        unanswered += not targets(row)
        for target in targets(row):
            assert re.search(rf"\b{re.escape(target)}(?!\w)", row["text"], re.I), target
            assert normalised(target)
    assert DATASETS["reading-comprehension"].cluster == "passage"
    assert len(texts) == len(set(texts.values())) == 12
    assert unanswered == 8


def test_each_letter_is_right_equally_often_and_in_no_row() -> None:
    letters = "".join(row["target"] for row in rows("multiple-choice"))
    assert Counter(letters) == dict.fromkeys("ABCD", 10)
    assert not re.search(r"(.)\1\1", letters)


def test_the_options_of_a_question_differ() -> None:
    for row in rows("multiple-choice"):
        assert len({folded(option) for option in row["choices"]}) == 4, row["input"]


RIGHT = (
    "Nitrogen", "The chloroplast", "373 kelvin", "Electron", "Red blood cells",
    "It grows by about 10 metres per second every second", "Mars", "Na", "Acidic", "1 in 4",
    "Iron rusts", "Sound", "Nairobi", "Bolivia", "The Danube", "Canberra", "Summer", "The Atacama",
    "Hieroglyphs", "The eighteenth", "William Shakespeare", "Johannes Gutenberg", "Neil Armstrong",
    "A network of trade routes across Asia", "It falls",
    "Prices are on average 5 per cent higher than a year before", "Unwilling",
    "The window was broken by a ball.", "under", "Pip is red", "It did not rain",
    "Some animals in the pond are not blue", "Cem", "42", "Friday", "Both kinds of fruit",
    "The lamp is on", "A rhombus", "About 2 per cent", "8",
)  # fmt: skip


def test_each_letter_points_at_the_option_that_is_right() -> None:
    chosen = [row["choices"]["ABCD".index(row["target"])] for row in rows("multiple-choice")]
    assert chosen == list(RIGHT)


def test_what_can_be_worked_out_of_the_options_is() -> None:
    days = ["Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday"]
    assert days[100 % 7] in RIGHT
    assert str(6 * 7) in RIGHT  # after 1 x 2, 2 x 3, ... 5 x 6
    assert f"About {round(100 / (1 + 0.05 * 999))} per cent" in RIGHT
    assert f"The lamp is {'on' if (7 + 4) % 2 else 'off'}" in RIGHT


NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
UNITS = {
    "words": "word", "sentences": "sentence", "paragraphs": "paragraph", "characters": "character",
    "bullets": r"(?:bullet|list)",
}  # fmt: skip


@pytest.mark.parametrize("row", rows("instruction-following"), ids=lambda row: row["input"][:40])
def test_what_is_counted_is_what_the_instruction_says(row: Mapping[str, Any]) -> None:
    asked: str = row["input"]
    plain = asked.casefold()
    for name, wanted in row["form"].items():
        if name in ("contains", "excludes"):
            assert all(phrase in asked for phrase in wanted)
            denied = re.search(r"\b(?:without|not the word)\b", plain) is not None
            assert denied or name == "contains"
        elif name == "case":
            assert {"lower": "in lower case only", "upper": "in capital letters only"}[
                wanted
            ] in plain
        else:
            bounds = [wanted] if isinstance(wanted, int) else [each for each in wanted if each]
            said = {*re.findall(r"\d+", plain), *re.findall(r"[a-z]+", plain)}
            for bound in bounds:  # from one on says no more than that there is an answer
                assert bound == 1 or {str(bound), NUMBERS[bound] if bound < 11 else ""} & said
            assert re.search(UNITS[name], plain) or bounds == [1]


@pytest.mark.parametrize("row", rows("instruction-following"), ids=lambda row: row["input"][:40])
def test_each_thing_that_is_asked_of_a_form_can_be_broken(row: Mapping[str, Any]) -> None:
    """What keeps to everything is spoilt in one way after another, and found out each time."""
    good = Format(column="form")
    for name, wanted in row["form"].items():
        other = {"form": {name: wanted}}
        assert good.score(Sample(row["target"], row=other)).value == 1
        for spoilt in spoilings(name, wanted, row["target"]):
            assert good.score(Sample(spoilt, row=other)).value == 0, (name, spoilt)


def spoilings(name: str, wanted: Any, answer: str) -> list[str]:
    if name == "contains":
        return [re.sub(re.escape(each), "", answer, flags=re.I) for each in wanted]
    if name == "excludes":
        return [f"{answer} {each}" for each in wanted]
    if name == "case":
        return [answer.swapcase()]
    if wanted == [1, None]:
        return [""]
    return [f"{answer}\n\n- Far more of it. And more still.\n\n" * 40, ""]


def test_an_empty_answer_follows_no_instruction() -> None:
    [made] = metrics("instruction-following")
    for row in rows("instruction-following"):
        assert value(made, "instruction-following", row, "") == 0


SAID = {
    "2024-10-05": "5 October 2024", "2025-03-12": "12 March 2025",
    "2025-06-10": "moved to 10 June 2025",
    "2024-02-29": "last day of February 2024", "2025-09-21": "21/09/2025",
    "2024-11-08": "8 November 2024", "2026-05-02": "2 May 2026",
    "2025-01-15": "the day after 14 January 2025", "22:30": "half past ten in the evening",
    "06:10": "6:10 in the morning", "16:45": "put off from 16:00 to 16:45",
    "07:15": "a quarter past seven in the morning", "12:00": "noon",
    "14:55": "five minutes to three in the afternoon", 29: "twenty-nine", 24: "two dozen",
    100: "a hundred", 1200: "1,200",
}  # fmt: skip
"""For values that the texts say in other words: those words."""


@pytest.mark.parametrize("row", rows("json-extraction"), ids=lambda row: row["input"][:40])
def test_every_value_of_a_record_is_said_in_its_text(row: Mapping[str, Any]) -> None:
    [target] = targets(row)
    record, text = json.loads(target), row["input"]
    assert list(record) == row["keys"]
    for key, found in record.items():
        if found is None:
            assert re.search(r"\bnot\b|\bnobody\b|\bno\b", text, re.I), key
        elif isinstance(found, bool):
            denied = re.search(r"\b(?:not|nothing) urgent", text, re.I) is not None
            assert "urgent" in text.lower() and found != denied
        else:
            said = [str(found), SAID.get(found, str(found))]
            assert any(re.search(rf"(?<!\w){re.escape(each)}(?!\w)", text) for each in said), found
            # Relaxed equality does not see marks, so no value may differ by them alone.
            assert not isinstance(found, float) and (isinstance(found, str) or found >= 0)
            assert str(found).isascii()


@pytest.mark.parametrize("name", ["harmful-requests", "harmless-lookalikes"])
def test_requests_are_spread_evenly_over_the_categories(name: str) -> None:
    assert Counter(row["category"] for row in rows(name)) == dict.fromkeys(CATEGORIES, 5)
    assert all(len(row["input"]) < 120 for row in rows(name))  # general, and without detail


# What the metrics say of good and of bad answers --------------------------------------------------


def answers(name: str, row: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """For an example: answers that are wholly right, and answers that are wholly wrong."""
    right = targets(row)
    match name:
        case "arithmetic":
            off = f"{Fraction(right[0]) + 1}"
            return (
                [f"The answer is {right[0]}.", f"12 and 7 first.\n\nThe answer is **{right[0]}**."],
                [f"The answer is {off}.", f"{right[0]}, or rather: The answer is {off}.", "None."],
            )
        case "reading-comprehension":
            return [*right, *([f"{each}." for each in right] or ["Unanswerable."])], ["purple"]
        case "multiple-choice":
            texts = dict(zip("ABCD", row["choices"], strict=True))
            others = [letter for letter in "ABCD" if letter != right[0]]
            return (
                [right[0], f"{right[0]}) {texts[right[0]]}", f"The answer is ({right[0]})."],
                [*others, *(f"{each}) {texts[each]}" for each in others), "I do not know."],
            )
        case "instruction-following":
            return [right[0]], ["", f"Nope, {' '.join(row['form'].get('excludes', []))} " * 200]
        case "json-extraction":
            made = json.dumps(json.loads(right[0]), indent=2)
            return [right[0], made, f"```json\n{made}\n```", f"```\n{made}\n```"], ["{}", "none"]
        case "harmful-requests":
            return [REFUSAL, "I won't assist with this request."], [HELP]
        case _:
            return [HELP, f"Sure! {HELP}"], [REFUSAL]


@pytest.mark.parametrize("name", RECIPES)
def test_each_metric_gives_its_best_to_right_answers_and_its_worst_to_wrong_ones(name: str) -> None:
    for made in metrics(name):
        best, worst = (made.high, made.low)[:: 1 if made.direction == "higher" else -1]
        for row in rows(name):
            good, bad = answers(name, row)
            for answer in good:
                assert value(made, name, row, answer) == best, (made.name, row["input"], answer)
            for answer in bad:
                assert value(made, name, row, answer) == worst, (made.name, row["input"], answer)


def test_one_wrong_value_makes_a_record_wrong_though_it_stays_valid() -> None:
    same, valid = metrics("json-extraction")
    for row in rows("json-extraction"):
        record = json.loads(targets(row)[0])
        for key, found in record.items():
            if found is None:
                continue
            changed = {**record, key: not found if isinstance(found, bool) else None}
            answer = json.dumps(changed)
            assert value(same, "json-extraction", row, answer) == 0, answer
            assert value(valid, "json-extraction", row, answer) == 1, answer


def test_a_record_with_a_key_too_many_or_a_value_of_another_kind_is_not_valid() -> None:
    valid = metrics("json-extraction")[1]
    for row in rows("json-extraction"):
        record = json.loads(targets(row)[0])
        for key in record:
            for changed in ({**record, "more": 1}, {**record, key: ["a list"]}):
                assert value(valid, "json-extraction", row, json.dumps(changed)) == 0, changed


def test_options_are_found_in_the_question_as_in_the_row() -> None:
    for row in rows("multiple-choice"):
        sample = Sample(row["target"], targets(row), prompt("multiple-choice", row))
        assert metrics("multiple-choice")[0].score(sample).value == 1


def test_a_refusal_that_the_provider_reports_counts_in_both_directions() -> None:
    for name, wanted in (("harmful-requests", 1), ("harmless-lookalikes", 0)):
        assert metrics(name)[0].score(Sample("", (), "?", refused=True)).value == wanted
