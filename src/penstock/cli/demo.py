"""`penstock demo`: two jobs in a chain, offline, on the simulated model.

The first asks for topics, one structured answer; the second writes about each of them. Run it
twice: the second time nothing is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from penstock.cli.jobs import watch
from penstock.cli.show import out, print_table, safe, say_stopping, short, tokens_line
from penstock.engine.states import RunState, exit_code
from penstock.engine.workbench import Workbench

if TYPE_CHECKING:
    from penstock.tables import Table

__all__ = ["demo"]

_COUNT = 12
_TOPICS = {
    "title": "Topics",
    "type": "object",
    "properties": {
        "topics": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": _COUNT,
            "maxItems": _COUNT,
        }
    },
    "required": ["topics"],
    "additionalProperties": False,
}
_SIMULATED = """\
These answers are SIMULATED: made up on this machine, no network, no key, no cost.
With a real model it is one word that changes:

    penstock demo --model gpt-4o-mini      (and OPENAI_API_KEY set)
"""


def demo(*, model: Annotated[str, Parameter(name=["--model", "-m"])] = "simulated") -> int:
    """Run two small jobs in a chain: topics, then a short text on each of them.

    Nothing leaves this machine unless you name a real model.

    For example:

        penstock demo
        penstock demo --model gpt-4o-mini

    Parameters
    ----------
    model
        The model to ask; the simulated one needs no key and costs nothing.
    """
    console = out()
    with Workbench() as bench:
        endpoint = bench.endpoint(model)
        if endpoint.provider == "simulated":
            endpoint = endpoint.with_(params={**endpoint.params, "latency": 300})
            console.print(_SIMULATED)
        topics, poems = _chain(bench, endpoint)
        print_table(
            ("topic", "text"),
            [(short(row["topic"], 30), short(row["response"], 46)) for row in poems],
        )
        counters = poems.run.counters
        console.print(f"\n{len(poems)} of {len(topics)} rows, {tokens_line(counters)}")
        if counters["recorded"]:
            console.print(_recorded_line(counters))
        for name, where in (
            ("table", f"{poems.run.folder}/dataset.arrow"),
            ("journal", bench.workspace.journal),
            ("see also", f"penstock runs show {poems.run.id}"),
        ):
            console.print(f"{name:<10} {safe(str(where))}", soft_wrap=True)
        states = [RunState(table.run.state) for table in (topics, poems)]
        return max(exit_code(state) for state in states)


def _chain(bench: Workbench, endpoint: Any) -> tuple[Table, Table]:
    """What a program of one's own would do: the table of one Prompter goes into the next."""
    from penstock.generate.launch import launched
    from penstock.generate.prompter import Prompter

    find_topics = Prompter(
        endpoint,
        lambda: f"Generate {_COUNT} different topics about rivers, dams and turbines.",
        lambda _, found: [{"topic": topic} for topic in found["topics"]],
        response_format=_TOPICS,
        failures="raise",
        workbench=bench,
    )
    write = Prompter(
        endpoint,
        lambda row: f"Write about {row['topic']}, in 12 words.",
        concurrency=4,
        workbench=bench,
    )
    topics: Any = find_topics()
    with watch("demo") as view:
        poems: Any = launched(write.launch(topics), view, say_stopping)
    return topics, poems


def _recorded_line(counters: dict[str, Any]) -> str:
    found = f"{counters['recorded']} answers were in the journal"
    asked = counters["asked"]
    return f"{found}; {asked} were asked." if asked else f"{found}: nothing was sent."
