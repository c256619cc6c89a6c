"""All that is wrong with a file at once, each mistake with its line, its key and a way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.documents.problems import Part, Problems, unknown
from penstock.errors import InputError
from penstock.yamlfile import parse

TEXT = "name: x\nlist:\n  - a: 1\n    b: 2\n  - c: 3\nother:\n  deep: 4\n"


def a_text(value: Any) -> str:
    if not isinstance(value, str):
        raise InputError(f"it is {value!r}; a text is wanted", remedy="Write it in quotes.")
    return value


def told(note: Callable[[Problems], object], text: str | None = TEXT) -> InputError:
    problems = Problems("it.yaml", None if text is None else parse(text, "it.yaml"))
    note(problems)
    with pytest.raises(InputError) as error:
        problems.check()
    return error.value


def test_nothing_wrong_raises_nothing() -> None:
    problems = Problems("it.yaml")
    problems.check()
    assert len(problems) == 0


def test_one_mistake_is_one_sentence_with_its_remedy_apart() -> None:
    error = told(lambda it: it.add(("list", 0, "b"), InputError("it is 2", remedy="Write 3.")))
    assert (error.message, error.remedy) == ("it.yaml:4: list.1.b: it is 2", "Write 3.")


def test_several_stand_in_the_order_of_their_lines_each_once() -> None:
    def note(problems: Problems) -> None:
        problems.add(("other", "deep"), InputError("four", remedy="Less."))
        problems.add(("list", 1, "c"), InputError("three"))
        for _ in range(3):
            problems.add(("list", 1, "c"), InputError("three"))
        problems.add((), InputError("the whole"))

    assert told(note).message.splitlines() == [
        "3 mistakes in it.yaml:",
        "it.yaml:1: the whole",
        "it.yaml:5: list.2.c: three",
        "it.yaml:7: other.deep: four. Less.",
    ]


def test_a_flood_is_cut() -> None:
    lines = "".join(f"k{number}: x\n" for number in range(30))

    def note(problems: Problems) -> None:
        for number in range(30):
            problems.add((f"k{number}",), InputError("no"))

    said = told(note, lines).message.splitlines()
    assert (said[0], said[-1], len(said)) == ("30 mistakes in it.yaml:", "and 10 more", 22)


def test_without_a_file_there_are_no_lines() -> None:
    error = told(lambda it: it.add(("list", 2), InputError("wrong")), None)
    assert error.message == "it.yaml: list.3: wrong"


def test_an_item_of_a_list_may_have_a_name() -> None:
    def note(problems: Problems) -> None:
        problems.name(("list", 0), "tone")
        problems.add(("list", 0, "a"), InputError("wrong"))

    assert told(note).message == "it.yaml:3: list.tone.a: wrong"


def test_a_message_that_names_its_own_key_does_not_do_so_twice() -> None:
    error = told(lambda it: it.add(("name",), InputError("name is 'x'; no")))
    assert error.message == "it.yaml:1: name: it is 'x'; no"


def test_a_key_cannot_steer_the_terminal() -> None:
    error = told(lambda it: it.add(("\x1b[31m",), InputError("\x1b]0;x\x07", remedy="\x1b[2J")))
    assert "\x1b" not in error.message + error.remedy


def test_the_reading_goes_on_after_a_mistake_but_not_after_anything_else() -> None:
    problems = Problems("it.yaml")
    with problems.at("name"):
        raise InputError("first")
    assert problems.tried(("x",), lambda: a_text(3)) is None
    assert problems.tried(("y",), lambda: a_text("3")) == "3"
    assert len(problems) == 2
    with pytest.raises(ZeroDivisionError), problems.at("name"):
        _ = 1 // 0


def test_a_part_is_read_key_by_key() -> None:
    problems = Problems("it.yaml")
    part = Part(problems, ("part",), {"text": "x", "number": 3, "empty": None})
    assert part.get("text", a_text) == "x"
    assert part.get("text", a_text, "y") == "x"
    assert part.get("empty", a_text, "y") == "y", "nothing is said there"
    assert part.get("absent", a_text) is None
    assert ("empty" in part, "text" in part) == (False, True)
    assert len(problems) == 0
    assert part.get("number", a_text, "y") == "y", "which is wrong, and noted"
    part.only(("text", "number"), {"empty": "text"})
    assert part.missing("text", "much")
    with pytest.raises(InputError) as error:
        problems.check()
    assert error.value.message.splitlines()[1:] == [
        "it.yaml: part.number: it is 3; a text is wanted. Write it in quotes.",
        "it.yaml: part.empty: there is no such name here. Did you mean 'text'?",
        "it.yaml: part: much is missing",
    ]


@pytest.mark.parametrize(
    ("name", "known", "hints", "remedy"),
    [
        ("nmae", ["name", "list"], None, "Did you mean 'name'?"),
        ("title", ["name", "list"], {"title": "name"}, "Did you mean 'name'?"),
        ("key", ["name"], {"key": "Write key: env:NAME."}, "Write key: env:NAME."),
        ("zzz", ["name", "list"], {}, "There are name, list."),
        ("zzz", [], None, "Nothing is wanted here."),
    ],
)
def test_an_unknown_name_is_told_with_the_one_that_is_meant(
    name: str, known: list[str], hints: dict[str, str] | None, remedy: str
) -> None:
    error = unknown(name, known, hints)
    assert (error.message, error.remedy) == ("there is no such name here", remedy)
