"""The face of the room: what is there, typed and documented, and nothing is loaded needlessly."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from penstock import moonshot

ROOM = Path(moonshot.__file__).parent
# Every function that the sequences of benchmarks, datasets and connectors name.
SEQUENCES = (
    "api_create_runner",
    "api_load_runner",
    "run_recipes",
    "run_cookbooks",
    "api_create_dataset",
    "api_get_dataset",
    "api_create_endpoint",
    "get_prediction",
)


def test_every_function_of_the_sequences_is_there() -> None:
    assert set(SEQUENCES) <= set(moonshot.__all__)


@pytest.mark.parametrize("name", moonshot.__all__)
def test_every_name_is_there_and_documented(name: str) -> None:
    found = getattr(moonshot, name)
    assert found.__doc__
    assert found.__doc__.strip()


@pytest.mark.parametrize("name", [name for name in moonshot.__all__ if name[0].islower()])
def test_every_argument_has_a_type(name: str) -> None:
    found = inspect.signature(getattr(moonshot, name))
    for each in found.parameters.values():
        assert each.annotation is not each.empty, each.name
    assert found.return_annotation is not found.empty


def test_all_that_the_rooms_offer_to_people_is_on_the_face() -> None:
    offered = set()
    for path in ROOM.glob("*.py"):
        text = path.read_text()
        offered |= {
            line.split("def ")[1].split("(")[0]
            for line in text.splitlines()
            if line.startswith("def api_")
        }
    assert offered <= set(moonshot.__all__)
    assert moonshot.__all__ == sorted(moonshot.__all__)


def test_importing_it_loads_nothing_heavy_and_writes_nothing(tmp_path: Path) -> None:
    program = (
        "import sys, penstock.moonshot\n"
        "print([m for m in ('pyarrow', 'datasets', 'pandas', 'jinja2') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
    assert list(tmp_path.iterdir()) == []
