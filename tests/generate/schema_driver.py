"""A program with a schema, in a process of its own, to be killed or interrupted by a test.

    python -m tests.generate.schema_driver URL OTHER ROWS OUT [GROUP]

Two endpoints; columns that need each other, a check, a conversation. With GROUP it kills itself
between a response and its commit, when the journal is about to write that many groups. When it
comes to its end it writes the table to OUT.
"""

from __future__ import annotations

import sys

import penstock
from penstock.endpoint import Endpoint
from tests.engine.driver import die_before_commit

CONCURRENCY = 32


def main() -> None:
    url, other, rows, out, *group = sys.argv[1:]
    if group:
        die_before_commit(int(group[0]))
    here = penstock.generator(Endpoint("openai", "simulated", url, key="env:DRIVER_KEY"))
    there = penstock.generator(Endpoint("openai", "simulated", other, key="env:DRIVER_KEY"))
    dataset = penstock.dataset(
        {
            "id": penstock.sample.sequence(),
            "kind": penstock.sample.choice(["sea", "sky", "sand"]),
            "first": here("Say something about number {id} and the {kind}, in ten words."),
            "second": there("Answer: {first}"),
            "third": here("Once more, number {id}.", check=_odd, tries=3),
            "talk": here.conversation(["Hello, {kind} number {id}.", "And {second}?"]),
            "words": lambda second: len(second.split()),
        },
        int(rows),
        concurrency=CONCURRENCY,
    )
    table = dataset.generate()
    table.save(out)
    print(table.run.state, len(table), len(table.failures))


def _odd(text: str) -> bool:
    """About every second answer."""
    return len(text) % 2 == 1


if __name__ == "__main__":
    main()
