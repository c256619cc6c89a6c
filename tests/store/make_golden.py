"""Makes the golden workspace of the format this version writes: run once, before a release.

    python -m tests.store.make_golden

What it made is then kept for ever: R7 says that it opens. A new format gets a new folder, and
the old ones stay as they are.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from penstock.store import Journal, Record, RecordKind, Workspace
from penstock.store.catalog import Catalog
from penstock.store.workspace import FORMAT

GOLDEN = Path(__file__).parent / "golden"

# Written out, so that no later change of a helper changes what was promised.
ANSWERS = [
    Record(
        key=bytes.fromhex("01000102030405060708090a0b0c0d0e0f"),
        response=b'{"choices":[{"message":{"content":"Paris"}}]}',
        request=b'{"model":"m","messages":[{"role":"user","content":"Capital of France?"}]}',
        provider="openai",
        model="gpt-4o-mini",
        run="20260101-first",
        at=1767225600.5,
        latency=0.75,
        attempts=2,
        cost="0.00012",
        price_source="genai-prices",
    ),
    Record(
        key=bytes.fromhex("01ffffffffffffffffffffffffffffffff"),
        response="é \U0001f600".encode(),
    ),
    Record(
        key=bytes.fromhex("0122222222222222222222222222222222"),
        response=b"long " * 2000,
        at=1767225602.0,
    ),
    Record(key=bytes.fromhex("0133333333333333333333333333333333"), response=b"the new answer"),
]
REPLACED = Record(key=ANSWERS[3].key, response=b"the old answer")
FAILURE = Record(
    key=bytes.fromhex("0144444444444444444444444444444444"),
    response=b'{"error":"overloaded"}',
    kind=RecordKind.FAILURE,
    attempts=5,
)
RUN = {"id": "20260101-first", "kind": "generate", "name": "the first", "spec": {"rows": [1, "é"]}}
COUNTERS = {"done": 3, "failed": 1}
ENDPOINT = {"provider": "openai", "model": "gpt-4o-mini", "key": "env:OPENAI_API_KEY"}


async def _write(path: Path) -> None:
    journal = Journal(path).open()
    await journal.record(REPLACED)
    for record in ANSWERS:
        await journal.record(record, replace=True)
    await journal.record(FAILURE)
    journal.close()


def main() -> None:
    folder = GOLDEN / f"format{FORMAT}"
    if folder.exists():
        raise SystemExit(f"{folder} is there already, and is never made again")
    workspace = Workspace(folder).prepare()
    (workspace.path / ".gitignore").unlink()
    workspace.runs.rmdir()
    asyncio.run(_write(workspace.journal))
    catalog = Catalog(workspace.catalog)
    catalog.add_run(RUN["id"], RUN["kind"], RUN["name"], RUN["spec"])  # type: ignore[arg-type]
    catalog.update_run("20260101-first", state="completed", created=1767225600.0, counters=COUNTERS)
    catalog.save_endpoint("mini", ENDPOINT)
    catalog.close()


if __name__ == "__main__":
    main()
