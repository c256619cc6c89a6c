"""The docs hold together: tables up to date, everything mentioned, every link leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from cyclopts import App

import penstock
from penstock.cli.app import COMMANDS
from tests.docs import metric_tables
from tests.docs.pages import PAGES, ROOT, anchors, links
from tests.docs.tables import TABLES, renewed

_TEXT = "\n".join(page.read_text("utf-8") for page in PAGES)
_LINKED = (*PAGES, ROOT / "CHANGELOG.md", *sorted((ROOT / "design").glob("*.md")))


def _commands() -> Iterator[str]:
    for command in COMMANDS:
        yield command.name
        module, _, name = command.where.partition(":")
        found = getattr(import_module(module), name)
        if isinstance(found, App):
            for inner in found:
                if not inner.startswith("-") and found[inner].show:
                    yield f"{command.name} {inner}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tables_of_a_page_are_up_to_date(page: Path) -> None:
    text = page.read_text("utf-8")
    assert renewed(text) == text, "run: python -m tests.docs.tables"


@pytest.mark.parametrize("table", TABLES)
def test_every_table_stands_somewhere(table: str) -> None:
    assert f"<!-- table: {table} -->" in _TEXT


@pytest.mark.parametrize("name", penstock.__all__)
def test_every_public_name_is_in_the_docs(name: str) -> None:
    said = rf"penstock\.{name}\b|from penstock import [^\n]*\b{name}\b"
    if name[0].isupper():
        said += rf"|\b{name}\b"
    assert re.search(said, _TEXT)


def test_every_metric_stands_in_one_table() -> None:
    made = "".join(metric_tables.family(name) for name in metric_tables.FAMILIES)
    begun = [line.partition(" | ")[0] for line in made.splitlines()]
    for name in metric_tables.registered():
        assert begun.count(f"| `{name}`") == 1, f"give {name} a family in metric_tables.py"


@pytest.mark.parametrize("command", list(_commands()))
def test_every_command_is_in_the_docs(command: str) -> None:
    assert re.search(rf"penstock {command}\b", _TEXT)


@pytest.mark.parametrize("page", _LINKED, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        if link.startswith(("http://", "https://")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    listed = set(links(index))
    for page in PAGES:
        if page.parent.name == "docs" and page != index:
            assert page.name in listed, page.name
