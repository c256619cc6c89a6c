"""The shell as a person runs it: in this process, or, where that matters, in one of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from penstock import cli
from penstock.settings import give_flags

PENSTOCK = str(Path(sys.executable).with_name("penstock"))


class Said(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


class Shell(Protocol):
    def __call__(self, *arguments: str, stdin: str = "", **environment: str) -> Said: ...


@pytest.fixture
def process() -> Shell:
    """A process of its own: for what only one shows, such as a killed one."""

    def run(*arguments: str, stdin: str = "", **environment: str) -> Said:
        done = subprocess.run(
            [PENSTOCK, *arguments],
            input=stdin,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=60,
        )
        said = Said(done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in said.err + said.out, said.err
        return said

    return run


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    """The shell without a process of its own: a second less each time."""

    def run(*arguments: str, stdin: str = "", **environment: str) -> Said:
        capsys.readouterr()
        with monkeypatch.context() as world:
            world.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
            for name, value in environment.items():
                world.setenv(name, value)
            code = cli.run(arguments)
        give_flags({})
        said = Said(code, *capsys.readouterr())
        assert "a fault of Penstock" not in said.err, said.err
        return said

    return run
