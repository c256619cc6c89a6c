"""The `simulated` provider: a model in this process. No network, no key, no cost.

It answers as the simulator's server does, without the server: the same question gives the same
answer. The parameter `latency` (milliseconds) makes it as slow as a real one.
"""

from __future__ import annotations

import asyncio
import re
import time
from typing import ClassVar

import orjson

from penstock.errors import InputError
from penstock.outcome import Answer, Failure, FailureKind
from penstock.providers.openai import OpenAI
from penstock.providers.openai_read import read_answer
from penstock.providers.provider import Display, OnText, Provider, Sent
from penstock.request import Request
from penstock.simulator.api import Problem
from penstock.simulator.brain import reply_to
from penstock.simulator.openai import OpenAI as Api

__all__ = ["Simulated"]

_api = Api()


class Simulated(Provider):
    """The simulator's brain behind the door of a provider."""

    usual_model: ClassVar[str] = "simulated"
    uses_network: ClassVar[bool] = False

    def open(self) -> None:
        self._speaker = OpenAI(self.endpoint)

    async def send(self, request: Request, on_text: OnText | None = None) -> Sent:
        began = time.perf_counter()
        body = self._speaker.body(request, stream=False)
        latency = body.pop("latency", 0)
        wire = orjson.dumps(body)
        try:
            asked = _api.read(body, "", request.sample)
            replies = [reply_to(question) for question in asked.questions]
        except (Problem, InputError) as problem:
            return Sent(Failure(FailureKind.INVALID_REQUEST, problem.message), wire=wire)
        raw = _api.render(asked, replies, int.from_bytes(request.key[1:9], "big"))
        answer = self.read(raw)
        if isinstance(latency, int | float) and latency > 0:
            await asyncio.sleep(latency / 1000)
        if on_text is not None:
            show = Display(on_text)
            await _show(answer.text, show)
            show.end()
        return Sent(answer, raw, wire, latency=time.perf_counter() - began)

    def wire(self, request: Request) -> bytes:
        body = self._speaker.body(request, stream=False)
        body.pop("latency", None)
        return orjson.dumps(body)

    @classmethod
    def read(cls, body: bytes) -> Answer:
        return read_answer(body)


async def _show(text: str, on_text: OnText) -> None:
    """Word by word, as fast as a quick model speaks."""
    for word in re.findall(r"\S*\s*", text)[:-1]:
        on_text(word)
        await asyncio.sleep(0.005)
