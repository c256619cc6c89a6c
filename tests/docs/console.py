"""Runs the console blocks of one page as a person would type them.

A line that begins with `$ ` is a command; the lines under it are what it prints (none: anything
may be printed), `...` standing for anything. `# exit code N` under a command says how it ends, if
not with 0. `# in another terminal` under a command says that it goes on running: it is waited for
until it has printed what is shown, and interrupted at the end of the page, as Ctrl-C would.
`export NAME=VALUE` holds for the rest of the page.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tests.docs.matching import mismatch
from tests.docs.pages import Block

__all__ = ["Command", "Console", "commands"]

_PATIENCE = 30.0
_EXPORT = re.compile(r"export (\w+)=(\S*)")
_PORT = "8377"  # the simulator's usual one; another may be in use here


@dataclass
class Command:
    """One line that a person types, and what the page says will come of it."""

    where: str
    line: str
    shown: list[str] = field(default_factory=list)
    code: int = 0
    goes_on: bool = False


def commands(block: Block) -> list[Command]:
    """The commands of a console block."""
    found: list[Command] = []
    for number, line in enumerate(block.text.splitlines(), block.line):
        if line.startswith("$ "):
            found.append(Command(f"{block.page.name}:{number}", line[2:]))
        elif not found:
            raise AssertionError(f"{block.page.name}:{number}: output without a command")
        elif code := re.fullmatch(r"# exit code (\d+)", line):
            found[-1].code = int(code[1])
        elif line == "# in another terminal":
            found[-1].goes_on = True
        elif line.startswith("#"):
            raise AssertionError(f"{block.page.name}:{number}: a comment that means nothing here")
        else:
            found[-1].shown.append(line)
    return found


class Console:
    """A folder, an environment, and what was started in them."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = dict(environment)
        self._running: list[tuple[Command, subprocess.Popen[bytes], IO[bytes]]] = []
        self._port = str(_free_port())

    def run(self, command: Command) -> None:
        """Run a command and hold it to what the page shows."""
        if export := _EXPORT.fullmatch(command.line):
            self._environment[export[1]] = export[2]
            return
        output = tempfile.TemporaryFile()  # noqa: SIM115
        process = subprocess.Popen(
            ["bash", "-c", ("exec " if command.goes_on else "") + self._own(command.line)],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        if command.goes_on:
            self._running.append((command, process, output))
            self._wait_for(command, process, output)
            return
        with output:
            code = process.wait(_PATIENCE)
            problem = self._problem(command, output)
        assert code == command.code, (
            f"{command.where}: exit code {code}, not {command.code}\n{problem}"
        )
        assert not command.shown or not problem, f"{command.where}: {problem}"

    def close(self) -> None:
        """Interrupt what still runs; it must end well."""
        for command, process, output in self._running:
            with output:
                process.send_signal(signal.SIGINT)
                assert process.wait(_PATIENCE) == command.code, command.where

    def _wait_for(
        self, command: Command, process: subprocess.Popen[bytes], output: IO[bytes]
    ) -> None:
        end = time.monotonic() + _PATIENCE
        while problem := self._problem(command, output):
            assert process.poll() is None, f"{command.where} has ended: {problem}"
            assert time.monotonic() < end, f"{command.where}: {problem}"
            time.sleep(0.05)

    def _problem(self, command: Command, output: IO[bytes]) -> str:
        size = os.fstat(output.fileno()).st_size
        printed = os.pread(output.fileno(), size, 0).decode()
        return mismatch([self._own(line) for line in command.shown], printed.splitlines())

    def _own(self, text: str) -> str:
        return text.replace(_PORT, self._port)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
