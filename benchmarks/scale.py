"""Memory and time a row from ten thousand rows to a million, through a Prompter.

    python benchmarks/scale.py [--rows 10000 100000 1000000]

The rows come from a generator, which must never be held; answers are about 200 tokens long.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.measure import ServerBusyError, in_child, machine, pinned_server
from benchmarks.throughput import prompter


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--client", nargs=4)
    given = parser.parse_args()
    if given.client:
        url, rows, concurrency, pid = given.client
        found = prompter(url, int(rows), int(concurrency), int(pid))
        sys.stdout.write(json.dumps(found) + "\n")
        return
    print(machine())
    first = 0.0
    with pinned_server(fixed=True) as server:
        for rows in given.rows:
            server.reset()
            arguments = (server.url, rows, given.concurrency, server.pid)
            try:
                found = in_child(__file__, "--client", *arguments)
            except ServerBusyError as error:
                sys.exit(f"refused to report: {error}")
            each = found["seconds"] / rows * 1e6
            first = first or each
            print(
                f"{rows:>9,} rows  {found['seconds']:7.1f} s  {each:6.0f} us a row "
                f"({each / first:.2f}x the first)  peak {found['peak_mb']:.0f} MB"
            )


if __name__ == "__main__":
    main()
