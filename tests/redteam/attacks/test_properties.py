"""What holds of every rewriting, whatever the prompt and the parameters."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.redteam.attack import Rewrite
from penstock.redteam.attacks.framed import Framed
from tests.redteam.attacks.classes import made, pure
from tests.redteam.attacks.prompts import PROMPTS, parameters

NAMES = list(pure())
RANDOM = {
    *("acrostic", "charswap", "colloquial_wordswap", "context_overload", "csv_rows"),
    *("delete_characters", "emoji", "few_shot", "homoglyph_v2", "insert_characters"),
    *("insert_punctuation", "many_shot", "payload_splitting", "random_capitals"),
    *("shuffle_letters", "substitution", "textbugger", "typos", "zalgo"),
}
PROMPT = "The old father tells three boys about 7 wonderful secrets, every other evening."
LONG = ('The quick brown fox says: héllo 世界 to mother 😀, 12 times | "again". ' * 1600)[:100_000]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15, deadline=None)
@given(st.data(), PROMPTS, st.integers(0, 3))
def test_whatever_the_prompt_variants_are_sound(
    name: str, data: st.DataObject, prompt: str, seed: int
) -> None:
    attack = made(name, **data.draw(parameters(pure()[name])))
    variants = attack.variants(prompt, seed)
    assert variants == attack.variants(prompt, seed), "the same seed gives the same"
    assert 1 <= len(variants) <= _most(attack)
    assert len(set(variants)) == len(variants)
    assert all(variant.strip() for variant in variants) or variants == [prompt]
    if attack.decodes and any(variant.strip() for variant in variants):
        assert {attack.decode(variant) for variant in variants} == {_kept(attack, prompt)}


@pytest.mark.parametrize("name", NAMES)
def test_another_seed_makes_another_variant_where_chance_plays_a_part(name: str) -> None:
    attack = made(name)
    seen = {tuple(attack.variants(PROMPT, seed)) for seed in range(12)}
    drawn = isinstance(attack, Framed) and attack.most < len(attack.frames())
    assert (len(seen) > 1) == (drawn or name in RANDOM)


@pytest.mark.parametrize("name", [name for name in NAMES if pure()[name].decodes])
def test_reading_back_loses_no_more_than_capitals_of_plain_english(name: str) -> None:
    attack = made(name)
    read = {attack.decode(variant) for variant in attack.variants(PROMPT)}
    assert {each.lower() for each in read} == {PROMPT.lower()}
    if name != "morse":
        assert read == {PROMPT}


@pytest.mark.parametrize(
    ("name", "strange"),
    [
        ("base64", "not Base64!"),
        ("base32", "0189"),
        ("hex", "xyz"),
        ("binary", "012"),
        ("octal", "999"),
        ("ascii_codes", "1 two"),
        ("ascii_codes", "99999999999999999999"),
        ("substitution", "plain words"),
        ("csv_rows", "plain words"),
        ("json_list", "plain words"),
        ("json_list", "[1]"),
        ("python_list", "plain words"),
        ("python_list", "words = [\nmessage = ' '.join(words)"),
        ("bidi", "plain words"),
        ("zero_width_binary", "plain words"),
        ("variation_selectors", "plain words"),
        ("braille", "⠼⠵"),
        ("payload_splitting", "plain words"),
        ("payload_splitting", 'a = "\\q"'),
        ("few_shot", "plain words"),
        ("context_overload", "plain words"),
        ("role_play", "plain words"),
        ("json_fill", "plain words"),
    ],
)
def test_what_an_attack_did_not_make_it_does_not_read(name: str, strange: str) -> None:
    attack = made(name)
    with pytest.raises(InputError, match=f"this was not made by {name}"):
        attack.decode(strange)


@pytest.mark.parametrize("name", NAMES)
def test_a_long_prompt_is_rewritten_in_linear_time(name: str) -> None:
    few = {"most": 2} if "most" in pure()[name].model_fields else {}
    attack = made(name, **few)
    variants = attack.variants(LONG)
    if attack.decodes and len(variants[0]) < 1_000_000:  # what is longer is cut
        assert {attack.decode(variant) for variant in variants} == {_kept(attack, LONG)}
    attack = made(name)
    short = _lines(lambda: attack.variants(LONG[:600]))
    double = _lines(lambda: attack.variants(LONG[:1200]))
    assert double <= 2.3 * short + 200


def test_work_that_grows_with_the_square_is_noticed() -> None:
    def work(size: int) -> int:
        total = 0
        for one in range(size):
            for other in range(size):
                total += one * other
        return total

    assert _lines(lambda: work(60)) > 3 * _lines(lambda: work(30))


def _most(attack: Rewrite) -> int:
    """How many variants its parameters allow."""
    return int(getattr(attack, "most", len(getattr(attack, "groups", " "))))


def _kept(attack: Rewrite, prompt: str) -> str:
    kept: Callable[[str], str] = getattr(attack, "kept", lambda text: text)
    return kept(prompt)


def _lines(work: Callable[[], object]) -> int:
    """How many lines of ours run: a count, where a clock would depend on the machine."""
    count = 0

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
