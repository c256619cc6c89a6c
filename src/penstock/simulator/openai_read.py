"""What a chat completions body must be, and how its messages and tools are read.

Bad bodies are refused in the words of the real server, as far as they are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import orjson

from penstock.simulator.api import Problem
from penstock.simulator.question import Tool

__all__ = ["check_body", "read_media", "read_text", "read_tools"]

MAX_CHOICES = 128


class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...


class Media(NamedTuple):
    """How many images and files a message carries."""

    images: int
    files: int


def check_body(body: Mapping[str, Any], deployment: str = "") -> str:
    """The model's name, or a Problem that says what is wrong with the body."""
    model = body.get("model") or deployment
    if not isinstance(model, str) or not model:
        raise Problem.invalid("you must provide a model parameter")
    messages = body.get("messages")
    if messages is None:
        raise _missing("messages")
    if not isinstance(messages, list):
        raise _wrong_type("messages", "an array", messages)
    if not messages:
        message = "Invalid 'messages': empty array. Expected an array with minimum length 1."
        raise Problem.invalid(message, "messages", "empty_array")
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            raise _wrong_type(f"messages[{index}]", "an object", message)
        if "role" not in message:
            raise _missing(f"messages[{index}].role")
        if not isinstance(message.get("content"), str | list | None):
            raise _wrong_type(f"messages[{index}].content", "a string", message["content"])
    _check_options(body)
    return model


def _check_options(body: Mapping[str, Any]) -> None:
    for name in ("max_tokens", "max_completion_tokens", "n", "seed"):
        value = body.get(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
            raise _wrong_type(name, "an integer", value)
    for name, most in (("max_tokens", None), ("max_completion_tokens", None), ("n", MAX_CHOICES)):
        value = body.get(name)
        if value is not None and value < 1:
            message = f"Invalid '{name}': integer below minimum value. Expected a value >= 1."
            raise Problem.invalid(message, name, "integer_below_min_value")
        if value is not None and most is not None and value > most:
            message = f"Invalid '{name}': integer above maximum value. Expected a value <= {most}."
            raise Problem.invalid(message, name, "integer_above_max_value")
    stop = body.get("stop")
    if not isinstance(stop, str | list | None):
        raise _wrong_type("stop", "a string or an array", stop)
    if isinstance(stop, list) and not all(isinstance(each, str) for each in stop):
        raise Problem.invalid("Invalid 'stop': expected strings.", "stop", "invalid_type")
    if body.get("response_format") is not None:
        _check_format(body["response_format"])


def _check_format(wanted: Any) -> None:
    if not isinstance(wanted, dict) or wanted.get("type") not in _FORMATS:
        raise Problem.invalid("Invalid value: 'response_format.type'.", "response_format")
    if wanted["type"] == "json_schema":
        if not isinstance(wanted.get("json_schema"), dict):
            raise _missing("response_format.json_schema")
        if not isinstance(wanted["json_schema"].get("name"), str):
            raise _missing("response_format.json_schema.name")


_FORMATS = ("text", "json_object", "json_schema")
_JSON_NAMES = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}


def _missing(name: str) -> Problem:
    message = f"Missing required parameter: '{name}'."
    return Problem.invalid(message, name, "missing_required_parameter")


def _wrong_type(name: str, wanted: str, value: Any) -> Problem:
    got = _JSON_NAMES.get(type(value), "a number")
    message = f"Invalid type for '{name}': expected {wanted}, but got {got} instead."
    return Problem.invalid(message, name, "invalid_type")


def read_text(message: Mapping[str, Any]) -> str:
    """The text of a message whose content is parts, or which calls tools."""
    content = message.get("content")
    texts: list[str] = []
    if isinstance(content, str):
        texts.append(content)
    if isinstance(content, list):
        said = [part.get("text") for part in content if isinstance(part, dict)]
        texts += [text for text in said if isinstance(text, str)]
    calls = message.get("tool_calls")
    if calls:
        texts.append(orjson.dumps(calls, option=orjson.OPT_SORT_KEYS).decode())
    return "\n".join(texts)


def read_media(content: Any, digest: _Digest) -> Media:
    """Count images and files, and let their content flow into the digest."""
    images = files = 0
    for part in content if isinstance(content, list) else ():
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in ("text", "refusal", None):
            continue
        images += kind == "image_url"
        files += kind != "image_url"
        digest.update(orjson.dumps(part, option=orjson.OPT_SORT_KEYS))
    return Media(images, files)


def _tool(index: int, offered: Any) -> Tool:
    function = offered.get("function") if isinstance(offered, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise _missing(f"tools[{index}].function.name")
    about = function.get("description")
    return Tool(
        function["name"], about if isinstance(about, str) else "", function.get("parameters")
    )


def read_tools(body: Mapping[str, Any]) -> tuple[tuple[Tool, ...], str]:
    """The functions on offer, and which must be called."""
    offered = body.get("tools")
    if not offered:
        return (), "none"
    if not isinstance(offered, list):
        raise _wrong_type("tools", "an array", offered)
    tools = tuple(_tool(index, each) for index, each in enumerate(offered))
    choice = body.get("tool_choice") or "auto"
    if isinstance(choice, dict):
        choice = (choice.get("function") or {}).get("name", "required")
        if choice not in [tool.name for tool in tools]:
            message = f"Tool choice '{choice}' not found in 'tools' parameter."
            raise Problem.invalid(message, "tool_choice")
    return tools, choice
