"""The `anthropic` provider: the Messages API of Claude, and servers that speak it.

Which version of the API is asked for depends on the question. The newest, 2026-10-21, is what the
official SDK sends, but it refuses `temperature`, `top_p` and `top_k` whatever their values; the one
before, 2023-06-01, takes them, and differs in nothing else that is sent here. So a question that
carries one of the three travels under the older version, and only a model that takes none refuses
it, in its own words. A version among the endpoint's own headers goes before both.

A structured answer is asked for as a format; a schema that has no such form, or that the server
refuses (models before Claude 4.5, too large a schema), stands in the system prompt instead. An
answer that may take longer than ten minutes is streamed also when nobody watches, because a
connection that is silent for so long gets cut; what is recorded is the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

import orjson

from penstock.errors import EndpointError, RequestError
from penstock.outcome import Answer, Failure, FailureKind
from penstock.providers.anthropic_batch import AnthropicBatches
from penstock.providers.anthropic_errors import read_refusal
from penstock.providers.anthropic_params import (
    SAMPLING,
    check_params,
    inside,
    max_tokens_of,
    wire_params,
    wire_tools,
)
from penstock.providers.anthropic_read import MessageStream, read_message
from penstock.providers.anthropic_schema import wire_schema
from penstock.providers.anthropic_turns import conversation
from penstock.providers.provider import HttpProvider, OnText, Refusal, Sent
from penstock.providers.ratelimits import RateLimits, anthropic_limits
from penstock.providers.transport import Reply
from penstock.request import Request
from penstock.schema import AnswerSchema
from penstock.secret import Secret

__all__ = ["Anthropic"]

_VERSION = "2026-10-21"
_VERSION_WITH_SAMPLING = "2023-06-01"
# What can be written within ten minutes, by the official SDK's own reckoning.
_LONGEST_SILENT = 21_333
_MOST_IN_WORDS = 256
_REFUSES_SCHEMA = re.compile(
    r"(?i)output_config(?!\.effort)|output_format|json_schema|structured output|grammar"
    r"|schema is too complex|too many (optional|union)"
)


class Anthropic(HttpProvider):
    """Messages over HTTP."""

    usual_url: ClassVar[str] = "https://api.anthropic.com"
    url_variables: ClassVar[tuple[str, ...]] = ("ANTHROPIC_BASE_URL",)
    key_variables: ClassVar[tuple[str, ...]] = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
    needs_key: ClassVar[bool] = True

    # Where ------------------------------------------------------------------------------------

    def open(self) -> None:
        try:
            check_params(self.endpoint.params)
        except RequestError as error:
            raise EndpointError(
                f"{self.endpoint.label}: {error.message}",
                remedy=f"Take it out of the endpoint's params: {error.remedy}.",
            ) from None
        super().open()
        self._address = self._make_address()
        self._own_version = any(
            name.lower() == "anthropic-version" for name in self.endpoint.headers
        )
        # A simulator is known by the model's name; no other server ever sees the header.
        self._tells_sample = self.endpoint.model.startswith("simulated")
        self._in_words: set[bytes] = set()

    def _make_address(self) -> str:
        base, question, query = self.endpoint.url.partition("?")
        base = base.rstrip("/")
        for written in ("/v1/messages", "/v1"):  # the usual address ends before both
            base = base.removesuffix(written)
        return f"{base}/v1/messages{question}{query}"

    def address(self, request: Request, *, stream: bool) -> str:
        return self._address

    def beside(self, path: str) -> str:
        """The address of another part of the Messages API, such as `/batches`."""
        base, question, query = self._address.partition("?")
        return f"{base}{path}{question}{query}"

    # With what --------------------------------------------------------------------------------

    def headers(self, key: Secret | None) -> dict[str, str]:
        made = {
            "content-type": "application/json",
            "accept": "application/json",
            "user-agent": "penstock",
            "anthropic-version": _VERSION,
        }
        if key is not None:
            made["authorization"] = f"Bearer {key.reveal()}"
        return made

    def sample_header(self, request: Request) -> dict[str, str]:
        """What goes along with one question: the version it needs, and to a simulator the draw."""
        made: dict[str, str] = {}
        if SAMPLING & request.params.keys():
            made = self.version_for_all()
        if self._tells_sample:
            made["x-penstock-sample"] = str(request.sample)
        return made

    def version_for_all(self) -> dict[str, str]:
        """The header of the version that takes any question, unless the endpoint has its own."""
        return {} if self._own_version else {"anthropic-version": _VERSION_WITH_SAMPLING}

    # What -------------------------------------------------------------------------------------

    def body(self, request: Request, *, stream: bool) -> dict[str, Any]:
        said = conversation(request.messages)
        body = {"model": self.endpoint.model, "messages": said.turns, **wire_params(request.params)}
        if said.system is not None:
            if "system" in request.params:
                raise RequestError("there is a system prompt among the parameters and another one")
            body["system"] = said.system
        if request.tools:
            body["tools"] = wire_tools(request.tools)
        if request.schema is not None:
            self._ask_for(request.schema, body)
        if stream:
            body["stream"] = True
        return body

    def _ask_for(self, schema: AnswerSchema, body: dict[str, Any]) -> None:
        wire = None if schema.canonical in self._in_words else wire_schema(schema)
        if wire is None:
            body["system"] = _with_schema(body.get("system"), schema)
            return
        config = inside(body, "output_config")
        if "format" in config:
            raise RequestError("there is an output_config.format and a schema; one is enough")
        body["output_config"] = {**config, "format": {"type": "json_schema", "schema": wire}}

    # What came of it --------------------------------------------------------------------------

    async def send(self, request: Request, on_text: OnText | None = None) -> Sent:
        if on_text is None and _is_long(request):
            on_text = _unseen
        schema = request.schema
        asked = schema is not None and schema.canonical not in self._in_words
        sent = await super().send(request, on_text)
        if schema is None or not asked or not _refused_schema(sent):
            return sent
        if len(self._in_words) >= _MOST_IN_WORDS:
            self._in_words.clear()
        self._in_words.add(schema.canonical)
        return await self.send(request, on_text)

    @classmethod
    def read(cls, body: bytes) -> Answer:
        return read_message(body)

    def stream(self, on_text: OnText) -> MessageStream:
        return MessageStream(on_text)

    def limits(self, headers: Mapping[str, str]) -> RateLimits | None:
        return anthropic_limits(headers)

    def refusal(self, reply: Reply) -> Refusal:
        return read_refusal(reply)

    def batches(self) -> AnthropicBatches:
        return AnthropicBatches(self)


def _is_long(request: Request) -> bool:
    most = max_tokens_of(request.params)
    return isinstance(most, int) and most > _LONGEST_SILENT


def _unseen(_: str) -> None:
    return


def _refused_schema(sent: Sent) -> bool:
    outcome = sent.outcome
    return (
        isinstance(outcome, Failure)
        and outcome.kind is FailureKind.INVALID_REQUEST
        and outcome.status is not None  # the server's words, not ours
        and _REFUSES_SCHEMA.search(outcome.message) is not None
    )


def _with_schema(system: Any, schema: AnswerSchema) -> Any:
    """The system prompt with the schema behind it."""
    text = orjson.dumps(schema.schema).decode()
    asked = "Answer with JSON only, no other text, that fits this JSON schema:\n" + text
    if not system:
        return asked
    before = [{"type": "text", "text": system}] if isinstance(system, str) else list(system)
    return [*before, {"type": "text", "text": asked}]
