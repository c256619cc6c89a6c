"""A benchmark run in a process of its own, to be killed or interrupted by a test.

    python -m tests.bench.bench_driver '{"urls": [...], "recipe": ..., "run": ...}'

`group`: kill itself between a response and its commit, when the journal is about to write that
many groups. Further keys are wishes. When it comes to its end it prints the state of the run and
how many items there are, as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from penstock.bench.running import BenchJob
from penstock.bench.wishes import Wishes
from penstock.engine.workbench import Workbench
from tests.bench.bench_kit import settings
from tests.engine.driver import die_before_commit

CONCURRENCY = 16


def main() -> None:
    given: dict[str, Any] = json.loads(sys.argv[1])
    if group := given.pop("group", None):
        die_before_commit(group)
    urls, run, waits = given.pop("urls"), given.pop("run", ""), given.pop("wait", True)
    with Workbench(settings(llm__concurrency=CONCURRENCY)) as bench:
        names = []
        for number, url in enumerate(urls):
            names.append(f"model{number}")
            model = f"simulated-{number}"
            spec = {"provider": "openai", "model": model, "url": url, "key": "env:DRIVER_KEY"}
            bench.catalog.save_endpoint(names[-1], spec)
        wishes = Wishes(recipes=(given.pop("recipe"),), endpoints=tuple(names), **given)
        done = BenchJob(wishes).run(bench, run_id=run, waits=waits)
    print(json.dumps({"state": done.result.state, "items": len(done), "id": done.id}))


if __name__ == "__main__":
    main()
