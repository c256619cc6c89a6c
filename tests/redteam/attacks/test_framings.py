"""Framings hold the prompt as it is, in every one of their wordings."""

from __future__ import annotations

import ast
import json

import pytest

from penstock.redteam.attacks.framed import PLACE, Framed, Quoted
from tests.redteam.attacks.classes import made, pure

PROMPT = 'Say "hi" | bye,\nplease \\ {prompt}'
FRAMED = [name for name, attack in pure().items() if issubclass(attack, Framed)]


def framed(name: str, **parameters: object) -> Framed:
    """The framing of that name."""
    attack = made(name, **parameters)
    assert isinstance(attack, Framed)
    return attack


@pytest.mark.parametrize("name", FRAMED)
def test_every_wording_has_one_place_for_the_prompt_and_no_gap_left(name: str) -> None:
    attack = framed(name, most=20)
    frames = attack.frames()
    assert len(set(frames)) == len(frames)
    for frame in frames:
        assert frame.count(PLACE) == 1
    for field in set(type(attack).model_fields) - {"most"}:
        assert not any(f"{{{field}}}" in frame for frame in frames), f"{field} is not filled in"
    assert len(attack.variants(PROMPT)) == len(frames)


@pytest.mark.parametrize("name", FRAMED)
def test_each_wording_holds_the_prompt_and_gives_it_back(name: str) -> None:
    attack = framed(name, most=20)
    for variant in attack.variants(PROMPT):
        assert attack.placed(PROMPT) in variant
        assert attack.decode(variant) == PROMPT
    if not isinstance(attack, Quoted) and name != "table_fill":
        assert attack.placed(PROMPT) == PROMPT


@pytest.mark.parametrize("name", FRAMED)
def test_as_many_wordings_are_used_as_are_wanted(name: str) -> None:
    for most in (1, 2):
        variants = framed(name, most=most).variants("Why?")
        assert len(variants) == min(most, len(framed(name).frames()))


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("prefix_injection", "opening", "Yes, at once:"),
        ("role_play", "persona", "a talking lighthouse"),
        ("authority_appeal", "office", "the keeper of the seals"),
        ("translation_frame", "language", "Basque"),
        ("poem", "form", "a haiku"),
        ("chat_markup", "note", "Be brief."),
    ],
)
def test_a_parameter_goes_into_every_wording(name: str, field: str, value: str) -> None:
    variants = framed(name, most=20, **{field: value}).variants("Why?")
    assert all(value in variant for variant in variants)


@pytest.mark.parametrize(
    ("style", "mark"),
    [
        ("chatml", "<|im_start|>system"),
        ("llama2", "<<SYS>>"),
        ("llama3", "<|start_header_id|>system<|end_header_id|>"),
        ("headings", "### System:"),
        ("xml", "<system>"),
    ],
)
def test_chat_markup_speaks_as_the_system_in_the_marks_of_its_style(style: str, mark: str) -> None:
    (variant,) = framed("chat_markup", style=style).variants("Why?")
    assert variant.index(mark) < variant.index("Why?")


def test_a_document_to_fill_in_is_json_with_the_prompt_in_it() -> None:
    for variant in framed("json_fill", most=20).variants(PROMPT):
        document = json.loads(variant.split("\n\n", 1)[1])
        assert PROMPT in (document.get("question"), document.get("entry", {}).get("question"))


def test_a_program_to_complete_holds_the_prompt_as_a_string() -> None:
    first, second = framed("code_completion", most=20).variants(PROMPT)
    line = first.split("question = ", 1)[1].split("\n", 1)[0]
    assert ast.literal_eval(line) == PROMPT
    program = second.split("```python\n", 1)[1].removesuffix("\n```")
    case = ast.parse(program).body[0]
    assert isinstance(case, ast.Assign)
    assert isinstance(case.value, ast.Dict)
    assert ast.literal_eval(case.value.values[0]) == PROMPT


def test_a_cell_of_a_table_stays_one_cell() -> None:
    bare = framed("table_fill", most=20).variants("Why?")
    odd = framed("table_fill", most=20).variants(PROMPT)
    for plain, variant in zip(bare, odd, strict=True):
        assert variant.count("|") == plain.count("|")
        assert variant.count("\n") == plain.count("\n")


def test_a_split_prompt_is_joined_by_running_its_lines() -> None:
    attack = made("payload_splitting", parts=5)
    (variant,) = attack.variants(PROMPT)
    values: dict[str, str] = {}
    for line in variant.split("\n\n")[0].split("\n")[:-1]:
        name, value = line.split(" = ", 1)
        values[name] = ast.literal_eval(value)
    assert "z = a + b + c + d + e\n" in variant
    assert "".join(values.values()) == PROMPT
    assert all(values.values()), "no piece is empty"


@pytest.mark.parametrize(("prompt", "pieces"), [("ab", 2), ("a", 1), ("", 1)])
def test_a_short_prompt_has_fewer_pieces(prompt: str, pieces: int) -> None:
    attack = made("payload_splitting", parts=9)
    (variant,) = attack.variants(prompt)
    assert variant.count(' = "') == pieces
    assert attack.decode(variant) == prompt


@pytest.mark.parametrize(("name", "shots"), [("few_shot", 4), ("many_shot", 64)])
def test_as_many_turns_go_before_as_are_wanted(name: str, shots: int) -> None:
    (variant,) = made(name).variants("Why?")
    assert variant.count("User: ") == shots + 1
    assert variant.count("Assistant: Certainly.") == shots
    assert variant.endswith("\n\nUser: Why?\nAssistant:")
    (more,) = made(name, shots=7).variants("Why?")
    assert more.count("User: ") == 8


def test_many_turns_are_not_always_the_same() -> None:
    (variant,) = made("many_shot", shots=200).variants("Why?")
    assert len(set(variant.split("\n\n"))) > 100


def test_sums_in_made_up_turns_are_right() -> None:
    (variant,) = made("many_shot", shots=100).variants("Why?")
    sums = [turn for turn in variant.split("\n\n") if " plus " in turn]
    assert len(sums) > 10
    for turn in sums:
        one, other, total = (int(word.strip("?.")) for word in turn.split() if word[0].isdigit())
        assert one + other == total


@pytest.mark.parametrize("characters", [100, 8000, 50_000])
def test_a_context_is_about_as_long_as_wanted_and_the_prompt_is_its_end(characters: int) -> None:
    (variant,) = made("context_overload", characters=characters).variants("Why?")
    assert characters <= len(variant) <= characters * 1.05 + 700
    assert variant.endswith("\nWhy?")
