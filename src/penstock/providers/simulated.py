"""The `simulated` provider: a model in this process. No network, no key, no cost.

It answers as the simulator's server does, without the server: the same question gives the same
answer. `latency` among the parameters (milliseconds) makes it as slow as a real one.
"""

from __future__ import annotations

import asyncio
import time
from typing import ClassVar

import orjson

from penstock.outcome import Answer
from penstock.providers.openai import OpenAI
from penstock.providers.openai_read import read_answer
from penstock.providers.provider import OnText, Provider, Sent
from penstock.request import Request
from penstock.simulator import complete

__all__ = ["Simulated"]


class Simulated(Provider):
    """The simulator's brain behind the door of a provider."""

    uses_network: ClassVar[bool] = False

    async def send(self, request: Request, on_text: OnText | None = None) -> Sent:
        body = self._speaker.body(request, stream=False)
        latency = float(body.pop("latency", 0)) / 1000
        began = time.perf_counter()
        completion = complete(body, request.sample)
        if latency:
            await asyncio.sleep(latency)
        raw = orjson.dumps(completion)
        answer = self.read(raw)
        if on_text is not None:
            await _show(answer.text, on_text)
        return Sent(answer, raw, latency=time.perf_counter() - began)

    def open(self) -> None:
        self._speaker = OpenAI(self.endpoint)

    def wire(self, request: Request) -> bytes:
        return self._speaker.wire(request)

    @classmethod
    def read(cls, body: bytes) -> Answer:
        return read_answer(body)


async def _show(text: str, on_text: OnText) -> None:
    for word in text.split(" "):
        on_text(word + " ")
        await asyncio.sleep(0.01)
