"""Other programs that do the same job, each in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.measure import CLIENT_CORE

__all__ = ["PEERS", "SCHEMA_PEERS", "run_peer"]

# The script that drives it, and what it needs.
PEERS = {
    "bespokelabs-curator": ("curator.py", ["bespokelabs-curator"]),
    "inspect_ai": ("inspect_ai.py", ["inspect_ai", "openai"]),
    "distilabel": ("distilabel.py", ["distilabel[openai]", "requests", "setuptools"]),
    "openai SDK": ("openai_sdk.py", ["openai"]),
}
SCHEMA_PEERS = {"chatan": ("chatan_schema.py", ["chatan"])}
_HERE = Path(__file__).parent
_HOME = Path(os.environ.get("PEERS_DIR", _HERE.parents[1] / ".venv-peers"))
_LONGEST = 900


def run_peer(peer: str, url: str, rows: int, concurrency: int) -> dict[str, Any]:
    """What it took; or, as `failed`, why it did not come to that."""
    script, packages = {**PEERS, **SCHEMA_PEERS}[peer]
    python = _environment(script.removesuffix(".py"), packages)
    try:
        done = subprocess.run(
            [python, _HERE / script, url, str(rows), str(concurrency)],
            capture_output=True,
            text=True,
            timeout=_LONGEST,
            check=True,
            preexec_fn=lambda: os.sched_setaffinity(0, {CLIENT_CORE}),
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"no end within {_LONGEST} s"}
    except subprocess.CalledProcessError as error:
        return {"failed": (error.stderr or "no reason given").strip().splitlines()[-1]}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def _environment(name: str, packages: list[str]) -> Path:
    folder = _HOME / name
    python = folder / "bin" / "python"
    if not (folder / ".made").exists():
        print(f"making an environment for {name} ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
        (folder / ".made").touch()
    return python
