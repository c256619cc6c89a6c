"""One question, asked twice: the second answer comes from the journal, and nothing is sent.

Runs offline. With a real model it is one word that changes: "gpt-4o-mini", and OPENAI_API_KEY set.
"""

import tempfile

import penstock

# A workspace of its own, so that the example leaves nothing behind.
with tempfile.TemporaryDirectory() as folder, penstock.Workbench(workspace=folder) as bench:
    for _ in range(2):
        outcome = penstock.ask("What is a penstock?", model="simulated", workbench=bench)
        if isinstance(outcome, penstock.Failure):
            raise SystemExit(f"no answer ({outcome.kind}): {outcome.message}")
        source = "the journal" if outcome.recorded else "the model"
        print(f"from {source}: {outcome.text[:60]}...")
