"""A benchmark run: items a second, memory, a recorded run again, cancelling, a slow neighbour.

    python benchmarks/bench.py [--prompts 20000 100000] [--pending 5000]

Speed and memory: so many prompts to two endpoints that answer in this process at once, through a
template and three metrics, with the real journal and the table on disk. Cancelling and the slow
neighbour go over HTTP to the simulator's server.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.measure import in_child, machine, pinned_server

_REPEATS = 3
_METRICS = ["exact_match", "contains", "edit_similarity"]


def recipe(folder: Path, prompts: int) -> str:
    """A recipe with so many questions, each of its own."""
    with (folder / "d.jsonl").open("w") as file:
        for number in range(prompts):
            asked = f"What is {number} plus {number + 1}, neither more nor less?"
            file.write(json.dumps({"input": asked, "target": str(2 * number + 1)}) + "\n")
    (folder / "d.yaml").write_text("name: d\nfile: d.jsonl\n")
    (folder / "t.yaml").write_text("name: t\ntemplate: 'Answer shortly. {{ prompt }}'\n")
    made = {
        "name": "r", "datasets": ["./d.yaml"], "templates": ["./t.yaml"], "metrics": _METRICS,
    }  # fmt: skip
    (folder / "r.yaml").write_text(json.dumps(made))
    return str(folder / "r.yaml")


def speed(prompts: int) -> dict[str, Any]:
    """All of it, then all of it again from the journal."""
    from penstock import Endpoint, Workbench, bench

    models = [Endpoint("simulated", name) for name in ("simulated-fixed", "simulated-echo")]
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as name:
        folder = Path(name)
        what = recipe(folder, prompts)
        found: dict[str, Any] = {"server_busy": 0.0}
        with Workbench(workspace=folder / "home") as workbench:
            bench.run(what, endpoints=models, sample=1, seed=1, cache="off", workbench=workbench)
            for kind in ("new", "recorded"):
                wall, cpu = time.perf_counter(), time.process_time()
                done = bench.run(what, endpoints=models, workbench=workbench)
                items = len(done)
                assert items == 2 * prompts and done.result.state == "completed"
                found[kind] = items / (time.perf_counter() - wall)
                found[f"{kind}_cpu"] = (time.process_time() - cpu) / items * 1e6
                found[f"{kind}_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return found


def cancelling(url: str, pending: int) -> dict[str, Any]:
    """How long a run takes to end after it is cancelled, when its first item has come."""
    from penstock import Endpoint, Workbench
    from penstock.bench.listening import Listening
    from penstock.bench.running import BenchJob, Going
    from penstock.bench.wishes import Wishes

    going: list[Going] = []
    moment: list[float] = []

    def stop(_: object) -> None:
        if not moment:
            moment.append(time.perf_counter())
            threading.Thread(target=going[0].cancel).start()

    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as name:
        what = recipe(Path(name), pending)
        endpoint = Endpoint("openai", "simulated-fixed", url, key="a-key-of-no-worth")
        job = BenchJob(Wishes(recipes=(what,)), (endpoint,), Listening(on_item=stop))
        with Workbench(workspace=Path(name) / "home") as workbench:
            done = job.run(workbench, on_begin=going.append)
            seconds = time.perf_counter() - moment[0]
        assert done.result.state == "cancelled" and len(done) < pending
        return {"server_busy": 0.0, "seconds": seconds, "items": len(done)}


def neighbours(fast: str, slow: str, prompts: int) -> dict[str, Any]:
    """When a fast endpoint has its last answer: alone, and beside a slow one; the best of three."""
    from penstock import Endpoint, Workbench, bench

    def timed(*urls: str) -> float:
        models = [
            Endpoint("openai", "simulated-fixed", url, key="a-key-of-no-worth", name=f"m{number}")
            for number, url in enumerate(urls)
        ]
        last = 0.0

        def came(item: Any) -> None:
            nonlocal last
            if item.endpoint == "m0":
                last = time.perf_counter()

        with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as name:
            what = recipe(Path(name), prompts)
            with Workbench(workspace=Path(name) / "home") as workbench:
                began = time.perf_counter()
                bench.run(what, endpoints=models, on_item=came, workbench=workbench)
        return last - began

    timed(fast)  # what is loaded when first used is loaded now
    alone, beside = [], []
    for _ in range(_REPEATS):
        alone.append(timed(fast))
        beside.append(timed(fast, slow))
    return {"server_busy": 0.0, "alone": min(alone), "beside": min(beside)}


def client(kind: str, *given: str) -> None:
    """One measurement in a process of its own, scheduled as bulk work."""
    from penstock.threads import work_in_bulk

    work_in_bulk()
    if kind == "speed":
        found = speed(int(given[0]))
    elif kind == "cancel":
        found = cancelling(given[0], int(given[1]))
    else:
        found = neighbours(given[0], given[1], int(given[2]))
    sys.stdout.write(json.dumps(found) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--pending", type=int, default=5000)
    parser.add_argument("--neighbours", type=int, default=2000, help="prompts beside a slow one")
    parser.add_argument("--client", nargs="+")
    given = parser.parse_args()
    if given.client:
        client(*given.client)
        return
    print(f"{machine()}; two endpoints, a template, {len(_METRICS)} metrics")
    for prompts in given.prompts:
        found = in_child(__file__, "--client", "speed", prompts)
        for kind in ("new", "recorded"):
            print(
                f"{prompts:>9,} prompts x 2, {kind:8} {found[kind]:7,.0f} items/s  "
                f"{found[f'{kind}_cpu']:4.0f} us CPU  peak {found[f'{kind}_mb']:.0f} MB"
            )
    with pinned_server(fixed=True, latency="200") as server:
        found = in_child(__file__, "--client", "cancel", server.url, given.pending)
        print(
            f"cancelled with {given.pending:,} pending at 200 ms: ended after "
            f"{found['seconds']:.2f} s, {found['items']:,} items kept"
        )
    with (
        pinned_server(fixed=True, latency="5") as fast,
        pinned_server(fixed=True, latency="50", max_concurrency=16) as slow,
    ):
        found = in_child(__file__, "--client", "neighbours", fast.url, slow.url, given.neighbours)
        print(
            f"a fast endpoint with {given.neighbours:,} prompts: alone {found['alone']:.2f} s, "
            f"beside a slow one {found['beside']:.2f} s ({found['beside'] / found['alone']:.2f}x)"
        )


if __name__ == "__main__":
    main()
