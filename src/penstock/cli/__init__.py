"""The shell: `penstock`, one file a command group.

Commands are loaded by name when they are called, so that `penstock --help` is quick. Whatever goes
wrong ends in one clear message on stderr and a documented exit code, never in a traceback.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence

from penstock.errors import Exit, PenstockError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """What the `penstock` command runs."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and say how it ended."""
    from cyclopts import CycloptsError

    from penstock.cli.app import app_for

    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if len(given) > 1:
            given = _without_settings(given)
        result = app_for(given)(
            given, exit_on_error=False, print_error=True, result_action="return_value"
        )
        code = int(result) if isinstance(result, int) else Exit.OK
        sys.stdout.flush()
        return code
    except CycloptsError:
        return Exit.INPUT
    except PenstockError as error:
        complain(error.message, error.remedy)
        return error.exit_code
    except KeyboardInterrupt:
        complain("cancelled", "What was recorded is kept; run the same command again to go on.")
        return Exit.CANCELLED
    except BrokenPipeError:
        # The reader went away (`penstock ... | head`); that is no fault.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except MemoryError:
        complain("this machine has no memory left", "Use a smaller concurrency, then run again.")
        return Exit.HOST
    except Exception as error:
        logging.getLogger("penstock").exception("fault")
        complain(
            f"a fault of Penstock itself: {type(error).__name__}: {error}",
            "The log has the details (`penstock config show` says where); please report it.",
        )
        return Exit.FAULT


def _without_settings(arguments: list[str]) -> list[str]:
    """The command line without the flags of settings, which hold from now on."""
    from penstock.cli.flags import split
    from penstock.settings import give_flags

    rest, flags = split(arguments)
    give_flags(flags)
    return rest


def complain(message: str, remedy: str = "") -> None:
    """One message on stderr, with nothing in it that a terminal would obey."""
    from penstock.cli.show import safe

    for number, line in enumerate((message + "\n" + remedy).strip().split("\n")):
        sys.stderr.write(("penstock: " if number == 0 else "  ") + safe(line) + "\n")
