"""What a table tells of where it came from, to everyone who gets it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from penstock.endpoint import Endpoint, Prices
from penstock.engine.workbench import Workbench
from penstock.generate import Prompter
from penstock.generate.filejob import FileJob
from penstock.simulator import Simulator
from tests.generate.conftest import Make, numbered


def describe(row: dict[str, Any]) -> str:
    if row["id"] == 1:
        raise ValueError("not this one")
    return str(row["text"])


def test_a_table_knows_what_made_it(bench: Workbench, simulator: Simulator) -> None:
    prices = Prices(input=Decimal(1), output=Decimal(10))
    endpoint = Endpoint(
        "openai", "llama", simulator.url, key="a-key-of-no-worth", prices=prices, name="lab"
    )
    table = Prompter(endpoint, describe, workbench=bench)(numbered(5))
    origin = table.run.origin
    counters = table.run.counters
    assert (origin.run, origin.models) == (table.run.id, ("openai/llama",))
    assert (origin.failed, origin.recorded, origin.unpriced) == (1, 0, 0)
    assert origin.cost == table.run.cost > 0
    assert (origin.input_tokens, origin.output_tokens) == (
        counters["input_tokens"],
        counters["output_tokens"],
    )
    name, _, digest = origin.prompt.partition(" (sha256 ")
    assert name == "describe" and len(digest) == 13
    assert simulator.url not in str(origin) and str(bench.workspace.path) not in str(origin)
    again = Prompter(endpoint, describe, workbench=bench)(numbered(5)).run.origin
    assert (again.prompt, again.recorded, again.cost) == (origin.prompt, 4, 0)


def test_the_hash_is_that_of_the_function_or_the_template(make: Make, bench: Workbench) -> None:
    def other(row: dict[str, Any]) -> str:
        return f"Another text: {row['text']}"

    prompts = {make(prompt)(numbered(2)).run.origin.prompt for prompt in (describe, other)}
    Path("in.csv").write_text("text\na\n")
    for template in ("One {text}", "Two {text}"):
        job = FileJob(file="in.csv", template=template, model="simulated")
        prompts.add(job.run(bench).run.origin.prompt)
    assert len(prompts) == 4
    assert sum(prompt.startswith("template (sha256 ") for prompt in prompts) == 2


def test_a_function_without_a_text_has_a_name_alone(make: Make) -> None:
    made: dict[str, Any] = {}
    exec("def nowhere(row):\n    return row['text']", made)
    assert make(made["nowhere"])(numbered(1)).run.origin.prompt == "nowhere"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("/home/me/models/llama.gguf", "openai/llama.gguf"),
        ("~/llama.gguf", "openai/llama.gguf"),
        ("./here/llama.gguf", "openai/llama.gguf"),
        ("meta/llama-3", "openai/meta/llama-3"),
    ],
)
def test_a_model_that_is_a_file_is_named_without_the_way_to_it(
    bench: Workbench, simulator: Simulator, model: str, said: str
) -> None:
    endpoint = Endpoint("openai", model, simulator.url, key="a-key-of-no-worth")
    table = Prompter(endpoint, lambda: "Hello", workbench=bench, cache="read")()
    assert table.run.origin.models == (said,)
