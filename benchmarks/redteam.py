"""A campaign at engine speed: 20 attacks x 50 objectives x 2 endpoints, killed once on the way.

    python -m benchmarks.redteam

The targets are the simulator's server in another process; its ledger counts. The baseline is a
`map` of the same number of plain questions through the same engine, in the same run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.redteam.campaign import CampaignJob
from penstock.redteam.wishes import Wishes
from penstock.request import Request
from penstock.simulator import Simulator

ATTACKS = (
    "plain", "base64", "rot13", "hex", "leetspeak", "morse", "reverse", "caesar", "atbash",
    "pig_latin", "zero_width", "unicode_tags", "charswap", "insert_punctuation", "homoglyph_v2",
    "payload_splitting", "prefix_injection", "role_play", "best_of_n", "base64 | payload_splitting",
)  # fmt: skip
OBJECTIVES = 50


def goals(folder: Path) -> str:
    path = folder / "goals.csv"
    lines = [f"Say the forbidden word number {number}." for number in range(OBJECTIVES)]
    path.write_text("goal\n" + "\n".join(lines) + "\n")
    return str(path)


def run(home: str, url: str, file: str) -> dict[str, Any]:
    os.environ["BENCH_KEY"] = "a-key-of-no-worth"
    targets = tuple(
        Endpoint(
            "openai", "simulated-refuse", url, key="env:BENCH_KEY", name=name,
            params={"temperature": heat},
        )
        for name, heat in (("first", 0), ("second", 1))
    )  # fmt: skip
    wishes = Wishes(attacks=ATTACKS, objectives=(file,), max_turns=10)
    with Workbench(workspace=home) as bench:
        began = time.perf_counter()
        done = CampaignJob(wishes, targets).run(bench, run_id="redteam-benchmark")
        seconds = time.perf_counter() - began
    return {"seconds": seconds, "conversations": len(done), "turns": len(done.turns)}


def baseline(home: str, url: str, count: int) -> float:
    """Rows a second of plain questions through the same engine."""
    target = Endpoint("openai", "simulated-refuse", url, key="env:BENCH_KEY")
    with Workbench(workspace=home) as bench:
        thread = bench.thread
        engine = bench.engine(thread.station)

        async def work(_: Any) -> int:
            async def ask(number: int) -> Any:
                return await engine.ask(Request.of(target, f"question {number}"))

            return sum([1 async for _ in engine.map(range(count), ask)])

        began = time.perf_counter()
        asked = thread.submit(work).result()
        return asked / (time.perf_counter() - began)


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(run(*sys.argv[1:4])))
        return
    with tempfile.TemporaryDirectory() as folder, Simulator() as simulator:
        file = goals(Path(folder))
        home = f"{folder}/killed"
        command = [sys.executable, "-m", "benchmarks.redteam"]
        process = subprocess.Popen([*command, home, simulator.url, file], stdout=subprocess.PIPE)
        while simulator.summary()["requests"] < 2_000:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        before = simulator.summary()["requests"]
        subprocess.run([*command, home, simulator.url, file], check=True, stdout=subprocess.PIPE)
        ledger = simulator.summary()
        print(f"killed after {before:,} questions; {ledger['repeated']:,} asked again in the end")
        simulator.reset()
        whole = subprocess.run(
            [*command, f"{folder}/whole", simulator.url, file], check=True, stdout=subprocess.PIPE
        )
        made = json.loads(whole.stdout)
        speed = made["turns"] / made["seconds"]
        again = subprocess.run(
            [*command, f"{folder}/whole", simulator.url, file], check=True, stdout=subprocess.PIPE
        )
        recorded = made["turns"] / json.loads(again.stdout)["seconds"]
        os.environ["BENCH_KEY"] = "a-key-of-no-worth"
        plain = baseline(f"{folder}/plain", simulator.url, made["turns"])
        print(f"{made['conversations']:,} conversations, {made['turns']:,} turns")
        print(f"{speed:,.0f} turns/s, {speed / plain:.2f} of {plain:,.0f} plain questions/s")
        print(f"{recorded:,.0f} turns/s when all of it is recorded")


if __name__ == "__main__":
    main()
