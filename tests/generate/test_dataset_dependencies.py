"""What is wrong with a schema is said before anything is sent; what only looks wrong works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

import penstock
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.errors import EndpointError, InputError, KeyMissingError
from penstock.generate.columns import column
from penstock.generate.samplers import sample
from penstock.simulator import Simulator
from tests.generate.schema_kit import Gen, Schema, failures, plain, sent


class Person(BaseModel):
    name: str
    age: int


def refused(make: Callable[[], Any], problem: str = "[a-z]", hint: str = "") -> None:
    with pytest.raises(InputError, match=problem) as raised:
        make()
    assert hint in raised.value.remedy


@pytest.fixture(autouse=True)
def _nothing_is_sent(request: pytest.FixtureRequest, simulator: Simulator) -> Any:
    yield
    if "work" not in request.node.name:
        assert sent(simulator) == 0


# Names that are no columns ----------------------------------------------------------------------


def test_an_unknown_name_is_said_with_the_one_that_was_meant(schema: Schema, gen: Gen) -> None:
    ask, judge = gen()("About {topic}"), penstock.eval.exact_match
    hint = "Did you mean 'topic'? The columns are: topic"
    topics = {"topic": sample.choice(["a"])}
    wrong: dict[str, tuple[Any, str]] = {
        "template": (gen()("{topicc}"), r"column 'x': \{topicc\}, which its prompt names"),
        "system": (gen()("a", system_prompt="{topicc}"), r"\{topicc\}"),
        "messages": (gen()([{"role": "user", "content": "{topicc}"}]), r"\{topicc\}"),
        "jinja": (gen()("{{ topicc }}", template="jinja"), r"\{topicc\}"),
        "function": (lambda topicc: 1, "the parameter 'topicc' is no column"),
        "prompt": (gen()(lambda topicc: ""), "column 'x', prompt: the parameter 'topicc'"),
        "keyword": (lambda *, topicc: 1, "the parameter 'topicc'"),
        "requires": (column(lambda row: 1, requires=["topicc"]), "'topicc', which it requires"),
        "when": (gen()("a", when="topicc"), "column 'x', when: 'topicc'"),
        "when rule": (gen()("a", when={"topicc": 1}), "column 'x', when: 'topicc'"),
        "when function": (gen()("a", when=lambda topicc: 1), "when: the parameter 'topicc'"),
        "check": (gen()("a", check=lambda text, topicc: 1), "check: the parameter 'topicc'"),
        "sampler": (sample.subcategory("topicc", {"a": ["b"]}), "'topicc', which it requires"),
        "measure": (judge("topicc", "topic"), "'topicc'"),
        "target": (judge("topic", "topicc"), "'topicc'"),
        "turns": (gen().conversation(["Hi", "{topicc}"]), r"\{topicc\}"),
        "user": (gen().conversation("Hi", user=gen()("{topicc}"), rounds=2), r"\{topicc\}"),
        "judge": (
            penstock.eval.llm_judge("topic", "Good?", model=gen(), template="{answer} {topicc}"),
            "'topicc'",
        ),
    }
    for kind, (value, problem) in wrong.items():
        try:
            refused(lambda value=value: schema({**topics, "x": value}), problem, hint)  # type: ignore[misc]
        except AssertionError as error:
            raise AssertionError(kind) from error
    for bad, problem in ((["topicc"], "dedupe: 'topicc'"), ("topicc", "dedupe: 'topicc'")):
        refused(schema({**topics, "x": ask}, dedupe=bad).generate, problem, hint)
    refused(schema({**topics, "x": ask}, dedupe={"columns": "topicc"}).generate, "'topicc'", hint)
    refused(schema({**topics, "x": ask}, dedupe={"column": "topic"}).generate, "no 'column'")
    refused(schema({**topics, "x": ask}, check=lambda topicc: 1).generate, "'topicc'", hint)
    refused(schema({**topics, "x": ask}, check=lambda topic, rng: 1).generate, "no rng")


def test_a_bad_check_of_rows_leaves_no_run(schema: Schema, gen: Gen, bench: Workbench) -> None:
    refused(schema({"x": gen()("a")}, check=lambda y: 1).generate, "'y'")
    assert bench.catalog.all_runs() == []


def test_the_names_of_fields_and_of_their_column_both_work(schema: Schema, gen: Gen) -> None:
    echo, who = gen("simulated-echo"), gen()("A person", response_format=Person, expand=True)
    columns = {"a": echo("{name}"), "who": who, "b": echo("{who}"), "c": lambda age: age}
    [row] = plain(schema(columns, 1).generate())
    assert row["a"] == row["name"] and row["c"] == row["age"]
    refused(lambda: schema({"who": who, "x": echo("{nam}")}), r"\{nam\}", "Did you mean 'name'?")


def test_templates_that_cannot_be_read_are_refused(gen: Gen) -> None:
    for bad in ("{", "a } b", "{}", "{ }", "{a", 5, None, b"x"):
        with pytest.raises(InputError):
            gen()(bad)
    for bad in ("{{ a", "{% for %}", "{{ a.b( }}"):
        with pytest.raises(InputError):
            gen()(bad, template="jinja")
    odd: Any = "mustache"
    refused(lambda: gen()("a", template=odd), "template is 'mustache'", "'bare' and 'jinja'")


# Circles ----------------------------------------------------------------------------------------


def test_circles_are_said_with_their_way(schema: Schema, gen: Gen) -> None:
    ask = gen()
    refused(
        lambda: schema({"a": ask("{b}"), "z": 1, "b": lambda c: c, "c": ask("{a} {z}")}),
        "in a circle: a needs b needs c needs a",
    )
    refused(
        lambda: schema({"a": ask("{a}")}),
        r"names \{a\}, which is itself",
    )
    refused(lambda: schema({"a": lambda a: a}), "the parameter 'a' is no column")
    for itself in (
        column(lambda row: 1, requires="a"),
        ask("x", when="a"),
        ask("x", when={"a": 1}),
        penstock.eval.exact_match("a", "a"),
        sample.subcategory("a", {"x": ["y"]}),
    ):
        refused(lambda itself=itself: schema({"a": itself}))  # type: ignore[misc]
    refused(
        lambda: schema({"a": ask("x", when="b"), "b": ask("y", check=lambda text, a: True)}),
        "a needs b needs a",
    )
    fields = ask("{x}", response_format=Person, expand=True)
    refused(lambda: schema({"who": fields, "x": lambda name: name}), "who needs x needs who")


def test_a_long_chain_is_no_circle_and_no_recursion_and_works(schema: Schema) -> None:
    columns: dict[str, Any] = {"c0": 0}
    for number in range(1, 1500):
        columns[f"c{number}"] = column(lambda row: sum(row.values()) + 1, requires=f"c{number - 1}")
    shuffled = dict(sorted(columns.items(), key=lambda item: int(item[0][1:]) % 97))
    assert schema(shuffled, 1).generate()["c1499"] == [1499]


def test_no_circle_is_seen_where_there_is_none_and_it_works(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    echo = gen("simulated-echo")
    columns = {
        "late": echo("{made}!"),
        "made": lambda row: "m" + str(len(row)),
        "both": lambda row: row["late"] + row["made"],
        "first": echo("{both}?"),
        "looped": echo(lambda row: row["first"] + "*"),
    }
    [row] = plain(schema(columns, 1).generate())
    assert row["made"] == "m0", "what is made of it is not in its row"
    assert row["looped"] == "m0!m0?*"
    assert sent(simulator) == 3


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_any_schema_without_a_circle_works_in_any_order(
    schema: Schema, data: st.DataObject
) -> None:
    """Rows functions among strict ones: each strict input is there, nothing hangs."""
    count = data.draw(st.integers(1, 9))
    order = data.draw(st.permutations(range(count)))
    columns: dict[str, Any] = {}
    for place, number in enumerate(order):
        needed = [f"c{n}" for n in order[:place] if data.draw(st.booleans())]
        columns[f"c{number}"] = data.draw(
            st.sampled_from(
                [
                    column(lambda row: [*row], requires=needed),
                    (lambda row: [*row]) if not needed else column(lambda row: 1, requires=needed),
                ]
            )
        )
    written = {f"c{n}": columns[f"c{n}"] for n in data.draw(st.permutations(range(count)))}
    [row] = plain(schema(written, 1).generate())
    assert list(row) == list(written)


# What cannot be made ----------------------------------------------------------------------------


def test_columns_that_there_would_be_twice(schema: Schema, gen: Gen) -> None:
    who = gen()("A person", response_format=Person, expand=True)
    refused(
        lambda: schema({"who": who, "age": 3}),
        "two columns 'age': of 'who' and of 'age'",
        "leave out expand=True",
    )
    refused(lambda: schema({"name": 3, "who": who}), "two columns 'name'")
    refused(lambda: schema({"a": who, "b": who}), "two columns 'name': of 'a' and of 'b'")


def test_more_rows_than_a_source_has(schema: Schema, gen: Gen) -> None:
    data = [{"x": n} for n in range(10)]
    columns = {"x": sample.from_dataset(data, "x", replace=False), "y": gen()("{x}")}
    for options in ({}, {"until": 2, "most": 11}, {"until": 11}):
        refused(schema(columns, 11, **options).generate, "the data has 10 and replace=False")
    refused(lambda: list(schema(columns, 11).stream()), "the data has 10")
    wrong = {"x": sample.from_dataset(data, "y"), "z": gen()("a")}
    refused(schema(wrong).generate, "no column 'y'")
    refused(schema({"x": sample.from_dataset([], "x")}).generate, "no rows")


def test_options_that_mean_nothing(schema: Schema, gen: Gen) -> None:
    columns = {"x": gen()("a")}
    bad: dict[str, list[Any]] = {
        "n": [0, -1, 1.5, "10", True, None],
        "seed": [1.5, None, True, [1]],
        "until": [0, -3, "5", 2.0, True],
        "most": [0],
        "concurrency": [0, -1, "many"],
        "max_concurrent_rows": [0, 2.5],
        "max_concurrent_columns": [0],
        "batch_size": [0],
        "budget": [-1, "much", float("nan")],
        "cache": ["maybe", None],
        "failures": ["ignore"],
        "batch": ["yes", 2],
        "wait": ["no", 0],
        "view": ["yes"],
        "name": [5],
        "check": [{"min_length": 1}, "x"],
        "dedupe": [0.2, 1.5, object(), []],
        "max_concurrent_row": [5],
    }
    for name, values in bad.items():
        for value in values:
            if (name, value) == ("n", None):
                continue  # as many as usual

            def make(name: str = name, value: Any = value) -> None:
                schema(columns, **{name: value}).generate()

            try:
                refused(make)
            except BaseException as error:
                raise AssertionError(f"{name}={value!r}: {error!r}") from error
    with pytest.raises(InputError, match="there is no option 'max_concurrent_row'") as raised:
        schema(columns, max_concurrent_row=5)
    assert "Did you mean 'max_concurrent_rows'?" in raised.value.remedy
    refused(schema(columns, most=5).generate, "most is for until", "until=N")
    refused(schema(columns, until=5, most=4).generate, "most is 4, less than until=5")
    for tries in (0, 101, 1.5, True):
        refused(lambda tries=tries: gen()("a", tries=tries), "tries is")  # type: ignore[misc]


def test_rules_that_mean_nothing(gen: Gen) -> None:
    ask = gen()
    refused(lambda: ask("a", check={"min_lenght": 3}), "no rule 'min_lenght'", "'min_length'")
    for rules in (
        {"min_length": -1}, {"max_length": "3"}, {"matches": "("}, {"matches": 5},
        {"least": "1"}, {"most": None},
    ):  # fmt: skip
        refused(lambda rules=rules: ask("a", check=rules), "check")  # type: ignore[misc]
    refused(lambda: ask("a", check=5), "check is a int")
    refused(lambda: ask("a", when=5), "when is a int")


def test_endpoints_and_keys_that_are_not_there(
    schema: Schema, gen: Gen, simulator: Simulator, bench: Workbench
) -> None:
    good, missing = gen()("a"), KeyMissingError
    for source, error in (
        (penstock.generator("opneai", model="gpt-4o"), EndpointError),
        (penstock.generator("openai"), missing),
        (penstock.generator(Endpoint("openai", "m", simulator.url, key="env:NO_KEY")), missing),
        (penstock.generator("openai", "env:NO_KEY"), missing),
    ):
        with pytest.raises(error):
            schema({"good": good, "x": source("b")}).generate()
        with pytest.raises(error):
            list(schema({"good": good, "x": source("b")}).stream())
    refused(lambda: penstock.generator("openai", ""), "api_key is empty")
    refused(lambda: penstock.generator("openai", 5), "api_key is a int")  # type: ignore[arg-type]
    refused(lambda: penstock.generator("openai", model="m", messages=[]), "messages")
    with pytest.raises(InputError, match="has no batch lane"):
        schema({"x": penstock.generator("simulated")("a")}, batch=True).generate()
    refused(schema({"x": good}, budget=1).generate, "price")
    refused(lambda: schema({"x": good}, batch=True, cache="refresh"), "refresh")


def test_a_function_that_needs_a_failed_column_is_no_fault_of_the_schema_and_works(
    schema: Schema,
) -> None:
    table = schema({"a": lambda: 1 / 0, "b": lambda a: a, "c": 1}, 1).generate()
    assert failures(table) == [(0, "a", "input"), (0, "b", "needed")]
