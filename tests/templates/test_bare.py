"""Templates are inert: names are columns, braces are doubled, nothing else means anything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.templates import Template


def test_names_are_filled_and_doubled_braces_are_braces() -> None:
    template = Template('Write {form} about {topic}: {{"a": 1}} {form}')
    assert template.names == ["form", "topic"]
    row = {"form": "a poem", "topic": "{form}", "other": 1}
    assert template.fill(row) == 'Write a poem about {form}: {"a": 1} a poem'


@pytest.mark.parametrize(
    ("value", "text"),
    [(3, "3"), (None, ""), (1.5, "1.5"), ({"a": [1]}, '{"a":[1]}'), (True, "True")],
)
def test_values_become_text(value: object, text: str) -> None:
    assert Template("<{x}>").fill({"x": value}) == f"<{text}>"


@pytest.mark.parametrize("text", ["{", "}", "a {b", "a} b", "{}", "{ }", "{a}}", "{{a}"])
def test_a_lone_or_empty_brace_is_named_with_its_remedy(text: str) -> None:
    with pytest.raises(InputError, match="line 1"):
        Template(text)


def test_an_unknown_column_is_said_before_anything_is_sent_with_a_suggestion() -> None:
    with pytest.raises(InputError) as caught:
        Template("{topics}").check(["topic", "form"])
    assert "{topics}" in caught.value.message
    assert "{topic}" in caught.value.remedy
    with pytest.raises(InputError, match="no column 'a'"):
        Template("{a}").fill({"b": 1})


ESCAPES = [
    "x.__class__", "x[0]", "x!r", "x:>10", "x.__init__.__globals__", "0", "x()", "self",
    "__import__('os')", "x.y.z", "x['a']", "lambda: 1", "x|upper", "% import os %", "x:{y}",
]  # fmt: skip


@pytest.mark.parametrize("escape", ESCAPES)
def test_nothing_in_braces_is_ever_evaluated(escape: str) -> None:
    try:
        template = Template("{" + escape + "}")
    except InputError:
        return
    assert template.names == [escape.strip()]
    with pytest.raises(InputError):
        template.fill({"x": "value", "y": "other"})
    assert template.fill({escape.strip(): "inert"}) == "inert"


@given(st.text())
def test_any_text_survives_with_its_braces_doubled(text: str) -> None:
    doubled = text.replace("{", "{{").replace("}", "}}")
    assert Template(doubled).fill({}) == text


@given(st.text())
def test_no_text_does_anything_but_parse_or_be_refused(text: str) -> None:
    try:
        template = Template(text)
    except InputError:
        return
    template.fill(dict.fromkeys(template.names, "v"))


def test_a_template_that_blows_up_is_bounded() -> None:
    template = Template("{x}" * 2000)
    with pytest.raises(InputError, match="larger than"):
        template.fill({"x": "y" * 100_000})
