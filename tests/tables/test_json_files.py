"""JSON and JSON lines: streamed, exact, and a broken row named."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import pytest

from penstock.errors import InputError
from penstock.tables import Table, rows
from penstock.tables import jsonread as jsonread_module


def _read(path: Path, content: bytes | str, **options: object) -> list[dict[str, object]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(rows(path, **options))  # type: ignore[arg-type]


def test_lines_are_rows_and_blank_ones_are_none(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    assert _read(path, '{"a": 1}\n\n  \r\n{"a": [2], "b": null}') == [
        {"a": 1},
        {"a": [2], "b": None},
    ]
    assert _read(path, b'\xef\xbb\xbf{"a": "\xc3\xa4"}\n') == [{"a": "ä"}]
    assert _read(path, '{"a": "ä"}\n'.encode("utf-16")) == [{"a": "ä"}]
    assert _read(path, gzip.compress(b'{"a": 1}\n')) == [{"a": 1}]


def test_numbers_are_exact_and_odd_ones_are_read(tmp_path: Path) -> None:
    content = '{"a": 123456789012345678901234567890, "b": NaN, "c": -Infinity, "d": 1e999}\n'
    (row,) = _read(tmp_path / "a.jsonl", content)
    assert row["a"] == 123456789012345678901234567890
    assert math.isnan(row["b"])  # type: ignore[arg-type]
    assert (row["c"], row["d"]) == (-math.inf, math.inf)
    (half,) = _read(tmp_path / "b.jsonl", '{"a": "\\ud83d"}\n')
    assert half == {"a": "\ud83d"}
    assert Table.from_rows([half])["a"] == ["�"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"a": ', "at character"),
        ("[1]", "it is a list, not an object"),
        ("5", "it is a int"),
        ('{"a": 1} x', "at character"),
        ('{"a": ' + "[" * 100_000, "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "4300"),
        (b'{"a": "\xff"}', "the byte 0xff is not UTF-8"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, line: str | bytes, reason: str) -> None:
    body = line.encode() if isinstance(line, str) else line
    path = tmp_path / "a.jsonl"
    content = b'{"ok": 1}\n' + body + b'\n{"ok": 2}\n'
    with pytest.raises(InputError, match=rf"a\.jsonl: line 2: .*{reason}"):
        _read(path, content, encoding="utf-8")
    source = rows(path, bad_lines="skip", encoding="utf-8")
    assert list(source) == [{"ok": 1}, {"ok": 2}]
    assert source.problems[0].line == 2
    kept = list(rows(path, bad_lines="keep", encoding="utf-8"))
    assert kept[1] == {"bad_line": body.decode("utf-8", "replace")}


def test_an_array_of_objects_is_streamed(tmp_path: Path) -> None:
    made = [
        {"n": n, "text": 'quote " \\ ] } , [ { ' * (n % 50), "in": {"x": [n]}} for n in range(3000)
    ]
    path = tmp_path / "a.json"
    for text in (
        json.dumps(made),
        json.dumps(made, indent=2),
        json.dumps(made, separators=(",", ":")),
    ):
        assert _read(path, text) == made
    source = rows(path)
    assert list(source) == list(source)
    assert _read(path, "  [ ] \n") == []
    assert _read(path, json.dumps([{"a": "ä"}]).encode("utf-16")) == [{"a": "ä"}]
    assert _read(path, json.dumps([{"a": "x" * 2_000_000}])) == [{"a": "x" * 2_000_000}]


def test_columns_of_json_are_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    assert _read(path, '{"a": [1, 2], "b": ["x", null]}') == [
        {"a": 1, "b": "x"},
        {"a": 2, "b": None},
    ]
    with pytest.raises(InputError, match="differ in length"):
        _read(path, '{"a": [1, 2], "b": []}')
    with pytest.raises(InputError, match="one object, not rows"):
        _read(path, '{"a": 1}')


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[{"a": 1}, {"a": ]', "line 1: row 2: "),
        ('[{"a": 1}\n {"a": 2}]', "line 2: '{' follows after row 1"),
        ('[{"a": 1},]', "a comma but no row"),
        ('[{"a": 1}', "the file ends after row 1"),
        ("[1]", "row 1 begins with '1', it is not an object"),
        ('[{"a": 1}, ', "row 2 is missing"),
        ('[{"a": 1}] x', "'x' follows after the end"),
        ('[{"a": ' + "[" * 100_000, "row 1 is nested too deeply"),
        ('[{"a": "' + "x" * 1_000_000, "row 1: Unterminated string"),
        ('"text"', "not an array of objects"),
        ('{"a": 1}\n{"a": 2}\n', "format='jsonl'"),
    ],
)
def test_what_is_wrong_with_an_array_is_named(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(InputError) as error:
        _read(tmp_path / "a.json", text)
    assert reason in str(error.value)


def test_rows_before_a_broken_one_are_delivered(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[" + ",".join(f'{{"n": {n}}}' for n in range(2000)) + ", oops]")
    got = []
    with pytest.raises(InputError, match="row 2001"):
        for block in rows(path).blocks(512):
            got += block
    assert len(got) == 2000


def test_an_endless_element_and_endless_columns_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonread_module, "LONGEST", 1 << 20)
    monkeypatch.setattr(jsonread_module, "LARGEST", 1 << 20)
    with pytest.raises(InputError, match="row 1 is longer than 1 MiB"):
        _read(tmp_path / "a.json", '[{"a": "' + "x" * 3_000_000 + '"}]')
    with pytest.raises(InputError, match="more than 1 MiB"):
        _read(tmp_path / "b.json", '{"a": ["' + "x" * 3_000_000 + '"]}')


def test_json_written_is_valid_for_everyone(tmp_path: Path) -> None:
    table = Table.from_rows([{"a": float("nan"), "b": {"c": [1, "x", 2**70, float("inf")]}}])
    text = table.to_json(tmp_path / "a.json").read_text()
    assert "NaN" not in text
    assert "Infinity" not in text
    assert json.loads(text) == [{"a": None, "b": {"c": [1, "x", 2**70, None]}}]
    assert Table.from_rows([]).to_json(tmp_path / "b.json").read_text() == "[]\n"
    assert Table.from_rows([]).to_jsonl(tmp_path / "b.jsonl").read_text() == ""
