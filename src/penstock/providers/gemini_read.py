"""Reading what generateContent sends back: whole bodies and streams.

A prompt that the filter blocked comes back without any candidate, and is an Answer all the same:
asked again it would be blocked again. Thoughts are not part of an answer's text, but of its cost.
"""

from __future__ import annotations

from typing import Any

import msgspec
import orjson

from penstock.outcome import Answer, Finish, Usage
from penstock.providers.provider import MalformedReplyError, OnText
from penstock.providers.sse import Events

__all__ = ["ContentStream", "continuation", "continued", "read_answer"]


class _Part(msgspec.Struct, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    function_call: dict[str, Any] | None = None
    thought_signature: str | None = None


class _Content(msgspec.Struct):
    parts: list[_Part] | None = None


class _Candidate(msgspec.Struct, rename="camel"):
    content: _Content | None = None
    finish_reason: str | None = None


class _Feedback(msgspec.Struct, rename="camel"):
    block_reason: str | None = None


class _Usage(msgspec.Struct, rename="camel"):
    prompt_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    cached_content_token_count: int | None = None


class _Reply(msgspec.Struct, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: _Usage | None = None
    model_version: str | None = None
    response_id: str | None = None


_decoder = msgspec.json.Decoder(_Reply)

_GOES_ON = "CONTINUATION"
_FILTERED = (
    *("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
    *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"),
)
_FINISH = {
    "STOP": Finish.STOP,
    "MAX_TOKENS": Finish.LENGTH,
    _GOES_ON: Finish.LENGTH,  # and does not
    **dict.fromkeys(_FILTERED, Finish.CONTENT_FILTER),
}


def read_answer(body: bytes) -> Answer:
    """The Answer in the body of a reply."""
    try:
        reply = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedReplyError(str(error)) from None
    blocked = reply.prompt_feedback is not None and bool(reply.prompt_feedback.block_reason)
    if not reply.candidates and not blocked:
        raise MalformedReplyError("the reply has no candidates")
    candidate = reply.candidates[0] if reply.candidates else _Candidate()
    parts = (candidate.content and candidate.content.parts) or []
    calls = _calls(parts)
    return Answer(
        "".join(part.text or "" for part in parts if not part.thought),
        Finish.CONTENT_FILTER if blocked else _finish(candidate.finish_reason, bool(calls)),
        _usage(reply.usage_metadata),
        calls,
        reply.model_version or "",
        reply.response_id or "",
    )


def _finish(reason: str | None, calls: bool) -> Finish:
    found = _FINISH.get(reason or "", Finish.ERROR)
    return Finish.TOOL if calls and found is Finish.STOP else found


def _calls(parts: list[_Part]) -> tuple[dict[str, Any], ...]:
    """Calls in the form that all providers share, signed where Gemini signed them."""
    made: list[dict[str, Any]] = []
    for part in parts:
        call = part.function_call
        if call is None:
            continue
        name, args, number = call.get("name"), call.get("args"), call.get("id")
        if not isinstance(name, str) or not isinstance(args, dict | None):
            raise MalformedReplyError("a function call has no name, or arguments that are none")
        function = {"name": name, "arguments": _written(args or {}).decode()}
        told = number if isinstance(number, str) and number else f"call_{len(made)}"
        whole: dict[str, Any] = {"id": told, "type": "function", "function": function}
        if part.thought_signature:
            whole["extra_content"] = {"google": {"thought_signature": part.thought_signature}}
        made.append(whole)
    return tuple(made)


def _written(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError as error:
        raise MalformedReplyError(f"the reply cannot be written as JSON: {error}") from None


def _usage(usage: _Usage | None) -> Usage:
    """Gemini counts thoughts beside the answer, and what its own tools read beside the prompt."""
    if usage is None:
        return Usage()
    thoughts = usage.thoughts_token_count or 0
    counts = (
        (usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0),
        (usage.candidates_token_count or 0) + thoughts,
        usage.cached_content_token_count or 0,
        0,
        thoughts,
    )
    if min(counts) < 0 or max(counts) > 2**53:
        raise MalformedReplyError("the usage is out of all bounds")
    return Usage(*counts)


# Streams --------------------------------------------------------------------------------------


class ContentStream:
    """Puts the pieces of a streamed answer together, showing the text as it comes.

    There is no mark at the end: a stream is whole when it has given a reason for its end. A
    server that was not asked for events sends a list of the same pieces; that is understood too.
    """

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._events = Events()
        self._list: list[bytes] | None = None
        self._begun = False
        self._whole = _Whole()
        self._error: Any = None
        self._garbled = False

    def feed(self, piece: bytes) -> None:
        if not self._begun and (start := piece.lstrip()):
            self._begun = True
            self._list = [] if start.startswith(b"[") else None
        if self._list is not None:
            self._list.append(piece)
            return
        for event in self._events.send(piece):
            try:
                chunk = orjson.loads(event.data)
            except orjson.JSONDecodeError:
                self._garbled = True
                continue
            self._take(chunk)

    def body(self) -> bytes:
        """The same body that the answer would have had without streaming."""
        if self._list is not None:
            self._take_list(b"".join(self._list))
        if self._error is not None:
            return _written({"error": self._error})
        if self._garbled:
            raise MalformedReplyError("a piece of the stream is not JSON")
        if not self._whole.ended:
            raise MalformedReplyError("the stream broke off before its end")
        return _written(self._whole.body())

    def _take_list(self, body: bytes) -> None:
        try:
            chunks = orjson.loads(body)
        except orjson.JSONDecodeError:
            self._garbled = True
            return
        for chunk in chunks:
            self._take(chunk)

    def _take(self, chunk: Any) -> None:
        if not isinstance(chunk, dict):
            return
        if chunk.get("error"):
            self._error = chunk["error"]
            return
        for part in self._whole.take(chunk):
            if isinstance(text := part.get("text"), str) and text and not part.get("thought"):
                self._on_text(text)


class _Whole:
    """The reply that its pieces make up."""

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._candidate: dict[str, Any] | None = None
        self._parts: list[tuple[dict[str, Any], list[str]]] = []

    @property
    def ended(self) -> bool:
        feedback = self._head.get("promptFeedback")
        if isinstance(feedback, dict) and feedback.get("blockReason"):
            return True
        return self._candidate is not None and bool(self._candidate.get("finishReason"))

    def take(self, chunk: dict[str, Any]) -> list[dict[str, Any]]:
        """Add a piece; the parts that are new in it come back."""
        self._head |= {key: value for key, value in chunk.items() if key != "candidates"}
        candidates = chunk.get("candidates")
        first = candidates[0] if isinstance(candidates, list) and candidates else None
        if not isinstance(first, dict) or first.get("index", 0) != 0:
            return []
        fresh = {key: value for key, value in first.items() if key != "content"}
        self._candidate = (self._candidate or {}) | fresh
        content = first.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        new = [part for part in parts or () if isinstance(part, dict)]
        for part in new:
            self._add(part)
        return new

    def body(self) -> dict[str, Any]:
        if self._candidate is None:
            return self._head
        parts = [{**part, "text": "".join(texts)} if texts else part for part, texts in self._parts]
        content = {"role": "model", "parts": parts}
        return {"candidates": [{"content": content, **self._candidate}], **self._head}

    def _add(self, part: dict[str, Any]) -> None:
        """Texts of one kind in a row are one; a signed part stands alone."""
        text = part.get("text")
        plain = isinstance(text, str) and part.keys() <= {"text", "thought"}
        if plain and self._parts:
            last, texts = self._parts[-1]
            if texts and last.get("thought") == part.get("thought"):
                texts.append(str(text))
                return
        self._parts.append((part, [str(text)] if plain else []))


# Answers in several replies -------------------------------------------------------------------


def continuation(body: bytes) -> str:
    """The token with which an answer that is too long for one reply goes on, or ""."""
    if _GOES_ON.encode() not in body:
        return ""
    try:
        candidate = orjson.loads(body)["candidates"][0]
        token = candidate["continuationToken"] if candidate["finishReason"] == _GOES_ON else ""
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return ""
    return token if isinstance(token, str) else ""


def continued(before: bytes, after: bytes) -> bytes:
    """The body of both replies together; each was a request of its own and is paid for."""
    one, other = orjson.loads(before), orjson.loads(after)
    whole = _Whole()
    whole.take(one)
    whole.take(other)
    made = whole.body()
    total: dict[str, int] = {}
    for usage in (one.get("usageMetadata"), other.get("usageMetadata")):
        for key, value in (usage or {}).items():
            if isinstance(value, int):
                total[key] = total.get(key, 0) + value
    made["usageMetadata"] = total
    return _written(made)
