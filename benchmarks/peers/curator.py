"""bespokelabs-curator: its LLM with a prompt and a parse function."""

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path

from common import PROMPT, measure

# Its tokenizer would be downloaded; another of its dependencies has it on board.
litellm = Path(find_spec("litellm").origin).parent
os.environ.update(
    TIKTOKEN_CACHE_DIR=str(litellm / "litellm_core_utils" / "tokenizers"),
    OPENAI_API_KEY="a-key-of-no-worth",
    TELEMETRY_ENABLED="false",
    CURATOR_DISABLE_RICH_DISPLAY="1",
    CURATOR_VIEWER="0",
    HF_HUB_OFFLINE="1",
)
from bespokelabs import curator  # noqa: E402


def work(url: str, rows: int, concurrency: int) -> int:
    class Writer(curator.LLM):
        def prompt(self, row: dict) -> str:
            return PROMPT.format(row["number"])

        def parse(self, row: dict, response: str) -> dict:
            return {"number": row["number"], "text": response}

    writer = Writer(
        model_name="simulated-fixed",
        backend="openai",
        backend_params={
            "base_url": url,
            "max_concurrent_requests": concurrency,
            "max_requests_per_minute": 10_000_000,
            "max_tokens_per_minute": 1_000_000_000_000,
        },
    )
    with tempfile.TemporaryDirectory() as folder:
        made = writer([{"number": number} for number in range(rows)], working_dir=folder)
    return len(getattr(made, "dataset", made))


measure(work)
