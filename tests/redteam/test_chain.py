"""Chains: written as text, bounded, the same for the same seed, and read back from their end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import plugins
from penstock.errors import InputError, NotFoundError
from penstock.redteam.attack import Attack
from penstock.redteam.attacks.ciphers import Caesar, Vigenere
from penstock.redteam.attacks.encoding import Base64, Hex
from penstock.redteam.attacks.insertions import InsertPunctuation
from penstock.redteam.attacks.misspelling import Charswap
from penstock.redteam.attacks.payload_mask import PayloadMask
from penstock.redteam.attacks.spelling import Leetspeak
from penstock.redteam.attacks.splitting import PayloadSplitting
from penstock.redteam.attacks.transposition import Flip, Reverse
from penstock.redteam.attacks.wordswap import JobRoleGenerator
from penstock.redteam.chain import Chain, parse_chain, piped
from tests.redteam.attacks.classes import made, pure, registered
from tests.redteam.attacks.prompts import PROMPTS, parameters

PROMPT = "Please explain patiently how seventeen different flowers should be watered."


@pytest.fixture(autouse=True, scope="module")
def _all_of_them() -> Iterator[None]:
    with registered():
        yield


class Drive(Attack):
    """Drives a conversation."""

    name = "drive"
    family = "loop"


def test_each_part_rewrites_what_the_one_before_it_made() -> None:
    chain = parse_chain("caesar(shift=1, framed=false) | reverse(framed=false)")
    assert chain.parts == (Caesar(shift=1, framed=False), Reverse(framed=False))
    assert chain.variants("abz!") == ["!acb"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("base64", (Base64(),)),
        ("base64()", (Base64(),)),
        ("  base64|payload_splitting ", (Base64(), PayloadSplitting())),
        ("caesar( shift = 5 ,framed=false )", (Caesar(shift=5, framed=False),)),
        ("charswap(share=0.5, most=3)", (Charswap(share=0.5, most=3),)),
        ("flip(what=words)", (Flip(what="words"),)),
        ("flip(what='words')", (Flip(what="words"),)),
        ('flip(what="words") | hex', (Flip(what="words"), Hex())),
        ('job_role_generator(groups=["a | b", "c)"])', (JobRoleGenerator(groups=("a | b", "c)")),)),
        ('payload_mask(definitions={"x": "y"})', (PayloadMask(definitions={"x": "y"}),)),
        ("charswap_attack", (Charswap(),)),
        ("vigenere(key=LEMON)", (Vigenere(key="LEMON"),)),
    ],
)
def test_a_text_is_read_as_it_is_meant(text: str, parts: tuple[Attack, ...]) -> None:
    assert parse_chain(text).parts == parts


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it ends where a name is wanted"),
        ("base64 |", "it ends where a name is wanted"),
        ("| base64", "'| base64' stands at character 1 where a name is wanted"),
        ("base64 hex", "'hex' stands at character 8 where a | or the end is wanted"),
        ("caesar(shift=3", "it ends where a comma or a closing bracket is wanted"),
        ("caesar(shift)", "'shift)' stands at character 8 where a parameter such as shift=3"),
        ("caesar(shift=)", "')' stands at character 14 where a value is wanted"),
        ("flip(what='words)", "stands at character 11 where a closing quote is wanted"),
        ('flip(what="words)', "stands at character 11 where a value as in JSON is wanted"),
        ("caesar(shift=3, shift=4)", "the parameter shift is given twice"),
        ("caesar(shift=99)", "attack 'caesar': shift: it is 99"),
        ("caesar(shift=many)", "shift: it is 'many'; a whole number is wanted"),
        ("hex | base46", "there is no attack named 'base46'"),
        ("drive", "drive drives a conversation and cannot be part of a chain"),
    ],
)
def test_a_text_that_cannot_be_read_is_told_with_its_place(text: str, said: str) -> None:
    plugins.register("attack", "drive", Drive)
    try:
        with pytest.raises(InputError) as caught:
            parse_chain(text)
    finally:
        plugins.unregister("attack", "drive")
    assert said in str(caught.value)


def test_an_unknown_part_is_told_with_those_near_to_it() -> None:
    with pytest.raises(InputError) as caught:
        parse_chain("reverse | bse64")
    assert "there is no attack named 'bse64'" in str(caught.value)
    assert "'base64'" in str(caught.value)
    assert not isinstance(caught.value, NotFoundError), "it is the text that is wrong"


def test_variants_multiply_up_to_a_bound_and_are_then_drawn_by_chance() -> None:
    text = "insert_punctuation(most=6) | charswap(most=5)"
    assert len(parse_chain(text, most=1000).variants(PROMPT)) == 30
    bounded = parse_chain(text)
    assert bounded.most == 20
    assert len(bounded.variants(PROMPT)) == 20
    assert set(bounded.variants(PROMPT)) < set(parse_chain(text, most=1000).variants(PROMPT))
    assert bounded.variants(PROMPT) == bounded.variants(PROMPT)
    assert bounded.variants(PROMPT, seed=1) != bounded.variants(PROMPT, seed=2)
    assert len(parse_chain(text, most=1).variants(PROMPT)) == 1


def test_every_variant_has_a_chance_to_be_drawn() -> None:
    chain = parse_chain("job_role_generator | unchanged", most=2)
    drawn = {variant for seed in range(60) for variant in chain.variants("A cook", seed)}
    assert len(drawn) == 8


def test_a_chain_of_one_gives_what_its_part_gives() -> None:
    assert parse_chain("charswap").variants(PROMPT, 7) == Charswap().variants(PROMPT, 7)


@pytest.mark.parametrize("most", [0, 1001])
def test_the_bound_has_bounds(most: int) -> None:
    with pytest.raises(InputError, match="most: it is"):
        parse_chain("base64", most=most)


def test_a_chain_is_not_too_long() -> None:
    with pytest.raises(InputError, match="at most 10"):
        parse_chain(" | ".join(["reverse"] * 11))


def test_attacks_already_made_are_piped_and_chains_laid_end_to_end() -> None:
    first = piped(Caesar(shift=2), "reverse | hex")
    assert first.parts == (Caesar(shift=2), Reverse(), Hex())
    assert piped(first, Base64()).parts == (*first.parts, Base64())
    assert piped(Base64(), most=3).most == 3


@pytest.mark.parametrize("part", [Drive(), 3, {"shift": 3}, None])
def test_what_is_no_rewriting_cannot_be_piped(part: Any) -> None:
    with pytest.raises(InputError, match=r"drives a conversation|is no attack"):
        piped(part)


def test_a_chain_is_named_by_its_text_and_told_with_its_parts() -> None:
    chain = parse_chain("caesar(shift=5)|hex", most=4)
    assert chain.name == str(chain) == "caesar(shift=5) | hex"
    assert chain.family == "encoding"
    assert chain.about() == "Rewritings one after the other."
    told = chain.describe()
    assert told == {
        "name": "caesar(shift=5) | hex",
        "parameters": {
            "parts": [
                {"name": "caesar", "parameters": {"framed": True, "shift": 5}},
                {"name": "hex", "parameters": {"framed": True}},
            ],
            "most": 4,
        },
    }
    assert Chain.made(told["parameters"], "chain") == chain


def test_a_chain_is_read_back_from_its_end_where_every_part_can_be() -> None:
    chain = piped(Vigenere(), Base64(), PayloadSplitting())
    assert chain.decodes
    assert [chain.decode(each) for each in chain.variants(PROMPT)] == [PROMPT]
    assert not piped(Leetspeak(), Base64()).decodes
    with pytest.raises(InputError, match="what leetspeak makes cannot be read back"):
        piped(Leetspeak(), Base64()).decode(Base64().variants("h3110")[0])


@settings(max_examples=60, deadline=None)
@given(st.data(), st.lists(st.sampled_from(list(pure())), min_size=1, max_size=3), PROMPTS)
def test_any_rewritings_make_a_chain_that_its_text_gives_again(
    data: st.DataObject, names: list[str], prompt: str
) -> None:
    chain = piped(*(made(name, **data.draw(parameters(pure()[name]))) for name in names), most=5)
    assert parse_chain(str(chain), most=5) == chain
    variants = chain.variants(prompt, 3)
    assert variants == chain.variants(prompt, 3)
    assert 1 <= len(variants) <= 5
    assert all(variant.strip() for variant in variants) or not prompt.strip()


def test_chains_hold_no_more_than_their_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = InsertPunctuation.variants

    def counted(self: InsertPunctuation, prompt: str, seed: int = 0) -> list[str]:
        asked.append(prompt)
        return real(self, prompt, seed)

    monkeypatch.setattr(InsertPunctuation, "variants", counted)
    piped(*[InsertPunctuation(most=30)] * 6, most=4).variants(PROMPT)
    assert len(asked) == 1 + 5 * 4
