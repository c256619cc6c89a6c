"""Messages as Anthropic takes them: a system prompt apart, then turns made of blocks.

System and developer messages are lifted out of the conversation wherever they stand. Results of
tools become blocks of one user turn, calls blocks of an assistant's. Turns of one role in a row are
sent as they are; the API joins them. What Anthropic has no block for is a RequestError, and nothing
is sent; an assistant's turn that says nothing is left out, because the API takes no empty one.
"""

from __future__ import annotations

import base64
import binascii
import mimetypes
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import orjson

from penstock.errors import RequestError
from penstock.messages import Message

__all__ = ["Conversation", "conversation"]

Block = dict[str, Any]

_SYSTEM = ("system", "developer")
# What each kind of image begins with, as base64 writes it.
_IMAGES = {"iVBOR": "image/png", "/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}
_TEXTS = ("application/json", "application/xml", "application/yaml", "application/x-yaml")


class Conversation(NamedTuple):
    """What was said: a text or text blocks for the system, and the turns."""

    system: str | list[Block] | None
    turns: list[Message]


def conversation(messages: Sequence[Message]) -> Conversation:
    """The messages of a Request in Anthropic's form."""
    system: list[str | list[Block]] = []
    turns: list[Message] = []
    results: list[Block] = []
    for number, message in enumerate(messages, 1):
        try:
            if message["role"] in _SYSTEM:
                system += _system(message)
            elif message["role"] == "tool":
                if not results:
                    turns.append({"role": "user", "content": results})
                results.append(_result(message))
            else:
                turns += _turn(message)
                results = []
        except RequestError as error:
            raise RequestError(f"message {number}: {error.message}") from None
    if not turns:
        raise RequestError("Anthropic wants at least one message beside the system prompt")
    return Conversation(_joined(system), turns)


def _joined(system: list[str | list[Block]]) -> str | list[Block] | None:
    if len(system) == 1:
        return system[0]
    blocks: list[Block] = []
    for each in system:
        blocks += [{"type": "text", "text": each}] if isinstance(each, str) else each
    return blocks or None


def _system(message: Message) -> list[str | list[Block]]:
    content = _named(message)["content"]
    if isinstance(content, str):
        return [content] if content else []
    if any(part["type"] != "text" for part in content):
        raise RequestError("Anthropic takes only text in a system prompt")
    return [_blocks(content)]


def _turn(message: Message) -> list[Message]:
    """The turn, or none where the assistant said nothing."""
    role, content = message["role"], _named(message)["content"]
    if role == "assistant":
        content = content or message.get("refusal")
        if calls := message.get("tool_calls"):
            said = [{"type": "text", "text": content}] if isinstance(content, str) else content
            return [{"role": role, "content": [*_blocks(said or ()), *map(_use, calls)]}]
        if not content:
            return []
    if isinstance(content, list):
        content = _blocks(content)
    return [{"role": role, "content": content}]


def _named(message: Message) -> Message:
    if message.get("name"):
        raise RequestError("Anthropic knows no names of speakers")
    return message


# Tools ----------------------------------------------------------------------------------------


def _result(message: Message) -> Block:
    if not message.get("tool_call_id"):
        raise RequestError("the result of a tool does not say which call it answers (tool_call_id)")
    made: Block = {"type": "tool_result", "tool_use_id": message["tool_call_id"]}
    content = message["content"]
    if content:
        made["content"] = content if isinstance(content, str) else _blocks(content)
    return made


def _use(call: Mapping[str, Any]) -> Block:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or "id" not in call or "name" not in function:
        raise RequestError("a tool call has an id and a function with a name")
    name = function["name"]
    return {"type": "tool_use", "id": call["id"], "name": name, "input": _arguments(function)}


def _arguments(function: Mapping[str, Any]) -> Mapping[str, Any]:
    given = function.get("arguments") or {}
    with suppress(orjson.JSONDecodeError):
        given = orjson.loads(given) if isinstance(given, str) else given
    if not isinstance(given, Mapping):
        raise RequestError(f"the arguments of {function['name']!r} are no JSON object")
    return given


# Parts ----------------------------------------------------------------------------------------


def _blocks(parts: Iterable[Mapping[str, Any]]) -> list[Block]:
    return [_block(part) for part in parts]


def _block(part: Mapping[str, Any]) -> Block:
    kind = part["type"]
    if kind == "text":
        return dict(part)
    if kind == "image":
        if part.get("detail", "auto") != "auto":
            raise RequestError(f"Anthropic takes no detail of an image ({part['detail']!r})")
        return _image(part)
    if kind == "file":
        return _document(part)
    raise RequestError(f"Anthropic takes no {kind}")


def _image(part: Mapping[str, Any]) -> Block:
    if "url" in part:
        return {"type": "image", "source": {"type": "url", "url": part["url"]}}
    data = part["data"]
    media_type = part.get("media_type") or _image_type(data)
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": media_type, "data": data},
    }


def _image_type(data: str) -> str:
    for begins, media_type in _IMAGES.items():
        if data.startswith(begins):
            return media_type
    raise RequestError("an image has no media_type, and its content does not tell")


def _document(part: Mapping[str, Any]) -> Block:
    name = part.get("name") or ""
    if "id" in part:
        return {"type": "document", "source": {"type": "file", "file_id": part["id"]}}
    if "url" in part:
        return {"type": "document", "source": {"type": "url", "url": part["url"]}}
    media_type = part.get("media_type") or mimetypes.guess_type(name)[0] or "of no known type"
    if media_type.startswith("image/"):
        return _image(part)
    made: Block = {"type": "document", "source": _source(media_type, part["data"])}
    if name:
        made["title"] = name
    return made


def _source(media_type: str, data: str) -> Block:
    if media_type == "application/pdf":
        return {"type": "base64", "media_type": media_type, "data": data}
    if not media_type.startswith("text/") and media_type not in _TEXTS:
        raise RequestError(f"Anthropic takes PDF and text as documents; this one is {media_type}")
    try:
        text = base64.b64decode(data).decode()
    except (binascii.Error, ValueError):
        raise RequestError(f"a document is said to be {media_type}, but is no text") from None
    return {"type": "text", "media_type": "text/plain", "data": text}
