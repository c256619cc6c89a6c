"""Conditions and checks: which rows have a cell, and what it must be before it is one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

import penstock
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.generate.columns import column
from penstock.generate.rules import Check
from penstock.generate.samplers import sample
from penstock.simulator import Simulator
from tests.generate.schema_kit import Gen, Schema, failures, plain, questions, sent

# Conditions -------------------------------------------------------------------------------------


def test_only_the_rows_that_a_condition_names_have_a_cell(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    async def slowly(level: str) -> bool:
        return level == "hard"

    echo = gen("simulated-echo")
    columns = {
        "n": sample.sequence(),
        "level": lambda n: ["easy", "medium", "hard"][n % 3],
        "is_hard": lambda level: level == "hard",
        "by_column": echo("A {n}", when="is_hard"),
        "by_value": echo("B {n}", when={"level": "hard"}),
        "by_values": echo("C {n}", when={"level": ["medium", "hard"], "is_hard": True}),
        "by_function": echo("D {n}", when=lambda level: level == "hard"),
        "by_row": echo("E {n}", when=lambda row: row["level"] == "hard"),
        "by_async": echo("F {n}", when=slowly),
        "plain": column(lambda n: n, when="is_hard"),
        "talk": echo.conversation("G {n}", when="is_hard"),
        "match": column(penstock.eval.exact_match("level", "level"), when="is_hard"),
        "after": echo("[{by_column}]"),
    }
    table = schema(columns, 9).generate()
    for row in plain(table):
        for name in list(columns)[3:-1]:
            assert (row[name] is not None) is (row["n"] % 3 == 2), name
        expected = f"[A {row['n']}]" if row["is_hard"] else "[]"
        assert row["after"] == expected, "what was left out is nothing, not a failure"
    assert sent(simulator) == 3 * 7 + 9


def test_a_condition_on_a_failed_column_fails_with_it(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    columns = {
        "bad": lambda: 1 / 0,
        "x": gen()("a", when="bad"),
        "y": gen()("b", when=lambda bad: bad),
        "z": gen()("c", when=lambda row: row["bad"]),
        "w": gen()("d", when=lambda row: True),
    }
    table = schema(columns, 1).generate()
    assert failures(table) == [(0, "bad", "input")] + [(0, c, "needed") for c in "xyz"]
    assert sent(simulator) == 1


# Checks -----------------------------------------------------------------------------------------


def refusing(*refused: str, say: Any = False) -> Callable[[str], Any]:
    """A check that refuses some values."""

    def check(value: str) -> Any:
        if value not in refused:
            return True
        if isinstance(say, BaseException):
            raise say
        return say

    return check


@pytest.mark.parametrize(
    ("say", "why"),
    [
        (False, "the check refused it"),
        (0, "the check refused it"),
        ("", "the check refused it"),
        ("too dull", "too dull"),
        (ValueError("too long"), "too long"),
        (AssertionError("not so"), "not so"),
        (AssertionError(), "the check refused it"),
    ],
)
def test_a_check_says_no_in_many_ways(
    schema: Schema, gen: Gen, simulator: Simulator, say: Any, why: str
) -> None:
    table = schema({"x": gen("simulated-echo")("it", check=refusing("it", say=say))}, 1).generate()
    [failure] = table.failures
    assert (failure["kind"], failure["attempts"]) == ("rejected", 3)
    assert failure["message"] == f"made 3 times and refused: {why}"
    assert sent(simulator) == 3


@pytest.mark.parametrize("say", [True, None, 1, [0]])
def test_a_check_says_yes_in_many_ways(schema: Schema, gen: Gen, say: Any) -> None:
    table = schema({"x": gen("simulated-echo")("it", check=lambda text: say)}, 1).generate()
    assert table["x"] == ["it"]


def test_each_try_is_another_draw_and_is_found_again(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    seen: dict[int, list[str]] = {}

    def third_time(text: str, n: int) -> bool:
        seen.setdefault(n, []).append(text)
        return len(seen[n]) == 3

    columns = {
        "n": sample.sequence(),
        "x": gen()("Name something", check=third_time, tries=5),
        "y": gen()("More of {x}"),
    }
    table = schema(columns, 10).generate()
    assert [seen[n][-1] for n in range(10)] == table["x"]
    assert len({text for texts in seen.values() for text in texts}) == 30, "no text came twice"
    assert sent(simulator) == 10 * 3 + 10
    seen.clear()
    assert schema(columns, 10).generate().to_list() == table.to_list()
    assert sent(simulator) == 40


def test_tries_are_bounded_and_the_refused_cell_fails_its_dependents(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    never = gen()("x {n}", check=lambda text: "never", tries=4)
    columns = {"n": sample.sequence(), "x": never, "y": lambda x: x, "z": gen()("z {n}")}
    table = schema(columns, 3).generate()
    assert failures(table) == [
        (n, name, kind) for n in range(3) for name, kind in (("x", "rejected"), ("y", "needed"))
    ]
    assert table["status"] == ["failed"] * 3 and all(table["z"])
    assert sent(simulator) == 3 * 4 + 3
    schema(columns, 3).generate()
    assert sent(simulator) == 15, "also what was refused is not asked again"


def test_once_is_once(schema: Schema, gen: Gen, simulator: Simulator) -> None:
    table = schema({"x": gen()("x", check=lambda text: False, tries=1)}, 1).generate()
    assert table.failures[0]["message"] == "made once and refused: the check refused it"
    assert sent(simulator) == 1
    table = schema({"x": column(lambda: 5, check=lambda x: False, tries=9)}, 1).generate()
    assert table.failures[0]["message"].startswith("made once"), "it would be the same again"


def test_feedback_tells_the_model_what_was_refused_and_why(
    schema: Schema, gen: Gen, bench: Workbench, tmp_path: Path, simulator: Simulator
) -> None:
    refusals: list[str] = []

    def check(text: str) -> Any:
        refusals.append(text)
        return True if len(refusals) == 3 else f"reason {len(refusals)}"

    model = gen()("Say it", system_prompt="Be brief", check=check, feedback=True, tries=5)
    table = schema({"x": model}, 1).generate()
    rounds = questions(bench, table, tmp_path)[0]
    assert [len(messages) for messages in rounds] == [2, 4, 6]
    first, second, third = rounds
    assert second[:2] == first and third[:4] == second
    assert second[2] == {"role": "assistant", "content": refusals[0]}
    assert second[3]["role"] == "user" and "reason 1" in second[3]["content"]
    assert third[4]["content"] == refusals[1] and "reason 2" in third[5]["content"]
    assert table["x"] == [refusals[2]]
    assert sent(simulator) == 3


def test_without_feedback_the_same_is_asked(
    schema: Schema, gen: Gen, bench: Workbench, tmp_path: Path
) -> None:
    table = schema({"x": gen()("Say it", check=lambda text: "no")}, 1).generate()
    rounds = questions(bench, table, tmp_path)[0]
    assert rounds == [[{"role": "user", "content": "Say it"}]] * 3


class Person(BaseModel):
    name: str
    age: int


def test_structured_answers_are_checked_as_they_are_and_told_as_json(
    schema: Schema, gen: Gen, bench: Workbench, tmp_path: Path
) -> None:
    seen: list[Any] = []

    def check(person: dict[str, Any], least: int) -> str | None:
        seen.append(person)
        return None if len(seen) > 1 else f"older than {least}"

    model = gen()("Someone", response_format=Person, expand=True, check=check, feedback=True)
    table = schema({"least": 7, "who": model}, 1).generate()
    assert table[0]["name"] == seen[1]["name"]
    last = questions(bench, table, tmp_path)[0][-1]
    assert '"name"' in last[1]["content"] and "older than 7" in last[2]["content"]


# Rules ------------------------------------------------------------------------------------------


def test_rules_are_checks_that_are_data(schema: Schema, gen: Gen) -> None:
    echo = gen("simulated-echo")
    cases: list[tuple[dict[str, Any], str, str | None]] = [
        ({"min_length": 3}, "ab", "its length is 2, below 3"),
        ({"max_length": 1}, "ab", "its length is 2, above 1"),
        ({"matches": r"\?$"}, "ab", r"it does not match \?$"),
        ({"contains": ["a", "x"]}, "ab", "it does not contain 'x'"),
        ({"contains": "b"}, "ab", None),
        ({"not_contains": "b"}, "ab", "it contains 'b'"),
        ({"one_of": ["cd", "ef"]}, "ab", "it is none of cd, ef"),
        ({"min_length": 1, "max_length": 5, "matches": "^a"}, "ab", None),
        ({}, "ab", None),
    ]
    columns = {
        f"c{n}": echo(text, check=rules, tries=1) for n, (rules, text, _) in enumerate(cases)
    }
    table = schema(columns, 1).generate()
    told = {each["column"]: each["message"] for each in table.failures}
    for number, (rules, _, why) in enumerate(cases):
        said = told.get(f"c{number}")
        assert said == (why and f"made once and refused: {why}"), rules
    numbers = {"x": column(sample.range(0, 20), check={"least": 5, "most": 9}, tries=100)}
    assert set(schema(numbers, 60).generate()["x"]) == {5, 6, 7, 8, 9}


def test_a_pattern_reads_to_the_end_but_for_a_line_break() -> None:
    check = Check.of({"matches": r"\?$"})
    assert check is not None
    assert check.problem("Is it?") is check.problem("Is it?\n") is None
    assert check.problem("Is it?\nNo") == r"it does not match \?$"


@pytest.mark.timeout(10)
def test_no_pattern_holds_up_the_work() -> None:
    check = Check.of({"matches": r"^(a+)+$"})
    assert check is not None
    assert check.problem("a" * 50_000 + "!")
    with pytest.raises(InputError, match=r"(?s)check: matches: .*Look-around"):
        Check.of({"matches": r"(?=a)"})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(VALUES)
def test_no_value_breaks_a_rule(value: Any) -> None:
    for rules in (
        {"min_length": 2}, {"max_length": 2}, {"matches": "a"}, {"contains": "a"},
        {"not_contains": "a"}, {"one_of": ["a", 1]}, {"least": 1}, {"most": 1},
    ):  # fmt: skip
        check = Check.of(rules)
        assert check is not None
        assert check.problem(value) is None or check.problem(value)


# Whole rows -------------------------------------------------------------------------------------


def test_rows_that_are_refused_keep_their_values_and_say_so(
    schema: Schema, gen: Gen, simulator: Simulator
) -> None:
    columns = {"n": sample.sequence(), "x": gen("simulated-echo")("about {n}")}

    def even(row: dict[str, Any]) -> Any:
        if row["n"] == 4:
            raise AssertionError("four is out")
        return row["n"] % 2 == 0 or f"{row['x']} is odd"

    table = schema(columns, 6, check=even).generate()
    assert table["status"] == ["ok", "rejected", "ok", "rejected", "rejected", "rejected"]
    assert all(table["x"]), "it is paid for, and shown"
    told = [(each["row"], each["column"], each["message"]) for each in table.failures]
    assert told[0] == (1, None, "about 1 is odd") and (4, None, "four is out") in told
    assert table.run.state == "completed"
    assert sent(simulator) == 6


def test_a_check_of_rows_takes_columns_and_fields_by_name(schema: Schema, gen: Gen) -> None:
    who = gen()("Someone", response_format=Person, expand=True)

    async def check(age: int, n: int, name: str) -> bool:
        return n > 0 and bool(name) and age > 0

    table = schema({"n": sample.sequence(), "who": who}, 3, check=check).generate()
    assert table["status"] == ["rejected", "ok", "ok"]


def test_a_failed_row_is_not_checked(schema: Schema) -> None:
    seen: list[int] = []
    columns = {"n": sample.sequence(), "x": lambda n: 1 // n}
    schema(columns, 3, check=lambda n: seen.append(n)).generate()
    assert sorted(seen) == [1, 2]
