"""JSON lines, arrays and columns, carried: the user's bytes as they were."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.grade.carry import Staged, Unreadable, stage, write
from penstock.grade.carry import json as carry_json
from penstock.grade.carry import jsonscan as carry_jsonscan
from penstock.tables import rows
from penstock.tables.plain import plain

_quick = settings(deadline=None, max_examples=200)


def _staged(folder: Path, body: bytes, name: str, **options: Any) -> Staged:
    (folder / name).write_bytes(body)
    staged = stage(folder / name, folder / "stage", **options)
    assert isinstance(staged, Staged), staged
    return staged


def _graded(folder: Path, body: bytes, name: str, **options: Any) -> bytes:
    staged = _staged(folder, body, name, **options)
    added = ({"s": number, "r": f"r{number}"} for number in range(len(staged)))
    return write(staged, added, ["s", "r"], folder / "out" / name).path.read_bytes()


@pytest.mark.parametrize(
    ("given_bytes", "expected"),
    [
        (b'{"a":1}\n', b'{"a":1, "s": 0, "r": "r0"}\n'),
        (b'{"a":1}', b'{"a":1, "s": 0, "r": "r0"}'),
        (b"{}\r\n{ }\r\n", b'{"s": 0, "r": "r0"}\r\n{"s": 1, "r": "r1" }\r\n'),
        (b'\xef\xbb\xbf{"a":1.00}\n', b'\xef\xbb\xbf{"a":1.00, "s": 0, "r": "r0"}\n'),
        (b'\n\n{"a":"}"} \n\n', b'\n\n{"a":"}", "s": 0, "r": "r0"} \n\n'),
        (
            b'  {"b": 12345678901234567890123, "a": 1E5, "b": "\\u00e9"}\n',
            b'  {"b": 12345678901234567890123, "a": 1E5, "b": "\\u00e9", "s": 0, "r": "r0"}\n',
        ),
        (b'{"a": {"x": []} }\n', b'{"a": {"x": []}, "s": 0, "r": "r0" }\n'),
    ],
)
def test_a_line_keeps_its_bytes(tmp_path: Path, given_bytes: bytes, expected: bytes) -> None:
    assert _graded(tmp_path, given_bytes, "a.jsonl") == expected


@pytest.mark.parametrize(
    ("given_bytes", "expected"),
    [
        (b"[]", b"[]"),
        (
            b'[{"a":1.0},{"a":1.00}]',
            b'[{"a":1.0, "s": 0, "r": "r0"},{"a":1.00, "s": 1, "r": "r1"}]',
        ),
        (
            b'[\n  {\n    "a": "]},{"\n  } ,\n  {}\n]\n',
            b'[\n  {\n    "a": "]},{",\n    "s": 0,\n    "r": "r0"\n  } ,\n'
            b'  {"s": 1, "r": "r1"}\n]\n',
        ),
        (
            b'{"a": [1.00, 2], "b": ["\xc3\xa9", null]}\n',
            b'{"a": [1.00, 2], "b": ["\xc3\xa9", null],\n"s": [0, 1],\n"r": ["r0", "r1"]}\n',
        ),
    ],
)
def test_an_array_and_columns_keep_their_bytes(
    tmp_path: Path, given_bytes: bytes, expected: bytes
) -> None:
    assert _graded(tmp_path, given_bytes, "a.json") == expected
    json.loads(expected)


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "cp1252"])
def test_an_encoding_is_kept_and_takes_every_text(tmp_path: Path, name: str, encoding: str) -> None:
    text = '{"a": "Größe"}\n' if name == "a.jsonl" else '[{"a": "Größe"}]\n'
    staged = _staged(tmp_path, text.encode(encoding), name)
    assert list(staged.rows()) == [{"a": "Größe"}]
    out = write(staged, [{"r": "ясно 😀"}], ["r"], tmp_path / f"out-{name}")
    body = out.path.read_bytes()
    assert body.startswith(text[:12].encode(encoding))
    assert list(rows(out.path)) == [{"a": "Größe", "r": "ясно 😀"}]
    assert out.notes == ()


def test_columns_in_utf_16_are_columns_in_utf_16(tmp_path: Path) -> None:
    staged = _staged(tmp_path, '{"a": ["ö", "ß"]}'.encode("utf-16"), "a.json")
    out = write(staged, [{"r": "ж"}, {"r": None}], ["r"], tmp_path / "o.json").path
    assert list(rows(out)) == [{"a": "ö", "r": "ж"}, {"a": "ß", "r": None}]
    assert out.read_bytes().startswith('{"a": ["ö", "ß"]'.encode("utf-16"))


def test_broken_lines_are_named_kept_and_stop_nothing(tmp_path: Path) -> None:
    body = b'{"a": 1}\n\n{"a": tru}\n[1]\n{"a": "\xe9"}\n{"a": 2}\n'
    staged = _staged(tmp_path, body, "a.jsonl", encoding="utf-8")
    assert [problem.line for problem in staged.problems] == [3, 4, 5]
    assert [staged.problem(number) is None for number in range(5)] == [True, *[False] * 3, True]
    assert staged.problem(2) == "it is a list, not an object"
    assert staged.problem(3) == "the byte 0xe9 is not UTF-8"
    assert list(staged.rows(1, 3)) == [{"bad_line": '{"a": tru}'}, {"bad_line": "[1]"}]
    added = [{"status": "error" if staged.problem(number) else "ok"} for number in range(5)]
    out = write(staged, added, ["status"], tmp_path / "out.jsonl").path
    read = list(rows(out))
    assert [row["status"] for row in read] == ["ok", "error", "error", "error", "ok"]
    kept = [row["bad_line"].encode("utf-8", "surrogateescape") for row in read[1:4]]
    assert kept == [b'{"a": tru}', b"[1]", b'{"a": "\xe9"}']


def test_broken_elements_of_an_array_are_named_kept_and_stop_nothing(tmp_path: Path) -> None:
    body = b'[\n{"a": 1},\n{"a": 1,},\n5, "x", null,\n{"a": NaN}]'
    staged = _staged(tmp_path, body, "a.json")
    assert [problem.line for problem in staged.problems] == [3, 4, 4, 4]
    added = [{"s": number} for number in range(6)]
    out = write(staged, added, ["s"], tmp_path / "out.json").path
    read = json.loads(out.read_bytes())
    assert [row["s"] for row in read] == list(range(6))
    assert [row.get("bad_line") for row in read[1:5]] == ['{"a": 1,}', "5", '"x"', "null"]


@pytest.mark.parametrize(
    ("name", "body", "reason"),
    [
        ("a.jsonl", b"", "is empty"),
        ("a.jsonl", b" \n\n", "only blanks"),
        ("a.jsonl", b'[{"a": 1}]', "looks like one JSON array"),
        ("a.json", b'{"a": 1}\n{"a": 2}\n', "is not JSON"),
        ("a.json", b'{"a": [1], "b": [1, 2]}', "differ in length"),
        ("a.json", b'{"a": 1}', "is one object"),
        ("a.json", b"5", "is not an array"),
        ("a.json", b'[{"a": 1}', "line 1: the file ends after row 1"),
        ("a.json", b"[", "the file ends where row 1 should be"),
        ("a.json", b'[{"a": 1}\n{"a": 2}]', "line 2: '{' follows after row 1"),
        ("a.json", b'[{"a": 1},\n]', "line 2: there is a comma but no row"),
        ("a.json", b'[{"a": "x]', "the file ends inside row 1"),
        ("a.json", b'[{"a": 1}] x', "'x' follows after the end"),
        ("a.json", b"[,]", "',' stands where row 1 should be"),
        ("a.json", b"\xff\xfe{\x00}", "is not utf-16-le"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_value(
    tmp_path: Path, name: str, body: bytes, reason: str
) -> None:
    (tmp_path / name).write_bytes(body)
    found = stage(tmp_path / name, tmp_path / "stage")
    assert isinstance(found, Unreadable)
    assert reason in found.reason
    assert name in found.reason


def test_a_line_or_element_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carry_json, "LONGEST", 1000)
    monkeypatch.setattr(carry_jsonscan, "LONGEST", 1000)
    monkeypatch.setattr(carry_jsonscan, "_PIECE", 100)
    for name, body in (("a.jsonl", b'{"a": "%s"}'), ("a.json", b'[{"a": "%s"}]')):
        (tmp_path / name).write_bytes(body % (b"x" * 5000))
        found = stage(tmp_path / name, tmp_path / "stage")
        assert isinstance(found, Unreadable)
        assert "1 is longer than" in found.reason


def test_a_column_that_is_needed_and_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"a": 1}\n{"b": 2}\n')
    found = stage(tmp_path / "a.jsonl", tmp_path / "stage", needs=["b", "text"])
    assert isinstance(found, Unreadable)
    assert "no column 'text'" in found.reason
    assert found.remedy == "It has: a, b."


def test_names_that_any_row_has_are_not_taken_again(tmp_path: Path) -> None:
    staged = _staged(tmp_path, b'{"a": 1}\n{"s": 2}\n{"bad": \n', "a.jsonl")
    out = write(staged, [{"s": 0, "bad_line": 1}] * 3, ["s", "bad_line"], tmp_path / "o.jsonl")
    assert out.names == {"s": "s_2", "bad_line": "bad_line_2"}
    assert list(rows(out.path))[1] == {"s": 2, "s_2": 0, "bad_line_2": 1}


def test_values_of_a_row_do_not_depend_on_other_rows(tmp_path: Path) -> None:
    staged = _staged(tmp_path, b'{"a": 1}\n{"a": 2.5}\n{"a": "x"}\n{"b": null}\n', "a.jsonl")
    found = list(staged.rows())
    assert found == [{"a": 1}, {"a": 2.5}, {"a": "x"}, {"b": None}]
    assert type(found[0]["a"]) is int


_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=[]), max_size=6),
    lambda inside: (
        st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=3), inside, max_size=3)
    ),
    max_leaves=6,
)
_objects = st.dictionaries(
    st.text(st.characters(exclude_categories=[]), max_size=4), _values, max_size=4
)


def _spelled(draw: st.DrawFn, value: Any, *, lines: bool) -> str:
    indent = None if lines else draw(st.sampled_from([None, None, 0, 2, "\t"]))
    text = json.dumps(
        value,
        ensure_ascii=draw(st.booleans()) or _halves(value),
        indent=indent,
        separators=draw(st.sampled_from([(",", ":"), (", ", ": "), (" , ", " :")])),
    )
    around = st.sampled_from(["", " ", "\t"] if lines else ["", " ", "\n", "\r\n  "])
    return draw(around) + text + draw(around)


def _halves(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


@st.composite
def _files(draw: st.DrawFn) -> tuple[str, list[str], bytes]:
    """A format, the objects as written, and the whole file."""
    form = draw(st.sampled_from(["jsonl", "json"]))
    some = draw(st.lists(_objects, min_size=1, max_size=5))
    texts = [_spelled(draw, each, lines=form == "jsonl") for each in some]
    if form == "json":
        return form, texts, ("[" + ",".join(texts) + "]").encode()
    end = draw(st.sampled_from(["\n", "\r\n", "\n\n"]))
    last = draw(st.sampled_from(["", end]))
    return form, texts, (end.join(texts) + last).encode()


@_quick
@given(_files(), st.lists(_values, min_size=5, max_size=5))
def test_without_what_was_added_the_file_has_its_own_bytes(
    file: tuple[str, list[str], bytes], values: list[Any]
) -> None:
    form, texts, body = file
    title = "\U0001f7e0"
    if title.encode() in body or title in json.dumps(values, ensure_ascii=False):
        return
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / f"a.{form}"
        path.write_bytes(body)
        staged = stage(path, folder / "stage")
        assert isinstance(staged, Staged)
        assert list(staged.rows()) == [json.loads(text) for text in texts] == list(rows(path))
        added = [{title: value} for value in values[: len(staged)]]
        out = write(staged, iter(added), [title], folder / f"out.{form}").path
        written = list(rows(out))
        assert [row.pop(title) for row in written] == [_halved(v) for v in values[: len(staged)]]
        assert written == list(staged.rows())
        bare = write(staged, ({title: 0} for _ in texts), [title], folder / f"bare.{form}").path
        assert _taken_out(bare.read_bytes(), title) == body


def _halved(value: Any) -> Any:
    """Half characters of ours are replaced."""
    return plain(value) if _halves(value) else value


def _taken_out(body: bytes, title: str) -> bytes:
    return re.sub(rb',?[ \t\r\n]*"%s": 0' % title.encode(), b"", body)


def _many(count: int) -> Iterator[dict[str, int]]:
    return ({"s": number} for number in range(count))


def test_an_array_larger_than_what_is_held_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carry_jsonscan, "_PIECE", 7)
    given_rows = [
        {"a": 'text "quoted" \\ ' * (number % 5), "b": [{"c": []}]} for number in range(50)
    ]
    staged = _staged(tmp_path, json.dumps(given_rows, indent=1).encode(), "a.json")
    assert list(staged.rows()) == given_rows
    out = write(staged, _many(50), ["s"], tmp_path / "out.json").path
    assert json.loads(out.read_bytes()) == [row | {"s": n} for n, row in enumerate(given_rows)]
