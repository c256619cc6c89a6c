from __future__ import annotations

import re

import pytest

from penstock import errors
from penstock.errors import Exit, PenstockError


def drawn() -> dict[str, tuple[str, int, int]]:
    """The tree of the docstring: name -> parent, exit code, HTTP status."""
    found: dict[str, tuple[str, int, int]] = {}
    line = re.compile(r"    ((?:[│├└]   |[├└]── |    )*)(\w+Error)\s+(\d+)\s+(\d{3})  \S")
    path: list[str] = []
    for text in (errors.__doc__ or "").splitlines():
        if match := line.match(text):
            depth = len(match[1]) // 4
            path[depth:] = [match[2]]
            parent = path[depth - 1] if depth else "Exception"
            found[match[2]] = (parent, int(match[3]), int(match[4]))
    return found


def made() -> dict[str, tuple[str, int, int]]:
    classes = [thing for thing in vars(errors).values() if isinstance(thing, type)]
    return {
        c.__name__: (c.__bases__[0].__name__, int(c.exit_code), c.http_status)
        for c in classes
        if issubclass(c, PenstockError)
    }


def test_the_tree_is_as_it_is_drawn() -> None:
    assert len(drawn()) >= 15
    assert drawn() == made()


def test_all_lists_every_class_in_order() -> None:
    assert errors.__all__ == sorted({*made(), "Exit"})


def test_every_exit_code_has_a_meaning_of_its_own() -> None:
    meanings = [code.meaning for code in Exit]
    assert all(meanings)
    assert len(set(meanings)) == len(Exit)


def test_every_exit_code_of_the_tree_is_a_failure() -> None:
    assert all(Exit(code) is not Exit.OK for _, code, _ in made().values())


def test_an_error_says_what_happened_and_then_what_to_do() -> None:
    error = errors.InputError("the row is empty", remedy="Fill it.")
    assert str(error) == "the row is empty\nFill it."
    assert (error.message, error.remedy) == ("the row is empty", "Fill it.")


def test_an_error_without_a_remedy_is_one_line() -> None:
    assert str(errors.HostError("no memory")) == "no memory"


@pytest.mark.parametrize("name", sorted(made()))
def test_every_class_says_what_it_is(name: str) -> None:
    assert getattr(errors, name).__doc__
