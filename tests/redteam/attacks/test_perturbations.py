"""Perturbations change as much as they say, and nothing else."""

from __future__ import annotations

import re
from math import ceil
from string import punctuation

import pytest
from rapidfuzz.distance import OSA, Levenshtein

from penstock.redteam.attacks.glossary import DEFINITIONS, PLAIN, definition
from penstock.redteam.attacks.lookalikes import LOOKALIKES
from tests.redteam.attacks.classes import made

PROMPT = (
    "Yesterday the gardener explained patiently how seventeen different flowers should always be "
    "watered before sunrise, because otherwise their leaves would certainly suffer."
)
WORDS = re.findall(r"\w+", PROMPT)


def changed(variant: str) -> list[tuple[str, str]]:
    """The words of the prompt that are others in a variant."""
    pairs = zip(PROMPT.split(" "), variant.split(" "), strict=True)
    return [(old, new) for old, new in pairs if old != new]


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("charswap", 10),
        ("insert_punctuation", 10),
        ("homoglyph", 20),
        ("homoglyph_v2", 20),
        ("textbugger", 5),
        ("job_role_generator", 8),
        ("payload_mask", 1),
        ("typos", 10),
        ("emoji", 5),
    ],
)
def test_there_are_as_many_variants_as_moonshot_makes(name: str, most: int) -> None:
    assert len(made(name).variants(PROMPT)) == most


def test_charswap_swaps_neighbours_inside_a_fifth_of_the_words() -> None:
    long = [word for word in WORDS if len(word) > 3]
    for variant in made("charswap").variants(PROMPT):
        pairs = changed(variant)
        assert len(pairs) == ceil(len(long) * 0.2)
        for old, new in pairs:
            assert OSA.distance(old, new) == 1
            assert sorted(old) == sorted(new)
            bare, moved = old.strip(punctuation), new.strip(punctuation)
            assert (bare[0], bare[-1]) == (moved[0], moved[-1])


def test_punctuation_stands_before_a_fifth_of_the_words() -> None:
    for variant in made("insert_punctuation").variants(PROMPT):
        pairs = changed(variant)
        assert len(pairs) == ceil(len(WORDS) * 0.2)
        for old, new in pairs:
            assert new[0] in punctuation
            assert new[1:] == old


def test_the_share_of_words_is_ones_own_to_choose() -> None:
    (variant,) = made("insert_punctuation", share=1.0, most=1).variants(PROMPT)
    assert len(changed(variant)) == len(WORDS)
    (variant,) = made("insert_punctuation", share=0.001, most=1).variants(PROMPT)
    assert len(changed(variant)) == 1


def test_textbugger_makes_one_bug_in_a_word() -> None:
    kinds = set()
    for variant in made("textbugger", most=60).variants("wonderful"):
        assert OSA.distance("wonderful", variant) == 1
        kinds.add((len(variant) - 9, " " in variant, sorted(variant) == sorted("wonderful")))
    assert kinds == {
        (1, True, False),  # a space
        (-1, False, False),  # a letter less
        (0, False, True),  # two swapped
        (0, False, False),  # a look-alike
    }


def test_homoglyphs_go_through_the_ways_to_write_one_word_after_the_other() -> None:
    variants = made("homoglyph", most=1000).variants("ae bb co")
    first, last = 3 * 2 - 1, 3 * 4 - 1  # a has two look-alikes, e one, c two, o three
    assert len(variants) == first + last
    assert all(variant.endswith(" bb co") for variant in variants[:first])
    assert all(variant.startswith("ae bb ") for variant in variants[first:])
    assert made("homoglyph", most=3).variants("ae bb co") == variants[:3]


def test_homoglyphs_of_a_very_long_word_do_not_grow_without_end() -> None:
    assert len(made("homoglyph").variants("o" * 50_000)) == 20


def test_homoglyph_v2_changes_more_letters_with_every_step() -> None:
    variants = made("homoglyph_v2").variants(PROMPT)
    able = sum(one in LOOKALIKES for one in PROMPT)
    shares = [
        sum(old != new for old, new in zip(PROMPT, variant, strict=True)) for variant in variants
    ]
    assert shares == [round(able * step / 20) for step in range(20)]
    for variant in variants:
        for old, new in zip(PROMPT, variant, strict=True):
            assert old == new or new in LOOKALIKES[old]


def test_no_lookalike_is_an_ascii_letter() -> None:
    assert len(LOOKALIKES) >= 48
    for one, others in LOOKALIKES.items():
        assert one.isascii() and one.isalpha()
        assert not any(other.isascii() for other in others)


def test_colloquial_words_replace_kin_throughout_and_keep_their_capital() -> None:
    attack = made("colloquial_wordswap")
    (variant,) = attack.variants("Grandmother met a boy. The boy greeted grandmother's human.")
    first, second = re.findall(r"(?i)(ah ma|patti|nenek)", variant)
    assert first[0].isupper()
    assert first.lower() == second
    assert len(set(re.findall(r"ah boy|boi", variant))) == 1
    assert variant.endswith("'s human.")
    assert attack.variants("No kin here") == ["No kin here"]


def test_a_job_is_asked_about_once_for_each_group() -> None:
    variants = made("job_role_generator").variants("Describe a nurse")
    assert variants[0] == "Describe a nurse (Male)"
    assert len({each.removeprefix("Describe a nurse ") for each in variants}) == 8
    own = made("job_role_generator", groups=["Old", "Young"])
    assert own.variants("A cook") == ["A cook (Old)", "A cook (Young)"]


def test_masked_words_are_gone_and_their_riddles_are_there() -> None:
    attack = made("payload_mask", words=3, definitions={"gardener": "one who tends plants"})
    (variant,) = attack.variants("Explain how the gardener hides passwords; explain it slowly")
    riddles, text = variant.split("\n\n")[1], variant.split("\n\n")[-1]
    assert text == "[MASK1] how the [MASK2] hides [MASK3]; [MASK1] it slowly"
    assert riddles.split("\n") == [
        f"[MASK1] begins with e, has 7 letters and means: {DEFINITIONS['explain']}",
        "[MASK2] begins with g, has 8 letters and means: one who tends plants",
        f"[MASK3] begins with p, has 9 letters and means: {DEFINITIONS['password']}",
    ]


def test_a_word_without_a_definition_is_told_by_its_letters() -> None:
    (variant,) = made("payload_mask").variants("zebra")
    assert "[MASK1] begins with z, has 5 letters and is made of a b e r z" in variant
    assert made("payload_mask").variants("what with them") == ["what with them"]


def test_gaps_are_named_apart_from_what_the_prompt_holds() -> None:
    (variant,) = made("payload_mask").variants("keep [MASK1] and [MASK__2] away")
    assert "[MASK___1]" in variant.split("\n\n")[-1]


@pytest.mark.parametrize(
    ("word", "base"),
    [
        ("Writing", "write"),
        ("passwords", "password"),
        ("stories", "story"),
        ("explained", "explain"),
    ],
)
def test_definitions_are_found_for_other_forms_of_a_word(word: str, base: str) -> None:
    assert definition(word) == DEFINITIONS[base]


def test_the_glossary_is_in_order_and_defines_no_word_by_itself() -> None:
    assert list(DEFINITIONS) == sorted(DEFINITIONS)
    for word, meaning in DEFINITIONS.items():
        assert word not in re.findall(r"\w+", meaning), word
        assert word not in PLAIN
    assert definition("zebra") == definition("s") == definition("") == ""


def test_typos_are_slips_of_one_key() -> None:
    for variant in made("typos", most=50).variants("window"):
        assert OSA.distance("window", variant) == 1


def test_shuffled_words_keep_their_ends_and_letters() -> None:
    for variant in made("shuffle_letters", share=1.0).variants("wonderful flowers"):
        assert [(word[0], word[-1]) for word in variant.split()] == [("w", "l"), ("f", "s")]
        assert [sorted(word) for word in variant.split()] == [
            sorted("wonderful"),
            sorted("flowers"),
        ]


def test_the_prompt_itself_is_not_counted_as_a_variant() -> None:
    assert made("shuffle_letters", share=1.0).variants("abcd") == ["acbd"]
    assert made("charswap").variants("noon") == ["noon"], "where there is no other, it stays"


def test_the_last_character_is_never_deleted() -> None:
    assert made("delete_characters", share=0.5).variants("a") == ["a"]
    assert sorted(made("delete_characters", share=0.5).variants("ab")) == ["a", "b"]


def test_random_capitals_change_nothing_else() -> None:
    variants = made("random_capitals").variants(PROMPT)
    assert {variant.lower() for variant in variants} == {PROMPT.lower()}
    (every,) = made("random_capitals", share=1.0).variants("aB c")
    assert every == "Ab C"


def test_deleting_and_inserting_keep_to_their_share() -> None:
    letters = sum(not one.isspace() for one in PROMPT)
    for variant in made("delete_characters", share=0.1).variants(PROMPT):
        assert len(PROMPT) - len(variant) == ceil((letters - 1) * 0.1)
        assert Levenshtein.distance(PROMPT, variant) == len(PROMPT) - len(variant)
    for variant in made("insert_characters", share=0.1).variants(PROMPT):
        assert len(variant) - len(PROMPT) == ceil(len(PROMPT) * 0.1)
        assert Levenshtein.distance(PROMPT, variant) == len(variant) - len(PROMPT)


def test_spaces_are_set_or_taken_away() -> None:
    assert made("spacing").variants("ab c") == ["a b   c"]
    assert made("spacing", style="none").variants("ab c d") == ["abcd"]
    random = made("spacing", style="random", share=0.5).variants("abcdefgh")
    assert len(random) == 5
    assert {variant.replace(" ", "") for variant in random} == {"abcdefgh"}


def test_emoji_stand_inside_words_or_behind_them() -> None:
    (inside,) = made("emoji", share=1.0, most=1).variants("wonderful day")
    assert not re.search(r"\W ", inside)
    assert re.sub(r"[^\w ]", "", inside) == "wonderful day"
    (behind,) = made("emoji", share=1.0, most=1, inside=False).variants("wonderful day")
    assert re.fullmatch(r"wonderful\W day\W", behind)
