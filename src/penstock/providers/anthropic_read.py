"""Reading what the Messages API sends back: whole messages and streams.

Thinking is not part of the text; it stays in the recorded body. A tool's input is kept as the
model wrote it, byte by byte, because arguments are a text in an Answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import orjson

from penstock.outcome import Answer, Finish, Usage
from penstock.providers.provider import MalformedReplyError, OnText
from penstock.providers.sse import Events

__all__ = ["MessageStream", "read_message"]


class _Block(msgspec.Struct):
    type: str
    text: Any = None
    id: Any = None
    name: Any = None
    input: msgspec.Raw = msgspec.Raw(b"{}")


class _OutputDetails(msgspec.Struct):
    thinking_tokens: int | None = None


class _Usage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens_details: _OutputDetails | None = None


class _StopDetails(msgspec.Struct):
    explanation: str | None = None


class _Message(msgspec.Struct):
    content: list[_Block]
    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    stop_details: _StopDetails | None = None
    usage: _Usage | None = None


_decoder = msgspec.json.Decoder(_Message)
_strings = msgspec.json.Decoder(str)

_FINISH = {
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "tool_use": Finish.TOOL,
    "refusal": Finish.REFUSAL,
}


def read_message(body: bytes) -> Answer:
    """The Answer in the body of a message."""
    try:
        message = _decoder.decode(body)
        text = "".join(_texts(message.content))
        calls = tuple(_call(block) for block in message.content if block.type == "tool_use")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedReplyError(str(error)) from None
    finish = _FINISH.get(message.stop_reason or "", Finish.ERROR)
    if finish is Finish.REFUSAL and not text and message.stop_details is not None:
        text = message.stop_details.explanation or ""
    return Answer(text, finish, _usage(message.usage), calls, message.model or "", message.id or "")


def _texts(blocks: list[_Block]) -> Iterator[str]:
    for block in blocks:
        if block.type == "text":
            if not isinstance(block.text, str):
                raise MalformedReplyError("a block of text holds none")
            yield block.text


def _call(block: _Block) -> dict[str, Any]:
    if not isinstance(block.id, str) or not isinstance(block.name, str):
        raise MalformedReplyError("a tool call has no id or no name")
    raw = bytes(block.input)
    # A call that was cut off while it came is kept as a text by the stream below.
    arguments = _strings.decode(raw) if raw.startswith(b'"') else raw.decode()
    return {
        "id": block.id,
        "type": "function",
        "function": {"name": block.name, "arguments": arguments},
    }


def _usage(usage: _Usage | None) -> Usage:
    """What was read from the cache and written to it is counted apart there, and is input here."""
    if usage is None:
        return Usage()
    details = usage.output_tokens_details
    read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    plain, output = usage.input_tokens or 0, usage.output_tokens or 0
    thought = 0 if details is None else details.thinking_tokens or 0
    counts = (plain, output, read, written, thought)
    if min(counts) < 0 or max(counts) > 2**53:
        raise MalformedReplyError("the usage is out of all bounds")
    return Usage(plain + read + written, output, read, written, thought)


class MessageStream:
    """Puts the events of a stream together into the message, showing the text as it comes.

    Events and deltas of kinds unknown here are passed over, as the API's own rules ask.
    """

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._events = Events()
        self._message: dict[str, Any] | None = None
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[tuple[int, str], list[str]] = {}
        self._error: dict[str, Any] | None = None
        self._garbled = False
        self._done = False

    def feed(self, piece: bytes) -> None:
        for event in self._events.send(piece):
            try:
                found = orjson.loads(event.data)
            except orjson.JSONDecodeError:
                self._garbled = True
                continue
            if isinstance(found, dict):
                self._take(found, event.name)

    def body(self) -> bytes:
        """The same body that the answer would have had without streaming."""
        if self._error is not None:
            return _written(self._error)
        if self._garbled:
            raise MalformedReplyError("a piece of the stream is not JSON")
        if self._message is None:
            raise MalformedReplyError("the stream has no message")
        if not self._done:
            raise MalformedReplyError("the stream broke off before its end")
        content = [self._whole(index) for index in sorted(self._blocks)]
        return _written({**self._message, "content": content})

    def _take(self, event: dict[str, Any], name: str) -> None:
        kind = event.get("type") or name
        if kind == "error" or name == "error":
            self._error = event
        elif kind == "message_start" and isinstance(event.get("message"), dict):
            self._message = event["message"]
        elif kind == "message_delta" and self._message is not None:
            self._end(event, self._message)
        elif kind == "message_stop":
            self._done = True
        elif isinstance(index := event.get("index"), int):
            self._take_block(kind, index, event)

    def _end(self, event: dict[str, Any], message: dict[str, Any]) -> None:
        delta, usage = event.get("delta"), event.get("usage")
        if isinstance(delta, dict):
            message.update(delta)
            self._done = self._done or delta.get("stop_reason") is not None
        if isinstance(usage, dict):  # counts are of the whole; those left out stand as they were
            before = message.get("usage")
            known = {name: count for name, count in usage.items() if count is not None}
            message["usage"] = {**(before if isinstance(before, dict) else {}), **known}

    def _take_block(self, kind: Any, index: int, event: dict[str, Any]) -> None:
        block, delta = event.get("content_block"), event.get("delta")
        if kind == "content_block_start" and isinstance(block, dict):
            self._blocks[index] = block
            if block.get("type") == "text" and isinstance(text := block.get("text"), str) and text:
                self._on_text(text)
        elif kind == "content_block_delta" and isinstance(delta, dict):
            self._take_delta(index, delta)

    def _take_delta(self, index: int, delta: dict[str, Any]) -> None:
        if index not in self._blocks:
            self._garbled = True
            return
        for name in ("text", "thinking", "partial_json"):
            if isinstance(piece := delta.get(name), str):
                self._pieces.setdefault((index, name), []).append(piece)
                if name == "text" and piece:
                    self._on_text(piece)
        block = self._blocks[index]
        if isinstance(signature := delta.get("signature"), str):
            block["signature"] = signature
        if "citation" in delta:
            before = block.get("citations")
            block["citations"] = [*(before if isinstance(before, list) else ()), delta["citation"]]

    def _whole(self, index: int) -> dict[str, Any]:
        block = dict(self._blocks[index])
        for name in ("text", "thinking"):
            pieces = self._pieces.get((index, name))
            if pieces:
                begun = block.get(name)
                block[name] = (begun if isinstance(begun, str) else "") + "".join(pieces)
        if told := "".join(self._pieces.get((index, "partial_json"), ())):
            block["input"] = _input(told)
        return block


def _input(told: str) -> Any:
    """A tool's input as it came; a text where max_tokens cut it off."""
    try:
        whole = isinstance(orjson.loads(told), dict)
    except orjson.JSONDecodeError:
        whole = False
    return orjson.Fragment(told) if whole else told


def _written(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError as error:
        raise MalformedReplyError(f"the reply cannot be written as JSON: {error}") from None
