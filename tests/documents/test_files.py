"""Files of plain data: what is written is read back as it was, and every value has its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock import yamlfile
from penstock.documents.files import as_yaml, read, write
from penstock.errors import InputError, StorageFullError

ODD = (
    *("", " ", "\n", "\n\n", " x", "x ", "x\n", "\nx", "x\n\n", "a\nb", "a\n b \n", "a \nb", "\ta"),
    *("1e3", "0o17", "0x1f", "1_000", "no", "yes", "true", "null", "~", ".inf", ".nan", "1.", "-"),
    *("2024-01-01", "12:30", "<<", "=", "!x", "&x", "*x", "%x", "@x", "`x", "? x", ": x", "x: y"),
    *("{{ x }}", "{x}", "[x]", "# x", "x # y", "'x'", '"x"', "\\n", "---", "...", "- x", "|", ">"),
    *("\u2028", "a\u2029b", "\x85", "\ufeff", "\x00", "\x1b[31m", "é", "e\u0301", "🙂", "\r\n"),
    *("a\rb", "x" * 300, "word " * 60, "a\n\n  b\n", "  \n x", "a\n\tb", "\u3000", "\uffff"),
    *("line\n  indented   \nlast", "a\x85b\nc", "\\ud83d\\ude00", "/", "\\/", "\b\f"),
)
whole = st.characters(exclude_categories=["Cs"])
texts = st.sampled_from(ODD) | st.text(whole, max_size=30)
numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)
data = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
mappings = st.dictionaries(texts, data, max_size=5)
LAYOUTS: list[dict[str, Any]] = [{}, {"indent": 2}, {"indent": "\t"}, {"separators": (",", ":")}]


@given(mappings)
@example({text: text for text in ODD})
@example({"far": [float("inf"), -float("inf"), 1e300, 5e-324]})
@example({"list": list(ODD), "inside": [{"a": [list(ODD)]}], "": {"": {}}, "empty": []})
def test_whatever_is_written_is_read_back_as_it_was(made: dict[str, Any]) -> None:
    text = as_yaml(made)
    assert yamlfile.parse(text, "it").data == made
    assert yamlfile.parse(text.encode("utf-8"), "it").data == made


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("ascii_only", [True, False])
@given(made=mappings)
@example({text: text for text in ODD})
@example({"all": list(ODD)})
def test_json_is_read_as_json_however_it_is_laid_out(
    tmp_path_factory: pytest.TempPathFactory,
    layout: dict[str, Any],
    ascii_only: bool,
    made: dict[str, Any],
) -> None:
    path = tmp_path_factory.getbasetemp() / "made.json"
    path.write_text(json.dumps(made, ensure_ascii=ascii_only, **layout), "utf-8")
    assert read(path).data == made


def test_a_file_is_written_whole_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "made" / "it.yaml"
    write(path, {"name": "one"})
    write(path, {"name": "two", "text": "a\nb"})
    assert path.read_text() == "name: two\ntext: |-\n  a\n  b\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [each.name for each in path.parent.iterdir()] == ["it.yaml"]


def test_what_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "it.yaml"
    with pytest.raises(InputError, match="larger than 1 MiB"):
        write(path, {"text": "x" * (1 << 20)})
    with pytest.raises(InputError, match="half a character"):
        write(path, {"text": "\ud800"})
    with pytest.raises(InputError, match="half a character"):
        write(path, {"\udfff": "x"})
    assert not path.exists()


def test_a_disk_that_does_not_take_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageFullError, match=r"it\.yaml cannot be written"):
        write(tmp_path / "file" / "it.yaml", {"name": "x"})


@pytest.mark.parametrize("suffix", [".yaml", ".json", ".JSON"])
def test_every_value_has_its_line(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"it{suffix}"
    path.write_text('{"name": "x",\n "list": [1,\n  {"a": 2,\n   "b": "\\u00e9"}]}')
    found = read(path, "mine")
    assert found.name == "mine"
    assert found.data == {"name": "x", "list": [1, {"a": 2, "b": "é"}]}
    assert (found.place("list").line, found.place("list", 1, "b").line) == (2, 4)


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("it.json", b'{"a": "\xff"}', "it.json:1: is not UTF-8"),
        ("it.json", b'{"a": 1,\n "a": 2}', "it.json:2:2: the key 'a' is given twice"),
        ("it.json", b'{"a": 1,\n "b": [1, 2}', "it.json:2:"),
        ("it.json", b'{"a": "\\ud800"}', "it.json:1:"),
        ("it.json", b"[" * 100_000, "nested more than 64 deep"),
        ("it.json", b'{"a": "' + b"x" * (1 << 20) + b'"}', "larger than 1 MiB"),
        ("it.yaml", b"a: &x 1\nb: *x", "it.yaml:1:4: the anchor &x is not allowed"),
        ("it.yaml", b"a: !!python/object:os.system x", "the tag"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_line(
    tmp_path: Path, name: str, body: bytes, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(body)
    with pytest.raises(InputError) as error:
        read(path)
    assert said in str(error.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    for name in ("it.yaml", "it.json"):
        with pytest.raises(InputError, match=rf"{name} cannot be read: No such file"):
            read(tmp_path / name)
