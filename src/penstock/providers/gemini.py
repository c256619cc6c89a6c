"""The `gemini` provider: Google's generateContent, as the Gemini Developer API speaks it.

The model stands in the address, the key in a header of its own, never in the address. A question
that Gemini has no words for is a Failure before anything is sent; parameters of an endpoint are
looked at when it is opened. A schema that a model cannot be held to (too large, beside tools, on a
model without JSON) is refused once, and from then on stands in the prompt; the answer is validated
in any case. An answer that is longer than one reply may be is asked for to its end, as the official
SDK does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote

import msgspec
import orjson

from penstock.errors import EndpointError, RequestError
from penstock.outcome import Answer, Failure, FailureKind
from penstock.providers.gemini_batch import GeminiBatches
from penstock.providers.gemini_errors import read_limits, read_refusal
from penstock.providers.gemini_params import put, wire_params
from penstock.providers.gemini_read import ContentStream, continuation, continued, read_answer
from penstock.providers.gemini_schema import wire_schema
from penstock.providers.gemini_tools import is_strict, wire_tools
from penstock.providers.gemini_turns import wire_turns
from penstock.providers.provider import HttpProvider, OnText, Refusal, Sent
from penstock.providers.ratelimits import RateLimits
from penstock.providers.transport import Reply
from penstock.request import Request
from penstock.schema import AnswerSchema
from penstock.secret import Secret

__all__ = ["Gemini"]

_VERSION = re.compile(r"/v\d+(?:alpha|beta)?\d*$")
_USUAL_VERSION = "v1"
_MOST_REPLIES = 64
_MOST_IN_WORDS = 256
_REFUSES_SCHEMA = re.compile(
    r"(?i)^(?!.*function_declarations).*(response_?(json_?)?schema|json schema|json mode"
    r"|response[_ ]mime[_ ]?type|schema (produces|in generationconfig)|too many states)"
)


class Gemini(HttpProvider):
    """generateContent over HTTP."""

    usual_url: ClassVar[str] = "https://generativelanguage.googleapis.com"
    usual_model: ClassVar[str] = "gemini-2.5-flash"
    url_variables: ClassVar[tuple[str, ...]] = ("GOOGLE_GEMINI_BASE_URL",)
    key_variables: ClassVar[tuple[str, ...]] = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
    needs_key: ClassVar[bool] = True

    def open(self) -> None:
        super().open()
        self._in_words: set[bytes] = set()
        self._make_address()
        # A simulator is known by the model's name; no other server ever sees the header.
        self._tells_sample = self.endpoint.model.startswith("simulated")
        given = {name: value for name, value in self.endpoint.params.items() if value is not None}
        try:
            wire_params(given, self.endpoint.model)
        except RequestError as error:
            message = f"the parameters of {self.endpoint.label}: {error.message}"
            raise EndpointError(message, remedy=error.remedy) from None

    # Where ------------------------------------------------------------------------------------

    def at_home(self) -> bool:
        """As for any provider; the version may stand in the address, or not."""
        names = [self.usual_url, *(os.environ.get(name, "") for name in self.url_variables)]
        usual = {_unversioned(url) for url in names} - {""}
        return _unversioned(self.endpoint.url) in usual

    def address(self, request: Request, *, stream: bool) -> str:
        if stream:
            return self._with_query(self.model_address("streamGenerateContent"), "alt=sse")
        return self.model_address("generateContent")

    def model_address(self, verb: str) -> str:
        """Where the model is asked to do something."""
        return self._with_query(f"{self._base}/{self._model}:{verb}", self._query)

    def beside(self, path: str) -> str:
        """The address of another part of the API, such as `/batches`."""
        return self._with_query(f"{self._base}{path}", self._query)

    def upload_address(self) -> str:
        """Where a file is announced: the version stands behind the word."""
        base, _, version = self._base.rpartition("/")
        return self._with_query(f"{base}/upload/{version}/files", self._query)

    @staticmethod
    def _with_query(url: str, query: str) -> str:
        if not query:
            return url
        return f"{url}{'&' if '?' in url else '?'}{query}"

    def _make_address(self) -> None:
        base, _, self._query = self.endpoint.url.partition("?")
        base = base.rstrip("/")
        if not _VERSION.search(base):
            named = os.environ.get("GOOGLE_GENAI_API_VERSION", "").strip()
            base = f"{base}/{named or _USUAL_VERSION}"
        model = self.endpoint.model
        if ".." in model or "?" in model or "&" in model:
            raise EndpointError(f"{model!r} is no name of a model")
        if not model.startswith(("models/", "tunedModels/")):
            model = f"models/{model}"
        self._base, self._model = base, quote(model, safe="/:@")

    # With what --------------------------------------------------------------------------------

    def headers(self, key: Secret | None) -> dict[str, str]:
        made = {
            "content-type": "application/json",
            "accept": "application/json",
            "user-agent": "penstock",
        }
        if key is not None:
            made["x-goog-api-key"] = key.reveal()
        return made

    def sample_header(self, request: Request) -> dict[str, str]:
        return {"x-penstock-sample": str(request.sample)} if self._tells_sample else {}

    # What -------------------------------------------------------------------------------------

    def body(self, request: Request, *, stream: bool) -> dict[str, Any]:
        system, contents = wire_turns(request.messages)
        config, beside = wire_params(request.params, self.endpoint.model)
        if request.schema is not None and request.schema.canonical in self._in_words:
            contents.insert(0, _in_words(request.schema))
        elif request.schema is not None:
            put(config, "responseMimeType", "application/json")
            put(config, "responseJsonSchema", wire_schema(request.schema.schema))
        body: dict[str, Any] = {"contents": contents}
        if system is not None:
            body["systemInstruction"] = system
        if request.tools:
            body["tools"] = wire_tools(request.tools)
            if "toolConfig" not in beside and is_strict(request.tools):
                body["toolConfig"] = {"functionCallingConfig": {"mode": "VALIDATED"}}
        body |= beside
        if config or len(body) > 1:  # as the SDK does, which says it when it says anything
            body["generationConfig"] = config
        return body

    # What came of it --------------------------------------------------------------------------

    async def send(self, request: Request, on_text: OnText | None = None) -> Sent:
        schema = request.schema
        asked = schema is not None and schema.canonical not in self._in_words
        sent = await super().send(request, on_text)
        if schema is not None and asked and _refused_schema(sent):
            if len(self._in_words) >= _MOST_IN_WORDS:
                self._in_words.clear()
            self._in_words.add(schema.canonical)
            return await self.send(request, on_text)
        used = {""}
        while isinstance(sent.outcome, Answer) and len(used) < _MOST_REPLIES:
            token = continuation(sent.body)
            if token in used:
                break
            used.add(token)
            sent = await self._go_on(request, sent, token, on_text)
        return sent

    async def _go_on(
        self, request: Request, before: Sent, token: str, on_text: OnText | None
    ) -> Sent:
        params = {**request.params, "continuationToken": token}
        after = await super().send(msgspec.structs.replace(request, params=params), on_text)
        latency = before.latency + after.latency
        if isinstance(after.outcome, Failure):
            lost = msgspec.structs.replace(after.outcome, may_be_paid=True)
            return msgspec.structs.replace(after, outcome=lost, latency=latency)
        body = continued(before.body, after.body)
        return Sent(self.read(body), body, before.wire, latency=latency)

    def _refused(
        self, reply: Reply, wire: bytes, limits: RateLimits | None, latency: float
    ) -> Sent:
        return super()._refused(reply, wire, read_limits(reply), latency)

    @classmethod
    def read(cls, body: bytes) -> Answer:
        return read_answer(body)

    def stream(self, on_text: OnText) -> ContentStream:
        return ContentStream(on_text)

    def limits(self, headers: Mapping[str, str]) -> RateLimits | None:
        """Gemini tells nothing in headers; what a refusal tells is read there."""
        return None

    def refusal(self, reply: Reply) -> Refusal:
        return read_refusal(reply)

    def batches(self) -> GeminiBatches:
        return GeminiBatches(self)


def _unversioned(url: str) -> str:
    return _VERSION.sub("", url.strip().rstrip("/"))


def _refused_schema(sent: Sent) -> bool:
    outcome = sent.outcome
    return (
        isinstance(outcome, Failure)
        and outcome.status is not None  # the server's word, not ours
        and outcome.kind is FailureKind.INVALID_REQUEST
        and _REFUSES_SCHEMA.search(outcome.message) is not None
    )


def _in_words(schema: AnswerSchema) -> dict[str, Any]:
    """A turn that asks for the schema; not the system's, which not every model takes."""
    text = orjson.dumps(schema.schema).decode()
    asked = "Answer with JSON only, no other text, that fits this JSON schema:\n" + text
    return {"role": "user", "parts": [{"text": asked}]}
