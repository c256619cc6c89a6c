"""Reading what chat completions send back: whole bodies and streams."""

from __future__ import annotations

from typing import Any

import msgspec
import orjson

from penstock.outcome import Answer, Finish, Usage
from penstock.providers.provider import MalformedReplyError, OnText
from penstock.providers.sse import Events

__all__ = ["ChatStream", "read_answer"]


class _Details(msgspec.Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    completion_tokens_details: _Details | None = None


class _Message(msgspec.Struct):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[dict[str, Any]] | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    id: str | None = None
    model: str | None = None
    usage: _Usage | None = None


_decoder = msgspec.json.Decoder(_Completion)
_NO_DETAILS = _Details()

# Of OpenAI, and of those who speak its protocol with words of their own.
_FINISH = {
    "stop": Finish.STOP,
    "eos": Finish.STOP,
    "length": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    "tool_calls": Finish.TOOL,
    "function_call": Finish.TOOL,
    "content_filter": Finish.CONTENT_FILTER,
}


def read_answer(body: bytes) -> Answer:
    """The Answer in the body of a chat completion."""
    try:
        completion = _decoder.decode(body)
        choice = completion.choices[0]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedReplyError(str(error)) from None
    except IndexError:
        raise MalformedReplyError("the reply has no choices") from None
    message = choice.message
    finish = _FINISH.get(choice.finish_reason or "", Finish.ERROR)
    text = _text(message.content)
    if message.refusal and finish in (Finish.STOP, Finish.ERROR):
        finish, text = Finish.REFUSAL, text or message.refusal
    return Answer(
        text,
        finish,
        _usage(completion.usage),
        _calls(message.tool_calls),
        completion.model or "",
        completion.id or "",
    )


def _text(content: str | list[dict[str, Any]] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(str(part.get("text") or "") for part in content)


def _calls(calls: list[dict[str, Any]] | None) -> tuple[dict[str, Any], ...]:
    if calls:
        _written(calls)  # what is too deep to be written again is of no use to anyone
    return tuple(calls or ())


def _written(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError as error:
        raise MalformedReplyError(f"the reply cannot be written as JSON: {error}") from None


def _usage(usage: _Usage | None) -> Usage:
    if usage is None:
        return Usage()
    prompt = usage.prompt_tokens_details or _NO_DETAILS
    completion = usage.completion_tokens_details or _NO_DETAILS
    counts = (
        usage.prompt_tokens or 0,
        usage.completion_tokens or 0,
        prompt.cached_tokens or 0,
        prompt.cache_write_tokens or 0,
        completion.reasoning_tokens or 0,
    )
    if min(counts) < 0 or max(counts) > 2**53:
        raise MalformedReplyError("the usage is out of all bounds")
    return Usage(*counts)


class ChatStream:
    """Puts the pieces of a streamed completion together, showing the text as it comes."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._events = Events()
        self._head: dict[str, Any] = {}
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._finish: str | None = None
        self._usage: Any = None
        self._error: Any = None
        self._begun = False
        self._garbled = False
        self._done = False

    def feed(self, piece: bytes) -> None:
        for event in self._events.send(piece):
            if event.data == "[DONE]":
                self._done = True
                continue
            try:
                chunk = orjson.loads(event.data)
            except orjson.JSONDecodeError:
                self._garbled = True
                continue
            if isinstance(chunk, dict):
                self._take(chunk)

    def body(self) -> bytes:
        """The same body that the answer would have had without streaming."""
        if self._error is not None:
            return _written({"error": self._error})
        if self._garbled:
            raise MalformedReplyError("a piece of the stream is not JSON")
        if not self._done and self._finish is None:
            raise MalformedReplyError("the stream broke off before its end")
        if not self._begun:
            raise MalformedReplyError("the stream has no choices")
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._text)}
        if self._refusal:
            message["refusal"] = "".join(self._refusal)
        if self._calls:
            message["tool_calls"] = [self._calls[index] for index in sorted(self._calls)]
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        made = {**self._head, "object": "chat.completion", "choices": [choice]}
        if self._usage is not None:
            made["usage"] = self._usage
        return _written(made)

    def _take(self, chunk: dict[str, Any]) -> None:
        if chunk.get("error"):
            self._error = chunk["error"]
            return
        for name in ("id", "created", "model", "system_fingerprint", "service_tier"):
            if chunk.get(name) is not None:
                self._head.setdefault(name, chunk[name])
        if chunk.get("usage") is not None:
            self._usage = chunk["usage"]
        choices = chunk.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(first, dict) or first.get("index", 0) != 0:
            return
        self._begun = True
        self._finish = first.get("finish_reason") or self._finish
        delta = first.get("delta")
        if isinstance(delta, dict):
            self._take_delta(delta)

    def _take_delta(self, delta: dict[str, Any]) -> None:
        if isinstance(text := delta.get("content"), str) and text:
            self._text.append(text)
            self._on_text(text)
        if isinstance(refusal := delta.get("refusal"), str):
            self._refusal.append(refusal)
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                self._take_call(call)

    def _take_call(self, call: dict[str, Any]) -> None:
        index = call.get("index")
        if not isinstance(index, int):  # servers without numbers send a call whole, or go on
            index = max(self._calls, default=-1) + (1 if call.get("id") or not self._calls else 0)
        whole = self._calls.setdefault(
            index, {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
        )
        whole["id"] = call.get("id") or whole["id"]
        function = call.get("function")
        if not isinstance(function, dict):
            return
        for name in ("name", "arguments"):
            if isinstance(piece := function.get(name), str):
                whole["function"][name] += piece
