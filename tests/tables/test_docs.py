"""The page about tables says what is so: its examples run, offline, in an empty folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock import tables
from penstock.tables.files import ReadOptions

_PAGE = Path(__file__).parents[2] / "docs" / "tables.md"
_BLOCKS = re.findall(r"```python\n(.*?)```", _PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", _BLOCKS, ids=range(len(_BLOCKS)))
def test_each_example_runs(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, str(_PAGE), "exec"), {})


def test_every_format_and_option_is_on_the_page() -> None:
    text = _PAGE.read_text(encoding="utf-8")
    for name in tables.FORMATS:
        assert f".{name}" in text, name
    for name in ReadOptions.__dataclass_fields__:
        assert f"{name}=" in text, name


def test_the_face_is_sorted_and_whole() -> None:
    assert sorted(tables.__all__) == tables.__all__
    for name in tables.__all__:
        assert getattr(tables, name) is not None
