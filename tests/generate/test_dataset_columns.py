"""Every kind of column: values, samplers, generators, functions, conversations, measures."""

from __future__ import annotations

import asyncio
import functools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

import penstock
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.generate.columns import column
from penstock.generate.samplers import sample
from penstock.metrics import FunctionMetric
from penstock.simulator import Simulator
from tests.generate.schema_kit import Gen, Schema, failures, plain, questions, sent

# Values and samplers ----------------------------------------------------------------------------


def test_a_value_is_the_same_in_every_row_and_keeps_its_type(schema: Schema) -> None:
    columns = {"text": "a {brace}", "n": 3, "x": 0.5, "no": None, "yes": True, "l": [1, {"a": 2}]}
    assert plain(schema(columns, 3).generate()) == [columns] * 3


def test_a_function_that_changes_a_value_changes_it_in_its_own_row_alone(schema: Schema) -> None:
    def add(tags: list[str], n: int) -> int:
        tags.append(str(n))
        return len(tags)

    table = schema({"tags": ["first"], "n": sample.sequence(), "count": add}, 50).generate()
    assert table["count"] == [2] * 50
    assert table["tags"] == [["first", str(n)] for n in range(50)]


def test_samplers_are_drawn_by_seed_column_and_row(schema: Schema) -> None:
    columns = {
        "id": sample.uuid(),
        "n": sample.range(1, 10**6),
        "kind": sample.choice(["fruit", "tree"]),
        "what": sample.subcategory("kind", {"fruit": ["apple"], "tree": ["oak"]}),
        "who": sample.person("name"),
    }
    table = schema(columns, 30, seed="x").generate()
    assert table.to_list() == schema(columns, 30, seed="x").generate().to_list()
    assert len(set(table["id"])) == 30
    pairs = {(row["kind"], row["what"]) for row in table}
    assert pairs == {("fruit", "apple"), ("tree", "oak")}


def test_columns_of_one_source_stem_from_the_same_row(schema: Schema) -> None:
    data = [{"q": f"question {n}", "a": f"answer {n}"} for n in range(50)]
    source = sample.from_dataset(data, replace=False)
    table = schema({"a": source["a"], "q": source["q"]}, 50).generate()
    assert all(row["q"][9:] == row["a"][7:] for row in table)
    assert sorted(table["q"]) == sorted(row["q"] for row in data), "each once"


def test_a_sampler_with_a_check_is_drawn_again(schema: Schema) -> None:
    even = column(sample.range(0, 9), check=lambda n: n % 2 == 0, tries=50)
    table = schema({"n": even}, 40).generate()
    assert set(table["n"]) <= {0, 2, 4, 6, 8} and len(set(table["n"])) > 2
    assert schema({"n": even}, 40).generate()["n"] == table["n"]


# Functions --------------------------------------------------------------------------------------


def test_functions_take_columns_by_the_names_of_their_parameters(schema: Schema) -> None:
    class Joined:
        def __call__(self, b: str, a: str) -> str:
            return a + b

    def skipping(a: str, sep: str = "-", *, b: str) -> str:
        return a + sep + b

    def defaults(a: str, sep: str = "-", b: str = "never") -> str:
        return a + sep + b

    async def slow(a: str, b: str) -> str:
        await asyncio.sleep(0.001)
        return a + b

    columns = {
        "a": "A",
        "b": "B",
        "swapped": lambda b, a: b + a,
        "object": Joined(),
        "part": functools.partial(lambda x, a: x + a, "x"),
        "named": functools.partial(skipping, sep="+"),
        "skipping": skipping,
        "defaults": defaults,
        "slow": slow,
        "nothing": lambda: "-",
        "later": lambda z: z,
        "z": "Z",
        "keywords": lambda **more: len(more),
        "mine": column(lambda row: row["b"], requires="b"),
        "both": column(lambda a, row: a + row["b"], requires=["b"]),
        "needs_more": column(lambda a, b: a + b, requires=["a"]),
    }
    [row] = plain(schema(columns, 1).generate())
    assert {name: row[name] for name in list(columns)[2:]} == {
        "swapped": "BA",
        "object": "AB",
        "part": "xA",
        "named": "A+B",
        "skipping": "A-B",
        "defaults": "A-B",
        "slow": "AB",
        "nothing": "-",
        "later": "Z",
        "z": "Z",
        "keywords": 0,
        "mine": "B",
        "both": "AB",
        "needs_more": "AB",
    }


def test_a_row_function_sees_what_was_written_before_it(schema: Schema) -> None:
    columns = {
        "a": 1,
        "before": lambda row: sorted(row),
        "b": lambda a: a + 1,
        "after": lambda row: dict(row),
        "c": 3,
    }
    [row] = plain(schema(columns, 1).generate())
    assert row["before"] == ["a"]
    assert row["after"] == {"a": 1, "before": ["a"], "b": 2}


def test_a_column_called_row_or_rng_is_that_column(schema: Schema) -> None:
    columns = {"row": "mine", "rng": "mine too", "x": lambda row, rng: row + rng}
    assert schema(columns, 1).generate()["x"] == ["minemine too"]


def test_a_cells_randomness_is_the_same_each_time_and_its_own(schema: Schema) -> None:
    columns = {
        "a": lambda rng: rng.random(),
        "b": lambda rng: rng.random(),
        "some": column(lambda: 1, when=lambda rng: rng.random() < 0.5),
        "kept": column(lambda: 1, check=lambda value, rng: rng.random() < 0.5),
    }
    table = schema(columns, 60, seed=4).generate()
    assert len({*table["a"], *table["b"]}) == 120
    assert 10 < table["some"].count(None) < 50
    assert 10 < table["kept"].count(None) < 50
    again = schema({"new": 1, **columns}, 60, seed=4).generate(max_concurrent_rows=2)
    for name in columns:
        assert again[name] == table[name]
    assert schema(columns, 60, seed=5).generate()["a"] != table["a"]


def test_whatever_a_function_returns_becomes_a_cell(schema: Schema) -> None:
    odd = [None, 10**40, float("inf"), b"\x00\xff", "\ud800", {"a": []}, {1, 2}, object(), ""]
    table = schema({"x": lambda n: odd[n], "n": sample.sequence()}, len(odd)).generate()
    assert len(table) == len(odd) and len(table.failures) == 0
    assert table.run.state == "completed"


def test_a_function_that_makes_another_dataset_is_awaited(schema: Schema, gen: Gen) -> None:
    inner = schema({"x": gen("simulated-echo")("inner")}, 1)
    table = schema({"x": lambda: asyncio.wait_for(_first(inner), 10)}, 2).generate()
    assert table["x"] == ["inner", "inner"]


async def _first(dataset: penstock.Dataset) -> Any:
    return (await dataset.generate())[0]["x"]


# Generators -------------------------------------------------------------------------------------


def test_one_schema_asks_several_endpoints(schema: Schema, gen: Gen, simulator: Simulator) -> None:
    columns = {
        "topic": sample.sequence(prefix="topic "),
        "a": gen("simulated-echo")("A {topic}"),
        "b": gen("simulated-fixed")("{a} to {topic}"),
        "c": penstock.generator("simulated", model="simulated-echo", workbench=gen().workbench)(
            "C {topic}"
        ),
    }
    table = schema(columns, 10).generate()
    assert table["a"] == [f"A topic {n}" for n in range(10)]
    assert table["c"] == [f"C topic {n}" for n in range(10)]
    models = [entry["model"] for entry in simulator.ledger()]
    assert sorted(models) == ["simulated-echo"] * 10 + ["simulated-fixed"] * 10
    assert len(table.run.models) == 3


def test_templates_take_bare_names_and_nothing_else(schema: Schema, gen: Gen) -> None:
    echo = gen("simulated-echo")
    columns = {
        "name": "{other} {{x}} {name.__class__} %s",
        "data": {"a": [1, "two"]},
        "none": None,
        "n": 1.5,
        "other": "O",
        "said": echo("<{name}> {{literal}} { other } {data} [{none}] {n}"),
    }
    [row] = plain(schema(columns, 1).generate())
    assert row["said"] == ('<{other} {{x}} {name.__class__} %s> {literal} O {"a":[1,"two"]} [] 1.5')


def test_variables_stand_in_the_braces_beside_columns(schema: Schema, gen: Gen) -> None:
    echo = gen("simulated-echo")
    table = schema(
        {"topic": "T", "said": echo("{topic} in {tone}", tone="{blue}"), "tone": "a column"}, 1
    ).generate()
    assert table["said"] == ["T in {blue}"]
    with pytest.raises(InputError, match=r"the prompt has no \{temperature\}") as raised:
        echo("{topic}", temperature=0.5)
    assert "params=" in raised.value.remedy


def test_jinja_when_asked(schema: Schema, gen: Gen) -> None:
    echo = gen("simulated-echo")
    columns = {
        "items": ["a", "b"],
        "who": {"name": "Ann"},
        "said": echo(
            "{% for item in items %}{{ loop.index }}{{ item }} {% endfor %}{{ who.name }} {x}",
            template="jinja",
        ),
    }
    assert schema(columns, 1).generate()["said"] == ["1a 2b Ann {x}"]


def test_a_hostile_jinja_template_fails_its_cells_and_nothing_is_sent(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    evil = "{{ who.__class__.__mro__ }}"
    columns = {"who": "x", "said": gen()(evil, template="jinja"), "other": 1}
    table = schema(columns, 2).generate()
    assert failures(table) == [(0, "said", "input"), (1, "said", "input")]
    assert sent(simulator) == 0


def test_messages_and_system_prompts_have_names_too(
    schema: Schema, gen: Gen, bench: Workbench, tmp_path: Path
) -> None:
    echo = gen("simulated-echo")
    messages = [
        {"role": "system", "content": "Speak {lang}."},
        {"role": "user", "content": "Hi, {who}"},
        {"role": "assistant", "content": "{lang}?"},
        {"role": "user", "content": "Yes, {who}"},
    ]
    columns = {
        "lang": "Latin",
        "who": "Ann",
        "a": echo(messages, system_prompt="not used"),
        "b": echo("Hi", system_prompt="You speak {lang} to {who}. {when}", when="is_true"),
        "c": echo({"system": "Be {lang}", "user": "Hi {who}"}),
        "is_true": True,
    }
    with pytest.raises(InputError, match=r"\{when\}, which its prompt names"):
        schema(columns, 1)
    columns["b"] = echo("Hi", system_prompt="You speak {lang} to {who}.")
    table = schema(columns, 1).generate()
    assert plain(table)[0]["a"] == "Yes, Ann"
    asked = {
        str(messages[-1]["content"]): messages for messages in questions(bench, table, tmp_path)[0]
    }
    assert [m["content"] for m in asked["Yes, Ann"]] == [
        "Speak Latin.", "Hi, Ann", "Latin?", "Yes, Ann",
    ]  # fmt: skip
    assert asked["Hi"][0] == {"role": "system", "content": "You speak Latin to Ann."}
    assert asked["Hi Ann"][0] == {"role": "system", "content": "Be Latin"}


def test_functions_as_prompts(schema: Schema, gen: Gen, bench: Workbench, tmp_path: Path) -> None:
    echo = gen("simulated-echo")

    async def slow(topic: str) -> str:
        await asyncio.sleep(0.001)
        return f"slow {topic}"

    columns = {
        "topic": sample.sequence(prefix="t"),
        "a": echo(lambda topic: f"about {topic}"),
        "b": echo(lambda row: [{"role": "user", "content": row["a"] + "!"}]),
        "c": echo(slow, system_prompt="For {topic}"),
        "d": echo(lambda: {"system": "S", "user": "U"}, system_prompt="not used"),
        "e": echo(lambda rng: f"{rng.random()}"),
    }
    table = schema(columns, 3).generate()
    assert table["b"] == ["about t0!", "about t1!", "about t2!"]
    assert table["c"] == ["slow t0", "slow t1", "slow t2"]
    assert len(set(table["e"])) == 3
    systems = {
        messages[-1]["content"]: messages[0]["content"]
        for messages in questions(bench, table, tmp_path)[1]
        if messages[0]["role"] == "system"
    }
    assert systems == {"slow t1": "For t1", "U": "S"}
    with pytest.raises(InputError, match="the prompt is a function; tone would not be used"):
        echo(lambda row: "x", tone="blue")


def test_parameters_belong_to_the_generator_or_to_a_column(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    model = gen(max_tokens=5)
    more = model("Tell me all", params={"max_tokens": 50})
    table = schema({"a": model("Tell me all"), "b": more}, 2).generate()
    assert all(row["b"].startswith(row["a"]) and row["b"] != row["a"] for row in table)
    assert sorted(entry["completion_tokens"] for entry in simulator.ledger())[:2] == [5, 5]


class Person(BaseModel):
    name: str = Field(alias="fullName")
    age: int
    tags: list[str] = []


def test_structured_answers_are_one_column_or_one_for_each_field(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    whole = schema({"who": gen()("A person", response_format=Person)}, 5).generate()
    assert {tuple(who) for who in whole["who"]} == {("name", "age", "tags")}
    columns = {
        "before": 1,
        "who": gen()("A person", response_format=Person, expand=True),
        "letter": gen("simulated-echo")("{name}, {age}: {who}"),
        "older": lambda age: age + 1,
        "all": lambda who: sorted(who),
        "row": lambda r: list(r),
    }
    spread = schema(columns, 5).generate()
    assert spread.column_names == [
        "before", "name", "age", "tags", "letter", "older", "all", "row", "status",
    ]  # fmt: skip
    assert [row["name"] for row in spread] == [who["name"] for who in whole["who"]]
    for row, who in zip(spread, whole["who"], strict=True):
        assert (
            row["letter"]
            == f"{who['name']}, {who['age']}: {json.dumps(who, separators=(',', ':'))}"
        )
        assert row["older"] == who["age"] + 1
        assert row["all"] == ["age", "name", "tags"]
        assert row["row"] == ["before", "who", "name", "age", "tags", "letter", "older", "all"]
    assert sent(simulator) == 10


def test_a_json_schema_does_as_well_as_a_model(schema: Schema, gen: Gen) -> None:
    wanted = {
        "type": "object",
        "properties": {"x": {"type": "integer"}, "y": {"type": "string"}},
        "required": ["x", "y"],
    }
    table = schema({"point": gen()("A point", response_format=wanted, expand=True)}, 4).generate()
    assert table.column_names == ["x", "y", "status"]
    assert all(type(row["x"]) is int and type(row["y"]) is str for row in table)
    with pytest.raises(InputError, match="expand=True wants a response_format with fields"):
        gen()("x", response_format={"type": "array", "items": {"type": "string"}}, expand=True)


def test_an_answer_that_does_not_fit_is_asked_again_and_then_fails(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    mended = schema({"p": gen("simulated-invalid")("A person", response_format=Person)}, 1)
    assert plain(mended.generate())[0]["p"]["age"] is not None
    assert sent(simulator) == 2
    table = schema(
        {"p": gen("simulated-echo")("no JSON", response_format=Person, expand=True), "x": 1}, 1
    ).generate()
    assert failures(table) == [(0, "p", "invalid_answer")]
    assert table[0] == {"name": None, "age": None, "tags": None, "x": 1, "status": "failed"}


# Conversations ----------------------------------------------------------------------------------


def test_a_conversation_is_a_list_of_messages(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    echo = gen("simulated-echo")
    talk = echo.conversation(
        ["Explain {topic} in {tone}.", "Shorter, please."], system_prompt="For {who}.", tone="verse"
    )
    columns = {"topic": sample.sequence(prefix="t"), "talk": talk, "who": "Ann"}
    table = schema(columns, 3).generate()
    assert table[1]["talk"] == [
        {"role": "system", "content": "For Ann."},
        {"role": "user", "content": "Explain t1 in verse."},
        {"role": "assistant", "content": "Explain t1 in verse."},
        {"role": "user", "content": "Shorter, please."},
        {"role": "assistant", "content": "Shorter, please."},
    ]
    assert sent(simulator) == 6
    assert schema(columns, 3).generate().to_list() == table.to_list()
    assert sent(simulator) == 6


def test_a_model_plays_the_user(
    schema: Schema, gen: Gen, simulator: Simulator, bench: Workbench, tmp_path: Path
) -> None:
    user = gen("simulated-fixed")("You own a {device} that is {state}.", state="broken")
    talk = gen("simulated-echo").conversation("My {device}!", user=user, rounds=3)
    table = schema({"device": "lamp", "talk": talk}, 2).generate()
    said = table[0]["talk"]
    assert [m["role"] for m in said] == ["user", "assistant"] * 3
    assert said[0]["content"] == "My lamp!" and said[2]["content"].startswith("A penstock")
    assert sent(simulator) == 2 * 5
    played = [
        messages
        for messages in questions(bench, table, tmp_path)[0]
        if messages[0] == {"role": "system", "content": "You own a lamp that is broken."}
    ]
    assert [len(messages) for messages in played] == [3, 5]
    assert [m["role"] for m in played[0][1:]] == ["assistant", "user"], "seen from the other side"


def test_a_conversation_that_cannot_be_is_said_at_once(gen: Gen, simulator: Simulator) -> None:
    echo = gen("simulated-echo")
    structured = echo("x", response_format=Person)
    refused: list[tuple[str, Callable[[], Any]]] = [
        ("only 1 turns are written", lambda: echo.conversation("Hi", rounds=2)),
        ("rounds is 0", lambda: echo.conversation("Hi", rounds=0)),
        ("wants texts", lambda: echo.conversation([])),
        ("wants texts", lambda: echo.conversation([{"role": "user", "content": "x"}])),
        ("no response_format", lambda: echo.conversation("Hi", user=structured)),
        (r"no turn has \{tone\}", lambda: echo.conversation("Hi {topic}", tone="blue")),
        (r"no turn has \{chekc\}", lambda: echo.conversation("Hi", chekc=len)),
    ]
    for problem, make in refused:
        with pytest.raises(InputError, match=problem):
            make()
    assert sent(simulator) == 0


# Measures ---------------------------------------------------------------------------------------


def test_measures_are_columns(schema: Schema, gen: Gen, simulator: Simulator) -> None:
    columns = {
        "solution": sample.choice(["4", "5"]),
        "answer": gen("simulated-echo")("4"),
        "match": penstock.eval.exact_match("answer", "solution"),
        "near": penstock.eval.edit_similarity("answer", "solution"),
        "mine": penstock.eval.function(lambda a, b: float(a == b), "answer", "solution"),
        "judged": penstock.eval.llm_judge("answer", "Is it right?", model=gen(), reason=True),
        "doubled": lambda match: match * 2,
    }  # fmt: skip
    table = schema(columns, 12).generate()
    for row in plain(table):
        right = float(row["solution"] == "4")
        assert (row["match"], row["near"], row["mine"], row["doubled"]) == (right,) * 3 + (
            2 * right,
        )
        assert 0 <= row["judged"]["score"] <= 1 and row["judged"]["reason"]
    assert len({row["judged"]["score"] for row in table}) > 1, "a judge that always says the same"
    assert sent(simulator) == 24
    schema(columns, 12).generate()
    assert sent(simulator) == 24


def test_a_measure_of_nothing_is_empty_and_one_that_breaks_is_a_failure(schema: Schema) -> None:
    def breaks(answer: str) -> float:
        raise RuntimeError("no score")

    columns = {
        "a": None,
        "b": "text",
        "of_none": penstock.eval.exact_match("a", "b"),
        "broken": penstock.eval.function(breaks, "b"),
        "other": 1,
    }
    table = schema(columns, 1).generate()
    [row] = table
    assert (row["of_none"], row["broken"], row["status"]) == (None, None, "failed")
    [failure] = table.failures
    assert failure["column"] == "broken" and "no score" in failure["message"]


def test_a_metric_that_gives_too_few_scores_fails_its_cells_and_nothing_hangs(
    schema: Schema,
) -> None:
    class Short(FunctionMetric):
        def score_many(self, samples: Any) -> Any:
            return []

    measure = penstock.eval.metric(Short(lambda answer: 1.0), "a")
    table = schema({"a": "x", "m": measure, "b": 2}, 3).generate()
    assert failures(table) == [(n, "m", "invalid_answer") for n in range(3)]
    assert table["b"] == [2] * 3


# Names ------------------------------------------------------------------------------------------


def test_columns_keep_the_order_written_whoever_is_ready_first(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    simulator.set(latency="1-20")
    names = [f"c{n}" for n in random.Random(3).sample(range(20), 20)]
    columns: dict[str, Any] = {name: gen()(f"Say {name}") for name in names}
    columns["last"] = 1
    table = schema(columns, 3).generate()
    assert table.column_names == [*names, "last", "status"]


def test_odd_names_and_names_that_are_taken(schema: Schema) -> None:
    columns = {"status": "mine", "penstock_status": "too", "row": 1, "ö é": 2, "a.b": 3, "class": 4}
    for options in ({}, {"dedupe": "row"}, {"until": 1}):
        table = schema(columns, 1, **options).generate()
        assert table.to_list() == [{**columns, "penstock_penstock_status": "ok"}]


def test_a_wide_schema_is_made_in_no_time(schema: Schema) -> None:
    columns: dict[str, Any] = {f"c{n}": (lambda row: len(row)) for n in range(400)}
    table = schema(columns, 1).generate()
    assert list(table[0].values())[:-1] == list(range(400))


def test_what_is_no_schema_is_said() -> None:
    bad: Any
    for bad in ([("a", 1)], {}, {"": 1}, {" ": 1}, {3: 1}, None):
        with pytest.raises(InputError):
            penstock.dataset(bad)
    with pytest.raises(InputError, match="int is a class"):
        penstock.dataset({"a": int})
    with pytest.raises(InputError, match="requires= is for functions"):
        column("a value", requires="x")
    with pytest.raises(InputError, match="requires is 5"):
        column(lambda row: 1, requires=5)  # type: ignore[arg-type]


def test_column_leaves_what_it_is_not_told(schema: Schema, gen: Gen, simulator: Simulator) -> None:
    checked = gen("simulated-echo")("x", check=lambda value: "never", tries=2)
    table = schema({"on": True, "x": column(checked, when="on")}, 1).generate()
    assert failures(table) == [(0, "x", "rejected")]
    assert sent(simulator) == 2
