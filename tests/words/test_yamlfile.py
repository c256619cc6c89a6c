from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.yamlfile import LARGEST, Place, parse, read


@pytest.fixture(params=["libyaml", "python"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "python":
        monkeypatch.delattr(yaml, "CSafeLoader")


def data(text: str) -> Any:
    return parse(text, "x.yaml").data


def refused(text: str | bytes) -> str:
    with pytest.raises(InputError) as caught:
        parse(text, "x.yaml")
    return caught.value.message


def test_values_are_what_yaml_1_2_says(parser: None) -> None:
    assert data("[1, -2, 0x1f, 0o17, 1.5, 1e3, .5, true, False, null, ~, '']") == [
        *(1, -2, 31, 15, 1.5, 1000.0, 0.5, True, False, None, None, ""),
    ]
    assert data("[.inf, -.inf]") == [math.inf, -math.inf]
    assert math.isnan(data(".nan"))


def test_words_dates_and_times_stay_text(parser: None) -> None:
    text = "[yes, no, on, off, 2024-01-31, 12:30:00, 010_000, '5', \"true\", 1.2.3]"
    assert data(text) == [
        *("yes", "no", "on", "off", "2024-01-31", "12:30:00", "010_000", "5", "true", "1.2.3")
    ]


def test_keys_are_always_text_as_written(parser: None) -> None:
    assert data("{1: a, no: b, null: c, 1.0: d}") == {"1": "a", "no": "b", "null": "c", "1.0": "d"}


def test_an_empty_text_is_none() -> None:
    assert data("") is None
    assert data("# only a comment\n") is None


def test_every_value_has_its_line_and_column(parser: None) -> None:
    document = parse("a:\n  b: 1\n  c:\n    - x\n    - y: 2\n", "x.yaml")
    assert document.place("a") == Place(1, 1)
    assert document.place("a", "b") == Place(2, 3)
    assert document.place("a", "c", 0) == Place(4, 7)
    assert document.place("a", "c", 1, "y") == Place(5, 7)
    assert document.where("a", "c", 1, "y") == "x.yaml:5"


def test_the_place_of_what_is_missing_is_that_of_what_should_hold_it() -> None:
    document = parse("a:\n  b: {c: 1}\n", "x.yaml")
    assert document.place("a", "b", "missing", 3) == Place(2, 3)
    assert document.place("missing") == Place(1, 1)


@pytest.mark.parametrize(
    ("text", "where", "word"),
    [
        ("a: 1\nb: *x\n", "x.yaml:2:4", "alias *x"),
        ("a: 1\nb: &x 2\n", "x.yaml:2:4", "anchor &x"),
        ("a: &x [1]\n", "x.yaml:1:4", "anchor &x"),
        ("a: !!python/object:os.system x\n", "x.yaml:1:4", "tag"),
        ("a: !mine {b: 1}\n", "x.yaml:1:4", "tag !mine"),
        ("a: !!str 5\n", "x.yaml:1:4", "tag"),
        ("a: 1\nb: 2\na: 3\n", "x.yaml:3:1", "'a' is given twice, first in line 1"),
        ("a: 1\n'a': 3\n", "x.yaml:2:1", "given twice"),
        ("<<: {a: 1}\n", "x.yaml:1:1", "merge key"),
        ("a: 1\n---\nb: 2\n", "x.yaml:2:1", "second document"),
        ("? [1, 2]\n: 3\n", "x.yaml:1:3", "key must be plain text"),
        ("a: [1\n", "x.yaml:2:1", "expected"),
        ("a: 'x\n", "x.yaml:2:1", "quoted scalar"),
        ("a: 1\n\tb: 2\n", "x.yaml:2:1", "found"),
        ("a: 1\nb: \x1b[31m\n", "x.yaml:2:4", "U+001B"),
        ("a: \ud800\n", "x.yaml:1:4", "U+D800"),
        ("[" * 100_000, "x.yaml:1:65", "64 deep"),
        ("a: " + "9" * 5000, "x.yaml:1:4", "5000 digits"),
    ],
)
def test_what_is_refused_is_named_with_file_line_and_column(
    text: str, where: str, word: str, parser: None
) -> None:
    message = refused(text)
    assert message.startswith(where + ": ")
    assert word in message


def test_a_quoted_merge_key_is_an_ordinary_key() -> None:
    assert data("'<<': 1") == {"<<": 1}


def test_all_that_is_wrong_is_reported_at_once() -> None:
    assert refused("a: 1\na: 2\nb: &x 3\nb: !t 4\n").count("\n") == 3


def test_many_problems_are_cut_short() -> None:
    message = refused("a: 1\n" * 100)
    assert message.endswith("and 79 more")


def test_bytes_that_are_not_utf_8_are_refused_with_their_line() -> None:
    assert refused(b"a: 1\nb: \xff\n").startswith("x.yaml:2: ")
    assert refused("a: 1".encode("utf-16")).startswith("x.yaml:1: ")


def test_a_byte_order_mark_is_accepted() -> None:
    assert parse(b"\xef\xbb\xbfa: 1", "x.yaml").data == {"a": 1}


def test_a_file_that_is_too_large_is_refused_without_being_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_bytes(b"#" * (LARGEST + 1))
    with pytest.raises(InputError, match="larger than 1 MiB"):
        read(file)
    with pytest.raises(InputError, match="larger than 1 MiB"):
        read(Path("/dev/zero"))


def test_a_file_of_the_largest_size_is_read_quickly(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    file.write_text("[" + "1," * 500_000 + "]")
    assert len(read(file).data) == 500_000


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x\.yaml cannot be read: No such file"):
        read(tmp_path / "x.yaml")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read(tmp_path)


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_any_text_is_either_read_or_refused(text: str | bytes) -> None:
    try:
        parse(text, "x.yaml")
    except InputError as error:
        assert "x.yaml" in error.message


@given(st.text(alphabet="[]{}:,-&*!|>'\"#%@`? \n\tab1<", max_size=60))
def test_any_yaml_like_text_is_either_read_or_refused(text: str) -> None:
    try:
        parse(text, "x.yaml")
    except InputError as error:
        assert error.message.startswith("x.yaml:")
