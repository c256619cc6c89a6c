"""A process that works in the batch lane, and may be killed at a step: what the tests drive.

    python tests/engine/batch_driver.py JSON

Prints one line of JSON when it comes to its end.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

from penstock.endpoint import Endpoint
from penstock.engine.attend import Attendant
from penstock.engine.batch import BatchLane, BatchWish
from penstock.engine.bridge import run as run_in
from penstock.engine.collect import Collector
from penstock.engine.run import Run
from penstock.engine.station import Station
from penstock.engine.workbench import Workbench
from penstock.outcome import Answer
from penstock.providers import provider_of
from penstock.providers.transport import Call
from penstock.providers.transport_pyreqwest import PyreqwestTransport
from penstock.request import Request
from penstock.store.batches import BatchStore


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def before_upload(kind: Any) -> None:
    kind.submit = lambda *_: die()


def after_upload(kind: Any) -> None:
    """When the call that makes a batch of what was uploaded would be made."""
    call = kind.call

    async def no_create(self: Any, method: str, url: str, *rest: Any, **more: Any) -> Any:
        if method == "POST" and rest and more.get("upload") is None and "upload/" not in url:
            die()
        return await call(self, method, url, *rest, **more)

    kind.call = no_create


def after_create(kind: Any) -> None:
    submit = kind.submit

    async def unrecorded(self: Any, *arguments: Any) -> Any:
        await submit(self, *arguments)
        die()

    kind.submit = unrecorded


def while_polling(kind: Any) -> None:
    look = kind.look
    seen: list[int] = []

    async def twice(self: Any, *arguments: Any) -> Any:
        seen.append(1)
        if len(seen) > 2:
            die()
        return await look(self, *arguments)

    kind.look = twice


def half_a_download(_: Any) -> None:
    send = PyreqwestTransport.send

    async def half(self: Any, call: Call, on_bytes: Any = None) -> Any:
        def cut(piece: bytes) -> None:
            on_bytes(piece[: len(piece) // 2])
            die()

        return await send(self, call, on_bytes if call.keeps else cut)

    PyreqwestTransport.send = half  # type: ignore[method-assign]


def after_a_download(_: Any) -> None:
    Collector.collect = lambda *_: die()  # type: ignore[assignment,method-assign]


def half_collected(_: Any) -> None:
    """The answers are in the journal; that they are is not noted yet."""
    BatchStore.settle = lambda *_, **__: die()  # type: ignore[method-assign]


def collected(_: Any) -> None:
    move = Attendant._move

    def unmoved(self: Attendant, event: Any, **changes: Any) -> None:
        if event == "collected":
            die()
        move(self, event, **changes)

    Attendant._move = unmoved  # type: ignore[method-assign]


STEPS = {
    "before upload": before_upload,
    "after upload": after_upload,
    "after create": after_create,
    "while polling": while_polling,
    "half a download": half_a_download,
    "after a download": after_a_download,
    "half collected": half_collected,
    "collected": collected,
}


def main() -> None:
    wanted = json.loads(sys.argv[1])
    endpoint = Endpoint(
        wanted["provider"], "simulated-echo", wanted["url"], key="a-key-of-no-worth"
    )
    made: Any = provider_of(endpoint)(endpoint, None).batches()
    if wanted.get("most_open"):
        type(made).limits = made.limits._replace(open_batches=wanted["most_open"])
    if wanted.get("die"):
        STEPS[wanted["die"]](type(made))
    with Workbench(workspace=wanted["workspace"]) as bench:
        found = run_in(bench.thread, lambda s: drive(s, bench, endpoint, wanted), cancel=die)
    sys.stdout.write(json.dumps(found) + "\n")


async def drive(
    station: Station, bench: Workbench, endpoint: Endpoint, wanted: dict[str, Any]
) -> dict[str, Any]:
    """Ask so many questions a row, each made of the answer before."""
    with Run(bench.workspace, bench.catalog, kind="drive", id="drive-1") as run:
        store = BatchStore(bench.workspace.batches)
        engine = bench.engine(station, run=run.id, progress=run.progress, on_ask=run.asked)
        engine.lane = BatchLane(
            station, store, Path(run.folder), run=run.id,
            wish=BatchWish(wanted.get("size"), wanted.get("waits", True), 0.2),
            progress=run.progress, stop=engine.stop,
        )  # fmt: skip

        async def work(number: int) -> str:
            said = f"row {number}"
            for turn in range(wanted.get("asks", 1)):
                outcome = await engine.ask(Request.of(endpoint, f"{said}, turn {turn}"))
                if not isinstance(outcome, Answer):
                    return f"failed: {outcome.kind}: {outcome.message}"
                said = outcome.text
            return said

        ends: dict[str, int] = {}
        done = 0
        async for number, _, result in engine.map(range(wanted["rows"]), work):
            expected = f"row {number}"
            for turn in range(wanted.get("asks", 1)):
                expected += f", turn {turn}"
            done += result == expected
            if result != expected:
                ends[str(result)[:80]] = ends.get(str(result)[:80], 0) + 1
        engine.lane.abandon()
        store.close()
        counters = run.progress.counters()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"done": done, "others": ends, "counters": counters, "peak_mb": peak}


if __name__ == "__main__":
    main()
