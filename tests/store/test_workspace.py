from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from penstock.errors import InputError, NewerWorkspaceError, StorageFullError, StoreError
from penstock.files import checked_id, private_file, private_folder
from penstock.store import Workspace
from penstock.store.workspace import FORMAT
from tests.store.records import children


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


# Where it is ------------------------------------------------------------------------------------


def test_penstock_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here" / ".penstock").mkdir(parents=True)
    monkeypatch.setenv("PENSTOCK_HOME", str(tmp_path / "elsewhere"))
    assert Workspace.find(tmp_path / "here").path == tmp_path / "elsewhere"


def test_an_empty_penstock_home_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_HOME", "")
    assert Workspace.find(tmp_path).path == tmp_path / ".penstock"


def test_a_home_may_be_written_with_a_tilde(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PENSTOCK_HOME", "~/mine")
    assert Workspace.find().path == tmp_path / "mine"


def test_the_nearest_folder_upward_is_taken(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    (tmp_path / ".penstock").mkdir()
    assert Workspace.find(deep).path == tmp_path / ".penstock"
    (tmp_path / "a" / ".penstock").mkdir()
    assert Workspace.find(deep).path == tmp_path / "a" / ".penstock"
    (tmp_path / "a" / "b" / ".penstock").write_text("a file is no workspace")
    assert Workspace.find(deep).path == tmp_path / "a" / ".penstock"


def test_without_one_it_is_here_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = Workspace.find()
    assert found.path == tmp_path / ".penstock"
    assert not found.exists
    assert list(tmp_path.iterdir()) == []


def test_a_path_does_not_follow_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = Workspace("mine")
    monkeypatch.chdir("/")
    assert made.path == tmp_path / "mine"


# Making it --------------------------------------------------------------------------------------


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_everything_in_it_is_for_the_owner_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        made = Workspace(tmp_path / "a" / "b" / "home").prepare()
        private_file(made.path / "run.json", b"{}")
        private_folder(made.run("r1"))
    finally:
        os.umask(before)
    folders = [tmp_path / "a", tmp_path / "a" / "b", made.path, made.runs, made.run("r1")]
    assert {mode(folder) for folder in folders} == {0o700}
    files = [file for file in made.path.rglob("*") if file.is_file()]
    assert {file.name for file in files} == {".gitignore", "workspace.json", "run.json"}
    assert {mode(file) for file in files} == {0o600}


def test_it_keeps_itself_out_of_git_and_says_its_format(tmp_path: Path) -> None:
    made = Workspace(tmp_path / "home").prepare()
    assert made.exists
    assert (made.path / ".gitignore").read_text() == "*\n"
    assert json.loads((made.path / "workspace.json").read_text()) == {"format": FORMAT}


def test_preparing_again_changes_nothing(tmp_path: Path) -> None:
    made = Workspace(tmp_path / "home").prepare()
    before = {file: file.stat().st_mtime_ns for file in made.path.rglob("*")}
    Workspace(tmp_path / "home").prepare()
    assert {file: file.stat().st_mtime_ns for file in made.path.rglob("*")} == before


def test_the_rooms_are_where_they_are_said_to_be(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    assert made.journal == tmp_path / "journal.db"
    assert made.catalog == tmp_path / "catalog.db"
    assert made.run("abc-1") == tmp_path / "runs" / "abc-1"


def test_several_threads_may_prepare_one_at_once(tmp_path: Path) -> None:
    wrong: list[BaseException] = []
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        try:
            for _ in range(20):
                Workspace(tmp_path / "x" / "home").prepare()
                private_file(tmp_path / "x" / "home" / "run.json", b"{}" * 100)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert sorted(file.name for file in (tmp_path / "x" / "home").iterdir()) == [
        *(".gitignore", "run.json", "runs", "workspace.json")
    ]


_PREPARE = """
import sys
from pathlib import Path
from penstock.store import Workspace
print("ready", flush=True)
sys.stdin.read(1)
for number in range(30):
    Workspace(Path(sys.argv[1]) / str(number) / "home").prepare()
"""


def test_several_processes_may_prepare_one_at_once(tmp_path: Path) -> None:
    with children(_PREPARE, *[[tmp_path]] * 4) as running:
        for child in running:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
        for child in running:
            child.communicate("x", timeout=60)
        assert [child.returncode for child in running] == [0] * 4


# What may be wrong with it ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"garbage", b"\xff\xfe", b"[]", b"{}", b"null", b"5", b'"format"', b"\0" * 100),
        *(b'{"format": "1"}', b'{"format": null}', b'{"format": [1]}', b"[" * 100_000),
    ],
)
def test_a_workspace_file_that_is_garbage_is_named_with_its_cure(
    tmp_path: Path, content: bytes
) -> None:
    made = Workspace(tmp_path / "home").prepare()
    marker = made.path / "workspace.json"
    marker.write_bytes(content)
    with pytest.raises(StoreError) as caught:
        made.prepare()
    assert caught.value.message == f"{marker} is damaged"
    assert '{"format":1}' in caught.value.remedy
    assert marker.read_bytes() == content


def test_a_newer_workspace_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    made = Workspace(tmp_path / "home")
    made.path.mkdir()
    (made.path / "workspace.json").write_text(f'{{"format": {FORMAT + 1}}}')
    with pytest.raises(NewerWorkspaceError) as caught:
        made.prepare()
    assert str(made.path) in caught.value.message
    assert f"format {FORMAT + 1}; this version knows {FORMAT}" in caught.value.message
    assert "Upgrade" in caught.value.remedy
    with pytest.raises(NewerWorkspaceError):
        made.check()
    assert [file.name for file in made.path.iterdir()] == ["workspace.json"]


def test_checking_writes_nothing(tmp_path: Path) -> None:
    assert Workspace(tmp_path / "home").check().path == tmp_path / "home"
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_its_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("I was here first")
    for path in (tmp_path / "home", tmp_path / "home" / "deeper"):
        with pytest.raises(StorageFullError) as caught:
            Workspace(path).prepare()
        assert str(path) in caught.value.message
    assert (tmp_path / "home").read_text() == "I was here first"


def test_a_private_file_is_replaced_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    private_file(path, b"old")

    def fail(handle: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output"):
        private_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["run.json"]


# Ids --------------------------------------------------------------------------------------------

_UP = ["..", "...", "../..", "..\\..", "%2e%2e", "..%2f", "%252e%252e%252f", "..;", ".%00.", "．．"]
_TARGETS = ["", "/", "/etc/passwd", "\\windows\\win.ini", "/journal.db", "%2fetc%2fpasswd", "/."]
_TRAVERSALS = [
    *(up + target for up in _UP for target in _TARGETS),
    *("x/" + up + target for up in _UP for target in _TARGETS),
    *("/" + up + target for up in _UP for target in _TARGETS),
    *("", ".", "/", "\\", "~", "~/x", "~root", "-", "_", ".hidden", "-rf", "a/b", "a\\b", "a b"),
    *("a\0", "\0", "a\n", "\na", "a\r\n", "a\t", "a\x7f", "a\u202eb", "a\u200b", "ä", "Run", "A"),
    *("a%2fb", "a?b", "a#b", "a*", "a:b", "C:", "con:", "a|b", "a;b", "a'b", 'a"b', "a`b", "$HOME"),
    *("{a}", "{{a}}", "<a>", "a&b", "a=b", "a,b", "a@b", "a!", "a+b", "(a)", "[a]", "a^", "x" * 65),
    *("https://x", "file:///etc/passwd", "１２", "ａ", "é", "a\u0301", "\ud800", "🎉"),
]


def test_there_are_two_hundred_payloads() -> None:
    assert len(set(_TRAVERSALS)) >= 200


@pytest.mark.parametrize("name", sorted(set(_TRAVERSALS)), ids=ascii)
def test_no_traversal_is_an_id(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError) as caught:
        checked_id(name)
    assert "is no valid id" in caught.value.message
    assert "1 to 64" in caught.value.remedy
    with pytest.raises(InputError):
        Workspace(tmp_path).run(name)


@pytest.mark.parametrize("name", ["a", "0", "run-1", "2026-01-02.a_b", "a..b", "x" * 64])
def test_an_ordinary_name_is_an_id_and_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    assert checked_id(name) == name
    assert Workspace(tmp_path).run(name).resolve().parent == (tmp_path / "runs").resolve()
