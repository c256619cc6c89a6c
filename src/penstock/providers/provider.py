"""What a Provider is: the code that speaks one wire protocol to one endpoint.

A provider over HTTP gives six small answers (where, with what headers, what body, how to read a
reply, an error, a stream) and inherits the rest from `HttpProvider`. One that needs no HTTP
implements `send` itself. Making one makes no request and reads no key; `open` does the latter.
"""

from __future__ import annotations

import logging
import os
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

import msgspec
import orjson

from penstock.endpoint import Endpoint
from penstock.errors import EndpointError, KeyMissingError, RequestError
from penstock.outcome import Answer, Failure, FailureKind, Outcome
from penstock.providers.ratelimits import RateLimits
from penstock.providers.transport import Broken, Call, Reply, Transport
from penstock.request import Request
from penstock.secret import Masking, Secret, holds_known, mask, mask_bytes, resolve

if TYPE_CHECKING:
    from penstock.providers.batch import Batches

__all__ = [
    "Display",
    "HttpProvider",
    "MalformedReplyError",
    "OnText",
    "Provider",
    "Refusal",
    "Sent",
    "Stream",
]

OnText: TypeAlias = Callable[[str], None]

_log = logging.getLogger(__name__)
_LONGEST = 64 * 1024
_KEPT = 4096
_ESCAPED = re.compile(r"\\u00([2-7][0-9a-fA-F])")
# A gateway gave up waiting; the model behind it may have answered, and charged.
_GATEWAY_TIMED_OUT = (504, 524)


class MalformedReplyError(ValueError):
    """A reply is not what the provider's protocol says."""


class Sent(msgspec.Struct, frozen=True, gc=False):
    """What came of one sending: the outcome, and what the provider let us know beside it."""

    outcome: Outcome
    body: bytes = b""
    """The raw answer, for the journal; `Provider.read` makes the Answer of it again."""
    wire: bytes = b""
    """The question as it went over the wire."""
    limits: RateLimits | None = None
    retry_after: float | None = None
    should_retry: bool | None = None
    """The server's own word on whether to ask again; it overrides ours."""
    latency: float = 0.0


class Refusal(msgspec.Struct, frozen=True, gc=False):
    """How a provider reads an error reply."""

    kind: FailureKind
    message: str
    retry_after: float | None = None
    should_retry: bool | None = None


class Stream(Protocol):
    """Reads a streamed answer as it comes and puts together the body that `read` understands."""

    def feed(self, piece: bytes) -> None: ...

    def body(self) -> bytes: ...


class Provider(ABC):
    """One wire protocol, to one endpoint."""

    usual_url: ClassVar[str] = ""
    usual_model: ClassVar[str] = ""
    """The one that is meant where only the provider is named."""
    url_variables: ClassVar[tuple[str, ...]] = ()
    key_variables: ClassVar[tuple[str, ...]] = ()
    needs_key: ClassVar[bool] = False
    uses_network: ClassVar[bool] = True

    def __init__(self, endpoint: Endpoint, transport: Transport | None = None) -> None:
        self.endpoint = endpoint
        self.transport = transport

    def open(self) -> None:
        """Get ready to send: find the key, or say what is missing. Sends nothing."""
        return

    @abstractmethod
    async def send(self, request: Request, on_text: OnText | None = None) -> Sent:
        """Ask once. Never raises for what a network or a model did."""

    @classmethod
    @abstractmethod
    def read(cls, body: bytes) -> Answer:
        """The Answer in a raw body; MalformedReplyError when there is none in it."""

    def wire(self, request: Request) -> bytes:
        """The question as it would go over the wire, for people and for the batch lane."""
        return orjson.dumps({"messages": request.messages, **request.params})

    def batches(self) -> Batches | None:
        """The provider's batch lane; None where it has none."""
        return None

    async def close(self) -> None:
        """Let go of what was opened."""
        return


class HttpProvider(Provider):
    """A provider on the one transport."""

    _key: Secret | None = None

    @abstractmethod
    def address(self, request: Request, *, stream: bool) -> str: ...

    @abstractmethod
    def headers(self, key: Secret | None) -> dict[str, str]: ...

    @abstractmethod
    def body(self, request: Request, *, stream: bool) -> dict[str, Any]:
        """The question in the protocol's words; RequestError where it has none for it."""

    @abstractmethod
    def refusal(self, reply: Reply) -> Refusal: ...

    @abstractmethod
    def limits(self, headers: Mapping[str, str]) -> RateLimits | None: ...

    @abstractmethod
    def stream(self, on_text: OnText) -> Stream: ...

    def sample_header(self, request: Request) -> dict[str, str]:
        """Tells a simulator which independent draw this is; nobody else is told."""
        return {}

    def open(self) -> None:
        self._key = self._find_key()
        own = {name.lower(): value for name, value in self.endpoint.headers.items()}
        self._headers = {**self.headers(self._key), **own}
        # No local variable holds a value: a traceback may show them.
        odd = [name for name in self._headers if not _is_plain(self._headers[name])]
        if odd:
            raise EndpointError(
                f"the header {odd[0]} of {self.endpoint.label} holds a line break or a character "
                "that is not ASCII",
                remedy="Was the key, or the value, copied whole and without anything else?",
            )

    @property
    def opened_headers(self) -> Mapping[str, str]:
        """What goes along with every call, the key among it; there after `open`."""
        return self._headers

    def _find_key(self) -> Secret | None:
        if self.endpoint.key is not None:
            return resolve(self.endpoint.key, trusted=self.endpoint.trusted)
        for name in self.key_variables if self.at_home() else ():
            if os.environ.get(name, "").strip():
                return resolve(f"env:{name}")
        if self.needs_key and self.at_home():
            names = " or ".join(self.key_variables)
            raise KeyMissingError(
                f"no key for {self.endpoint.label}: {names} is not set",
                remedy=f"Run: export {self.key_variables[0]}=..., or try --model simulated.",
            )
        return None

    def at_home(self) -> bool:
        """Whether the usual key may go to this address: the provider's own, or the one that the
        provider's own variable names. A key is never sent to any other host unasked."""
        usual = {self.usual_url.rstrip("/")}
        usual |= {os.environ.get(name, "").strip().rstrip("/") for name in self.url_variables}
        return self.endpoint.url.rstrip("/") in usual - {""}

    def wire(self, request: Request) -> bytes:
        return orjson.dumps(self.body(request, stream=False))

    async def send(self, request: Request, on_text: OnText | None = None) -> Sent:
        streams = on_text is not None
        show = None if on_text is None else Display(on_text)
        reader = None if show is None else self.stream(show)
        try:
            wire = orjson.dumps(self.body(request, stream=streams))
        except RequestError as error:
            return Sent(_unsayable(error))
        call = Call(
            "POST",
            self.address(request, stream=streams),
            self._headers | self.sample_header(request),
            wire,
            self.endpoint.timeout,
        )
        assert self.transport is not None
        began = time.perf_counter()
        reply = await self.transport.send(call, None if reader is None else reader.feed)
        latency = time.perf_counter() - began
        if isinstance(reply, Broken):
            return Sent(_broken(reply), wire=wire, latency=latency)
        limits = self.limits(reply.headers)
        if reply.status != 200:
            return self._refused(reply, wire, limits, latency)
        body = mask_bytes(reply.body)
        whole = reply.body[:64].lstrip().startswith(b"{")  # some servers do not stream
        try:
            if reader is not None and not whole:
                body = mask_bytes(reader.body())
            answer = self.read(body)
            if b"\\" in body and _tells_secret(answer):  # in escapes, which reading undid
                body = mask_bytes(orjson.dumps(orjson.loads(body)))
                answer = self.read(body)
        except MalformedReplyError as error:
            if b'"error"' in body[:200]:
                return self._refused(Reply(200, reply.headers, body), wire, limits, latency)
            message = f"the reply cannot be read: {mask(str(error))[:300]}"
            failure = Failure(
                FailureKind.MALFORMED,
                message,
                may_be_paid=True,
                status=200,
                id=request_id(reply.headers),
            )
            return Sent(failure, _kept(body), wire, limits, latency=latency)
        if show is not None:
            if whole:
                show(answer.text)
            show.end()
        return Sent(answer, body, wire, limits, latency=latency)

    def _refused(
        self, reply: Reply, wire: bytes, limits: RateLimits | None, latency: float
    ) -> Sent:
        found = self.refusal(reply)
        failure = Failure(
            found.kind,
            mask(found.message[:_LONGEST])[:1000],
            status=reply.status,
            may_be_paid=reply.status < 300 or reply.status in _GATEWAY_TIMED_OUT,
            id=request_id(reply.headers),
        )
        body = _kept(reply.body)
        return Sent(failure, body, wire, limits, found.retry_after, found.should_retry, latency)


def _is_plain(value: str) -> bool:
    return value.isascii() and value.isprintable()


def request_id(headers: Mapping[str, str]) -> str:
    """The provider's own number of a call."""
    return mask(headers.get("x-request-id") or headers.get("request-id") or "")[:100]


class Display:
    """Shows text while it comes, without the secrets in it; one that fails is not asked again, and
    the answer is kept."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text: OnText | None = on_text
        self._masking = Masking()

    def __call__(self, text: str) -> None:
        self._show(self._masking.feed(text))

    def end(self) -> None:
        """Show what was held back because a secret might have begun there."""
        self._show(self._masking.end())

    def _show(self, text: str) -> None:
        if self._on_text is None or not text:
            return
        try:
            self._on_text(text)
        except Exception:
            self._on_text = None
            _log.exception("on_text failed; the rest of the answer is not shown")


def _tells_secret(answer: Answer) -> bool:
    said = (answer.text, answer.id, answer.model, repr(answer.tool_calls or ""))
    return any(map(holds_known, said))


def _kept(body: bytes) -> bytes:
    """The beginning of a body that is no answer; masked before it is cut: no half of a secret
    remains, nor one that is written in escapes."""
    text = _ESCAPED.sub(
        lambda found: chr(int(found[1], 16)), body[:_LONGEST].decode("utf-8", "replace")
    )
    return mask(text).encode()[:_KEPT]


def _unsayable(error: RequestError) -> Failure:
    message = f"{error.message}; {error.remedy}" if error.remedy else error.message
    return Failure(FailureKind.INVALID_REQUEST, message)


def _broken(broken: Broken) -> Failure:
    kind = {
        "timeout": FailureKind.TIMEOUT,
        "connection": FailureKind.CONNECTION,
        "too_large": FailureKind.TOO_LARGE,
    }[broken.reason]
    return Failure(kind, broken.message, may_be_paid=broken.sent)
