"""Ids and files: an id is safe wherever it goes, and a file is whole and private."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InputError, StorageFullError
from penstock.files import checked_id, private_file, private_folder, slug, storage_errors


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("My OpenAI GPT4o", "my-openai-gpt4o"),
        ("gpt-4o_mini.v2", "gpt-4o_mini.v2"),
        ("  Éclair & Crème  ", "eclair-creme"),
        ("Straße", "strasse"),
        ("a/b\\c:d", "a-b-c-d"),
        ("../../etc/passwd", "etc-passwd"),
        ("ＦＵＬＬ ｗｉｄｔｈ", "full-width"),
        ("x" * 100, "x" * 64),
        ("x" * 63 + " y", "x" * 63),
        ("9 lives", "9-lives"),
    ],
)
def test_a_name_gives_an_id(name: str, made: str) -> None:
    assert slug(name) == made


@given(st.text(st.characters(), max_size=80))
def test_whatever_id_is_made_is_valid_and_makes_itself(name: str) -> None:
    try:
        made = slug(name)
    except InputError:
        return
    assert checked_id(made) == made == slug(made)
    assert made not in (".", "..")


@pytest.mark.parametrize("name", ["", "   ", "日本", "...", "-_-", "🙂"])
def test_a_name_without_a_letter_or_digit_gives_none(name: str) -> None:
    with pytest.raises(InputError, match="no id can be made"):
        slug(name)


@pytest.mark.parametrize("name", ["", "A", "a/b", "..", ".a", "-a", "a" * 65, "a\n", "a b", "é"])
def test_what_is_no_id_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="no valid id"):
        checked_id(name)


def test_a_private_file_is_so_whatever_the_umask_and_leaves_nothing_else(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        private_folder(tmp_path / "a" / "b")
        private_file(tmp_path / "a" / "b" / "f", b"one")
        private_file(tmp_path / "a" / "b" / "f", b"two")
    finally:
        os.umask(before)
    made = tmp_path / "a" / "b" / "f"
    assert made.read_bytes() == b"two"
    assert made.stat().st_mode & 0o777 == 0o600
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "a", tmp_path / "a" / "b")} == {
        0o700
    }
    assert list(made.parent.iterdir()) == [made]


def test_what_the_disk_says_is_told_with_a_way_out(tmp_path: Path) -> None:
    told = pytest.raises(StorageFullError, match=r"(?s)f cannot be written: .*run again")
    with told, storage_errors(tmp_path / "f"):
        raise OSError(28, "No space left on device")
