"""The turns of a Messages body: what they must be, and how they are read.

Bad turns are refused in the words of the real server, as far as they are known.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from penstock.simulator.api import Problem
from penstock.simulator.question import Turn

__all__ = ["Said", "read_system", "read_turns"]

_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_ONLY = {
    "user": {"text", "image", "document", "search_result", "tool_result", "container_upload"},
    "assistant": {"text", "thinking", "redacted_thinking", "tool_use", "document"},
}
_KEYS = {
    "text": {"text", "cache_control", "citations"},
    "image": {"source", "cache_control", "transformations"},
    "document": {"source", "cache_control", "citations", "context", "title"},
    "tool_use": {"id", "name", "input", "cache_control", "caller", "toolset_name"},
    "tool_result": {"tool_use_id", "content", "is_error", "cache_control", "toolset_name"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
}
_SOURCES: dict[str, dict[str, set[str]]] = {
    "image": {"base64": {"media_type", "data"}, "url": {"url"}, "file": {"file_id"}},
    "document": {
        "base64": {"media_type", "data"},
        "text": {"media_type", "data"},
        "content": {"content"},
        "url": {"url"},
        "file": {"file_id"},
    },
}


class Said(NamedTuple):
    """A conversation read: its turns, and how many images and files came with it."""

    turns: list[Turn]
    images: int
    files: int
    media: str


def read_system(system: Any) -> list[Turn]:
    """The system prompt, a text or text blocks."""
    if system is None:
        return []
    if isinstance(system, str):
        return [Turn("system", system)] if system else []
    if not isinstance(system, list):
        raise Problem.invalid("system: Input should be a valid list")
    return [Turn("system", _text(block, f"system.{at}")) for at, block in enumerate(system)]


def read_turns(messages: Any, latest: bool) -> Said:
    """The turns; `latest` says that the newest version's rules hold."""
    if not isinstance(messages, list):
        raise Problem.invalid("messages: Input should be a valid list")
    if not messages:
        raise Problem.invalid("messages: at least one message is required")
    reading = _Reading(latest)
    for at, message in enumerate(messages):
        reading.take(message, f"messages.{at}", last=at == len(messages) - 1)
    reading.end()
    return Said(reading.turns, reading.images, reading.files, reading.media)


class _Reading:
    """One pass over the messages, which remembers the calls that wait for their results."""

    def __init__(self, latest: bool) -> None:
        self.turns: list[Turn] = []
        self.images = self.files = 0
        self._latest = latest
        self._digest = hashlib.blake2b(digest_size=16)
        self._calls: list[str] = []
        self._unanswered: set[str] = set()

    @property
    def media(self) -> str:
        return self._digest.hexdigest() if self.images or self.files else ""

    def take(self, message: Any, where: str, *, last: bool) -> None:
        if not isinstance(message, dict):
            raise Problem.invalid(f"{where}: Input should be a valid dictionary")
        for name in ("role", "content"):
            if name not in message:
                raise Problem.invalid(f"{where}.{name}: Field required")
        _no_more(message, {"role", "content"}, where)
        role, content = message["role"], message["content"]
        if role not in ("user", "assistant", "system"):
            known = 'Allowed roles are "user" or "assistant"'
            raise Problem.invalid(f'messages: Unexpected role "{role}". {known}')
        if not self.turns and role == "assistant":
            raise Problem.invalid('messages: first message must use the "user" role')
        if not content and not (last and role == "assistant"):
            rule = "all messages must have non-empty content except for the optional final"
            raise Problem.invalid(f"{where}: {rule} assistant message")
        if role != "user":
            self.end()
        self.turns += self._content(role, content, where)

    def end(self) -> None:
        """Whoever called a tool must have been told what came of it."""
        if self._unanswered:
            raise Problem.invalid(
                "messages: `tool_use` ids were found without `tool_result` blocks immediately "
                f"after: {', '.join(sorted(self._unanswered))}"
            )

    def _content(self, role: str, content: Any, where: str) -> list[Turn]:
        if isinstance(content, str):
            return [Turn(role, content)]
        if not isinstance(content, list):
            raise Problem.invalid(f"{where}.content: Input should be a valid list")
        if role == "assistant":
            self._calls = []
        texts: list[str] = []
        results: list[Turn] = []
        for at, block in enumerate(content):
            said = self._block(role, block, f"{where}.content.{at}")
            if isinstance(block, dict) and block.get("type") == "tool_result":
                results.append(Turn("tool", said))
            elif said:
                texts.append(said)
        return [*results, *([Turn(role, "\n".join(texts))] if texts or not results else [])]

    def _block(self, role: str, block: Any, where: str) -> str:
        """The text of a block."""
        kind = block.get("type") if isinstance(block, dict) else None
        known = _ONLY.get(role, {"text"})
        if kind not in known:
            names = ", ".join(f"'{name}'" for name in sorted(known))
            raise Problem.invalid(
                f"{where}: Input tag '{kind}' found using 'type' does not match any of the "
                f"expected tags: {names}"
            )
        _no_more(block, _KEYS.get(kind, set(block)) | {"type"}, where)
        if self._latest and role == "assistant" and kind == "document":
            raise Problem.invalid(f"{where}: `document` blocks are not allowed in assistant turns")
        if kind == "text":
            if self._latest and role == "user" and block.get("citations"):
                raise Problem.invalid(f"{where}.citations: not allowed in user turns")
            return _text(block, where)
        if kind == "tool_use":
            return self._call(block, where)
        if kind == "tool_result":
            return self._result(block, where)
        if kind in ("image", "document"):
            self._medium(kind, block, where)
        return ""

    def _call(self, block: Mapping[str, Any], where: str) -> str:
        for name, wanted in (("id", str), ("name", str), ("input", dict)):
            if not isinstance(block.get(name), wanted):
                kind = "dictionary" if wanted is dict else "string"
                raise Problem.invalid(f"{where}.{name}: Input should be a valid {kind}")
        if not _ID.fullmatch(block["id"]):
            raise Problem.invalid(f"{where}.id: String should match pattern '^{_ID.pattern}$'")
        self._calls.append(block["id"])
        self._unanswered.add(block["id"])
        said = {name: block[name] for name in ("id", "name", "input")}
        return orjson.dumps(said, option=orjson.OPT_SORT_KEYS).decode()

    def _result(self, block: Mapping[str, Any], where: str) -> str:
        call = block.get("tool_use_id")
        if call not in self._calls:
            raise Problem.invalid(
                f"{where}: unexpected `tool_use_id` found in `tool_result` blocks: {call}. Each "
                "`tool_result` block must have a corresponding `tool_use` block in the previous "
                "message."
            )
        self._unanswered.discard(str(call))
        content = block.get("content", "")
        if isinstance(content, str):
            return content
        if not isinstance(content, list):
            raise Problem.invalid(f"{where}.content: Input should be a valid list")
        inside = (self._block("user", b, f"{where}.content.{at}") for at, b in enumerate(content))
        return "\n".join(filter(None, inside))

    def _medium(self, kind: str, block: Mapping[str, Any], where: str) -> None:
        source = block.get("source")
        if not isinstance(source, dict):
            raise Problem.invalid(f"{where}.source: Field required")
        wanted = _SOURCES[kind].get(str(source.get("type")))
        if wanted is None:
            raise Problem.invalid(f"{where}.source: unknown type {source.get('type')!r}")
        for name in sorted(wanted):
            if name not in source:
                raise Problem.invalid(f"{where}.source.{name}: Field required")
        _no_more(source, wanted | {"type"}, f"{where}.source")
        _check_type(kind, source, f"{where}.source.media_type")
        self.images += kind == "image"
        self.files += kind == "document"
        self._digest.update(orjson.dumps(source, option=orjson.OPT_SORT_KEYS))


def _check_type(kind: str, source: Mapping[str, Any], where: str) -> None:
    if "media_type" not in source:
        return
    allowed: tuple[str, ...] = _IMAGES
    if kind == "document":
        allowed = ("text/plain",) if source["type"] == "text" else ("application/pdf",)
    if source["media_type"] not in allowed:
        names = " or ".join(f"'{name}'" for name in allowed)
        raise Problem.invalid(f"{where}: Input should be {names}")


def _text(block: Any, where: str) -> str:
    text = block.get("text") if isinstance(block, dict) else None
    if not isinstance(text, str) or block.get("type") != "text":
        raise Problem.invalid(f"{where}.text: Input should be a valid string")
    if not text:
        raise Problem.invalid(f"{where}: text content blocks must be non-empty")
    return text


def _no_more(given: Mapping[str, Any], allowed: set[str], where: str) -> None:
    for name in given:
        if name not in allowed:
            raise Problem.invalid(f"{where}.{name}: Extra inputs are not permitted")
