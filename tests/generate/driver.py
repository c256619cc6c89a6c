"""A program with a Prompter, in a process of its own, to be killed or interrupted by a test.

    python -m tests.generate.driver URL ROWS OUT [GROUP]

With GROUP it kills itself between a response and its commit, when the journal is about to write
that many groups. When it comes to its end it writes the table to OUT.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from penstock.endpoint import Endpoint
from penstock.generate import Prompter
from tests.engine.driver import die_before_commit

CONCURRENCY = 64


def main() -> None:
    url, rows, out, *group = sys.argv[1:]
    if group:
        die_before_commit(int(group[0]))

    def numbers() -> Iterator[dict[str, Any]]:
        for number in range(int(rows)):
            yield {"id": number, "kind": number % 7}

    prompter = Prompter(
        Endpoint("openai", "simulated", url, key="env:DRIVER_KEY"),
        lambda row: f"Say something about number {row['id']}, in ten words.",
        lambda row, answer: [{"id": row["id"], "words": len(answer.split()), "said": answer}],
        concurrency=CONCURRENCY,
    )
    table = prompter(numbers())
    table.save(out)
    print(table.run.state, len(table), len(table.failures))


if __name__ == "__main__":
    main()
