"""The simulated server as a child process, for tests: yours as well as ours.

    with Simulator(latency="20", errors="500:0.1") as simulator:
        client = OpenAI(base_url=simulator.url, api_key="any")
        ...
        assert simulator.summary()["answered"] == 10

A process of its own keeps the judge apart from the judged: it survives the death of the client
and shares no loop with it. Only the standard library is used. The child ends with its parent,
however the parent ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import penstock
from penstock.errors import HostError, InputError

__all__ = ["Simulator"]

_TIMEOUT = 30.0
_PAGE = 50_000


class Simulator:
    """A context manager around `python -m penstock.simulator` on a free port.

    Keywords are those of `SimulatorSettings`. `url` is the base URL for an OpenAI client,
    `root` the one for clients of Anthropic and Gemini.
    """

    def __init__(self, **settings: Any) -> None:
        self._settings = {"port": 0, **settings}
        self._process: subprocess.Popen[bytes] | None = None
        self._opener = build_opener(ProxyHandler({}))
        self.port = 0

    def __enter__(self) -> Simulator:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> Simulator:
        """Start the child and wait until it listens."""
        command = [sys.executable, "-m", "penstock.simulator", "--with-parent"]
        command += _flags(self._settings)
        home = str(Path(penstock.__file__).parents[1])
        path = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
        # A file, not a pipe: nobody reads it while the child runs, and a full pipe would stop it.
        self._complaints = TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            env={**os.environ, "PYTHONPATH": path},
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.strip().isdigit():
            self._process.communicate()
            self._process = None
            self._complaints.seek(0)
            problem = self._complaints.read().decode().strip()
            self._complaints.close()
            raise InputError(f"the simulator did not start: {problem}")
        self.port = int(line)
        return self

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._child().pid

    @property
    def root(self) -> str:
        """The address without the API's prefix."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The base URL that an OpenAI client wants."""
        return f"{self.root}/v1"

    def ledger(self, since: int = 0) -> list[dict[str, Any]]:
        """Every request after number `since`."""
        entries: list[dict[str, Any]] = []
        while True:
            start = since + len(entries)
            page = self._call(f"/ledger?since={start}&limit={_PAGE}").splitlines()
            if not page:
                return entries
            entries += [json.loads(line) for line in page]

    def summary(self) -> dict[str, Any]:
        """The ledger's counts."""
        return dict(json.loads(self._call("/ledger/summary")))

    def reset(self) -> None:
        """Empty the ledger; numbers, outages, buckets, batches and files start anew."""
        self._call("/ledger/reset", {})

    def batches(self) -> list[dict[str, Any]]:
        """Every batch, newest first: id, api, model, state, and the counts of its lines."""
        return list(json.loads(self._call("/ledger/batches")))

    def advance_batches(self, seconds: float | None = None) -> None:
        """Let so many seconds pass for all batches, or as many as end them all.

        Returns when everything is done that is due by then.
        """
        self._call("/advance", {"seconds": seconds})

    def set(self, **settings: Any) -> None:
        """Change settings while it runs; raises InputError for bad ones."""
        self._call("/settings", settings)

    def kill(self) -> None:
        """End the child at once with SIGKILL, as a crash would."""
        self._child().kill()
        self.stop()

    def stop(self) -> None:
        """End the child and wait for it."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.communicate(timeout=_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        self._complaints.close()

    def _child(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise HostError("the simulator is not running", remedy="Use it in a `with` block.")
        return self._process

    def _call(self, path: str, body: dict[str, Any] | None = None) -> bytes:
        self._child()
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = Request(self.root + path, data=data, headers=headers)  # noqa: S310
        try:
            with self._opener.open(request, timeout=_TIMEOUT) as response:
                return bytes(response.read())
        except HTTPError as error:
            with error:
                told = json.loads(error.read())["error"]["message"]
            raise InputError(str(told)) from None


def _flags(settings: dict[str, Any]) -> list[str]:
    flags: list[str] = []
    for name, value in settings.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            flags.append(flag)
        elif value is not None and value is not False:
            flags.append(f"{flag}={value}")
    return flags
