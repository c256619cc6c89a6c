"""Messages as Gemini takes them: a system instruction apart, then turns made of parts.

System and developer messages are lifted out of the conversation wherever they stand. The speakers
are `user` and `model`. Results of tools are parts of one user turn, because Gemini counts them
against the calls; each names its function, which is looked up by the call that it answers. What
Gemini has no part for is a RequestError, and nothing is sent; a model's turn that says nothing is
left out, because the API takes no empty one.

Gemini signs its thoughts and wants the signature back with the call it belongs to. It travels in
the call as Google's own OpenAI-like door has it: `extra_content.google.thought_signature`.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import orjson

from penstock.errors import RequestError
from penstock.messages import Message

__all__ = ["Turns", "wire_turns"]

Part = dict[str, Any]

_SYSTEM = ("system", "developer")
_DETAILS = {"low": "MEDIA_RESOLUTION_LOW", "high": "MEDIA_RESOLUTION_HIGH"}
# What each kind of image begins with, as base64 writes it.
_IMAGES = {"iVBOR": "image/png", "/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}


class Turns(NamedTuple):
    """What was said: the system instruction, and the contents."""

    system: dict[str, Any] | None
    contents: list[dict[str, Any]]


def wire_turns(messages: Sequence[Message]) -> Turns:
    """The messages of a Request in Gemini's form."""
    system: list[Part] = []
    contents: list[dict[str, Any]] = []
    results: list[Part] = []
    called: dict[str, str] = {}
    for number, message in enumerate(messages, 1):
        try:
            if message["role"] in _SYSTEM:
                system += _said(message)
            elif message["role"] == "tool":
                if not results:
                    contents.append({"role": "user", "parts": results})
                results.append(_result(message, called))
            elif parts := _turn(message, called):
                role = "user" if message["role"] == "user" else "model"
                contents.append({"role": role, "parts": parts})
                results = []
        except RequestError as error:
            raise RequestError(f"message {number}: {error.message}", remedy=error.remedy) from None
    if not contents:
        raise RequestError("Gemini wants at least one message beside the system prompt")
    return Turns({"role": "user", "parts": system} if system else None, contents)


def _turn(message: Message, called: dict[str, str]) -> list[Part]:
    if message["role"] == "user":
        return _said(message) or [{"text": ""}]
    parts = _said(message)
    if not parts and message.get("refusal"):
        parts = [{"text": message["refusal"]}]
    return parts + [_call(call, called) for call in message.get("tool_calls") or ()]


def _said(message: Message) -> list[Part]:
    if message.get("name"):
        raise RequestError("Gemini knows no names of speakers")
    content = message["content"]
    if isinstance(content, str):
        return [{"text": content}] if content else []
    return _parts(content or ())


# Tools ----------------------------------------------------------------------------------------


def _call(call: Mapping[str, Any], called: dict[str, str]) -> Part:
    try:
        name, args = call["function"]["name"], _arguments(call["function"])
        called[call["id"]] = name
        made: Part = {"functionCall": {"id": call["id"], "name": name, "args": args}}
        google = (call.get("extra_content") or {}).get("google") or {}
        if signature := google.get("thought_signature"):
            made["thoughtSignature"] = signature
    except (KeyError, TypeError, AttributeError):
        raise RequestError("a tool call has an id and a function with a name") from None
    return made


def _arguments(function: Mapping[str, Any]) -> Mapping[str, Any]:
    given = function.get("arguments") or {}
    try:
        found = orjson.loads(given) if isinstance(given, str) else given
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, Mapping):
        raise RequestError(f"the arguments of {function['name']!r} are no JSON object")
    return found


def _result(message: Message, called: Mapping[str, str]) -> Part:
    call = message.get("tool_call_id")
    name = called.get(call or "") or message.get("name")
    if not name:
        raise RequestError(
            f"no earlier message calls the tool that {call!r} answers",
            remedy="Gemini wants the function's name: keep the call, or give name=...",
        )
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    text = "\n".join(part["text"] for part in parts if part["type"] == "text")
    made: dict[str, Any] = {"name": name, "response": _response(text)}
    if call:
        made["id"] = call
    if shown := _parts(part for part in parts if part["type"] != "text"):
        made["parts"] = shown
    return {"functionResponse": made}


def _response(text: str) -> Any:
    """A result is an object; what is none stands under the name that Gemini has for it."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        found = None
    return found if isinstance(found, dict) else {"output": text}


# Parts ----------------------------------------------------------------------------------------


def _parts(parts: Iterable[Mapping[str, Any]]) -> list[Part]:
    return [_part(part) for part in parts]


def _part(part: Mapping[str, Any]) -> Part:
    kind = part["type"]
    if kind == "text":
        return {"text": part["text"]}
    if kind == "audio":
        return {"inlineData": {"mimeType": f"audio/{part['format']}", "data": part["data"]}}
    made = _image(part) if kind == "image" else _file(part)
    if detail := _DETAILS.get(part.get("detail", "auto")):
        made["mediaResolution"] = {"level": detail}
    return made


def _image(part: Mapping[str, Any]) -> Part:
    if "url" in part:
        return _at(part["url"], "")
    return _inline(part, part.get("media_type") or _image_type(part["data"]))


def _image_type(data: str) -> str:
    for begins, media_type in _IMAGES.items():
        if data.startswith(begins):
            return media_type
    raise RequestError("an image has no media_type, and its content does not tell")


def _file(part: Mapping[str, Any]) -> Part:
    if "id" in part:
        return {"fileData": {"fileUri": part["id"]}}
    if "url" in part:
        return _at(part["url"], part.get("media_type") or "")
    guessed = mimetypes.guess_type(part.get("name") or "")[0]
    return _inline(part, part.get("media_type") or guessed or "application/octet-stream")


def _inline(part: Mapping[str, Any], media_type: str) -> Part:
    return {"inlineData": {"mimeType": media_type, "data": part["data"]}}


def _at(url: str, media_type: str) -> Part:
    """Something at an address; its type is told where the address tells it."""
    media_type = media_type or mimetypes.guess_type(urlsplit(url).path)[0] or ""
    made = {"fileUri": url}
    if media_type:
        made["mimeType"] = media_type
    return {"fileData": made}
