"""Shelves: objects by kind and id, the user's own over those that ship, and never anything else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from penstock.documents.models import Model
from penstock.documents.objects import Dataset
from penstock.documents.shelf import Entry, Shelf, id_of
from penstock.errors import InputError, NotFoundError


class Poem(Model):
    name: str
    lines: tuple[str, ...] = ()


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    folder = tmp_path / "shipped" / "poems"
    folder.mkdir(parents=True)
    (folder / "ode.yaml").write_text("name: Ode\nlines: [shipped]\n")
    (folder / "hymn.json").write_text('{"name": "Hymn"}')
    return folder.parent


@pytest.fixture
def shelf(tmp_path: Path, shipped: Path) -> Shelf[Poem]:
    return Shelf("poem", Poem, tmp_path / "own", shipped)


def put(shelf: Shelf[Poem], name: str, text: str) -> Path:
    shelf.folder.mkdir(parents=True, exist_ok=True)
    path = shelf.folder / name
    path.write_text(text)
    return path


def test_an_object_is_created_read_updated_listed_and_deleted(shelf: Shelf[Poem]) -> None:
    made = shelf.create({"name": "My First Poem", "lines": ["a"]})
    assert (made.id, made.path) == ("my-first-poem", shelf.folder / "my-first-poem.yaml")
    assert shelf.read("my-first-poem") == made == shelf.get("my-first-poem")
    assert "my-first-poem" in shelf
    assert list(shelf) == shelf.ids() == ["hymn", "my-first-poem", "ode"]
    changed = shelf.update("my-first-poem", lines=["a", "b"])
    assert changed.value == Poem(name="My First Poem", lines=("a", "b"))
    assert shelf.read("my-first-poem") == changed
    shelf.delete("my-first-poem")
    assert "my-first-poem" not in shelf
    with pytest.raises(NotFoundError, match="there is no poem 'my-first-poem'"):
        shelf.read("my-first-poem")


def test_an_object_may_be_given_an_id_and_be_an_object_already(shelf: Shelf[Poem]) -> None:
    made = shelf.create(Poem(name="Of Rivers"), id="rivers.2")
    assert (made.id, shelf.read("rivers.2").value.name) == ("rivers.2", "Of Rivers")


def test_what_is_there_is_not_replaced_by_creating(shelf: Shelf[Poem]) -> None:
    shelf.create({"name": "One"})
    put(shelf, "two.json", '{"name": "Two"}')
    for name in ("One", "one!", "Two"):
        with pytest.raises(InputError, match="already"):
            shelf.create({"name": name, "lines": ["other"]})
    assert shelf.read("one").value.lines == ()


def test_what_ships_is_read_and_never_written(shelf: Shelf[Poem], shipped: Path) -> None:
    before = {path: path.read_bytes() for path in shipped.rglob("*.*")}
    assert shelf.read("ode").shipped
    assert shelf.read("hymn") == Entry("hymn", Poem(name="Hymn"), shipped / "poems/hymn.json", True)
    with pytest.raises(InputError, match="'ode' ships with Penstock and stays"):
        shelf.delete("ode")
    copy = shelf.update("ode", lines=["mine"])
    assert copy.path == shelf.folder / "ode.yaml" and not copy.shipped
    assert shelf.read("ode").value.lines == ("mine",)
    assert shelf.ids() == ["hymn", "ode"]
    shelf.delete("ode")
    assert shelf.read("ode").value.lines == ("shipped",)
    assert {path: path.read_bytes() for path in shipped.rglob("*.*")} == before


@pytest.mark.parametrize(
    "name",
    [
        *("../../secret", "..", ".", "/etc/passwd", "a/b", "a\\b", "UPPER", "", "a" * 65, "-a"),
        *("a b", "a\0b", "a\n", "é", "%2e%2e", "~root", "a:b", "secret.yaml/..", "../secret.yaml"),
    ],
)  # fmt: skip
def test_what_is_no_id_is_refused_wherever_something_is_written(
    shelf: Shelf[Poem], tmp_path: Path, name: str
) -> None:
    (tmp_path / "secret.yaml").write_text("name: Secret\n")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError, match="no valid id"):
        shelf.create({"name": "x"}, id=name)
    with pytest.raises(InputError, match="no valid id"):
        shelf.update(name, lines=["x"])
    with pytest.raises(InputError, match="no valid id"):
        shelf.delete(name)
    with pytest.raises(NotFoundError):
        shelf.get(name)
    assert sorted(tmp_path.rglob("*")) == before


def test_only_reading_by_path_leaves_the_shelf(
    shelf: Shelf[Poem], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "project"
    elsewhere.mkdir()
    (elsewhere / "My own.yaml").write_text("name: Mine\n")
    (elsewhere / "mine.json").write_text('{"name": "As JSON"}')
    monkeypatch.chdir(elsewhere)
    found = shelf.read("./My own.yaml")
    assert (found.id, found.value.name, found.shipped) == ("my-own", "Mine", False)
    assert shelf.read("mine.json").value.name == "As JSON"
    assert shelf.read("mine.json", near=elsewhere).path == elsewhere / "mine.json"
    assert shelf.read(str(elsewhere / "mine.json"), near=tmp_path).value.name == "As JSON"
    for reach in (shelf.get, shelf.delete, lambda name: shelf.update(name, lines=["x"])):
        with pytest.raises(NotFoundError):
            reach("mine.json")
    for absent in ("no.yaml", "no/such", "~nobody-at-all/x.yaml"):
        with pytest.raises(NotFoundError, match="there is no file"):
            shelf.read(absent)


def test_an_id_that_looks_like_a_file_is_found_on_the_shelf(shelf: Shelf[Poem]) -> None:
    made = shelf.create({"name": "poem.yaml"})
    assert made.id == "poem.yaml"
    assert shelf.read("poem.yaml") == shelf.get("poem.yaml") == made
    shelf.delete("poem.yaml")
    assert "poem.yaml" not in shelf


def test_files_that_people_put_there_have_ids_by_which_they_are_found(shelf: Shelf[Poem]) -> None:
    put(shelf, "Of the Sea.yml", "name: Sea\n")
    put(shelf, "a--b.JSON", '{"name": "AB"}')
    put(shelf, "日本.yaml", "name: no id can be made of it\n")
    put(shelf, "notes.txt", "no poem")
    (shelf.folder / "folder.yaml").mkdir()
    assert shelf.ids() == ["a--b", "hymn", "ode", "of-the-sea"]
    for name in shelf:
        assert shelf.read(name).id == name
    shelf.update("of-the-sea", lines=["salt"])
    assert not (shelf.folder / "Of the Sea.yml").exists()
    assert shelf.read("of-the-sea").value == Poem(name="Sea", lines=("salt",))


def test_of_two_files_with_one_id_yaml_counts_and_both_go(shelf: Shelf[Poem]) -> None:
    put(shelf, "two.json", '{"name": "JSON"}')
    put(shelf, "two.yaml", "name: YAML\n")
    put(shelf, "TWO.yaml", "name: Loud\n")
    assert shelf.read("two").value.name == "YAML"
    shelf.update("two", lines=["x"])
    assert [path.name for path in shelf.folder.iterdir()] == ["two.yaml"]
    put(shelf, "two.json", '{"name": "JSON"}')
    shelf.delete("two")
    assert list(shelf.folder.iterdir()) == []


def test_json_becomes_yaml_when_it_is_changed(shelf: Shelf[Poem]) -> None:
    put(shelf, "old.json", '{"name": "Old"}')
    shelf.update("old", lines=["new"])
    assert [path.name for path in shelf.folder.iterdir()] == ["old.yaml"]
    assert shelf.read("old").value == Poem(name="Old", lines=("new",))


def test_a_mistake_in_a_file_is_told_at_its_line_and_one_in_a_change_by_its_name(
    shelf: Shelf[Poem],
) -> None:
    path = put(shelf, "bad.yaml", "name: Bad\nlines: 3\n")
    with pytest.raises(InputError) as error:
        shelf.read("bad")
    assert str(error.value).startswith(f"{path}:2: lines: it is 3")
    with pytest.raises(InputError, match="the poem: line: there is no such name here"):
        shelf.create({"name": "x", "line": "y"})
    with pytest.raises(InputError, match="the poem: lines: it is 3"):
        shelf.update("ode", lines=3)
    with pytest.raises(InputError, match="no id can be made of the name '日本'"):
        shelf.create({"name": "日本"})
    assert shelf.ids() == ["bad", "hymn", "ode"]


def test_a_name_that_is_not_there_is_told_with_what_is_near_it(shelf: Shelf[Poem]) -> None:
    with pytest.raises(NotFoundError, match=r"Did you mean 'hymn'\? There are: hymn, ode\."):
        shelf.read("hym")
    for number in range(30):
        shelf.create({"name": f"p{number:02d}"})
    with pytest.raises(NotFoundError, match=r"p17 and 12 more\."):
        shelf.read("zzz")
    empty = Shelf("song", Poem, shelf.folder.parent)
    with pytest.raises(NotFoundError, match="There are: none yet"):
        empty.read("any")


def test_a_program_beside_the_data_is_never_run(
    shelf: Shelf[Poem], shipped: Path, tmp_path: Path
) -> None:
    proof = tmp_path / "it-ran"
    hostile = f"open({str(proof)!r}, 'w').close()\n"
    put(shelf, "ode.py", hostile)
    put(shelf, "__init__.py", hostile)
    put(shelf, "conftest.py", hostile)
    (shipped / "poems" / "hymn.py").write_text(hostile)
    put(shelf, "evil.yaml", "name: !!python/object/apply:os.system ['touch it-ran']\n")
    before = set(sys.modules)
    for name in ("ode", "hymn"):
        shelf.read(name)
        shelf.update(name, lines=["x"])
    with pytest.raises(InputError, match="the tag"):
        shelf.read("evil")
    assert shelf.ids() == ["evil", "hymn", "ode"]
    assert not proof.exists()
    assert not {name for name in set(sys.modules) - before if name in ("ode", "hymn", "conftest")}


def test_the_id_of_a_file_is_its_stem_or_what_can_be_made_of_it() -> None:
    assert id_of(Path("x/arithmetic.v2.yaml")) == "arithmetic.v2"
    assert id_of(Path("x/My Recipe.JSON")) == "my-recipe"


def test_what_lies_beside_a_dataset_goes_with_it(tmp_path: Path) -> None:
    shelf = Shelf("dataset", Dataset, tmp_path)
    shelf.create({"name": "Sums", "file": "sums.jsonl"})
    for name in ("sums.jsonl", "other.jsonl"):
        (shelf.folder / name).write_text("{}\n")
    shelf.create({"name": "Sly", "file": "../outside.jsonl"})
    (tmp_path / "outside.jsonl").write_text("{}\n")
    shelf.create({"name": "Shared", "file": "other.jsonl"})
    for name in ("sums", "sly", "shared"):
        shelf.delete(name)
    assert sorted(path.name for path in shelf.folder.iterdir()) == ["other.jsonl"]
    assert (tmp_path / "outside.jsonl").exists()
