"""The desk for batches and files: finds the API that a request is for, and keeps what is open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from penstock.simulator.batch_anthropic import AnthropicBatches
from penstock.simulator.batch_api import BatchApi, Errand
from penstock.simulator.batch_gemini import GeminiBatches
from penstock.simulator.batch_openai import OpenAIBatches
from penstock.simulator.batches import Batches
from penstock.simulator.files import Files
from penstock.simulator.http import Exchange
from penstock.simulator.service import Service

__all__ = ["Desk"]


class Desk:
    """All batches and files of a server."""

    def __init__(self, service: Service, loop: asyncio.AbstractEventLoop) -> None:
        self._batches = Batches(loop, lambda: service.settings, service.line)
        self._open()

    def _open(self) -> None:
        files = Files(self._batches.now)
        # OpenAI takes whatever is left of the paths that it shares with Gemini.
        self._apis: tuple[BatchApi, ...] = (
            AnthropicBatches(self._batches),
            GeminiBatches(self._batches, files),
            OpenAIBatches(self._batches, files),
        )

    def find(self, exchange: Exchange) -> Errand | None:
        """Who answers a request, if it is about batches or files."""
        for api in self._apis:
            errand = api.route(exchange)
            if errand is not None:
                return errand
        return None

    def reset(self) -> None:
        """Forget all batches and files."""
        self._batches.clear()
        self._open()

    def advance(self, seconds: float | None, then: Callable[[], None]) -> None:
        """Let time pass for all batches; `then` when the work that is due is done."""
        self._batches.advance(seconds, then)

    def listing(self) -> list[dict[str, Any]]:
        """Every batch as the simulator itself sees it, newest first."""
        return [
            {
                "id": batch.id,
                "api": batch.api.api.name,
                "model": batch.model,
                "state": batch.state,
                "lines": batch.total,
                "asked": batch.done,
                "succeeded": batch.succeeded,
                "errored": batch.errored,
                "created": batch.created,
            }
            for batch in self._batches.all()
        ]
