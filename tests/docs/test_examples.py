"""Every example of the README and the docs is executed, offline, as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from socket import SHUT_RDWR, create_server
from typing import NamedTuple

import pytest

from penstock.bench.objects import Cookbook, Dataset, Recipe, Template
from penstock.documents.models import Model
from penstock.generate.spec import load
from penstock.grade.rubric import Rubric
from penstock.redteam.objective import ObjectiveSet
from penstock.settings import SETTINGS, Settings
from penstock.simulator import Simulator
from penstock.tokens import PriceList
from penstock.yamlfile import parse
from tests.docs.console import Console, commands
from tests.docs.pages import PAGES, ROOT, Block, blocks

# The objects of the library, by a key that only they have.
_OBJECTS: dict[str, type[Model]] = {
    "recipes": Cookbook,
    "datasets": Recipe,
    "examples": Dataset,
    "template": Template,
    "objectives": ObjectiveSet,
}
_SECTIONS = {setting.section for setting in SETTINGS}
_EXECUTED = {"python", "console", "yaml"}
_SHOWN = {"text", "make"}
_TYPED = re.compile(r"^\s*(\$ |penstock |pip |python |import |from \w+ import )", re.M)
_EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def _pages(language: str) -> list[Path]:
    return [page for page in PAGES if any(block.language == language for block in blocks(page))]


def _all(*languages: str) -> list[Block]:
    return [block for page in PAGES for block in blocks(page) if block.language in languages]


def _name(page: object) -> str:
    return page.name if isinstance(page, Path) else str(page)


class Outside(NamedTuple):
    """The proxy of the examples, which lets nothing through, and what came to it."""

    url: str
    seen: list[bytes]


@pytest.fixture
def outside() -> Iterator[Outside]:
    """Stands for everything that is not this machine; nobody may come to it."""
    seen: list[bytes] = []
    with create_server(("127.0.0.1", 0)) as server:

        def refuse() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    seen.append(connection.recv(4096))

        waiting = threading.Thread(target=refuse, daemon=True)
        waiting.start()
        yield Outside(f"http://127.0.0.1:{server.getsockname()[1]}", seen)
        server.shutdown(SHUT_RDWR)
        waiting.join()
    assert not seen, "an example wants to leave this machine"


@pytest.fixture
def environment(outside: Outside, simulator: Simulator) -> dict[str, str]:
    """What a reader has: the commands on the path, and OpenAI, played by the simulator."""
    made = {**os.environ, "OPENAI_BASE_URL": simulator.url, "OPENAI_API_KEY": "a-key-of-the-docs"}
    made["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    made["PYTHONPATH"] = str(ROOT)
    made["PYTHONWARNINGS"] = "error"
    made["COLUMNS"] = "80"
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        made[name] = made[name.upper()] = outside.url
    made["no_proxy"] = made["NO_PROXY"] = "127.0.0.1,localhost"
    return made


def _python(environment: dict[str, str], *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", _pages("python"), ids=_name)
def test_the_python_examples_of_a_page_run_in_order(
    page: Path, environment: dict[str, str]
) -> None:
    _python(environment, "-m", "tests.docs.runner", str(page))


@pytest.mark.parametrize("page", _pages("console"), ids=_name)
def test_the_commands_of_a_page_do_and_print_what_it_says(
    page: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    console = Console(tmp_path, environment)
    try:
        for block in blocks(page):
            if block.language == "console":
                for command in commands(block):
                    console.run(command)
    finally:
        console.close()


@pytest.mark.parametrize("block", _all("yaml"), ids=lambda block: f"{block.page.name}:{block.line}")
def test_the_yaml_examples_are_understood(block: Block, tmp_path: Path) -> None:
    data = parse(block.text, block.page.name).data
    if data.keys() <= _SECTIONS:
        (tmp_path / "penstock.yaml").write_text(block.text)
        settings = Settings.load(cwd=tmp_path, environ={})
        for section, names in data.items():
            for name, value in names.items():
                assert settings[f"{section}.{name}"] == value
    elif "columns" in data:
        (tmp_path / "dataset.yaml").write_text(block.text)
        load(tmp_path / "dataset.yaml")
    elif "criteria" in data:
        (tmp_path / "rubric.yaml").write_text(block.text)
        Rubric.load(tmp_path / "rubric.yaml")
    elif model := next((m for key, m in _OBJECTS.items() if key in data), None):
        (tmp_path / "object.yaml").write_text(block.text)
        model.load(tmp_path / "object.yaml")
    else:
        (tmp_path / "prices.yaml").write_text(block.text)
        PriceList.load(tmp_path / "prices.yaml")


def test_no_block_is_left_unexecuted_that_a_reader_would_type() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.M))
    for block in _all(*{block.language for page in PAGES for block in blocks(page)} - _EXECUTED):
        where = f"{block.page.name}:{block.line}"
        assert block.language in _SHOWN, f"{where}: {block.language!r} blocks are not executed"
        if block.language == "make":
            for line in block.text.splitlines():
                made = re.fullmatch(r"make (\w+)(?:\s+#.*)?", line)
                assert made, f"{where}: {line}"
                assert made[1] in targets, f"{where}: {line}"
        else:
            assert not _TYPED.search(block.text), f"{where} holds something to type"


@pytest.mark.parametrize("program", _EXAMPLES, ids=_name)
def test_the_example_programs_run_offline(program: Path, environment: dict[str, str]) -> None:
    _python(environment, str(program))


def test_there_are_example_programs() -> None:
    assert len(_EXAMPLES) >= 3
