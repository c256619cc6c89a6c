"""A real notebook kernel: its loop runs, and must go on running."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

CELLS = [
    """
    import asyncio, penstock
    ticks = 0
    async def tick():
        global ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.005)
    ticking = asyncio.ensure_future(tick())
    """,
    """
    answer = await penstock.ask("What is a penstock?", model="simulated")
    print(answer.ok)
    """,
    """
    slow = penstock.Endpoint("simulated", "simulated", params={"latency": 50})
    rows = [{"id": number} for number in range(40)]
    async def prompt(row):
        await asyncio.sleep(0)
        return f"Say something about {row['id']}."
    before = ticks
    handle = penstock.Prompter(slow, prompt, concurrency=8)(rows)
    print(type(handle).__name__)
    """,
    """
    table = await handle
    print(len(table), ticks - before > 20)
    """,
    """
    handle = penstock.Prompter(slow, lambda row: f"Sync {row['id']}")(rows)
    table = await handle
    print(table.run.state)
    penstock.close()
    ticking.cancel();
    """,
]


@pytest.mark.filterwarnings("default")
def test_the_bridge_works_in_a_real_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    v4: Any = nbformat.v4
    notebook = v4.new_notebook()
    notebook.cells = [
        v4.new_code_cell("\n".join(line[4:] for line in cell.strip("\n").split("\n")))
        for cell in CELLS
    ]
    client = nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3")
    client.execute()
    said = [
        output["text"].strip()
        for cell in notebook.cells
        for output in cell.outputs
        if output.output_type == "stream" and output.name == "stdout"
    ]
    assert said == ["True", "TableHandle", "40 True", "completed"]
