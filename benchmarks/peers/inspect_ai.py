"""inspect_ai: a task that only generates."""

import os
import sys
import tempfile

# This file has the name of the package it measures.
here = sys.path.pop(0)
from inspect_ai import Task, eval  # noqa: A004, E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.solver import generate  # noqa: E402

sys.path.insert(0, here)
from common import PROMPT, measure  # noqa: E402


def work(url: str, rows: int, concurrency: int) -> int:
    task = Task(
        dataset=[Sample(input=PROMPT.format(number)) for number in range(rows)], solver=generate()
    )
    with tempfile.TemporaryDirectory() as folder:
        [log] = eval(
            task,
            model="openai/simulated-fixed",
            model_base_url=url,
            model_args={"responses_api": False},
            max_connections=concurrency,
            max_samples=concurrency,
            display="none",
            log_dir=folder,
        )
        return sum(bool(sample.output.completion) for sample in log.samples or ())


os.environ["OPENAI_API_KEY"] = "a-key-of-no-worth"
measure(work)
