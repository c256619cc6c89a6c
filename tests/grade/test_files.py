"""Which files are graded, and what their outputs are called."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import InputError, NotFoundError
from penstock.grade.files import Found, found, mark


def _made(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("a\n1\n")
    return folder


def _names(files: Found) -> list[str]:
    return [file.name for file in files]


def test_a_folder_is_looked_through_in_order(tmp_path: Path) -> None:
    _made(tmp_path, "b.csv", "a.jsonl", "sub/deep/x.parquet", "sub/c.TSV", "d.json", "e.ndjson")
    _made(tmp_path, "f.arrow", "g.xlsx", "h.csv.gz")
    files = found([tmp_path])
    assert [(file.name, file.format) for file in files] == [
        ("a.jsonl", "jsonl"),
        ("b.csv", "csv"),
        ("d.json", "json"),
        ("e.ndjson", "jsonl"),
        ("f.arrow", "arrow"),
        ("g.xlsx", "xlsx"),
        ("h.csv", "csv"),
        ("sub/c.TSV", "tsv"),
        ("sub/deep/x.parquet", "parquet"),
    ]
    assert files[0].path == tmp_path / "a.jsonl"
    assert files.skipped == []


def test_what_is_no_table_is_an_error_when_named_and_listed_when_found(tmp_path: Path) -> None:
    _made(tmp_path, "a.csv", "notes.txt", "report.html", "x.parquet.gz", "README")
    files = found([tmp_path])
    assert _names(files) == ["a.csv"]
    skipped = {path.name: reason for path, reason in files.skipped}
    assert sorted(skipped) == ["README", "notes.txt", "report.html", "x.parquet.gz"]
    assert set(skipped.values()) == {"its name is that of no known format"}
    for name in ("notes.txt", "x.parquet.gz", "README"):
        with pytest.raises(InputError, match=name):
            found([tmp_path / name])
    with pytest.raises(NotFoundError, match=r"none\.csv"):
        found([tmp_path / "none.csv"])


def test_hidden_files_and_workspaces_are_left_alone_unless_named(tmp_path: Path) -> None:
    _made(tmp_path, "a.csv", ".b.csv", ".penstock/c.csv", ".git/d.json", "home/runs/e.arrow")
    (tmp_path / "home" / "journal.db").touch()
    files = found([tmp_path])
    assert _names(files) == ["a.csv"]
    assert [path.name for path, _ in files.skipped] == ["home"]
    assert _names(found([tmp_path / ".b.csv"])) == [".b.csv"]


def test_what_penstock_wrote_is_not_graded_again(tmp_path: Path) -> None:
    _made(tmp_path, "a.csv", "graded/a.csv", "graded/own.csv", "here.csv", "out/x.csv")
    mark(tmp_path / "graded" / "a.csv")
    mark(tmp_path / "here.csv")
    files = found([tmp_path], out=tmp_path / "out")
    assert _names(files) == ["a.csv", "graded/own.csv"]
    assert {path.name for path, _ in files.skipped} == {"a.csv", "here.csv"}
    assert _names(found([tmp_path / "here.csv"])) == ["here.csv"]
    (tmp_path / "graded" / "own.csv").unlink()
    with pytest.raises(InputError, match="no file to grade") as raised:
        found([tmp_path / "graded"])
    assert "Penstock wrote it" in raised.value.remedy


def test_parts_of_a_split_are_inputs_of_who_names_their_folder(tmp_path: Path) -> None:
    _made(tmp_path, "a.csv", "parts/a-1.csv")
    mark(tmp_path / "parts" / "a-1.csv", "part")
    assert _names(found([tmp_path])) == ["a.csv"]
    assert _names(found([tmp_path / "parts"])) == ["a-1.csv"]


def test_a_file_that_is_given_twice_counts_once(tmp_path: Path) -> None:
    _made(tmp_path, "a.csv")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    given_names: list[Path | str] = [
        tmp_path / "a.csv",
        tmp_path,
        str(tmp_path / "." / "a.csv"),
        tmp_path / "link.csv",
    ]
    assert _names(found(given_names)) == ["a.csv"]
    assert len(found(str(tmp_path / "a.csv"))) == 1


def test_links_in_a_circle_are_harmless(tmp_path: Path) -> None:
    _made(tmp_path, "data/a.csv", "data/sub/b.csv")
    (tmp_path / "data" / "sub" / "up").symlink_to(tmp_path / "data", target_is_directory=True)
    (tmp_path / "data" / "self").symlink_to(tmp_path / "data" / "self")
    (tmp_path / "data" / "gone.csv").symlink_to(tmp_path / "nowhere.csv")
    files = found([tmp_path / "data"])
    assert _names(files) == ["a.csv", "sub/b.csv"]
    assert {path.name for path, _ in files.skipped} == {"self", "gone.csv"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_may_not_be_read_is_listed(tmp_path: Path) -> None:
    _made(tmp_path, "a.csv", "shut/b.csv")
    (tmp_path / "shut").chmod(0)
    files = found([tmp_path])
    (tmp_path / "shut").chmod(0o700)
    assert _names(files) == ["a.csv"]
    assert [path.name for path, _ in files.skipped] == ["shut"]


def test_outputs_of_the_same_name_are_kept_apart_by_their_folders(tmp_path: Path) -> None:
    _made(tmp_path, "a/x.csv", "b/x.csv", "b/y.csv", "c/a/x.csv")
    files = found([tmp_path / "a" / "x.csv", tmp_path / "b" / "x.csv", tmp_path / "b" / "y.csv"])
    assert _names(files) == ["a/x.csv", "b/x.csv", "y.csv"]
    assert _names(found([tmp_path / "a", tmp_path / "c" / "a"])) == [
        f"{tmp_path.name}/a/x.csv",
        "c/a/x.csv",
    ]


def test_outputs_of_one_folder_are_kept_apart_by_numbers(tmp_path: Path) -> None:
    _made(tmp_path, "x.csv", "x.csv.gz", "x.jsonl", "x_2.csv")
    assert _names(found([tmp_path])) == ["x.csv", "x_3.csv", "x.jsonl", "x_2.csv"]
    files = found([tmp_path / "x.csv", tmp_path / "x.jsonl"], format="parquet")
    assert _names(files) == ["x.parquet", "x_2.parquet"]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from("ab"), max_size=3).map("/".join),
            st.sampled_from(["x.csv", "X.csv", "x.json", "x.csv.gz", "x_2.csv"]),
        ),
        min_size=1,
        max_size=10,
    ),
    st.sampled_from([None, "csv"]),
)
def test_no_two_outputs_ever_have_the_same_name(
    places: list[tuple[str, str]], form: str | None
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        paths = [folder / where / file for where, file in places]
        for path in paths:
            _made(path.parent, path.name)
        files = found(paths, format=form)
        assert len(files) == len({path.resolve() for path in paths})
        outputs = [file.name.casefold() for file in files]
        assert len(set(outputs)) == len(outputs)
        assert not any(output.startswith("/") or ".." in output for output in outputs)


def test_a_folder_without_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file to grade"):
        found([tmp_path])
    with pytest.raises(InputError, match="in nothing"):
        found([])
