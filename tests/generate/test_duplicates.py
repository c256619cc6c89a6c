"""Rows that repeat earlier ones: all exact ones, and the near ones that Jaccard says are near."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tracemalloc
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.generate.duplicates import Duplicates, shingles, words

VOCABULARY = [f"word{number}" for number in range(5_000)]
PLAIN = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text("ab ", max_size=3))
VALUES = st.one_of(PLAIN, st.lists(PLAIN, max_size=2), st.dictionaries(st.text("ab"), PLAIN))


def found(texts: list[Any], threshold: float | None = None) -> list[int | None]:
    duplicates = Duplicates(["text"], threshold=threshold)
    return [duplicates.find({"text": text}) for text in texts]


def jaccard(one: str, other: str) -> float:
    first, second = shingles(one)[0], shingles(other)[0]
    return len(first & second) / len(first | second)


def made(rng: random.Random, size: int = 120) -> str:
    return " ".join(rng.choices(VOCABULARY, k=size))


def changed(rng: random.Random, text: str, share: float) -> str:
    """A text with a share of its words replaced, all in a row, so that few runs are broken."""
    parts = text.split()
    count = round(share * len(parts))
    at = rng.randrange(len(parts) - count)
    parts[at : at + count] = rng.choices(VOCABULARY, k=count)
    return " ".join(parts)


# Exact -----------------------------------------------------------------------------------------


def test_the_number_is_that_of_the_earlier_row_among_all_that_were_given() -> None:
    assert found(["a", "b", "a", "c", "c", "b"]) == [None, None, 0, None, 3, 1]


@given(st.lists(VALUES, max_size=40))
def test_it_finds_what_comparing_every_pair_finds(values: list[Any]) -> None:
    def same(one: Any, other: Any) -> bool:
        return repr(_sorted(one)) == repr(_sorted(other))  # 1, 1.0 and True are not one value

    kept: list[int] = []
    for number, result in enumerate(found(values)):
        earlier = next((k for k in kept if same(values[k], values[number])), None)
        assert result == earlier
        if earlier is None:
            kept.append(number)


def _sorted(value: Any) -> Any:
    return dict(sorted(value.items())) if isinstance(value, dict) else value


def test_it_goes_on_beyond_the_first_table() -> None:
    duplicates = Duplicates(None)
    rows = [{"n": number, "half": number / 2} for number in range(20_000)]
    assert not any(duplicates.find(row) is not None for row in rows)
    assert [duplicates.find(row) for row in rows] == list(range(20_000))
    assert len(duplicates) == 20_000


def test_only_the_columns_that_are_named_are_compared() -> None:
    duplicates = Duplicates(["a", "b"])
    assert duplicates.find({"id": 1, "a": "x", "b": "y"}) is None
    assert duplicates.find({"id": 2, "b": "y", "a": "x"}) == 0
    assert duplicates.find({"id": 2, "a": "y", "b": "x"}) is None


def test_the_order_of_keys_means_nothing_and_that_of_lists_does() -> None:
    assert found([{"a": 1, "b": [1, 2]}, {"b": [1, 2], "a": 1}, {"a": 1, "b": [2, 1]}]) == [
        None,
        0,
        None,
    ]


def test_text_that_looks_like_a_number_is_not_that_number() -> None:
    assert found([1, "1", None, "", "null"]) == [None] * 5


def test_values_that_json_does_not_know_are_compared_too() -> None:
    noon = datetime(2024, 2, 29, 12, tzinfo=UTC)
    values: list[Any] = [
        Decimal("1.10"),
        date(2024, 2, 29),
        noon,
        timedelta(seconds=90),
        b"\x00\xff",
        2**90,
        "half \ud800 a character",
        {3: "a key that is no text"},
        {"b", "a", "c"},
        float("inf"),
    ]
    assert found(values) == [None] * len(values)
    assert found([*values, *values]) == [None] * len(values) + list(range(len(values)))


def test_one_moment_in_two_zones_is_two_texts_only_where_json_says_so() -> None:
    noon = datetime(2024, 2, 29, 12, tzinfo=UTC)
    assert found([noon, noon.replace(tzinfo=timezone(timedelta(0)))]) == [None, 0]


def test_empty_texts_are_duplicates_of_each_other_but_not_of_nothing() -> None:
    for threshold in (None, 0.8):
        assert found(["", None, "", None, "  ", "?!", "?!", "!?"], threshold) == [
            *(None, None, 0, 1, None),
            *(None, 5, None),
        ]


def test_rows_without_columns_are_all_the_same() -> None:
    duplicates = Duplicates(None, threshold=0.9)
    assert [duplicates.find({}) for _ in range(3)] == [None, 0, 0]


def test_a_row_that_lacks_a_column_is_named_with_what_it_has() -> None:
    with pytest.raises(InputError, match="'question', which a row lacks") as caught:
        Duplicates(["question"]).find({"answer": "x"})
    assert "answer" in str(caught.value.remedy)


@pytest.mark.parametrize("threshold", [0, 0.3, 1.01, float("nan"), "0.8", True])
def test_a_threshold_that_means_nothing_is_refused(threshold: Any) -> None:
    with pytest.raises(InputError, match="threshold of near-duplicates"):
        Duplicates(None, threshold=threshold)


def test_no_columns_at_all_is_a_mistake() -> None:
    with pytest.raises(InputError, match="no columns are named"):
        Duplicates([])


def test_a_million_exact_rows_would_take_some_thirty_megabytes() -> None:
    duplicates, rows = Duplicates(None), [{"n": number} for number in range(40_000)]
    tracemalloc.start()
    for row in rows:
        duplicates.find(row)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Twelve bytes and the slots of a table that has just grown, beside the one before it.
    assert peak / len(rows) < 12 * 1.15 + 4 / 0.3 * 1.5


# Words -----------------------------------------------------------------------------------------


def test_words_have_no_case_and_no_punctuation() -> None:
    assert words("“Hello”, World -- it's ½ ＡＢＣ…") == [
        "hello",
        "world",
        "it",
        "s",
        "1",
        "2",
        "abc",
    ]
    assert words('"Hello", World -- it\'s 2') == ["hello", "world", "it", "s", "2"]
    assert words("ÉTÉ à Straße") == ["été", "à", "strasse"]


def test_writing_without_spaces_gives_a_word_for_each_character() -> None:
    assert words("日本語 and カナ、") == ["日", "本", "語", "and", "カ", "ナ"]
    assert words("สวัสดี")[:3] == ["ส", "ว", "ั"]
    assert words("नमस्ते दुनिया") == ["नमस्ते", "दुनिया"]  # vowel signs stay in their words
    assert words("🙂 🙃") == ["🙂", "🙃"]


def test_texts_of_middling_length_are_compared_both_ways() -> None:
    def kinds(size: int) -> int:
        return len(shingles(" ".join(VOCABULARY[:size])))

    assert [kinds(size) for size in (0, 1, 7, 8, 12, 13, 100)] == [0, 1, 1, 2, 2, 1, 1]
    assert shingles("a b c d e f g h")[0] == {f"{a} {b} {c}" for a, b, c in runs("abcdefgh")}
    assert shingles("ab c")[0] == {"ab c"}
    assert shingles("ab") == [{"ab"}]


def runs(text: str) -> list[tuple[str, str, str]]:
    return list(zip(text, text[1:], text[2:], strict=False))


# Near ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0.6, 0.8, 0.9])
def test_near_duplicates_are_those_whose_exact_jaccard_is_near(threshold: float) -> None:
    rng = random.Random(7)
    texts = [made(rng) for _ in range(1_500)]
    # Up to twice as many words are others as would make a pair lie at the threshold.
    most = 2 * (1 - threshold) / (1 + threshold)
    copies = [changed(rng, text, most * rng.random()) for text in texts]
    results = found([*texts, *copies], threshold)
    assert not any(result is not None for result in results[:1_500])
    truth = [jaccard(text, copy) for text, copy in zip(texts, copies, strict=True)]
    right = wrong = near = far = 0
    for number, (similarity, result) in enumerate(zip(truth, results[1_500:], strict=True)):
        assert result in (None, number)
        if similarity >= threshold + 0.05:
            near += 1
            right += result is not None
        elif similarity <= threshold - 0.05:
            far += 1
            wrong += result is not None
    assert near > 150 and far > 150
    assert right / near > 0.98  # two standard errors
    assert wrong / far < 0.015
    judged = [
        (t >= threshold) == (r is not None) for t, r in zip(truth, results[1500:], strict=True)
    ]
    assert sum(judged) / len(judged) > 0.92


def test_the_same_words_in_the_same_order_are_one_text_at_threshold_one() -> None:
    text = made(random.Random(1))
    other = changed(random.Random(2), text, 0.01)
    assert found([text, text.upper() + "!", other], 1.0) == [None, 0, None]


def test_a_near_duplicate_is_not_remembered_so_that_they_do_not_chain() -> None:
    rng = random.Random(3)
    first = made(rng, 200)
    chain = [first]
    for _ in range(12):  # each is near to the one before, the last is far from the first
        chain.append(changed(rng, chain[-1], 0.06))
    results = found(chain, 0.8)
    assert results[1] == 0
    assert jaccard(chain[0], chain[-1]) < 0.7
    assert results[-1] != 0
    kept = [number for number, result in enumerate(results) if result is None]
    assert all(result in kept for result in results if result is not None)
    assert all(jaccard(chain[a], chain[b]) < 0.88 for a, b in combinations(kept, 2))


def test_the_most_similar_earlier_row_is_named() -> None:
    rng = random.Random(5)
    text = made(rng, 300)
    far, near = changed(rng, text, 0.14), changed(rng, text, 0.02)
    # Far from each other, and the later one nearer to the text.
    assert found([far, near, text], 0.8)[2] == 1


def test_short_texts_are_compared_by_their_characters() -> None:
    first = "What is the capital of France?"
    assert found([first, "what is the capital of france", first.replace("?", " ?")], 0.8) == [
        *(None, 0, 0)
    ]
    assert found([first, "What's the capital of France?"], 0.7) == [None, 0]
    assert found([first, "Who wrote the Odyssey?"], 0.5) == [None, None]
    assert found(["yes", "no", "Yes."], 0.5) == [None, None, 0]


def test_chinese_is_compared_by_its_characters() -> None:
    text = "人工智能正在改变我们的生活方式，也带来了许多新的问题和挑战，需要大家一起面对。"
    assert found(
        [text, text.replace("许多", "很多"), "今天天气很好，我们去公园散步吧，好不好？"], 0.7
    ) == [*(None, 0, None)]


def test_a_pair_across_the_border_of_short_and_long_is_found() -> None:
    twelve = " ".join(VOCABULARY[:12])
    thirteen = f"{twelve} {VOCABULARY[12]}"
    seven, eight = " ".join(VOCABULARY[:7]), " ".join(VOCABULARY[:7]) + " a"
    assert found([twelve, thirteen], 0.8) == [None, 0]
    assert found([seven, eight], 0.8) == [None, 0]


def test_values_that_are_no_text_are_compared_by_their_json() -> None:
    numbers = list(range(100, 160))
    assert found([numbers, [*numbers, 1], list(range(60))], 0.8) == [None, 0, None]


def test_half_characters_do_no_harm() -> None:
    text = made(random.Random(1))
    assert found([f"{text} \ud83d", f"{text} \ude00", "\ud800"], 0.8) == [None, 0, None]


def test_what_is_found_is_the_same_in_every_process() -> None:
    program = """
import random
from penstock.generate.duplicates import Duplicates
rng, duplicates = random.Random(11), Duplicates(None, threshold=0.7)
for number in range(1200):
    same = [f"common{k}" for k in range(40)]
    rest = [f"w{rng.randrange(12)}" for _ in range(12)]
    print(duplicates.find({"text": " ".join(same + rest)}))
"""
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert 20 < outputs[0].count("None") < 1_180


def test_rows_of_one_template_stay_quick_and_their_duplicates_are_found() -> None:
    """Half of every text is the same: many rows share bands, and few of them are near."""
    rng = random.Random(13)
    frame = " ".join(VOCABULARY[:100])
    texts = [f"{frame} {made(rng, 60)}" for _ in range(3_000)]
    duplicates = Duplicates(["text"], threshold=0.8)
    assert not any(duplicates.find({"text": text}) is not None for text in texts)
    late = [changed(rng, text, 0.04) for text in texts[-300:]]
    results = [duplicates.find({"text": text}) for text in late]
    right = sum(result == 2_700 + number for number, result in enumerate(results))
    assert right / len(late) > 0.97


def test_the_memory_of_a_row_with_near_duplicates_is_bounded() -> None:
    rng = random.Random(17)
    texts = [made(rng, 30) for _ in range(4_000)]
    found(texts[:10], 0.8)  # what is loaded once does not count
    tracemalloc.start()
    duplicates = Duplicates(["text"], threshold=0.8)
    for text in texts:
        duplicates.find({"text": text})
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(duplicates) == 4_000
    assert held / len(texts) < 640
