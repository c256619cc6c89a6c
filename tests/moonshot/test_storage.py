"""The storage flow, as far as it is about objects: kept as files, read, changed, forgotten."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock import moonshot
from penstock.errors import InputError, NotFoundError
from penstock.simulator import Simulator
from tests.moonshot.kit import echo, examples, recipe, written

LIBRARY = Path(".penstock/library")


def test_an_object_with_a_stream_lies_on_disk_as_metadata_and_lines() -> None:
    moonshot.api_create_dataset("Kept", "About", csv_file_path=written(examples(3)))
    about = (LIBRARY / "datasets" / "kept.yaml").read_text()
    assert "name: Kept" in about
    assert "file: kept.jsonl" in about
    assert "Say 1" not in about
    lines = (LIBRARY / "datasets" / "kept.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"input": f"Say {n}", "target": f"Say {n}"} for n in range(3)
    ]


def test_whatever_is_kept_is_for_the_owner_alone(simulator: Simulator) -> None:
    runner = moonshot.api_create_runner("Mine", [echo(simulator)])
    moonshot.api_create_cookbook("Book", recipes=[recipe(2)])
    runner.run_cookbooks("book")
    for path in Path(".penstock").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("kind", ["prompt_template", "recipe", "cookbook"])
def test_an_object_is_made_read_changed_listed_and_forgotten(kind: str) -> None:
    def call(what: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(moonshot, what.format(kind))
        return found

    data = moonshot.api_create_dataset("Data", csv_file_path=written(examples(1)))
    by_kind: dict[str, dict[str, Any]] = {
        "prompt_template": {"template": "Q: {{ prompt }}"},
        "recipe": {"datasets": [data], "metrics": ["exactstrmatch"]},
        "cookbook": {"recipes": ["arithmetic"]},
    }
    fields = by_kind[kind]
    shipped = call("api_get_all_{}_name")()
    name = call("api_create_{}")("The One", "At first", **fields)
    assert name == "the-one"
    read = call("api_read_{}")(name)
    assert read["id"] == "the-one"
    # Moonshot has that name for the template of a session.
    change = "api_change_{}" if kind == "prompt_template" else "api_update_{}"
    assert read["description"] == "At first"
    assert {key: read[key] for key in fields} == fields
    assert call(change)(name, description="Later")
    assert call("api_read_{}")(name) == {**read, "description": "Later"}
    assert call("api_get_all_{}_name")() == sorted([*shipped, name])
    assert call("api_read_{}")(name) in call("api_get_all_{}")()
    with pytest.raises(InputError, match="'the-one' already"):
        call("api_create_{}")("The One", **fields)
    with pytest.raises(InputError, match="no argument 'colour'"):
        call("api_create_{}")("Another", **fields, colour="blue")
    assert call("api_delete_{}")(name)
    assert call("api_get_all_{}_name")() == shipped
    for what in ("api_read_{}", change, "api_delete_{}"):
        with pytest.raises(NotFoundError, match="'the-one'"):
            call(what)(name)
    with pytest.raises(InputError, match="ships with Penstock"):
        call("api_delete_{}")(shipped[0])


@pytest.mark.parametrize(
    "name", ["../outside", "/etc/passwd", "a/../../b", "..", "", "a\x00b", "%2e%2e%2fx"]
)
def test_an_id_is_never_a_path_out_of_the_library(name: str, simulator: Simulator) -> None:
    Path("outside.yaml").write_text("name: Outside\nendpoints: [simulated]\n")
    moonshot.api_create_runner("Any", [echo(simulator)])
    for kind in ("dataset", "recipe", "cookbook", "prompt_template", "runner", "endpoint"):
        delete: Callable[[str], bool] = getattr(moonshot, f"api_delete_{kind}")
        with pytest.raises(InputError):
            delete(name)
    with pytest.raises(InputError):
        moonshot.api_read_result(name)
    assert Path("outside.yaml").exists()
    assert moonshot.api_get_all_runner_name() == ["any"]


def test_a_name_gives_an_id_that_is_safe(simulator: Simulator) -> None:
    made = moonshot.api_create_prompt_template("../../Évil: Näme", template="{{ prompt }}")
    assert made == "evil-name"
    assert (LIBRARY / "templates" / "evil-name.yaml").is_file()
    with pytest.raises(InputError, match="no id can be made"):
        moonshot.api_create_runner("!!!", [echo(simulator)])


def test_a_template_that_asks_nothing_or_does_not_parse_is_refused() -> None:
    for text in ("No question", "{{ prompt ", ""):
        with pytest.raises(InputError, match="template"):
            moonshot.api_create_prompt_template("Bad", template=text)
    assert "bad" not in moonshot.api_get_all_prompt_template_name()
