"""`python -m penstock.simulator`: the server alone, without the shell's other commands.

The port is the first line on standard output, so a parent that asked for port 0 learns it.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields

from penstock.errors import PenstockError
from penstock.simulator.server import run
from penstock.simulator.settings import SimulatorSettings

_READERS = {"int": int, "int | None": int, "float": float}


def main() -> int:
    """Read the flags, serve, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m penstock.simulator", description=__doc__)
    for each in fields(SimulatorSettings):
        flag = "--" + each.name.replace("_", "-")
        text = each.metadata["help"]
        if each.type == "bool":
            parser.add_argument(flag, action="store_true", help=text)
        else:
            read = _READERS.get(str(each.type), str)
            parser.add_argument(flag, type=read, default=each.default, help=text)
    parser.add_argument("--with-parent", action="store_true", help="End when stdin is closed.")
    given = vars(parser.parse_args())
    with_parent = given.pop("with_parent")
    try:
        run(SimulatorSettings(**given), _tell, with_parent=with_parent)
    except PenstockError as error:
        sys.stderr.write(f"{error}\n")
        return int(error.exit_code)
    return 0


def _tell(host: str, port: int) -> None:
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
