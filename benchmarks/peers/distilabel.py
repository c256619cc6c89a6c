"""distilabel: a pipeline of one text generation."""

import os
import sys

# This file has the name of the package it measures.
here = sys.path.pop(0)
from distilabel.models import OpenAILLM  # noqa: E402
from distilabel.pipeline import Pipeline  # noqa: E402
from distilabel.steps import LoadDataFromDicts  # noqa: E402
from distilabel.steps.tasks import TextGeneration  # noqa: E402

sys.path.insert(0, here)
from common import PROMPT, measure  # noqa: E402


def work(url: str, rows: int, concurrency: int) -> int:
    with Pipeline(name="benchmark") as pipeline:
        data = [{"instruction": PROMPT.format(number)} for number in range(rows)]
        load = LoadDataFromDicts(data=data, batch_size=concurrency)
        model = OpenAILLM(model="simulated-fixed", base_url=url, api_key="a-key-of-no-worth")
        load >> TextGeneration(llm=model, input_batch_size=concurrency)
    made = pipeline.run(use_cache=False)
    return sum(text is not None for text in made["default"]["train"]["generation"])


os.environ.update(HF_HUB_OFFLINE="1", DISTILABEL_LOG_LEVEL="ERROR")
if __name__ == "__main__":
    measure(work)
