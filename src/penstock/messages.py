"""Messages in one form, whatever form they were given in.

A message is `{"role": ..., "content": text or list of parts}`; a part is one of

    {"type": "text",  "text": ...}
    {"type": "image", "url": ...}            or "data" (base64) with "media_type"; "detail"
    {"type": "file",  "id": ...}             or "url", or "data" with "media_type" and "name"
    {"type": "audio", "data": ..., "format": "wav"}

OpenAI's spellings (`image_url`, `input_audio`, `file`) are understood too. Files are read here,
once, so that a Request's key is made of their content and not of a path. A path is only ever
taken from code (`image(Path(...))`), never from a dictionary: rows are data.
"""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from penstock.errors import RequestError

__all__ = ["LARGEST_FILE", "Message", "audio", "file", "image", "normalise", "text_of"]

Message = dict[str, Any]

LARGEST_FILE = 32 * 1024 * 1024
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
_KEPT = ("name", "tool_calls", "tool_call_id", "refusal")


def normalise(prompt: Any, system: str | None = None) -> list[Message]:
    """Messages from a text, `{"system": ..., "user": ...}`, one message, or a list of them."""
    if isinstance(prompt, str):
        messages = [{"role": "user", "content": prompt}]
    elif isinstance(prompt, Mapping):
        messages = _from_mapping(prompt)
    elif isinstance(prompt, Sequence) and not isinstance(prompt, bytes):
        messages = [_message(item, number) for number, item in enumerate(prompt, 1)]
    else:
        raise RequestError(
            f"a prompt is a text, a dictionary or a list of messages, not {_kind(prompt)}"
        )
    if not messages:
        raise RequestError("a prompt needs at least one message")
    if system:
        if not isinstance(system, str):
            raise RequestError(f"the system prompt is {_kind(system)}, not a text")
        messages.insert(0, {"role": "system", "content": system})
    return messages


def text_of(messages: Sequence[Message]) -> str:
    """All text of the messages, for counting and for showing."""
    return "\n".join(_content_text(message.get("content")) for message in messages)


def image(source: str | Path | bytes, *, media_type: str = "", detail: str = "") -> dict[str, Any]:
    """An image part from an address, a file or its bytes."""
    if isinstance(source, str):
        return _image_from_url(source, detail)
    data, media_type, _ = _read(source, media_type or _image_type(source))
    part = {"type": "image", "data": data, "media_type": media_type}
    return part | ({"detail": detail} if detail else {})


def file(source: Path | bytes, *, media_type: str = "", name: str = "") -> dict[str, Any]:
    """A document part from a file or its bytes."""
    data, media_type, found = _read(source, media_type)
    return {"type": "file", "data": data, "media_type": media_type, "name": name or found}


def audio(source: Path | bytes, *, format: str = "") -> dict[str, Any]:  # noqa: A002
    """An audio part from a file or its bytes."""
    data, _, name = _read(source, "audio/" + (format or "wav"))
    return {"type": "audio", "data": data, "format": format or Path(name).suffix[1:] or "wav"}


def _from_mapping(prompt: Mapping[str, Any]) -> list[Message]:
    if "role" in prompt:
        return [_message(prompt, 1)]
    unknown = set(prompt) - {"system", "user"}
    if unknown or "user" not in prompt:
        raise RequestError(
            "a prompt dictionary has the keys 'system' and 'user', not "
            + ", ".join(repr(key) for key in prompt)
        )
    messages = [_message({"role": "user", "content": prompt["user"]}, 1)]
    if prompt.get("system"):
        messages.insert(0, _message({"role": "system", "content": prompt["system"]}, 1))
    return messages


def _message(item: Any, number: int) -> Message:
    if not isinstance(item, Mapping):
        raise RequestError(f"message {number} is {_kind(item)}, not a dictionary")
    role = item.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise RequestError(
            f"message {number} has the role {role!r}; allowed are {', '.join(sorted(_ROLES))}"
        )
    content = item.get("content")
    if isinstance(content, str) or (content is None and item.get("tool_calls")):
        made: Message = {"role": role, "content": content}
    elif isinstance(content, Sequence) and not isinstance(content, bytes):
        made = {"role": role, "content": [_part(part, number) for part in content]}
    else:
        raise RequestError(f"the content of message {number} is {_kind(content)}")
    for key in _KEPT:
        if item.get(key) is not None:
            made[key] = item[key]
    unknown = set(item) - {"role", "content", *_KEPT}
    if unknown:
        named = ", ".join(sorted(map(str, unknown)))
        raise RequestError(f"message {number} has unknown keys: {named}")
    return made


def _part(part: Any, number: int) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    kind = part.get("type") if isinstance(part, Mapping) else None
    translate = _PARTS.get(str(kind))
    if translate is None:
        raise RequestError(
            f"message {number} has a part of type {kind!r}; allowed are {', '.join(_PARTS)}"
        )
    try:
        return translate(part)
    except RequestError as error:
        raise RequestError(f"message {number}: {error.message}", remedy=error.remedy) from None
    except (KeyError, TypeError, AttributeError) as error:
        raise RequestError(f"message {number} has a broken {kind} part: {error!r}") from None


def _text_part(part: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "text", "text": _text(part["text"], "text")}


def _image_part(part: Mapping[str, Any]) -> dict[str, Any]:
    if "data" in part:
        _text(part["data"], "data")
        return {"type": "image", **_only(part, "data", "media_type", "detail")}
    return _image_from_url(part["url"], part.get("detail", ""))


def _image_url_part(part: Mapping[str, Any]) -> dict[str, Any]:
    given = part["image_url"]
    if isinstance(given, str):
        return _image_from_url(given, "")
    return _image_from_url(given["url"], given.get("detail", ""))


def _image_from_url(url: str, detail: str) -> dict[str, Any]:
    more = {"detail": detail} if detail else {}
    if url.startswith("data:"):
        media_type, data = _data_url(url)
        return {"type": "image", "data": data, "media_type": media_type, **more}
    if not url.startswith(("http://", "https://")):
        raise RequestError(
            f"an image address starts with http://, https:// or data:, not {url[:40]!r}",
            remedy="For a file on this machine write penstock.image(Path(...)).",
        )
    return {"type": "image", "url": url, **more}


def _file_part(part: Mapping[str, Any]) -> dict[str, Any]:
    given = part.get("file", part)
    if "file_id" in given or "id" in given:
        return {"type": "file", "id": given.get("file_id") or given["id"]}
    if "file_data" in given:
        media_type, data = _data_url(given["file_data"])
        name = given.get("filename", "")
        return {"type": "file", "data": data, "media_type": media_type, "name": name}
    if "url" in given:
        if not given["url"].startswith(("http://", "https://")):
            raise RequestError("a file address starts with http:// or https://")
        return {"type": "file", **_only(given, "url", "media_type")}
    _text(given["data"], "data")
    name = given.get("name", "")
    return {"type": "file", "name": name, **_only(given, "data", "media_type")}


def _audio_part(part: Mapping[str, Any]) -> dict[str, Any]:
    given = part.get("input_audio", part)
    data, format_ = _text(given["data"], "data"), _text(given["format"], "format")
    return {"type": "audio", "data": data, "format": format_}


_PARTS = {
    "text": _text_part,
    "image": _image_part,
    "image_url": _image_url_part,
    "file": _file_part,
    "audio": _audio_part,
    "input_audio": _audio_part,
}


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} is {_kind(value)}, not a text")
    return value


def _only(part: Mapping[str, Any], first: str, *more: str) -> dict[str, Any]:
    return {first: part[first]} | {key: part[key] for key in more if part.get(key)}


def _data_url(url: str) -> tuple[str, str]:
    head, comma, data = url.partition(",")
    if not url.startswith("data:") or not comma or not head.endswith(";base64"):
        raise RequestError("a data address has the form data:TYPE;base64,DATA")
    return head[5:-7], data


def _read(source: Path | bytes, media_type: str) -> tuple[str, str, str]:
    if isinstance(source, bytes):
        name, content = "", source
    elif isinstance(source, Path):
        name, content = source.name, _content(source)
    else:
        raise RequestError(f"a file is given as a Path or as bytes, not as {_kind(source)}")
    if len(content) > LARGEST_FILE:
        raise RequestError(f"{name or 'a file'} is larger than {LARGEST_FILE >> 20} MiB")
    media_type = media_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return base64.b64encode(content).decode(), media_type, name


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RequestError(f"{path} cannot be read: {reason}") from None


def _image_type(source: Path | bytes) -> str:
    if isinstance(source, Path):
        return mimetypes.guess_type(source.name)[0] or "image/png"
    for start, kind in (
        (b"\x89PNG", "image/png"),
        (b"\xff\xd8", "image/jpeg"),
        (b"GIF8", "image/gif"),
        (b"RIFF", "image/webp"),
    ):
        if source.startswith(start):
            return kind
    return "image/png"


def _content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or ())


def _kind(value: Any) -> str:
    return "nothing (None)" if value is None else f"a {type(value).__name__}"
