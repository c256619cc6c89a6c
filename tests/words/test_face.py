from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import penstock

_HEAVY = {
    *("pydantic", "orjson", "msgspec", "sqlalchemy", "rich", "cyclopts", "yaml", "json_repair"),
    *("jsonschema_rs", "pyreqwest", "aiohttp", "uvloop", "asyncio", "sqlite3", "genai_prices"),
    *("pyarrow", "pandas", "numpy", "splintr", "ssl", "socket"),
}
_CHILD = """
import json, sys
did = []
watched = ("open", "socket.", "os.mkdir", "os.rename", "os.remove", "subprocess.", "os.system")
sys.dont_write_bytecode = True
def hook(event, arguments):
    if not event.startswith(watched):
        return
    if event == "open":
        writes = isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
        if not writes and not arguments[2] & 3:
            return
    did.append(repr((event, arguments)))
sys.addaudithook(hook)
import penstock
assert penstock.__all__ and dir(penstock)
print(json.dumps([sorted(sys.modules), did]))
"""


def test_all_equals_the_rooms_in_the_same_order() -> None:
    assert penstock.__all__ == list(penstock._ROOMS)


@pytest.mark.parametrize("name", penstock.__all__)
def test_every_name_can_be_imported(name: str) -> None:
    assert getattr(penstock, name) is not None


@pytest.mark.parametrize("name", penstock.__all__)
def test_every_name_is_also_in_its_rooms_own_list(name: str) -> None:
    room = sys.modules[f"penstock.{penstock._ROOMS[name]}"]
    assert name in room.__all__


def test_dir_shows_what_there_is() -> None:
    assert set(dir(penstock)) == {*penstock.__all__, "__version__"}
    assert penstock.__version__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Prompt'"):
        _ = penstock.Prompt


def test_importing_loads_nothing_heavy_writes_nothing_and_calls_nobody(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", _CHILD],
        capture_output=True,
        text=True,
        cwd=here,
        env=os.environ | {"PENSTOCK_HOME": str(tmp_path / "workspace")},
        check=True,
        timeout=60,
    )
    modules, did = json.loads(done.stdout)
    bare = subprocess.run(
        [sys.executable, "-c", "import sys, json; print(json.dumps(sorted(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert did == []
    assert not _HEAVY & {name.partition(".")[0] for name in modules}
    new = set(modules) - set(json.loads(bare.stdout))
    assert {name for name in new if name.startswith("penstock")} == {"penstock"}
    assert not (tmp_path / "workspace").exists()
    assert list(here.iterdir()) == []
