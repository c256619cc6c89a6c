"""Typed documents: every mistake at its line, in our words, and plain data back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AliasChoices, BeforeValidator, Field, field_validator

from penstock.documents.models import Model, wrong
from penstock.errors import InputError


class Part(Model):
    hints: ClassVar[Mapping[str, str]] = {"colour": "color"}

    color: str
    size: Annotated[int, Field(gt=0)] = 1


def _as_part(given: Any) -> Any:
    return {"color": given} if isinstance(given, str) else given


class Thing(Model):
    hints: ClassVar[Mapping[str, str]] = {"title": "name"}

    name: str
    kind: Literal["round", "square"] = "round"
    share: float = 0.0
    open: bool = False
    part: Part | None = None
    parts: tuple[Annotated[Part, BeforeValidator(_as_part)], ...] = ()
    named: dict[str, Part] = Field(default_factory=dict)
    words: str | list[str] = ""
    either: Part | int = 1
    outer: Part | None = Field(default=None, validation_alias=AliasChoices("outer", "shell"))

    @field_validator("name")
    @classmethod
    def _spoken(cls, name: str) -> str:
        if "{" in name:
            raise wrong(f"the name {name!r} has a brace", "Leave {it} out.")
        return name


def refused(tmp_path: Path, text: str) -> str:
    path = tmp_path / "it.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        Thing.load(path, "it.yaml")
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: 5", "1: name: it is 5; a text is wanted"),
        ("kind: round", "1: name is missing"),
        ("name: x\nkind: oval", "2: kind: it is 'oval'\nAllowed are 'round' or 'square'."),
        ("name: x\nshare: much", "2: share: it is 'much'; a number is wanted"),
        ("name: x\nopen: 3", "2: open: it is 3; true or false is wanted"),
        ("name: x\nopen:", "2: open: it is empty; true or false is wanted"),
        ("name: x\nnmae: y", "2: nmae: there is no such name here\nDid you mean 'name'?"),
        ("name: x\ntitle: y", "2: title: there is no such name here\nDid you mean 'name'?"),
        ("name: x\npart: []", "2: part: it is a list; names and values are wanted"),
        ("name: x\npart:\n  size: 2", "2: part: color is missing"),
        ("name: x\npart:\n  color: a\n  size: 0", "4: part.size: it is 0: Input should be greater"),
        ("name: x\npart:\n  color: a\n  size: 1.5", "4: part.size: it is 1.5; a whole number"),
        ("name: x\nparts:\n  - a\n  - color: 3", "4: parts.2.color: it is 3; a text is wanted"),
        ("name: x\nparts: a", "2: parts: it is 'a'; a list is wanted"),
        ("name: x\nnamed:\n  p: {color: [a]}", "3: named.p.color: it is a list; a text is wanted"),
        ("name: x\nnamed:\n  p:\n    color: a\n    sise: 2", "5: named.p.sise: there is no such"),
        ("name: x\nwords: 3", "2: words: it is 3; a text or a list is wanted"),
        ("name: x\nwords: [a, 3]", "2: words.2: it is 3; a text is wanted"),
        ("name: x\neither: {size: 2}", "2: either: color is missing"),
        ("name: x\neither: y", "2: either: it is 'y'; names and values or a whole number is"),
        ("name: x\nshell: {colour: y, color: z}", "2: shell.colour: there is no such name here"),
        ("name: 'a {b}'", "1: name: the name 'a {b}' has a brace\nLeave {it} out."),
        ("[a, b]", "1: names and values are wanted"),
        ("", "1: it is empty"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_once_at_its_line_in_our_words(
    tmp_path: Path, text: str, said: str
) -> None:
    message = refused(tmp_path, text)
    assert message.startswith(f"it.yaml:{said}")
    assert "mistakes" not in message


def test_all_mistakes_are_told_at_once_in_the_order_of_their_lines(tmp_path: Path) -> None:
    text = "kind: oval\nparts:\n  - color: a\n    colour: b\n  - 5\npart: {size: x}\nmore: 1\n"
    assert refused(tmp_path, text).splitlines() == [
        "7 mistakes in it.yaml:",
        "it.yaml:1: name is missing",
        "it.yaml:1: kind: it is 'oval'. Allowed are 'round' or 'square'.",
        "it.yaml:4: parts.1.colour: there is no such name here. Did you mean 'color'?",
        "it.yaml:5: parts.2: it is 5; names and values are wanted",
        "it.yaml:6: part: color is missing",
        "it.yaml:6: part.size: it is 'x'; a whole number is wanted",
        "it.yaml:7: more: there is no such name here. There are "
        "name, kind, share, open, part, parts, named, words, either, outer.",
    ]


def test_json_has_lines_too(tmp_path: Path) -> None:
    path = tmp_path / "it.json"
    path.write_text('{"name": "x",\n "part": {\n  "color": 1}}')
    with pytest.raises(InputError, match=r"it\.json:3: part\.color: it is 1"):
        Thing.load(path)


def test_data_of_a_program_is_held_to_the_same_without_lines() -> None:
    with pytest.raises(InputError) as error:
        Thing.made({"name": "x", "parts": [{"color": None}], 3: 4}, "the thing")
    assert str(error.value).splitlines()[1:] == [
        "the thing: the key 3 is no text",
        "the thing: parts.1.color: it is empty; a text is wanted",
    ]


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
parts = st.builds(Part, color=words, size=st.integers(1, 5))
things = st.builds(
    Thing,
    name=words.filter(lambda text: "{" not in text),
    kind=st.sampled_from(["round", "square"]),
    share=st.floats(allow_nan=False, allow_infinity=False),
    parts=st.lists(parts, max_size=3).map(tuple),
    named=st.dictionaries(words, parts, max_size=3),
    words=words | st.lists(words, max_size=3),
    either=parts | st.integers(),
    shell=st.none() | parts,
)


@given(things)
def test_what_an_object_says_as_data_makes_it_again(thing: Thing) -> None:
    assert Thing.made(thing.to_dict(), "it") == thing


def test_what_is_as_usual_is_not_said() -> None:
    assert Thing(name="x", share=0.0, part=Part(color="red", size=1)).to_dict() == {
        "name": "x",
        "part": {"color": "red"},
    }


def test_an_object_does_not_change() -> None:
    thing = Thing(name="x")
    with pytest.raises(ValueError, match="frozen"):
        thing.name = "y"
