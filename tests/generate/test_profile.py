"""A profile says what is in a table; what it says is checked against counting by hand."""

from __future__ import annotations

import json
import math
import os
import random
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.generate.profile import ColumnProfile, Profile, profile
from penstock.generate.profile.counts import Counts
from penstock.generate.profile.sample import Sample
from penstock.generate.profile.spread import Spread
from penstock.generate.profile.text import mtld
from penstock.tables import Table, TableWriter

ROOT = Path(__file__).parents[2]


def of(values: list[Any], **more: Any) -> ColumnProfile:
    [column] = profile(Table.from_rows([{"x": value} for value in values]), **more).columns
    return column


# Numbers ---------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=200))
def test_numbers_are_what_numpy_says(values: list[float]) -> None:
    numbers = of(values).numbers
    assert numbers is not None
    said = (numbers.min, numbers.mean, numbers.median, numbers.p95, numbers.max, numbers.std)
    truth = (
        *(min(values), np.mean(values), np.median(values), np.percentile(values, 95)),
        *(max(values), np.std(values, ddof=1)),
    )
    assert said == pytest.approx(truth, rel=1e-6, abs=1e-6)
    assert not numbers.estimated


@settings(deadline=None)
@given(st.lists(st.one_of(st.integers(-1000, 1000), st.floats(-1e3, 1e3)), min_size=1))
def test_every_value_is_in_the_bin_whose_edges_it_lies_between(values: list[float]) -> None:
    numbers = of([float(value) for value in values]).numbers
    assert numbers is not None
    bins = numbers.histogram
    assert sum(each.count for each in bins) == len(values)
    assert bins[0].low <= min(values) and max(values) <= bins[-1].high
    for place, each in enumerate(bins):
        last = place == len(bins) - 1
        inside = [v for v in values if each.low <= v < each.high or (last and v == each.high)]
        assert len(inside) == each.count
    assert len(bins) <= 20


def test_whole_numbers_have_whole_bins() -> None:
    numbers = of([1, 2, 2, 3, 5]).numbers
    assert numbers is not None
    assert [(each.low, each.count) for each in numbers.histogram] == [
        *((1, 1), (2, 2), (3, 1)),
        *((4, 0), (5, 1)),
    ]


def test_one_value_far_away_does_not_hide_the_others() -> None:
    numbers = of([float(value % 100) for value in range(1_000)] + [1e9]).numbers
    assert numbers is not None
    assert numbers.histogram[-1].high == 1e9 and numbers.histogram[-1].count == 1
    assert len([each for each in numbers.histogram if each.count > 20]) >= 10


@pytest.mark.parametrize(
    "values", [[1e308, -1e308, 1e308], [5e-324, 1e-300], [0.1 + 0.2, 0.3], [7.5], [-0.0, 0.0]]
)
def test_the_ends_of_floating_point_break_nothing(values: list[float]) -> None:
    numbers = of(values).numbers
    assert numbers is not None
    assert (numbers.min, numbers.max) == (min(values), max(values))
    assert sum(each.count for each in numbers.histogram) == len(values)
    assert math.isfinite(numbers.median) and math.isfinite(numbers.mean)


def test_what_is_no_finite_number_is_counted_apart() -> None:
    numbers = of([1.0, math.nan, math.inf, -math.inf, 3.0]).numbers
    assert numbers is not None
    assert (numbers.count, numbers.not_finite, numbers.mean) == (2, 3, 2)
    assert of([math.nan, math.nan]).numbers is None


def test_decimals_and_spans_are_numbers_too() -> None:
    decimals = of([Decimal("1.5"), Decimal("2.5")])
    assert decimals.type == "decimal"
    assert decimals.numbers is not None and decimals.numbers.mean == 2
    spans = of([timedelta(seconds=90), timedelta(minutes=2)])
    assert (spans.type, spans.numbers and spans.numbers.max) == ("duration", 120)


def test_quantiles_of_a_large_column_come_from_a_sample_and_say_so() -> None:
    spread, sample = Spread(), Sample(300_000, 1)
    rng = random.Random(3)
    values = [rng.gauss(50, 10) for _ in range(300_000)]
    for number, value in enumerate(values):
        spread.add(value, sample.picked(number).value)
    numbers = spread.numbers()
    assert numbers is not None and numbers.estimated
    assert numbers.median == pytest.approx(statistics.median(values), abs=0.2)
    assert numbers.max == max(values)
    assert numbers.std == pytest.approx(statistics.stdev(values))
    assert sum(each.count for each in numbers.histogram) == pytest.approx(300_000, abs=20)


# Values ----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), st.sampled_from("abc"), st.text(max_size=3)), max_size=60))
def test_common_values_are_counted_as_a_counter_does(values: list[str | None]) -> None:
    column = of(values) if values else of([None])
    truth = Counter(value for value in values if value is not None)
    assert column.distinct == len(truth) and column.distinct_is_exact
    assert column.nulls == len(values or [None]) - truth.total()
    assert [each.count for each in column.common] == sorted(
        (count for count in truth.values() if len(truth) <= 20 or count > 1), reverse=True
    )[: 20 if len(truth) <= 20 else 10]
    for each in column.common:
        assert truth[each.value] == each.count


def test_beyond_the_limit_distinct_is_estimated_and_the_common_stay() -> None:
    counts, rng = Counts(2_000), random.Random(5)
    truth: Counter[str] = Counter()
    for number in range(60_000):
        value = f"often {rng.randrange(5)}" if number % 4 == 0 else f"once {number}"
        truth[value] += 1
        counts.add(value)
    assert not counts.exact
    assert counts.distinct == pytest.approx(len(truth), rel=0.07)
    for each in counts.common(5):
        assert each.value.startswith("often")
        assert truth[each.value] * 0.95 <= each.count <= truth[each.value]


def test_a_long_value_is_counted_whole_and_shown_short() -> None:
    one, other = "a" * 5_000 + "b", "a" * 5_000 + "c"
    column = of([one, one, one, other, other])
    assert [each.count for each in column.common] == [3, 2]
    assert all(len(each.value) == 200 for each in column.common)


def test_booleans_and_few_short_values_are_categories_and_texts_are_not() -> None:
    assert of([True, False, None, True]).is_category
    assert of(["red", "blue"] * 10).is_category
    assert of([1, 2, 3] * 5).is_category
    assert not of(["a word " * 20, "another " * 20] * 5).is_category
    assert not of([f"name {number}" for number in range(20)]).is_category
    assert [(each.value, each.count) for each in of([True, False, True]).common] == [
        *(("true", 2), ("false", 1))
    ]


# Kinds of columns ------------------------------------------------------------------------------


def test_dates_and_moments_have_a_first_and_a_last() -> None:
    days = of([date(2024, 1, 3), date(2024, 1, 1), date(2024, 1, 2)])
    assert days.type == "date" and days.moments is not None
    assert (days.moments.first, days.moments.median, days.moments.last) == (
        *("2024-01-01", "2024-01-02"),
        "2024-01-03",
    )
    moments = of(
        [datetime(2024, 1, 1, 12, tzinfo=UTC), datetime(1, 1, 2), datetime(9998, 1, 1)][:1]
    )
    assert moments.moments is not None and moments.moments.first == "2024-01-01 12:00:00"
    ends = of([datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59)]).moments
    assert ends is not None
    assert (ends.first, ends.last) == ("0001-01-01 00:00:00", "9999-12-31 23:59:59")
    assert of([time(12, 30)]).common[0].value == "12:30:00"


def test_lists_and_dicts_have_sizes_and_keys() -> None:
    lists = of([[1, 2, 3], [], [4]])
    assert lists.type == "list" and lists.sizes is not None
    assert (lists.sizes.min, lists.sizes.max) == (0, 3)
    dicts = of([{"a": 1, "b": [1]}, {"a": 2}, None])
    assert dicts.type == "object" and dicts.sizes is not None
    assert (dicts.sizes.min, dicts.sizes.max, dicts.nulls) == (1, 2, 1)
    assert {each.value: each.count for each in dicts.keys} == {"a": 2, "b": 1}
    assert of([b"abc", b""]).sizes is not None


def test_mixed_values_that_are_kept_as_json_are_each_looked_at() -> None:
    column = of([{"a": 1}, [1, 2], "text", 5, 2.5, None, True])
    assert column.type == "mixed" and (column.count, column.nulls) == (6, 1)
    assert {each.value: each.count for each in column.kinds} == {
        "object": 1,
        "list": 1,
        "text": 1,
        "number": 2,
        "boolean": 1,
    }
    assert column.numbers is not None and column.numbers.max == 5
    assert column.text is not None and column.sizes is not None


def test_a_column_of_nothing_but_nulls_is_empty() -> None:
    column = of([None, None])
    assert (column.type, column.count, column.nulls, column.distinct) == ("empty", 0, 2, 0)
    assert column.numbers is None and column.text is None and not column.is_category


def test_an_empty_table_and_one_without_columns_have_a_profile() -> None:
    assert profile(Table.from_rows([])) == Profile(0, (), 0, None, (), (), 0)
    assert profile(Table.from_rows([{}, {}])).rows == 2
    import pyarrow as pa

    empty = profile(Table(pa.table({"a": pa.array([], pa.string())})))
    assert (empty.rows, empty.columns[0].name, empty.columns[0].distinct) == (0, "a", 0)


def test_one_row_has_a_profile() -> None:
    found = profile(Table.from_rows([{"n": 1, "text": "Only one."}]))
    number, text = found.columns
    assert number.numbers is not None and number.numbers.std is None
    assert text.text is not None and text.text.diversity.similarity is None
    assert text.text.diversity.mtld is None
    assert found.near is not None and found.near.looked_at == 1 and found.near.share == 0


# Texts -----------------------------------------------------------------------------------------


def test_texts_have_lengths_in_characters_and_words() -> None:
    text = of(["one two three", "", "  ", "日本語"]).text
    assert text is not None
    assert (text.characters.min, text.characters.max, text.words.max) == (0, 13, 3)
    assert text.blank == 2


def test_openings_show_that_texts_begin_alike() -> None:
    texts = [f"As an AI, number {number} is mine." for number in range(7)] + ["No.", "Yes.", ""]
    text = of(texts).text
    assert text is not None
    assert (text.diversity.openings[0].value, text.diversity.same_opening) == ("as an ai", 0.7)


def test_distinct_similarity_and_repetition_are_as_defined() -> None:
    texts = ["the cat sat on the mat", "the dog sat on the log", "a b c d a b c d e"]
    text = of(texts).text
    assert text is not None
    found = text.diversity
    split = [each.split() for each in texts]
    every = [word for each in split for word in each]
    pairs = [each[at : at + 2] for each in split for at in range(len(each) - 1)]
    assert found.distinct_1 == len(set(every)) / len(every)
    assert found.distinct_2 == len(set(map(tuple, pairs))) / len(pairs)
    sets = [set(each) for each in split]
    shares = [len(a & b) / len(a | b) for a, b in combinations(sets, 2)]
    assert found.similarity == pytest.approx(sum(shares) / 3)
    assert found.repetition == pytest.approx(1 / 12)  # of 3 + 3 + 6 runs, one comes again


def test_phrases_that_many_texts_share_are_named_once() -> None:
    texts = [f"{word} it is important to note that {word}" for word in "abcdefgh"]
    text = of(texts).text
    assert text is not None
    [phrase, *_] = text.diversity.phrases
    assert (phrase.value, phrase.count) == ("it is important to", 8)
    values = [each.value for each in text.diversity.phrases]
    assert "is important to note" not in values


def test_mtld_is_as_its_authors_define_it() -> None:
    # A new word and an old one in turn: the third word of "a b a" brings the share to 0.67.
    assert mtld(["a", "b"] * 30) == pytest.approx(60 / 20)
    unique = [f"w{number}" for number in range(60)]
    assert mtld(unique) == 60
    # Sixty different words, then four old ones: the share is 60/64, no stretch is ever full.
    late = [*unique, "w0", "w1", "w2", "w3"]
    forward = 64 / ((1 - 60 / 64) / 0.28)
    assert mtld(late) == pytest.approx(forward)
    assert mtld(["a"] * 49) is None


def test_mtld_hardly_depends_on_the_number_of_words() -> None:
    rng = random.Random(2)
    vocabulary, weights = range(3_000), [1 / (rank + 5) for rank in range(3_000)]
    text = [str(word) for word in rng.choices(vocabulary, weights, k=50_000)]
    short, long = mtld(text[:5_000]), mtld(text)
    assert short is not None and long is not None
    assert short == pytest.approx(long, rel=0.1)


def test_near_duplicates_are_counted_in_rows_and_columns() -> None:
    body = "the quick brown fox jumps over the lazy dog while the old cat looks on and yawns "
    rows = [{"id": n, "text": body * 3 + f"{n}"} for n in range(10)]
    rows += [
        {"id": n, "text": f"{n} entirely other words {n * 7} here {n * 13}"} for n in range(10)
    ]
    found = profile(Table.from_rows(rows))
    assert found.near is not None and found.near.found == 9 and found.near.looked_at == 20
    assert found.duplicate_rows == 0
    text = found.columns[1].text
    assert text is not None and text.diversity.near.share == 9 / 20


def test_exact_duplicate_rows_are_those_of_the_columns_looked_at() -> None:
    table = Table.from_rows([{"id": number, "x": number % 3} for number in range(10)])
    assert profile(table).duplicate_rows == 0
    assert profile(table, columns=["x"]).duplicate_rows == 7


# Fates -----------------------------------------------------------------------------------------


def test_statuses_are_counted_and_not_profiled() -> None:
    table = Table.from_rows([{"a": 1, "status": "ok"}, {"a": 2, "status": "failed"}] * 3)
    found = profile(table, status_column="status")
    assert [column.name for column in found.columns] == ["a"]
    assert {each.value: each.count for each in found.statuses} == {"ok": 3, "failed": 3}


def test_failures_are_grouped_by_column_and_kind() -> None:
    failures = Table.from_rows(
        [
            {"row": n, "column": "q", "kind": "timeout", "message": f"late {n}", "attempts": 3}
            | {"may_be_paid": n % 2 == 0}
            for n in range(5)
        ]
        + [{"row": 9, "column": "a", "kind": "refused", "message": "no", "attempts": 1}]
    )
    first, second = profile(Table.from_rows([{"a": 1}]), failures=failures).failures
    assert (first.column, first.kind, first.count, first.may_be_paid) == ("q", "timeout", 5, 3)
    assert (first.message, second.kind, second.may_be_paid) == ("late 0", "refused", 0)


def test_a_column_that_is_not_there_is_named_with_the_nearest() -> None:
    table = Table.from_rows([{"question": "x"}])
    with pytest.raises(InputError, match="no column 'qestion'") as caught:
        profile(table, columns=["qestion"])
    assert "'question'" in str(caught.value.remedy)
    with pytest.raises(InputError, match="no column 'state'"):
        profile(table, status_column="state")


# Large tables ----------------------------------------------------------------------------------


def test_a_profile_is_plain_data() -> None:
    table = Table.from_rows([{"a": 1, "t": "x y", "d": date(2024, 1, 1)}])
    assert json.loads(json.dumps(profile(table).to_dict()))["columns"][1]["name"] == "t"


def test_a_profile_is_the_same_in_every_process(tmp_path: Path) -> None:
    path = tmp_path / "table.arrow"
    rng = random.Random(1)
    rows = [{"t": " ".join(rng.choices("abcdefgh", k=30)), "n": rng.random()} for _ in range(1_500)]
    Table.from_rows(rows).save(path)
    program = (
        "import json, sys; from penstock.tables import Table; "
        "from penstock.generate.profile import profile; "
        "print(json.dumps(profile(Table.open(sys.argv[1])).to_dict()))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, str(path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def rows_of(count: int) -> Iterator[dict[str, Any]]:
    rng = random.Random(9)
    for number in range(count):
        words = f"w{rng.randrange(900)} w{rng.randrange(900)} w{rng.randrange(900)} end"
        yield {"text": words, "n": number if number % 3 else {"k": "v"}}


PROGRAM = """
import resource, sys
from penstock.generate import profile as room
from penstock.generate.profile import sample as profile_sample
from penstock.tables import Table
# Limits that both tables reach, as ten million rows would reach the true ones.
room._MOST_IN_COLUMN, profile_sample._VALUES, profile_sample._ROWS = 2_000, 2_000, 300
print(room.profile(Table.open(sys.argv[1])).rows)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def test_memory_grows_with_the_rows_by_no_more_than_their_hashes(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        path = tmp_path / f"{count}.arrow"
        with TableWriter(path) as writer:
            for number, row in enumerate(rows_of(count)):
                writer.add(number, [row])
            writer.close()
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, check=True
        )
        rows, held = map(int, done.stdout.split())
        assert rows == count
        return held

    assert peak(60_000) < peak(10_000) + 50_000 * 45 + (3 << 20)
