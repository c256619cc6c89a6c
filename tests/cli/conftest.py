"""The shell, run as a person runs it: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

PENSTOCK = str(Path(sys.executable).with_name("penstock"))


class Said(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


class Shell(Protocol):
    def __call__(self, *arguments: str, stdin: str = "", **environment: str) -> Said: ...


@pytest.fixture
def shell() -> Shell:
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
