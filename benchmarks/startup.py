"""How long it takes to begin: `import penstock` and `penstock --help`.

    python benchmarks/startup.py [--repeats 20]

The baseline is an empty interpreter in the same run.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.measure import machine

_SHELL = str(Path(sys.executable).with_name("penstock"))
CASES = {
    "empty interpreter": [sys.executable, "-c", "pass"],
    "import penstock": [sys.executable, "-c", "import penstock"],
    "penstock --help": [_SHELL, "--help"],
    "penstock ask --help": [_SHELL, "ask", "--help"],
}


def best(command: list[str], repeats: int) -> float:
    """The quickest of several, in seconds: noise only ever adds."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    repeats = parser.parse_args().repeats
    print(f"{machine()}; best of {repeats}")
    empty = 0.0
    for name, command in CASES.items():
        seconds = best(command, repeats)
        empty = empty or seconds
        print(f"{name:20} {seconds * 1000:6.0f} ms  ({(seconds - empty) * 1000:+.0f} ms)")


if __name__ == "__main__":
    main()
