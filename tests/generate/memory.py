"""A long run in a process of its own: `python -m tests.generate.memory ROWS EARLY`.

Prints the most memory it held, in KiB, when row EARLY was made and at the end.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from typing import Any

from penstock.generate import Prompter

at_early = 0


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def numbers(count: int, early: int) -> Iterator[dict[str, Any]]:
    global at_early
    for number in range(count):
        if number == early:
            at_early = peak()
        yield {"id": number}


def main() -> None:
    rows, early = int(sys.argv[1]), int(sys.argv[2])
    table = Prompter("simulated-fixed", lambda row: f"Question {row['id']}")(numbers(rows, early))
    assert table[rows - 1]["id"] == rows - 1
    print(len(table), at_early, peak())


if __name__ == "__main__":
    main()
