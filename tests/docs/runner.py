"""Runs the Python blocks of one page, in order, in one namespace: `python runner.py PAGE`.

A process of its own for each page. Every connection to anything but this machine is refused and
fails the page. Lines that begin with `#>` are what the block prints, `...` standing for anything.
"""

from __future__ import annotations

import ast
import io
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from tests.docs.matching import mismatch
from tests.docs.pages import Block, blocks

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def _only_here(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if host not in _LOOPBACK:
        raise AssertionError(f"an example wants to reach {host}")


def run(block: Block, names: dict[str, Any]) -> None:
    """Run one block; a traceback shows the page and its line."""
    tree = ast.parse(block.text, str(block.page))
    ast.increment_lineno(tree, block.line - 1)
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(tree, str(block.page), "exec"), names)
    shown = [line[2:].strip() for line in block.text.splitlines() if line.startswith("#>")]
    found = [line.strip() for line in printed.getvalue().splitlines()]
    if problem := mismatch(shown, found):
        raise AssertionError(f"{block.page.name}:{block.line}: {problem}")


def main() -> None:
    """Run the page that is named on the command line."""
    sys.addaudithook(_only_here)
    names: dict[str, Any] = {"__name__": "example"}
    for block in blocks(Path(sys.argv[1])):
        if block.language == "python":
            run(block, names)


if __name__ == "__main__":
    main()
