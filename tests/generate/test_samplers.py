"""Samplers give what they say, the same for the same seed, and refuse what cannot be."""

from __future__ import annotations

import json
import math
import os
import pickle
import re
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import FrozenInstanceError, fields
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from zoneinfo import ZoneInfo

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from penstock.errors import InputError
from penstock.generate.samplers import Sampler, check_groups, sample
from penstock.generate.samplers.draw import Draw
from penstock.generate.samplers.people import COUNTRIES, JOBS
from penstock.generate.samplers.person import FIELDS
from penstock.tables import Table, rows

DATA = [{"question": f"q{n}", "answer": f"a{n}", "n": n} for n in range(50)]
finite = st.floats(-1e9, 1e9)


def column(
    sampler: Sampler, n: int, seed: int = 0, name: str = "column", row: Mapping[str, Any] = {}
) -> list[Any]:
    """What a schema's column of this sampler would hold."""
    sampler.needs(n)
    draw = Draw()
    by = sampler.group or name
    return [sampler.value(draw.at(seed, by, number), number, row) for number in range(n)]


# Choices


@given(st.lists(st.integers() | st.text(), min_size=1), st.integers())
def test_a_choice_is_one_of_its_items_and_the_same_again(items: list[Any], seed: int) -> None:
    found = column(sample.choice(items), 20, seed)
    assert all(value in items for value in found)
    assert found == column(sample.choice(list(items)), 20, seed)


def test_every_item_is_chosen_equally_often() -> None:
    found = Counter(column(sample.choice(list("abcdefg")), 10_000))
    assert stats.chisquare(list(found.values())).pvalue > 1e-4


def test_a_choice_that_a_row_changes_is_unchanged_in_the_next() -> None:
    sampler = sample.choice([["tag"], {"a": [1]}])
    first = column(sampler, 10)
    for value in first:
        value.clear()
    assert column(sampler, 10) != first


@pytest.mark.parametrize("items", [pd.Series([1, 2]), np.array([1, 2]), (1, 2), range(1, 3)])
def test_a_choice_may_be_given_in_many_ways(items: Any) -> None:
    assert set(column(sample.choice(items), 30)) == {1, 2}
    assert {type(value) for value in column(sample.choice(items), 30)} == {int}


@given(
    st.dictionaries(st.text(), st.floats(0, 1e300) | st.integers(0, 10**30), min_size=1),
    st.integers(),
)
@example({"zero": 0, "some": 1e-300, "none": 0}, 0)
@example({"a": 1e300, "b": 1.7e300}, 0)
def test_what_weighs_nothing_never_comes(weights: dict[str, float], seed: int) -> None:
    assume(any(weights.values()))
    found = column(sample.weighted(weights), 30, seed)
    assert all(weights[value] > 0 for value in found)
    assert found == column(sample.weighted(list(weights), weights=weights.values()), 30, seed)


def test_weights_are_kept() -> None:
    weights = {"a": 1, "b": 2, "c": 5, "never": 0, "d": 0.5}
    found = Counter(column(sample.weighted(weights), 20_000))
    there = [key for key, weight in weights.items() if weight]
    wanted = [20_000 * weights[key] / 8.5 for key in there]
    assert stats.chisquare([found[key] for key in there], wanted).pvalue > 1e-4


def test_a_subcategory_belongs_to_the_value_of_its_column() -> None:
    sampler = sample.subcategory(
        of="kind", items={"fruit": ["apple", "pear"], "tree": {"oak": 1, "elm": 0}, 3: ["three"]}
    )
    assert sampler.requires == ("kind",)
    assert set(column(sampler, 30, row={"kind": "fruit"})) == {"apple", "pear"}
    assert set(column(sampler, 30, row={"kind": "tree"})) == {"oak"}
    assert sampler({"kind": 3}) == "three"


@pytest.mark.parametrize("row", [{"kind": "frut"}, {}, {"kind": ["fruit"]}, {"kind": None}])
def test_a_row_without_a_known_category_is_a_clear_error(row: dict[str, Any]) -> None:
    sampler = sample.subcategory("kind", {"fruit": ["apple"]})
    with pytest.raises(InputError, match="kind"):
        sampler(row)
    with pytest.raises(InputError) as caught:
        sampler({"kind": "frut"})
    assert "'fruit'" in caught.value.remedy


# Numbers


@given(st.integers(), st.integers(0, 10**25), st.integers(1, 10**20), st.integers())
def test_a_range_of_whole_numbers_keeps_its_ends_and_step(
    low: int, span: int, step: int, seed: int
) -> None:
    for value in column(sample.range(low, low + span, step), 5, seed):
        assert type(value) is int
        assert low <= value <= low + span
        assert (value - low) % step == 0
    assert all(low <= value <= low + span for value in column(sample.range(low, low + span), 5))


@given(finite, st.floats(0, 1e9), st.floats(0.001, 1e6), st.integers())
@example(0.0, 1.0, 0.1, 0)
def test_a_range_of_floats_keeps_its_ends_and_step(
    low: float, span: float, step: float, seed: int
) -> None:
    high = low + span
    for value in column(sample.range(low, high, step), 5, seed):
        assert type(value) is float
        assert low <= value <= high
        turns = (value - low) / step
        assert math.isclose(turns, round(turns), abs_tol=1e-3 + abs(value) * 1e-12 / step)


def test_every_step_of_a_range_comes_and_no_other() -> None:
    assert set(column(sample.range(1, 6), 200)) == {1, 2, 3, 4, 5, 6}
    assert set(column(sample.range(0, 10, 4), 200)) == {0, 4, 8}
    assert set(column(sample.range(0, 1, 0.1), 500)) == {round(n / 10, 1) for n in range(11)}
    assert set(column(sample.range(0.0, 1, 0.3), 200)) == {0.0, 0.3, 0.6, 0.9}
    assert set(column(sample.range(5, 5), 5)) == {5}
    assert {type(value) for value in column(sample.range(1.0, 2), 5)} == {float}


@given(finite, st.floats(0, 1e9), st.none() | st.integers(0, 6), st.integers())
def test_a_uniform_number_keeps_its_limits_and_decimals(
    low: float, span: float, decimals: int | None, seed: int
) -> None:
    try:
        sampler = sample.uniform(low, low + span, decimals)
    except InputError as error:
        assert "decimals" in str(error)
        return
    for value in column(sampler, 5, seed):
        assert low <= value <= low + span
        assert decimals is None or round(value, decimals) == value
        assert type(value) is (int if decimals == 0 else float)


@given(finite, st.floats(0, 1e6), finite, st.floats(0, 1e9), st.none() | st.integers(0, 4))
@example(0.0, 5e-324, 1.0, 1.0, None)
@example(0.0, 1.0, 5.0, 1e9, None)
@example(0.0, 1e-9, 0.1000001, 0.1, 1)
@example(0.0, 1.0, -40.0, 1.0, None)
@settings(deadline=None)
def test_a_normal_number_keeps_its_limits_however_far(
    mean: float, std: float, low: float, span: float, decimals: int | None
) -> None:
    try:
        sampler = sample.normal(mean, std, low, low + span, decimals)
    except InputError as error:
        assert "decimals" in str(error) or std == 0
        return
    for value in column(sampler, 5):
        assert low <= value <= low + span
        assert decimals is None or round(value, decimals) == value


@pytest.mark.parametrize(
    ("low", "high"),
    [(None, None), (-1, 2), (0, None), (2, None), (None, -3), (0.1, 0.2), (4, 9), (-0.05, 0.1)],
)
def test_a_normal_number_is_cut_off_at_its_limits_not_piled_up(
    low: float | None, high: float | None
) -> None:
    least, most = (None if end is None else 10 + 2 * end for end in (low, high))
    found = column(sample.normal(10, 2, least, most), 5000)
    a, b = (-np.inf if low is None else low), (np.inf if high is None else high)
    assert stats.kstest(found, stats.truncnorm(a, b, 10, 2).cdf).pvalue > 1e-4


@pytest.mark.parametrize("rate", [0, 0.5, 30])
def test_counts_have_their_mean_and_are_whole(rate: float) -> None:
    found = column(sample.poisson(rate), 5000)
    assert {type(value) for value in found} == {int}
    assert abs(sum(found) / 5000 - rate) <= 5 * math.sqrt(rate / 5000)


@given(st.floats(0, 1), st.integers())
def test_bernoulli_is_true_or_false(p: float, seed: int) -> None:
    assert {type(value) for value in column(sample.bernoulli(p), 5, seed)} == {bool}


def test_bernoulli_keeps_its_share() -> None:
    assert set(column(sample.bernoulli(0), 100)) == {False}
    assert set(column(sample.bernoulli(1), 100)) == {True}
    found = Counter(column(sample.bernoulli(0.3), 10_000))
    assert stats.chisquare([found[True], found[False]], [3000, 7000]).pvalue > 1e-4


# Times


@given(st.datetimes(), st.datetimes(), st.integers())
def test_a_moment_lies_between_its_ends(one: datetime, other: datetime, seed: int) -> None:
    start, end = min(one, other), max(one, other)
    for value in column(sample.datetime(start, end), 5, seed):
        assert start <= value <= end


def test_an_end_without_a_time_includes_its_whole_day() -> None:
    found = column(sample.datetime("2024-12-31", "2024-12-31"), 500)
    assert min(found) < datetime(2024, 12, 31, 2) and max(found) > datetime(2024, 12, 31, 22)
    assert {value.date() for value in found} == {date(2024, 12, 31)}
    assert not any(value.microsecond for value in found)
    assert set(column(sample.datetime("2024-12-31T12:00", "2024-12-31T12:00:01"), 50)) == {
        datetime(2024, 12, 31, 12),
        datetime(2024, 12, 31, 12, 0, 1),
    }


def test_moments_and_days_are_written_where_a_format_is_given() -> None:
    assert set(column(sample.datetime("2024-01-05", "2024-01-05", format="%d/%m/%y"), 3)) == {
        "05/01/24"
    }
    iso = column(sample.datetime(date(2024, 1, 5), date(2024, 2, 5), format="iso"), 20)
    assert all(datetime.fromisoformat(text).year == 2024 for text in iso)
    assert set(column(sample.date("2024-02-28", "2024-03-01"), 50)) == {
        date(2024, 2, 28),
        date(2024, 2, 29),
        date(2024, 3, 1),
    }
    assert set(column(sample.date("2024-02-29", "2024-02-29", format="%d.%m."), 3)) == {"29.02."}
    assert column(sample.datetime(pd.Timestamp("2024-01-05T01"), "2024-01-05T01:00"), 1) == [
        datetime(2024, 1, 5, 1)
    ]


def test_moments_of_a_zone_are_counted_in_true_time() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    start = datetime(2024, 3, 31, 1, tzinfo=berlin)  # an hour is skipped this night
    found = column(sample.datetime(start, start.replace(hour=4)), 300)
    assert all(value.tzinfo is berlin for value in found)
    after = [value.astimezone(UTC) - start.astimezone(UTC) for value in found]
    assert timedelta(0) <= min(after) and max(after) <= timedelta(hours=2)
    assert not [value for value in found if value.hour == 2]


# Texts


def test_a_uuid_is_one_of_version_4() -> None:
    found = column(sample.uuid(), 500)
    assert len(set(found)) == 500
    for text in found:
        assert str(uuid.UUID(text)) == text
        assert (uuid.UUID(text).version, uuid.UUID(text).variant) == (4, uuid.RFC_4122)


@given(st.integers(-(10**6), 10**6), st.integers(-50, 50).filter(bool))
def test_a_sequence_counts_with_the_rows(start: int, step: int) -> None:
    assert column(sample.sequence(start, step), 4) == [start + step * n for n in range(4)]


def test_a_sequence_may_be_part_of_a_text() -> None:
    assert column(sample.sequence(prefix="ID-", width=5), 2) == ["ID-00000", "ID-00001"]
    assert column(sample.sequence(9, template="<{n}>{{x}}"), 2) == ["<9>{x}", "<10>{x}"]
    assert column(sample.sequence(width=3), 2) == ["000", "001"]
    assert column(sample.sequence(prefix="{n}"), 1) == ["{n}0"]


PATTERNS = [
    r"[A-Z]{3}-\d{4}", r"(cat|dog)s?", r"\w+@example\.(com|org)", r"^\d{2,4}$", r"(a)(b)?(?(2)c|d)",
    r"(\d)\1{2}", r"[^a-z]{5}", r"(?i)abc", r"(?P<x>[01])(?P=x)", r"", r"a|", r"\+49 \d{3}",
    r"(?=\d)[0-9a-f]{4}", r"x{3,}", r"[äöü]{2}", r"(?:red|green|blue) (?:sky|sea)", r".{4}",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_text_matches_its_pattern_as_a_whole(pattern: str) -> None:
    found = column(sample.regex(pattern), 50)
    assert all(re.fullmatch(pattern, text) for text in found)
    assert found == column(sample.regex(pattern), 50)


@pytest.mark.parametrize("pattern", [r"a\bb", r"(", r"a(?!)", r"x{9999999}", r"((((a*)*)*)*)*b"])
def test_a_pattern_that_cannot_be_served_is_refused_at_once(pattern: str) -> None:
    with pytest.raises(InputError, match=r"pattern|matches"):
        sample.regex(pattern)


# People


@given(st.integers())
@settings(deadline=None)
def test_the_parts_of_a_person_fit_together(seed: int) -> None:
    for person in column(sample.person(), 3, seed):
        country = COUNTRIES[person["country"]]
        assert tuple(person) == FIELDS
        assert person["first_name"] in getattr(country, person["sex"])
        assert person["last_name"] in country.family
        assert sorted(person["name"].split()) == sorted(
            f"{person['first_name']} {person['last_name']}".split()
        )
        assert person["city"] in country.cities
        assert person["job"] in JOBS
        assert 18 <= person["age"] <= 90
        assert re.fullmatch(r"[a-z.0-9]+@example\.(com|net|org)", person["email"])


FICTIONAL = (
    r"\+1 \d{3} 555 01\d\d|\+44 (20 7946 0\d{3}|7700 900\d{3}|1632 960\d{3})|\+49 30 23125 \d{3}"
    r"|\+33 (1 99 00|6 39 98) \d\d \d\d|\+46 70 174 06 [1-4]\d|\+61 2 (5550|7010) \d{4}"
)


def test_no_telephone_number_rings() -> None:
    for phone in column(sample.person("phone"), 2000):
        assert re.fullmatch(FICTIONAL, phone), phone


def test_what_is_fixed_stays_and_changes_nothing_else() -> None:
    free = column(sample.person(), 20)
    fixed = column(sample.person(job="baker", age=(30, 31)), 20)
    assert {person["job"] for person in fixed} == {"baker"}
    assert {person["age"] for person in fixed} == {30, 31}
    for one, other in zip(free, fixed, strict=True):
        assert one | {"job": 0, "age": 0} == other | {"job": 0, "age": 0}
    found = column(sample.person(country="Japan", sex="female", name="Aiko Ito", age=40), 20)
    assert {(p["country"], p["sex"], p["name"], p["age"]) for p in found} == {
        ("Japan", "female", "Aiko Ito", 40)
    }
    assert all(person["email"].startswith("aiko.ito") for person in found)


def test_columns_of_one_group_are_one_person() -> None:
    author = sample.person(group="author")
    whole = column(author, 20, name="whole")
    assert column(author["name"], 20, name="a") == [person["name"] for person in whole]
    assert column(author.email, 20, name="b") == [person["email"] for person in whole]
    other = sample.person(group="reader")
    assert column(other["name"], 20) != column(author["name"], 20)
    assert column(sample.person("name"), 20, name="a") != column(
        sample.person("name"), 20, name="b"
    )


# Rows of other data


def sources(folder: Path) -> Iterator[Any]:
    Table.from_rows(DATA).save(folder / "data.arrow")
    for suffix in ("csv", "parquet", "jsonl"):
        Table.from_rows(DATA).save(folder / f"data.{suffix}")
        yield folder / f"data.{suffix}"
    yield str(folder / "data.arrow")
    yield Table.from_rows(DATA)
    yield DATA
    yield {"question": [row["question"] for row in DATA], "answer": [r["answer"] for r in DATA],
           "n": [row["n"] for row in DATA]}  # fmt: skip
    yield (row for row in DATA)
    yield rows(DATA)
    yield pd.DataFrame(DATA)
    yield pl.DataFrame(DATA)
    yield pl.DataFrame(DATA).lazy()
    yield pa.Table.from_pylist(DATA)
    yield pa.Table.from_pylist(DATA).to_reader()
    yield datasets.Dataset.from_list(DATA)
    yield datasets.Dataset.from_list(DATA + DATA[:5]).select(range(50))


def test_rows_of_every_kind_of_data_are_kept_together(tmp_path: Path) -> None:
    for data in sources(tmp_path):
        source = sample.from_dataset(data)
        whole = column(source, 200, name="row")
        as_text = [{key: str(value) for key, value in row.items()} for row in DATA]
        assert all(row in (as_text if str(data).endswith("csv") else DATA) for row in whole), data
        assert len({row["n"] for row in whole}) > 40
        questions = column(source["question"], 200, name="q")
        answers = column(source["answer"], 200, name="a")
        assert questions == [row["question"] for row in whole]
        assert answers == [row["answer"] for row in whole]


def test_columns_taken_apart_still_stem_from_the_same_row() -> None:
    frame = pd.DataFrame(DATA)
    questions = column(sample.from_dataset(frame, "question"), 30, name="q")
    answers = column(sample.from_dataset(frame, column="answer"), 30, name="a")
    assert [text[1:] for text in questions] == [text[1:] for text in answers]
    apart = column(sample.from_dataset(frame, "answer", name="other"), 30, name="a")
    assert apart != answers


def test_the_draw_depends_on_the_data_and_not_on_the_object() -> None:
    one, other = (sample.from_dataset(pd.DataFrame(DATA))["n"] for _ in range(2))
    assert one.group == other.group
    assert column(one, 30) == column(other, 30)


def test_two_sources_that_look_alike_are_told_apart_or_refused(tmp_path: Path) -> None:
    one, other = pd.DataFrame(DATA), pd.DataFrame(DATA)
    with pytest.raises(InputError) as caught:
        check_groups([sample.from_dataset(one)["n"], sample.from_dataset(other)["n"]])
    assert "name=" in caught.value.remedy
    check_groups([sample.from_dataset(one)["n"], sample.from_dataset(one)["question"]])
    check_groups([sample.from_dataset(one, name="a"), sample.from_dataset(other, name="b")])
    check_groups([sample.from_dataset([{"a": 1}]), sample.from_dataset([{"b": 1}])])
    check_groups([sample.uuid(), sample.uuid(), sample.choice([1])])
    Table.from_rows(DATA).save(tmp_path / "data.csv")
    check_groups([sample.from_dataset(tmp_path / "data.csv", name) for name in ("n", "answer")])


def test_without_replacement_each_row_comes_once_and_more_rows_change_none() -> None:
    source = sample.from_dataset(DATA, replace=False)
    found = column(source["n"], 50, seed=3)
    assert sorted(found) == list(range(50))
    assert column(source["n"], 20, seed=3) == found[:20]
    assert column(source["n"], 50, seed=4) != found
    assert [text[1:] for text in column(source["answer"], 50, seed=3)] == [str(n) for n in found]
    for too_many in (51, 1000):
        with pytest.raises(InputError, match="50"):
            source.needs(too_many)
    with pytest.raises(InputError, match="replace=False"):
        source.value(Draw().at(0, "a", 50), 50, {})


def test_many_batches_are_one_table(tmp_path: Path) -> None:
    parts = [pa.table({"n": list(range(at, at + 7))}) for at in range(0, 700, 7)]
    with pa.ipc.new_file(tmp_path / "data.arrow", parts[0].schema) as writer:
        for part in parts:
            writer.write(part)
    found = column(sample.from_dataset(tmp_path / "data.arrow", "n", replace=False), 700)
    assert sorted(found) == list(range(700))


def test_a_misspelt_column_is_said_with_a_suggestion() -> None:
    for data in (pd.DataFrame(DATA), Table.from_rows(DATA), pa.Table.from_pylist(DATA)):
        with pytest.raises(InputError) as caught:
            sample.from_dataset(data, "anwser")
        assert "'answer'" in caught.value.remedy
        with pytest.raises(InputError, match="qestion"):
            sample.from_dataset(data)["qestion"]
    late = sample.from_dataset((row for row in DATA), "anwser")
    with pytest.raises(InputError) as caught:
        late.needs(1)
    assert "'answer'" in caught.value.remedy


def test_a_dict_of_splits_asks_for_one() -> None:
    splits = datasets.DatasetDict(
        {"train": datasets.Dataset.from_list(DATA), "test": datasets.Dataset.from_list(DATA[:3])}
    )
    with pytest.raises(InputError, match="train, test"):
        sample.from_dataset(splits)
    with pytest.raises(InputError) as caught:
        sample.from_dataset(splits, split="tset")
    assert "'test'" in caught.value.remedy
    assert set(column(sample.from_dataset(splits, "n", split="test"), 60)) == {0, 1, 2}
    with pytest.raises(InputError, match="no splits"):
        sample.from_dataset(DATA, split="train")


def test_data_is_read_once_and_only_when_needed() -> None:
    read = []

    def slow() -> Iterator[dict[str, int]]:
        for number in range(5):
            read.append(number)
            yield {"n": number}

    source = sample.from_dataset(slow())
    two = source["n"], source["n"]
    assert not read
    assert column(two[0], 30) == column(two[1], 30)
    assert read == [0, 1, 2, 3, 4]


def test_empty_data_is_refused_before_the_run() -> None:
    with pytest.raises(InputError, match="no rows"):
        sample.from_dataset(pd.DataFrame({"a": []}), "a").needs(1)


def test_a_source_cannot_be_iterated_by_mistake() -> None:
    for sampler in (sample.from_dataset(DATA), sample.person()):
        with pytest.raises(TypeError):
            list(sampler)  # type: ignore[call-overload]


# All of them

REFUSED: list[tuple[str, str]] = [
    ("choice([])", "empty"), ("choice('abc')", "text"), ("choice({1, 2})", "order"),
    ("choice(5)", "list"), ("choice({'a': 1})", "dict"), ("weighted({})", "empty"),
    ("weighted({'a': -1})", "0 or more"), ("weighted({'a': 0})", "all weights"),
    ("weighted({'a': nan})", "finite"), ("weighted({'a': inf})", "finite"),
    ("weighted({'a': '1'})", "number"), ("weighted(['a', 'b'], [1])", "2 items"),
    ("weighted(['a'])", "no weights"), ("weighted({'a': 1}, [1])", "dict"),
    ("datetime('2024-02-01', '2024-01-01')", "after"), ("datetime('soon', '2024-01-01')", "soon"),
    ("datetime('2024-01-01', '2024-01-02T00:00+00:00')", "time zone"), ("datetime(1, 2)", "date"),
    ("datetime('2024-01-01', '2024-01-02', format='YYYY')", "%"), ("date('2024-02-30', 1)", "30"),
    ("date('2024-02-02', '2024-02-01')", "after"), ("range(2, 1)", "above high"),
    ("range(1, 2, 0)", "step"), ("range(1, 2, -1)", "step"), ("range(nan, 2)", "finite"),
    ("range(1, inf)", "finite"), ("range('1', 2)", "number"), ("range(True, 2)", "number"),
    ("uniform(2, 1)", "above high"), ("uniform(-1.7e308, 1.7e308)", "wide"),
    ("uniform(0.1, 0.2, 0)", "decimals"), ("uniform(0, 1, 99)", "decimals"),
    ("uniform(0, 10**400)", "large"), ("normal(0, -1)", "std"), ("normal(nan, 1)", "finite"),
    ("normal(0, 1, 2, 1)", "above high"), ("normal(5, 0, 6)", "std is 0"),
    ("normal(1e308, 1e308)", "large"), ("poisson(-1)", "rate"), ("poisson(1e12)", "rate"),
    ("bernoulli(1.1)", "p is"), ("bernoulli(-0.1)", "p is"), ("bernoulli(nan)", "finite"),
    ("subcategory('a', {})", "dict of lists"), ("subcategory('', {'a': [1]})", "of="),
    ("subcategory('a', {'x': []})", "'x'"), ("subcategory('a', ['x'])", "dict of lists"),
    ("sequence(step=0)", "step"), ("sequence(1.5)", "whole"), ("sequence(width=-1)", "width"),
    ("sequence(template='no number')", "{n}"), ("sequence(template='{n} {x}')", "{n}"),
    ("sequence(template='{n')", "lone"), ("sequence(template='{n}', prefix='a')", "both"),
    ("regex(5)", "text"), ("regex('[')", "cannot be read"), ("person('nam')", "'name'"),
    ("person(nam='x')", "'name'"), ("person(sex='other')", "sex"), ("person(age=(5, 1))", "age"),
    ("person(age=-1)", "age"), ("person(country='Keny')", "'Kenya'"), ("person(city='')", "city"),
    ("person()['email']", "group"), ("person(group='a')['email']['name']", "already"),
    ("person(group='')", "group"), ("from_dataset(5)", "no rows"), ("from_dataset({})", "empty"),
    ("from_dataset('/no/such/file.csv')", "file"), ("from_dataset([{'a': 1}], 5)", "column"),
    ("from_dataset([{'a': 1}], 'a')['b']", "already"), ("from_dataset([{'a': 1}], name=5)", "name"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "about"), REFUSED)
def test_what_cannot_be_is_refused_when_it_is_written(call: str, about: str) -> None:
    names = {"sample": sample, "nan": math.nan, "inf": math.inf}
    with pytest.raises(InputError) as caught:
        eval(f"sample.{call}", names)
    assert about in str(caught.value)


GOLDEN: dict[str, list[Any]] = {
    "choice": ["d", "c", "b", "d"],
    "weighted": ["a", "b", "b", "b"],
    "uuid": [
        "5f5afb97-e011-427a-aee7-bcff08368ea4",
        "dbd4450d-8895-4a1c-bf94-bea13d6830d6",
        "64ed54ee-f3b2-4173-b0b9-09c39d58db27",
        "2bd34afa-5d32-4b97-9d01-cc88ad9515b3",
    ],
    "datetime": [
        "2024-08-11T02:50:34",
        "2024-04-15T20:14:20",
        "2024-10-08T19:04:10",
        "2024-12-03T23:18:59",
    ],
    "date": ["2024-06-03", "2024-07-22", "2024-05-15", "2024-06-25"],
    "range": [41, 63, 33, 84],
    "steps": [0.3, 0.55, 0.65, 0.3],
    "uniform": [0.42398389580200635, 0.25303093730011583, -0.6840483113641982, 0.097630457544859],
    "normal": [94.3, 84.46, 100.08, 88.89],
    "tail": [4.334136209916271, 4.103823281867803, 4.296897483536327, 4.103279459929489],
    "poisson": [5, 3, 4, 1],
    "bernoulli": [False, False, True, False],
    "subcategory": ["fig", "pear", "pear", "fig"],
    "sequence": ["ID-0001", "ID-0002", "ID-0003", "ID-0004"],
    "regex": ["FZ516", "HD388", "BA260", "BU052"],
    "person": [
        "tao.yang20@example.net",
        "aisha.macdonald53@example.org",
        "fabio.ferrari34@example.org",
        "maria.brown92@example.com",
    ],
    "grouped": ["Sanjay Patel", "Burak Aydın", "Ito Sakura", "Lin Xiu"],
    "from_dataset": [36, 47, 46, 33],
    "once": [39, 33, 29, 14],
}


def every() -> dict[str, Sampler]:
    return {
        "choice": sample.choice(["a", "b", "c", "d"]),
        "weighted": sample.weighted({"a": 1, "b": 2, "c": 0, "d": 0.5}),
        "uuid": sample.uuid(),
        "datetime": sample.datetime("2024-01-01", "2024-12-31", format="iso"),
        "date": sample.date("2024-01-01", "2024-12-31", format="%Y-%m-%d"),
        "range": sample.range(1, 100),
        "steps": sample.range(0, 1, 0.05),
        "uniform": sample.uniform(-1, 1),
        "normal": sample.normal(100, 15, low=50, decimals=2),
        "tail": sample.normal(0, 1, low=4),
        "poisson": sample.poisson(4),
        "bernoulli": sample.bernoulli(0.5),
        "subcategory": sample.subcategory("kind", {"fruit": ["apple", "pear", "fig"]}),
        "sequence": sample.sequence(1, prefix="ID-", width=4),
        "regex": sample.regex(r"[A-Z]{2}\d{3}"),
        "person": sample.person("email"),
        "grouped": sample.person(group="author")["name"],
        "from_dataset": sample.from_dataset(DATA, "n"),
        "once": sample.from_dataset(DATA, "n", replace=False),
    }


def test_golden_values_do_not_change() -> None:
    found = {
        name: column(sampler, 4, 2024, name, {"kind": "fruit"}) for name, sampler in every().items()
    }
    assert found == GOLDEN


@pytest.mark.parametrize("name", every())
def test_a_sampler_is_frozen_callable_and_says_what_it_is(name: str) -> None:
    sampler = every()[name]
    assert isinstance(sampler, Sampler)
    assert repr(sampler).startswith("sample.")
    sampler.needs(3)
    sampler({"kind": "fruit"})
    for field in fields(cast(Any, sampler)):
        with pytest.raises(FrozenInstanceError):
            setattr(sampler, field.name, None)
    again = pickle.loads(pickle.dumps(sampler))
    row = {"kind": "fruit"}
    assert column(again, 5, row=row) == column(sampler, 5, row=row)


@pytest.mark.parametrize("name", every())
def test_a_cell_depends_on_seed_column_and_row_alone(name: str) -> None:
    sampler, row = every()[name], {"kind": "fruit"}
    sampler.needs(20)
    by = sampler.group or name
    forth = {n: sampler.value(Draw().at(1, by, n), n, row) for n in range(20)}
    draw = Draw()
    back = {n: sampler.value(draw.at(1, by, n), n, row) for n in reversed(range(20))}
    assert forth == back


def test_calls_without_a_seed_differ() -> None:
    assert len({sample.uuid()() for _ in range(10)}) == 10


@pytest.mark.parametrize(
    "text",
    [
        "sample.choice(['a', 'b'])",
        "sample.weighted({'a': 1, 'b': 0.5})",
        "sample.uuid()",
        "sample.datetime('2024-01-01', '2024-12-31', format='iso')",
        "sample.date('2024-01-01', '2024-12-31')",
        "sample.range(1, 6)",
        "sample.range(0, 1, step=0.1)",
        "sample.uniform(0.0, 1.0, decimals=2)",
        "sample.normal(0.0, 1.0, low=-1.0)",
        "sample.poisson(3.0)",
        "sample.bernoulli(0.5)",
        "sample.regex('[ab]{3}')",
        "sample.person('email', country='Kenya')",
        "sample.person(group='author')",
    ],
)
def test_what_a_sampler_says_of_itself_makes_it_again(text: str) -> None:
    assert repr(eval(text, {"sample": sample})) == text


SCRIPT = """
import json
from penstock.generate.samplers.draw import Draw
from penstock.generate.samplers import sample

data = [{"n": number} for number in range(50)]
samplers = {
    "a": sample.choice(["x", "y", "z"]),
    "b": sample.normal(0, 1),
    "c": sample.regex("[a-z]{5}"),
    "d": sample.person(),
    "e": sample.from_dataset(data, "n"),
    "f": sample.from_dataset(data, "n", replace=False),
    "g": sample.weighted({"x": 1, "y": 2}),
}
made = [
    each.value(Draw().at("seed", each.group or name, number), number, {})
    for name, each in samplers.items()
    for number in range(20)
]
"""


def test_another_process_draws_the_same() -> None:
    here: dict[str, Any] = {}
    exec(SCRIPT, here)
    done = subprocess.run(
        [sys.executable, "-c", f"{SCRIPT}print(json.dumps(made))"],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "12345"},
    )
    assert json.loads(done.stdout) == here["made"]
