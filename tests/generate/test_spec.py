"""A dataset as a file: what may stand in it, and what is said of what may not."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from penstock import column, dataset, eval, generator, sample  # noqa: A004
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.generate.dataset import Dataset
from penstock.generate.schemajob import SchemaJob
from penstock.generate.spec import Spec, load
from penstock.settings import Settings

gen = generator("simulated")
writer = generator("simulated", temperature=0.8)
FACTS = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "stars": {"type": "integer"}},
    "required": ["title", "stars"],
}


def written(text: str, name: str = "spec.yaml") -> Spec:
    Path(name).write_text(text)
    return load(name)


def made(text: str, bench: Workbench) -> Dataset:
    return written(text).dataset(bench)


def refused(text: str, bench: Workbench) -> str:
    with pytest.raises(InputError) as error:
        made(text, bench)
    return str(error.value)


# What may stand in it -------------------------------------------------------------------------

FORMS: dict[str, tuple[str, Callable[[], dict[str, Any]]]] = {
    "values": (
        "a: plain text\n  b: 4\n  c: 2.5\n  d: true\n  e: {value: [1, {x: y}]}\n  f: {value: null}",
        lambda: {"a": "plain text", "b": 4, "c": 2.5, "d": True, "e": [1, {"x": "y"}], "f": None},
    ),
    "choice": ("a: {choice: [yes, no, 3]}", lambda: {"a": sample.choice(["yes", "no", 3])}),
    "weighted": (
        "a: {weighted: {easy: 0.7, hard: 0.3}}",
        lambda: {"a": sample.weighted({"easy": 0.7, "hard": 0.3})},
    ),
    "weighted numbers": (
        "a: {weighted: {items: [1, 2], weights: [3, 1]}}",
        lambda: {"a": sample.weighted([1, 2], [3, 1])},
    ),
    "subcategory": (
        "a: {choice: [x, y]}\n  b: {subcategory: {of: a, items: {x: [1, 2], y: {q: 1, r: 2}}}}",
        lambda: {
            "a": sample.choice(["x", "y"]),
            "b": sample.subcategory("a", {"x": [1, 2], "y": {"q": 1, "r": 2}}),
        },
    ),
    "subcategory of numbers": (
        "a: {range: [1, 2]}\n  b: {subcategory: {of: a, items: {1: [one], 2: [two]}}}",
        lambda: {"a": sample.range(1, 2), "b": sample.subcategory("a", {1: ["one"], 2: ["two"]})},
    ),
    "uuid": ("a: {uuid: {}}\n  b: {uuid: }", lambda: {"a": sample.uuid(), "b": sample.uuid()}),
    "datetime": (
        "a: {datetime: {start: 2020-01-01, end: 2024-12-31, format: iso}}",
        lambda: {"a": sample.datetime("2020-01-01", "2024-12-31", format="iso")},
    ),
    "date": (
        "a: {date: [2020-01-01, 2024-12-31]}",
        lambda: {"a": sample.date("2020-01-01", "2024-12-31")},
    ),
    "range": (
        "a: {range: [1, 9, 2]}\n  b: {range: {low: 0.5, high: 1}}",
        lambda: {"a": sample.range(1, 9, 2), "b": sample.range(0.5, 1)},
    ),
    "uniform": ("a: {uniform: [0, 1, 2]}", lambda: {"a": sample.uniform(0, 1, 2)}),
    "normal": (
        "a: {normal: {mean: 5, std: 2, low: 1}}",
        lambda: {"a": sample.normal(5, 2, low=1)},
    ),
    "poisson": ("a: {poisson: 3}", lambda: {"a": sample.poisson(3)}),
    "bernoulli": ("a: {bernoulli: {p: 0.5}}", lambda: {"a": sample.bernoulli(0.5)}),
    "sequence": (
        'a: {sequence: {prefix: "Q-", width: 5}}\n  b: {sequence: 7}\n  c: {sequence: {}}',
        lambda: {
            "a": sample.sequence(prefix="Q-", width=5),
            "b": sample.sequence(7),
            "c": sample.sequence(),
        },
    ),
    "regex": ('a: {regex: "[A-Z]{3}"}', lambda: {"a": sample.regex("[A-Z]{3}")}),
    "person": (
        "a: {person: {country: Kenya, age: [20, 30]}}\n  b: {person: job}\n"
        "  c: {person: {field: name, group: x}}\n  d: {person: {field: email, group: x}}",
        lambda: {
            "a": sample.person(country="Kenya", age=(20, 30)),
            "b": sample.person("job"),
            "c": sample.person(group="x")["name"],
            "d": sample.person(group="x")["email"],
        },
    ),
    "from_dataset": (
        "a: {from_dataset: {file: data/topics.csv, column: topic}}\n"
        "  b: {from_dataset: {file: data/topics.csv, column: form}}\n"
        "  c: {from_dataset: {file: data/topics.csv, column: topic, replace: false, name: x}}\n"
        "  d: {from_dataset: data/topics.csv}",
        lambda: {
            "a": sample.from_dataset("data/topics.csv", "topic"),
            "b": sample.from_dataset("data/topics.csv", "form"),
            "c": sample.from_dataset("data/topics.csv", "topic", replace=False, name="x"),
            "d": sample.from_dataset("data/topics.csv"),
        },
    ),
    "rules": (
        "a: {choice: [x, yy]}\n  b: {choice: [p, qqq], when: {a: [x]}, check: {min_length: 2}, "
        "tries: 9}\n  c: {value: 1, when: a}",
        lambda: {
            "a": sample.choice(["x", "yy"]),
            "b": column(
                sample.choice(["p", "qqq"]), when={"a": ["x"]}, check={"min_length": 2}, tries=9
            ),
            "c": column(1, when="a"),
        },
    ),
    "prompt": (
        'a: {choice: [sea, sky]}\n  b: {prompt: "On {a}", model: writer, system: "Be {a}", '
        "params: {max_tokens: 9}}\n  c: {prompt: '{{ b|upper }}', template: jinja}",
        lambda: {
            "a": sample.choice(["sea", "sky"]),
            "b": writer("On {a}", system_prompt="Be {a}", params={"max_tokens": 9}),
            "c": gen("{{ b|upper }}", template="jinja"),
        },
    ),
    "prompt that is checked": (
        'b: {prompt: "A word", when: c, check: {matches: "[aeiou]$"}, tries: 4, feedback: true}\n'
        "  c: {bernoulli: 0.7}",
        lambda: {
            "b": gen("A word", when="c", check={"matches": "[aeiou]$"}, tries=4, feedback=True),
            "c": sample.bernoulli(0.7),
        },
    ),
    "prompt of messages": (
        "b: {prompt: [{role: system, content: Be kind}, {role: user, content: Hello}]}",
        lambda: {"b": gen({"system": "Be kind", "user": "Hello"})},
    ),
    "schema": (
        f"a: {{prompt: Invent, schema: {json.dumps(FACTS)}, expand: true}}\n"
        "  b: {prompt: 'More on {title}', schema: data/facts.json}",
        lambda: {
            "a": gen("Invent", response_format=FACTS, expand=True),
            "b": gen("More on {title}", response_format=FACTS),
        },
    ),
    "conversation": (
        "a: {choice: [sea, sky]}\n  b: {conversation: ['What is the {a}?', 'Shorter.'], "
        "model: writer}\n  c: {conversation: 'Help!', user: 'You lost a {a}', rounds: 2}\n"
        "  d: {conversation: 'Help!', user: {prompt: 'You lost', model: writer}, rounds: 2}",
        lambda: {
            "a": sample.choice(["sea", "sky"]),
            "b": writer.conversation(["What is the {a}?", "Shorter."]),
            "c": gen.conversation("Help!", user=gen("You lost a {a}"), rounds=2),
            "d": gen.conversation("Help!", user=writer("You lost"), rounds=2),
        },
    ),
    "judge": (
        "a: {prompt: Why}\n  b: {judge: {answer: a, rubric: Is it clear?, scale: [0, 10], "
        "reason: true, model: writer}}\n  c: {judge: {answer: a, question: a, target: a, "
        "criteria: [short, clear]}}",
        lambda: {
            "a": gen("Why"),
            "b": eval.llm_judge("a", "Is it clear?", scale=(0, 10), reason=True, model=writer),
            "c": eval.llm_judge(
                "a", question="a", target="a", criteria=["short", "clear"], model=gen
            ),
        },
    ),
    "metrics": (
        "a: {choice: [sea, sky]}\n  b: {choice: [sea, spa]}\n  c: {edit_similarity: [a, b]}\n"
        "  d: {exact_match: {answer: a, target: b}}\n"
        "  e: {metric: bleu, answer: a, target: b, params: {lowercase: true}}\n"
        "  f: {metric: choice, answer: a, target: b, params: {missing: wrong}}",
        lambda: {
            "a": sample.choice(["sea", "sky"]),
            "b": sample.choice(["sea", "spa"]),
            "c": eval.edit_similarity("a", "b"),
            "d": eval.exact_match("a", "b"),
            "e": eval.bleu("a", "b", lowercase=True),
            "f": eval.metric("choice", "a", "b", missing="wrong"),
        },
    ),
}  # fmt: skip
HEAD = "n: 6\nseed: 5\nmodel: simulated\nmodels: {writer: {model: simulated, temperature: 0.8}}\n"


@pytest.fixture
def _data() -> None:
    Path("data").mkdir()
    rows = "".join(f"topic {n},form {n}\n" for n in range(9))
    Path("data/topics.csv").write_text("topic,form\n" + rows)
    Path("data/facts.json").write_text(json.dumps(FACTS))


@pytest.mark.usefixtures("_data")
@pytest.mark.parametrize("form", FORMS)
def test_a_file_makes_the_table_that_python_makes(form: str, bench: Workbench) -> None:
    text, columns = FORMS[form]
    ours = made(f"{HEAD}columns:\n  {text}\n", bench).generate()
    theirs = dataset(columns(), 6, seed=5, workbench=bench).generate()
    assert ours.to_list() == theirs.to_list()
    assert len(ours) == 6 and len(ours.failures) == len(theirs.failures)
    assert theirs.run.counters["asked"] == 0, "the questions are the same, so they are answered"


def test_columns_of_one_file_stem_from_the_same_row(bench: Workbench) -> None:
    Path("qa.csv").write_text("q,a\n" + "".join(f"q{n},a{n}\n" for n in range(50)))
    one = "{from_dataset: {file: qa.csv, column: %s}}"
    rows = made(f"columns: {{q: {one % 'q'}, a: {one % 'a'}}}", bench).generate(20)
    assert all(row["q"][1:] == row["a"][1:] for row in rows)


def test_the_options_are_those_of_python(bench: Workbench) -> None:
    text = """
name: mine
n: 7
until: 3
most: 40
seed: abc
dedupe: {columns: [a], threshold: 0.8}
budget: 2.50
concurrency: 2
max_concurrent_rows: 5
max_concurrent_columns: 1
cache: off
batch: auto
batch_size: 10
failures: raise
columns: {a: {uuid: {}}}
"""
    making = made(text, bench).making()
    assert making.n == 7
    assert making.options == {
        "name": "mine",
        "until": 3,
        "most": 40,
        "seed": "abc",
        "dedupe": {"columns": ["a"], "threshold": 0.8},
        "budget": 2.5,
        "concurrency": 2,
        "max_concurrent_rows": 5,
        "max_concurrent_columns": 1,
        "cache": "off",
        "batch": "auto",
        "batch_size": 10,
        "failures": "raise",
    }
    assert len(made("columns: {a: 1}", bench).generate()) == 100


def test_a_file_may_go_on_until_enough_rows_are_accepted(bench: Workbench) -> None:
    text = "until: 4\ndedupe: [a]\ncolumns: {a: {range: [1, 4]}}"
    assert sorted(row["a"] for row in made(text, bench).generate()) == [1, 2, 3, 4]


def asked(bench: Workbench, **instead: str) -> tuple[Endpoint, ...]:
    """Whom the columns ask; `all`: of all models."""
    models = {"" if name == "all" else name: model for name, model in instead.items()}
    return written(MODELS).dataset(bench, models).making().job().terms.endpoints


MODELS = """
model: {model: gpt-4o-mini, temperature: 0.3, params: {logit_bias: {a: 1}}}
models:
  local: {model: openai/gpt-oss, base_url: "http://127.0.0.1:9/v1", key: env:LAB_KEY, top_p: 0.5}
  there: {provider: anthropic, model: claude-x, base_url: "http://127.0.0.1:9/a", key: "file:k"}
  plain: gemini-pro
columns:
  a: {prompt: x}
  b: {prompt: x, model: local}
  c: {prompt: x, model: there}
  d: {prompt: x, model: plain}
  e: {prompt: x, model: mistral/small}
"""


def test_models_are_named_in_one_place_or_where_they_are_asked(bench: Workbench) -> None:
    usual, local, there, plain, own = asked(bench)
    assert (usual.model, plain.provider, own.label) == ("gpt-4o-mini", "gemini", "mistral/small")
    assert usual.params == {"temperature": 0.3, "logit_bias": {"a": 1}}
    assert (local.provider, local.model, local.key) == ("openai", "openai/gpt-oss", "env:LAB_KEY")
    assert (local.url, local.params) == ("http://127.0.0.1:9/v1", {"top_p": 0.5})
    assert (there.provider, there.model, there.key) == ("anthropic", "claude-x", "file:k")
    assert there.url == "http://127.0.0.1:9/a"


def test_another_model_may_be_asked_instead_of_all_or_of_one(bench: Workbench) -> None:
    found = asked(bench, all="simulated")
    assert {endpoint.provider for endpoint in found} == {"simulated"}
    assert found[0].params["temperature"] == 0.3, "its parameters stay"
    found = asked(bench, there="simulated")
    providers = [endpoint.provider for endpoint in found]
    assert providers == ["openai", "openai", "simulated", "gemini", "mistral"]


@pytest.fixture
def usual(tmp_path: Path) -> Iterator[Workbench]:
    """A workbench whose settings name a model."""
    settings = Settings.load(flags={"llm.model": "simulated"})
    with Workbench(settings, tmp_path / "home") as bench:
        yield bench


def test_without_a_model_the_settings_are_asked(usual: Workbench, tmp_path: Path) -> None:
    spec = written("columns: {a: {prompt: x}}")
    assert spec.dataset(usual).making().job().terms.endpoints[0].provider == "simulated"
    kept = SchemaJob(spec).making(usual).spec
    assert kept is not None and kept["generate"]["dataset"]["model"] == "simulated"
    with Workbench(workspace=tmp_path / "other") as bench:
        assert "spec.yaml:1: a.prompt: no model is given" in refused(
            "columns: {a: {prompt: x}}", bench
        )


# What may not ---------------------------------------------------------------------------------

MISTAKES: dict[str, tuple[str, int, list[str]]] = {
    "no mapping": ("- a\n- b\n", 1, ["columns:"]),
    "empty": ("", 1, ["columns:"]),
    "no columns": ("n: 5\n", 1, ["columns is missing"]),
    "columns that are none": ("n: 5\ncolumns: 3\n", 2, ["columns", "indented"]),
    "columns of nothing": ("columns: {}\n", 1, ["there are no columns"]),
    "an unknown key": ("sed: 5\ncolumns: {a: 1}\n", 1, ["sed", "'seed'"]),
    "a flag as a key": ("columns: {a: 1}\nview: true\n", 2, ["--view"]),
    "a check of rows": ("columns: {a: 1}\ncheck: {min_length: 3}\n", 2, ["at columns"]),
    "a wrong number": ("columns: {a: 1}\nn: many\n", 2, ["n", "'many'", "whole number"]),
    "a wrong seed": ("columns: {a: 1}\n\nseed: [1]\n", 3, ["seed"]),
    "a wrong budget": ("columns: {a: 1}\nbudget: much\n", 2, ["budget", "dollars"]),
    "a wrong cache": ("columns: {a: 1}\ncache: maybe\n", 2, ["cache", "refresh"]),
    "most without until": ("columns: {a: 1}\nmost: 5\n", 2, ["until"]),
    "a name that is no text": ("columns: {a: 1}\nname: 5\n", 2, ["name", "text"]),
    "an unknown column to compare": (
        "columns:\n  question: 1\ndedupe: [qestion]\n", 3, ["'question'"],
    ),
    "columns to compare that are none": ("columns: {a: 1}\ndedupe: {columns: 5}\n", 2, ["dedupe"]),
    "a wrong likeness": ("columns: {a: 1}\ndedupe: 7\n", 2, ["dedupe", "0.5"]),
    "a kind of column that is none": (
        "columns:\n  a: 1\n  b:\n    chioce: [x]\n", 4, ["b.chioce", "'choice'"],
    ),
    "a column that says nothing": ("columns:\n  a: {when: b}\n", 2, ["does not say what it is"]),
    "a column of two kinds": (
        "columns:\n  a: {choice: [x], prompt: y}\n", 2, ["choice and prompt"],
    ),
    "a list": ("columns:\n  a: [x, y]\n", 2, ["{choice: [...]}", "{value: [...]}"]),
    "an empty column": ("columns:\n  a:\n", 2, ["{value: null}"]),
    "an unknown argument of a sampler": (
        "columns:\n  a:\n    sequence:\n      prefx: x\n", 4, ["a.sequence.prefx", "'prefix'"],
    ),
    "a missing argument": ("columns:\n  a: {range: [1]}\n", 2, ["a.range", "high is missing"]),
    "too many arguments": ("columns:\n  a: {range: [1, 2, 3, 4]}\n", 2, ["low, high, step"]),
    "arguments of what takes none": ("columns:\n  a: {uuid: 5}\n", 2, ["a.uuid"]),
    "a wrong argument": ("columns:\n  a: {range: [5, 1]}\n", 2, ["low is 5"]),
    "a date that is none": ("columns:\n  a: {date: [2020-13-01, 2021-01-01]}\n", 2, ["2020-13-01"]),
    "a choice of nothing": ("columns:\n  a: {choice: []}\n", 2, ["empty"]),
    "a text to choose from": ("columns:\n  a: {choice: x}\n", 2, ["give a list"]),
    "weights that are none": ("columns:\n  a: {weighted: {x: heavy}}\n", 2, ["'heavy'"]),
    "a pattern that is none": ("columns:\n  a: {regex: '('}\n", 2, ["pattern"]),
    "an unknown field of a person": ("columns:\n  a: {person: {emial: x}}\n", 2, ["'email'"]),
    "a person of parts": ("columns:\n  a: {person: {country: {x: y}}}\n", 2, ["country"]),
    "a category of no column": (
        "columns:\n  a: {choice: [x]}\n  b: {subcategory: {of: c, items: {x: [1]}}}\n",
        3,
        ["b.subcategory", "'c'"],
    ),
    "a category without items": (
        "columns:\n  a: {choice: [x, y]}\n  b: {subcategory: {of: a, items: {x: [1]}}}\n",
        3,
        ["a may be 'y'"],
    ),
    "a file that is not there": (
        "columns:\n  a:\n    from_dataset:\n      file: none.csv\n",
        4,
        ["there is no file", "none.csv"],
    ),
    "a column that the file has not": (
        "columns:\n  a: {from_dataset: {file: topics.csv, column: tpic}}\n",
        2,
        ["a.from_dataset.column", "'topic'"],
    ),
    "no file": ("columns:\n  a: {from_dataset: {column: x}}\n", 2, ["file is missing"]),
    "replace that is no truth": (
        "columns:\n  a: {from_dataset: {file: topics.csv, replace: no}}\n", 2, ["true or false"],
    ),
    "an unknown key of a prompt": (
        "columns:\n  a:\n    prompt: x\n    sistem: y\n", 4, ["a.sistem", "'system'"],
    ),
    "a parameter beside the prompt": (
        "columns:\n  a: {prompt: x, temperature: 1}\n", 2, ["params: {temperature: ...}"],
    ),
    "a parameter that is none": ("columns:\n  a: {prompt: x, params: {n: 2}}\n", 2, ["a.params"]),
    "a prompt that is none": ("columns:\n  a: {prompt: 5}\n", 2, ["a.prompt"]),
    "a template that is none": ("columns:\n  a: {prompt: '{x'}\n", 2, ["a.prompt", "lone {"]),
    "a template of no kind": (
        "columns:\n  a: {prompt: x, template: jina}\n", 2, ["bare and jinja"],
    ),
    "an unknown column in a prompt": (
        "columns:\n  topic: x\n  a:\n    when: topic\n    prompt: 'On {tpic}'\n",
        5,
        ["a.prompt", "{tpic}", "'topic'"],
    ),
    "an unknown column in jinja": (
        "columns:\n  topic: x\n  a: {prompt: '{{ tpic }}', template: jinja}\n", 3, ["'topic'"],
    ),
    "a prompt that names itself": ("columns:\n  a: {prompt: '{a}'}\n", 2, ["itself"]),
    "an unknown column in when": (
        "columns:\n  level: x\n  a:\n    prompt: x\n    when: {levl: y}\n",
        5,
        ["a.when", "'level'"],
    ),
    "a condition that is none": ("columns:\n  a: {prompt: x, when: [b]}\n", 2, ["a.when"]),
    "an unknown rule": (
        "columns:\n  a:\n    prompt: x\n    check:\n      min_lenght: 5\n", 4, ["'min_length'"],
    ),
    "a rule with a wrong value": (
        "columns:\n  a: {prompt: x, check: {matches: '('}}\n", 2, ["'('"],
    ),
    "a rule of texts": ("columns:\n  a: {prompt: x, check: {contains: 42}}\n", 2, ["texts"]),
    "a check that is none": ("columns:\n  a: {prompt: x, check: good}\n", 2, ["rules are wanted"]),
    "tries that are none": ("columns:\n  a: {prompt: x, tries: 0}\n", 2, ["a.tries"]),
    "too many tries": ("columns:\n  a: {prompt: x, tries: 1000}\n", 2, ["tries"]),
    "feedback that is no truth": ("columns:\n  a: {prompt: x, feedback: 1}\n", 2, ["a.feedback"]),
    "expand without a schema": ("columns:\n  a: {prompt: x, expand: true}\n", 2, ["schema"]),
    "expand that is no truth": ("columns:\n  a: {prompt: x, expand: yes}\n", 2, ["a.expand"]),
    "a schema that is none": (
        "columns:\n  a: {prompt: x, schema: {type: thing}}\n", 2, ["a.schema"],
    ),
    "a schema that is not there": (
        "columns:\n  a:\n    prompt: x\n    schema: none.json\n", 4, ["none.json cannot be read"],
    ),
    "a schema that is not JSON": (
        "columns:\n  a: {prompt: x, schema: topics.csv}\n", 2, ["topics.csv is not JSON"],
    ),
    "two columns of one name": (
        "columns:\n  title: x\n  a:\n    prompt: x\n    expand: true\n"
        "    schema: {type: object, properties: {title: {type: string}}}\n",
        3,
        ["two columns 'title'"],
    ),
    "a circle": (
        "columns:\n  x: 1\n  a: {prompt: '{b}'}\n  b: {prompt: '{c}'}\n  c: {prompt: '{a}'}\n",
        3,
        ["circle", "a needs b needs c needs a"],
    ),
    "a conversation of numbers": ("columns:\n  a: {conversation: [1]}\n", 2, ["a.conversation"]),
    "more rounds than turns": ("columns:\n  a: {conversation: [x], rounds: 3}\n", 2, ["rounds"]),
    "a user without a prompt": (
        "columns:\n  a: {conversation: x, user: {model: simulated}}\n", 2, ["prompt is missing"],
    ),
    "a judge without a rubric": ("columns:\n  a: x\n  b: {judge: {answer: a}}\n", 3, ["rubric"]),
    "a judge of nothing": ("columns:\n  b: {judge: {rubric: x}}\n", 2, ["answer is missing"]),
    "a judge of no column": (
        "columns:\n  text: x\n  b: {judge: {answer: txt, rubric: x}}\n", 3, ["'text'"],
    ),
    "a scale that is none": (
        "columns:\n  a: x\n  b: {judge: {answer: a, rubric: x, scale: 5}}\n", 3, ["[1, 5]"],
    ),
    "a metric of no column": ("columns:\n  text: x\n  b: {bleu: [text, txt]}\n", 3, ["'text'"]),
    "a metric without a target": ("columns:\n  a: x\n  b: {bleu: a}\n", 3, ["second column"]),
    "an unknown metric": ("columns:\n  a: x\n  b: {metric: blue, answer: a}\n", 3, ["'bleu'"]),
    "a parameter that a metric has not": (
        "columns:\n  a: x\n  b: {bleu: {answer: a, target: a, lower: true}}\n", 3, ["lower"],
    ),
    "a judge as a metric": ("columns:\n  a: x\n  b: {llm_judge: [a]}\n", 3, ["judge: {"]),
    "another judge": ("columns:\n  a: x\n  b: {relevance: [a]}\n", 3, ["judge: {"]),
    "a judge by its name": (
        "columns:\n  a: x\n  b: {metric: pairwise, answer: a}\n", 3, ["judge: {"],
    ),
    "what an answer took": ("columns:\n  a: x\n  b: {latency: a}\n", 3, ["latency", "no column"]),
    "a metric with the name of a sampler": (
        "columns:\n  a: x\n  b: {choice: {answer: a, target: a}}\n", 3, ["metric: choice"],
    ),
    "an unknown model": (
        "models: {writer: simulated}\ncolumns:\n  a: {prompt: x, model: writr}\n",
        3,
        ["a.model", "'writer'"],
    ),
    "a model that nobody knows": ("columns:\n  a: {prompt: x, model: hal}\n", 2, ["'hal'"]),
    "a usual model that nobody knows": ("columns:\n  a: {prompt: x}\nmodel: hal\n", 3, ["model"]),
    "models that are none": ("columns: {a: 1}\nmodels: [x]\n", 2, ["models"]),
    "an entry without a model": (
        "columns: {a: 1}\nmodels:\n  w: {top_p: 1}\n", 3, ["model is missing"],
    ),
    "an unknown key of a model": (
        "columns: {a: 1}\nmodels:\n  w:\n    model: simulated\n    temprature: 1\n",
        5,
        ["models.w.temprature", "'temperature'"],
    ),
    "an address that is none": (
        "columns: {a: 1}\nmodels:\n  w: {model: x, base_url: 'ftp://x'}\n", 3, ["models.w"],
    ),
    "not a number": ("columns:\n  a:\n    choice:\n      - 1\n      - .nan\n", 5, ["a.choice.2"]),
    "a number too large": (f"columns:\n  a: {10**25}\n", 2, ["64 bits"]),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_line_before_anything_is_sent(
    mistake: str, usual: Workbench
) -> None:
    Path("topics.csv").write_text("topic,form\nsea,poem\n")
    text, line, words = MISTAKES[mistake]
    said = refused(text, usual)
    assert f"spec.yaml:{line}: " in said, said
    for word in words:
        assert word in said, said


def test_all_mistakes_are_said_at_once_in_the_order_of_the_lines(bench: Workbench) -> None:
    said = refused(
        "n: 0\nmodel: simulated\ncolumns:\n  a: {chioce: [x]}\n"
        "  b: {prompt: '{c}', schema: no.json}\n  d: {prompt: '{aa}'}\ndedupe: 3\n",
        bench,
    ).split("\n")
    assert said[0] == "4 mistakes in spec.yaml:"
    assert [line.split(" ")[0] for line in said[1:]] == [f"spec.yaml:{n}:" for n in (1, 4, 5, 6)]


def test_what_a_wrong_column_would_have_made_is_no_further_mistake(bench: Workbench) -> None:
    said = refused(
        "model: simulated\ncolumns:\n  a: {prompt: x, schema: no.json, expand: true}\n"
        "  b: {prompt: 'On {title} and {a}'}\n",
        bench,
    )
    assert "no.json" in said and "title" not in said


def test_a_flood_of_mistakes_is_cut(bench: Workbench) -> None:
    columns = "".join(f"  c{n}: {{chioce: [x]}}\n" for n in range(50))
    said = refused(f"columns:\n{columns}", bench).split("\n")
    assert said[0] == "50 mistakes in spec.yaml:" and said[-1] == "and 30 more" and len(said) == 22


KEY = "sk-live-0123456789abcdef"


@pytest.mark.parametrize(
    "text",
    [
        f"models:\n  w: {{model: gpt-4o, key: {KEY}}}\n",
        f"models:\n  w: {{model: gpt-4o, api_key: {KEY}}}\n",
        f"models:\n  w: {{model: gpt-4o, params: {{api_key: {KEY}}}}}\n",
        f"model:\n  key: {KEY}\n  model: gpt-4o\n",
        "models:\n  w: {model: gpt-4o, key: 'command:cat key'}\n",
    ],
)
def test_a_key_in_the_file_is_refused_and_shown_nowhere(text: str, bench: Workbench) -> None:
    said = refused(text + "columns: {a: {prompt: x}}\n", bench)
    assert "spec.yaml:2: " in said and "key: env:NAME" in said
    assert KEY not in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("columns: {a: !!python/object/apply:os.system ['echo']}\n", "tag"),
        ("columns: {a: &x {choice: [1]}, b: *x}\n", "alias"),
        ("columns:\n  <<: {a: 1}\n", "merge key"),
        ("columns: {a: 1, a: 2}\n", "twice"),
        ("columns:\n" + "  a: " + "[" * 100 + "]" * 100 + "\n", "nested"),
        ("columns: {a: '" + "x" * (1 << 20) + "'}\n", "larger"),
        ("columns: {a: 1}\n---\ncolumns: {b: 1}\n", "second document"),
        ('columns: {a: "\\ud800"}\n', "spec.yaml:1"),
    ],
)
def test_hostile_files_are_refused(text: str, words: str, bench: Workbench) -> None:
    assert words in refused(text, bench)


def test_braces_of_python_reach_nothing(bench: Workbench) -> None:
    text = "model: simulated\ncolumns: {a: x, b: {prompt: '{a.__class__}'}}\n"
    assert "{a.__class__}" in refused(text, bench)
    jinja = "model: simulated\ncolumns: {a: x, b: {prompt: '{{ a.__class__ }}', template: jinja}}\n"
    [row] = made(jinja, bench).generate(1)
    assert row["b"] is None or "class" not in str(row["b"])


WHOLE = """
name: all of it
n: 6
model: simulated
models: {writer: {model: simulated, temperature: 0.8}, judge: simulated}
dedupe: {columns: [question], threshold: 0.9}
columns:
  language: {choice: [Python, Rust]}
  level: {weighted: {items: [1, 2], weights: [1, 2]}}
  source: {from_dataset: {file: data/topics.csv, column: topic, replace: true}}
  kind: {subcategory: {of: level, items: {1: [low], 2: {high: 2, top: 1}}}}
  person: {person: {country: Kenya, age: [20, 30]}}
  born: {date: {start: 2020-01-01, end: 2024-12-31}}
  several: {value: [1, 2], when: {language: [Rust]}, check: {min_length: 1}, tries: 2}
  question: {prompt: "On {language}", model: writer, params: {max_tokens: 30}, feedback: true}
  facts: {prompt: "{{ language }}", template: jinja, schema: data/facts.json, expand: true}
  chat: {conversation: [Hi], user: {prompt: "A {title}", model: judge}, rounds: 2}
  score: {judge: {answer: question, rubric: good?, scale: [1, 5], reason: true}}
  likeness: {metric: bleu, answer: question, target: title, params: {lowercase: true}}
"""
ODD: list[Any] = [None, True, -1, 2.5, "", "{", [], {}, [[]], {"a": {"b": []}}, [None, 1, "x"]]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    steps = value if isinstance(value, dict) else range(len(value) if type(value) is list else 0)
    for step in steps:
        yield from places(value[step], (*path, step))


@pytest.mark.usefixtures("_data")
def test_whatever_stands_anywhere_is_accepted_or_refused_but_never_a_fault(
    bench: Workbench,
) -> None:
    whole = written(WHOLE)
    SchemaJob(whole).making(bench)
    accepted = refused = 0
    for number, path in enumerate(places(whole.data)):
        for odd in ODD[number % 4 :: 4]:  # in turn: every kind of value meets every kind of place
            data = copy.deepcopy(whole.data)
            if path:
                at = data
                for step in path[:-1]:
                    at = at[step]
                at[path[-1]] = odd
            try:
                SchemaJob(Spec("spec.yaml", data if path else odd)).making(bench)
                accepted += 1
            except InputError:
                refused += 1
    assert accepted > 10 and refused > 100


# What is stored -------------------------------------------------------------------------------


@pytest.mark.usefixtures("_data")
def test_what_a_run_stores_makes_the_same_dataset_without_the_files(bench: Workbench) -> None:
    job = SchemaJob(written(WHOLE), n=4, options={"seed": 9}, models={"judge": "simulated-echo"})
    table = job.run(bench)
    kept = orjson.loads(orjson.dumps(job.stored(bench)))
    assert kept["generate"]["dataset"]["columns"]["facts"]["schema"] == FACTS
    file = kept["generate"]["dataset"]["columns"]["source"]["from_dataset"]["file"]
    assert file == str(Path("data/topics.csv").absolute())
    for name in ("spec.yaml", "data/facts.json"):
        Path(name).unlink()
    again = SchemaJob.from_spec(kept)
    assert again.stored(bench) == kept
    found = again.run(bench)
    assert found.to_list() == table.to_list() and found.run.counters["asked"] == 0
    Path("data/topics.csv").unlink()
    with pytest.raises(InputError, match=r"source\.from_dataset\.file: there is no file .*topics"):
        again.run(bench)


def test_more_rows_than_the_file_has_are_refused_with_the_column(bench: Workbench) -> None:
    Path("few.csv").write_text("a\n1\n2\n")
    spec = written("columns:\n  x: {from_dataset: {file: few.csv, column: a, replace: false}}\n")
    with pytest.raises(InputError, match=r"spec\.yaml:2: x: 3 rows were asked for"):
        SchemaJob(spec, n=3).making(bench)
    assert len(SchemaJob(spec, n=2).run(bench)) == 2


def test_a_run_of_a_program_is_none_of_the_shell() -> None:
    specs: list[Any] = [{}, {"columns": ["a"], "rows": 3}, {"generate": {}}]
    for spec in [*specs, {"generate": {"file": "f", "dataset": {}, "x": 1}}]:
        with pytest.raises(InputError, match="made by a program"):
            SchemaJob.from_spec(spec)
