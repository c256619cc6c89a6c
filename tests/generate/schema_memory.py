"""A long table of a schema in a process of its own: `python -m tests.generate.schema_memory ROWS
EARLY`.

Prints how many rows there are, and the most memory it held, in KiB, when row EARLY was made and at
the end.
"""

from __future__ import annotations

import resource
import sys

import penstock

at_early = 0


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    rows, early = int(sys.argv[1]), int(sys.argv[2])

    def watched(n: int, word: str) -> str:
        global at_early
        if n == early:
            at_early = peak()
        return f"{word} {n}"

    table = penstock.dataset(
        {
            "n": penstock.sample.sequence(),
            "word": penstock.sample.choice(["sea", "sky", "sand"]),
            "size": penstock.sample.normal(10, 3),
            "id": penstock.sample.uuid(),
            "text": watched,
        },
        rows,
    ).generate()
    assert table[rows - 1]["text"].endswith(f" {rows - 1}")
    print(len(table), at_early, peak())


if __name__ == "__main__":
    main()
