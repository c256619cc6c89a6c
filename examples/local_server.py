"""The same program on a server that speaks OpenAI's protocol.

Here the server is a simulator in a child process that fails now and then, so that the example runs
offline; with vLLM, Ollama or llama.cpp only the address and the model's name differ.
"""

import asyncio
import tempfile

import penstock


async def main(endpoint: penstock.Endpoint, bench: penstock.Workbench) -> list[penstock.Outcome]:
    """Ask twenty questions at once; inside a running loop, `ask` gives something to await."""
    questions = [f"Describe lake number {number}." for number in range(20)]
    handles = [penstock.ask(text, model=endpoint, workbench=bench) for text in questions]
    return list(await asyncio.gather(*handles))


with penstock.Simulator(latency="20-60", errors="503:0.1") as server:
    lab = penstock.Endpoint("openai", "lake-model", url=server.url)
    with tempfile.TemporaryDirectory() as folder, penstock.Workbench(workspace=folder) as bench:
        outcomes = asyncio.run(main(lab, bench))
    seen = server.summary()

print(f"{sum(outcome.ok for outcome in outcomes)} of {len(outcomes)} questions were answered")
print(f"{seen['requests']} requests reached the server; faults: {seen['by_fault']}")
