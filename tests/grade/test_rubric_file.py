"""A rubric in a file: every mistake at once, with its line and its key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import yamlfile
from penstock.errors import InputError
from penstock.grade.rubric import Rubric
from tests.grade.rubrics import patient

GOOD = """\
name: letters
instructions: Grade the letters.
criteria:
  clarity:
    description: How clear it is.
    scale: [1, 5]
    anchors: {1: not at all, 5.0: wholly}
    weight: 2
  tone:
    labels: {rude: 0, kind: 1, none: null}
    anchors: {kind: as one would wish}
examples:
  - text: Hello.
    grades: {clarity: {score: 4, reason: short}, tone: kind}
    note: As it should be.
fields:
  language: {type: string}
reasons: overall
"""


def load(tmp_path: Path, text: str, name: str = "r.yaml") -> Rubric:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return Rubric.load(file)


def refused(tmp_path: Path, text: str, name: str = "r.yaml") -> str:
    with pytest.raises(InputError) as caught:
        load(tmp_path, text, name)
    return str(caught.value).replace(f"{tmp_path}/", "")


def test_a_good_file_is_read_as_it_is_meant(tmp_path: Path) -> None:
    rubric = load(tmp_path, GOOD)
    assert rubric.to_dict() == {
        "name": "letters",
        "instructions": "Grade the letters.",
        "criteria": [
            {
                "name": "clarity",
                "description": "How clear it is.",
                "weight": 2,
                "scale": [1, 5],
                "step": 1,
                "anchors": {"1": "not at all", "5": "wholly"},
            },
            {
                "name": "tone",
                "description": "",
                "weight": 1,
                "labels": {"rude": 0, "kind": 1, "none": None},
                "anchors": {"kind": "as one would wish"},
            },
        ],
        "examples": [
            {
                "text": "Hello.",
                "grades": {"clarity": {"score": 4, "reason": "short"}, "tone": "kind"},
                "note": "As it should be.",
            }
        ],
        "fields": {"language": {"type": "string"}},
        "reasons": "overall",
    }


def test_json_is_read_with_its_escapes_and_has_lines_too(tmp_path: Path) -> None:
    data = {"criteria": [{"name": "fun 😀", "scale": [0, 1], "description": "\\ud83d ü"}]}
    rubric = load(tmp_path, json.dumps(data, indent="\t"), "r.json")
    assert rubric.criteria[0].name == "fun 😀"
    assert rubric.criteria[0].description == "\\ud83d ü"
    assert rubric == Rubric.of({**data, "name": "r"})
    bad = json.dumps({"name": "x", "criteria": [{"name": "y", "scale": [1]}]}, indent=1)
    assert refused(tmp_path, bad, "r.json").startswith("r.json:6: criteria.y.scale: ")
    assert refused(tmp_path, '{"name": ', "r.json").startswith("r.json:2:1: ")


def test_a_json_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        Rubric.load(tmp_path / "missing.json")
    (tmp_path / "latin.json").write_bytes(b'{"name": "\xff"}')
    with pytest.raises(InputError, match="UTF-8"):
        Rubric.load(tmp_path / "latin.json")
    (tmp_path / "large.json").write_bytes(b" " * ((1 << 20) + 1))
    with pytest.raises(InputError, match="larger than 1 MiB"):
        Rubric.load(tmp_path / "large.json")


def test_a_file_without_a_name_is_called_after_itself(tmp_path: Path) -> None:
    text = "criteria: {x: {scale: [0, 1]}}"
    assert load(tmp_path, text, "spring term.yaml").name == "spring term"
    assert load(tmp_path, text, "a" * 100 + ".yaml").name == "rubric"


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("", "1", ["it is empty", "penstock grade init"]),
        ("- a", "1", ["no mapping"]),
        ("name: x", "1", ["criteria are missing"]),
        ("criteria: []", "1: criteria", ["at least one"]),
        ("criteria: 5", "1: criteria", ["at least one"]),
        ("criterias:\n  x: {scale: [0, 1]}\ncriteria: {y: {scale: [0, 1]}}", "1: criterias",
         ["no such name", "Did you mean 'criteria'?"]),
        ("prompt: x\ncriteria: {y: {scale: [0, 1]}}", "1: prompt", ["'instructions'"]),
        ("x: x\ncriteria: {y: {scale: [0, 1]}}", "1: x", ["There are name, instructions"]),
        ("criteria:\n - scale: [0, 1]", "2: criteria.1", ["no name"]),
        ("criteria:\n - {name: 5, scale: [0, 1]}", "2: criteria.1.name", ['write "5"']),
        ("criteria:\n - {name: ' a', scale: [0, 1]}", "2: criteria.1.name", ["spaces"]),
        ('criteria:\n "a\\tb": {scale: [0, 1]}', "2: criteria.a\\tb", ["cannot be seen"]),
        ("criteria:\n - clarity", "2: criteria.1", ["'clarity'", "scale or labels"]),
        ("criteria:\n x:", "2: criteria.x", ["it is empty"]),
        ("criteria:\n x: {name: y, scale: [0, 1]}", "2: criteria.x.name", ["'x' already"]),
        ("criteria:\n x:\n  weight: 1", "2: criteria.x", ["neither a scale nor labels"]),
        ("criteria:\n x: {scale: [0, 1], labels: [a, b]}", "2: criteria.x", ["both"]),
        ("criteria:\n x:\n  range: [0, 1]\n  scale: [0, 1]", "3: criteria.x.range", ["'scale'"]),
        ("criteria:\n x:\n  scale: [5, 1]", "3: criteria.x.scale", ["from 5 to 1"]),
        ("criteria:\n x:\n  scale: [1]", "3: criteria.x.scale", ["two numbers"]),
        ("criteria:\n x:\n  scale: 5", "3: criteria.x.scale", ["it is 5"]),
        ("criteria:\n x:\n  scale: ['1', 5]", "3: criteria.x.scale", ["'1' is no number"]),
        ("criteria:\n x:\n  scale: [0, .inf]", "3: criteria.x.scale", ["number from"]),
        ("criteria:\n x:\n  scale: [0, 1]\n  step: 0", "4: criteria.x.step", ["above 0"]),
        ("criteria:\n x:\n  scale: [0, 1]\n  step: big", "4: criteria.x.step", ["no number"]),
        ("criteria:\n x:\n  scale: [0, 1]\n  step: 0.4", "3: criteria.x.scale", ["0.4"]),
        ("criteria:\n x:\n  labels: [a, b]\n  step: 1", "4: criteria.x.step", ["no step"]),
        ("criteria:\n x:\n  labels: a", "3: criteria.x.labels", ["a list is wanted"]),
        ("criteria:\n x:\n  labels: [true, false]", "3: criteria.x.labels", ["True"]),
        ("criteria:\n x:\n  labels: [a, a]", "3: criteria.x.labels", ["'a' is given twice"]),
        ("criteria:\n x:\n  labels: {a: 1, b: lots}", "3: criteria.x.labels", ["'lots'"]),
        ("criteria:\n x:\n  scale: [0, 1]\n  weight: -1", "4: criteria.x.weight", ["-1"]),
        ("criteria:\n x: {scale: [0, 1], weight: 0}", "1: criteria", ["all weights are 0"]),
        ("criteria:\n x:\n  scale: [0, 1]\n  anchors:\n   2: y", "5: criteria.x.anchors.2",
         ["it is not on the scale", "0 (lowest) to 1"]),
        ("criteria:\n x:\n  scale: [0, 1]\n  anchors:\n   low: y", "5: criteria.x.anchors.low",
         ["'low' is no number"]),
        ("criteria:\n x:\n  scale: [0, 1]\n  anchors:\n   1: y\n   1.0: z",
         "6: criteria.x.anchors.1.0", ["two anchors"]),
        ("criteria:\n x:\n  labels: [good, bad]\n  anchors:\n   god: y",
         "5: criteria.x.anchors.god", ["Did you mean 'good'?"]),
        ("criteria:\n x:\n  scale: [0, 1]\n  anchors: [a]", "4: criteria.x.anchors", ["list"]),
        ("criteria:\n - {name: x, scale: [0, 1]}\n - {name: X, scale: [0, 1]}", "3: criteria.X",
         ["same column as the criterion 'x'"]),
        ("criteria:\n x: {scale: [0, 1]}\n x_reason: {scale: [0, 1]}", "3: criteria.x_reason",
         ["the reason of the criterion 'x'"]),
        ("criteria:\n total: {scale: [0, 1]}", "2: criteria.total", ["the total"]),
        ("reasons: overall\ncriteria:\n reason: {scale: [0, 1]}", "3: criteria.reason",
         ["the reason of the grades"]),
        ("criteria:\n x: {scale: [0, 1]}\nfields:\n x: {type: string}", "4: fields.x",
         ["same column"]),
        ("criteria:\n x: {scale: [0, 1]}\nfields:\n y: string", "4: fields.y", ["JSON schema"]),
        ("criteria:\n x: {scale: [0, 1]}\nfields:\n y: {type: strin}", "4: fields.y", ["strin"]),
        ("criteria:\n x: {scale: [0, 1]}\nfields: [y]", "3: fields", ["list"]),
        ("criteria:\n x: {scale: [0, 1]}\nreasons: all", "3: reasons", ["each, overall, none"]),
        ("criteria:\n x: {scale: [0, 1]}\ninstructions: 5", "3: instructions", ['write "5"']),
        ("criteria:\n x: {scale: [0, 1]}\nexamples: {a: b}", "3: examples", ["dash"]),
        ("criteria:\n x: {scale: [0, 1]}\nexamples:\n - a", "4: examples.1", ["text: and grades:"]),
        ("criteria:\n x: {scale: [0, 1]}\nexamples:\n - text: a", "4: examples.1",
         ["grades is missing"]),
        ("criteria:\n x: {scale: [0, 1]}\nexamples:\n - grades: {x: 1}", "4: examples.1",
         ["text is missing"]),
        ("criteria:\n x: {scale: [0, 1]}\nexamples:\n - text: a\n   grades: {}", "4: examples.1",
         ["needs a grade"]),
        ("criteria:\n x: {scale: [0, 1]}\nexamples:\n - text: a\n   grades:\n    x: 2",
         "6: examples.1.grades.x", ["2 is not on the scale"]),
        ("criteria:\n x: {scale: [0, 1]}\nexamples:\n - text: a\n   grades:\n    x: {score: 2}",
         "6: examples.1.grades.x.score", ["2 is not on the scale"]),
        ("criteria:\n x: {scale: [0, 1]}\nexamples:\n - text: a\n   grades:\n    x: {reason: r}",
         "6: examples.1.grades.x", ["score is missing"]),
        ("criteria:\n clear: {scale: [0, 1]}\nexamples:\n - text: a\n   grades:\n    claer: 1",
         "6: examples.1.grades.claer", ["Did you mean 'clear'?"]),
        ("criteria:\n x: {scale: [0, 1]}\nexamples:\n - text: a\n   grades: {x: 1}\n   scores: 1",
         "6: examples.1.scores", ["'grades'"]),
        ("criteria:\n x: {scale: [0, 1]}\nname: " + "a" * 65, "3: name", ["65 letters"]),
        ("criteria:\n" + "".join(f" c{n}: {{scale: [0, 1]}}\n" for n in range(41)), "1: criteria",
         ["there are 41", "most is 40"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_file_line_and_key(
    tmp_path: Path, text: str, where: str, words: list[str]
) -> None:
    message = refused(tmp_path, text)
    assert message.startswith(f"r.yaml:{where}: ")
    assert "mistakes" not in message
    for word in words:
        assert word in message


def test_all_mistakes_are_told_at_once_in_the_order_of_the_lines(tmp_path: Path) -> None:
    text = """\
reasons: some
criteria:
  - name: clarity
    scale: [5, 1]
  - name: tone
    labels: [kind, rude]
    weight: -2
examples:
  - text: a
    grades: {clarity: 9, tone: 1, tune: kind}
"""
    assert refused(tmp_path, text).splitlines() == [
        "4 mistakes in r.yaml:",
        "r.yaml:1: reasons: it is 'some'. Allowed are each, overall, none.",
        "r.yaml:4: criteria.clarity.scale: the scale runs from 5 to 1. "
        "Give the lowest value first, then a higher one, as in [1, 5].",
        "r.yaml:7: criteria.tone.weight: it is -2; 0 or more is wanted",
        "r.yaml:10: examples.1.grades.tune: there is no such name here. Did you mean 'tone'?",
    ]


def test_many_mistakes_are_cut_short(tmp_path: Path) -> None:
    text = "criteria: {x: {scale: [0, 1]}}\n" + "".join(f"key{n}: 1\n" for n in range(30))
    assert refused(tmp_path, text).endswith("and 10 more")


def test_a_mapping_in_python_has_keys_but_no_lines() -> None:
    with pytest.raises(InputError, match=r"^the rubric: criteria\.x\.scale: it is 5"):
        Rubric.of({"criteria": {"x": {"scale": 5}}})


def test_what_a_terminal_would_obey_is_made_harmless(tmp_path: Path) -> None:
    assert "\x1b" not in refused(tmp_path, 'criteria: {"\\x1b[31m": {scale: [0, 1]}}')


WRONG_FORMS: list[dict[str, Any]] = [
    {},
    {"criteria": []},
    {"criteria": {"x": {}}},
    {"criteria": {"x": {"scale": [1, 2], "labels": ["a", "b"]}}},
    {"criteria": {"x": {"labels": ["a", "b"], "step": 1}}},
    {"criteria": {"x": {"scale": [1, 2, 3]}}},
    {"criteria": {"x": {"scale": ["1", "2"]}}},
    {"criteria": {"x": {"scale": [1, 2], "weight": -1}}},
    {"criteria": {"x": {"scale": [1, 2], "step": 0}}},
    {"criteria": {"x": {"labels": ["a"]}}},
    {"criteria": {"x": {"labels": ["a", 1]}}},
    {"criteria": {"x": {"scale": [1, 2], "more": 1}}},
    {"criteria": [{"scale": [1, 2]}]},
    {"criteria": {"x": {"scale": [1, 2]}}, "reasons": "some"},
    {"criteria": {"x": {"scale": [1, 2]}}, "more": 1},
    {"criteria": {"x": {"scale": [1, 2]}}, "fields": {"y": "string"}},
    {"criteria": {"x": {"scale": [1, 2]}}, "examples": [{"text": "t"}]},
    {"criteria": {"x": {"scale": [1, 2]}}, "examples": [{"text": "t", "grades": {}}]},
    {"criteria": {"x": {"scale": [1, 2]}}, "examples": [{"text": "t", "grades": {"x": [1]}}]},
]


@pytest.mark.parametrize("data", WRONG_FORMS, ids=json.dumps)
def test_the_reader_and_the_json_schema_refuse_the_same_forms(data: dict[str, Any]) -> None:
    assert not jsonschema_rs.is_valid(Rubric.json_schema(), data)
    with pytest.raises(InputError):
        Rubric.of(data)


def test_the_json_schema_takes_what_the_reader_takes() -> None:
    schema, data = Rubric.json_schema(), yamlfile.parse(GOOD, "x").data
    assert jsonschema_rs.is_valid(schema, data)
    assert not jsonschema_rs.is_valid(schema, {**data, "criteria": {"x": {"labels": "a"}}})


_KEYS = st.sampled_from([
    *("name", "criteria", "scale", "step", "labels", "anchors", "weight", "examples", "text"),
    *("grades", "x", "fields", "reasons", "score", "reason", "note", "description"),
])  # fmt: skip
_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | _KEYS
_DATA = st.recursive(
    _LEAVES,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(_KEYS, inside, max_size=4),
    max_leaves=25,
)


@patient
@given(_DATA.filter(lambda data: isinstance(data, dict)))
def test_any_data_is_either_a_rubric_or_refused_in_words(data: Any) -> None:
    try:
        made = Rubric.of(data)
    except InputError as error:
        assert "the rubric" in error.message
    else:
        assert Rubric.of(made.to_dict()) == made


@patient
@given(st.dictionaries(_KEYS, _DATA, max_size=5))
def test_any_criterion_is_either_read_or_refused_in_words(given_data: Any) -> None:
    try:
        made = Rubric.of({"criteria": {"x": given_data, "y": {"scale": [0, 1]}}})
    except InputError as error:
        assert "the rubric" in error.message
    else:
        assert made.criterion("x").name == "x"
