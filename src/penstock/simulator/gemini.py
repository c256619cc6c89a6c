"""Gemini's generateContent: from its wire to a Question, from Replies to its wire.

The shapes were checked against the types of the official SDK; nothing is sent that those types do
not know. Gemini has no refusals: a model that refuses is a prompt that the filter blocks, or, where
the filters are turned off, an answer that the last of them stops.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from penstock.simulator.api import Asked, Problem, RateHeaders
from penstock.simulator.gemini_problems import refused
from penstock.simulator.gemini_read import check_body, filters_off, read_question
from penstock.simulator.gemini_shape import COUNT, REQUEST, shaped
from penstock.simulator.question import Reply
from penstock.simulator.scripts import SCRIPTS

__all__ = ["Gemini"]

_PATH = re.compile(
    r"/(?:models|tunedModels)/([^/?]+):(generateContent|streamGenerateContent|countTokens)(?:\?|$)"
)
_PIECE = re.compile(r"\s*\S+\s*$|\s*\S+")
_FINISH = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS"}
_THOUGHT = "**Considering the question**\n\nI weigh what was asked, and plan a short answer.\n\n"
_METHODS = ["generateContent", "countTokens"]


class _Note(NamedTuple):
    """What reading finds out for rendering."""

    counts: bool = False
    lists: bool = False
    thoughts: bool = False
    unfiltered: bool = False


class Gemini:
    """The adapter for every path of the form models/NAME:generateContent."""

    name = "gemini"

    def matches(self, path: str) -> bool:
        """Whether this API answers a path."""
        return _PATH.search(path) is not None

    def read(
        self,
        body: Mapping[str, Any],
        path: str = "",
        sample: int = 0,
        headers: Mapping[bytes, bytes] | None = None,
    ) -> Asked:
        """Understand a request body, or raise a Problem as the real server would."""
        found = _PATH.search(path)
        model, action = (found[1], found[2]) if found else ("", "generateContent")
        if action == "countTokens":
            return _counting(body, model, sample)
        right = shaped(body, REQUEST)
        check_body(right)
        config = right.get("generationConfig") or {}
        draws = range(config.get("candidateCount", 1))
        questions = [read_question(right, model, sample, draw) for draw in draws]
        streams = action == "streamGenerateContent"
        events = streams and "alt=sse" in path.partition("?")[2].split("&")
        thoughts = bool((config.get("thinkingConfig") or {}).get("includeThoughts"))
        note = _Note(False, streams and not events, thoughts, filters_off(right))
        return Asked(model, questions, events, note=note)

    def render(self, asked: Asked, replies: Sequence[Reply], number: int) -> bytes:
        """The body of a whole answer."""
        note: _Note = asked.note
        if note.counts:
            return orjson.dumps({"totalTokens": replies[0].prompt_tokens})
        if note.lists:
            return orjson.dumps(_chunks(asked, replies, number))
        return orjson.dumps(_whole(asked, replies, number))

    def events(self, asked: Asked, replies: Sequence[Reply], number: int) -> list[bytes]:
        """The server-sent events of a streamed answer, each with its empty line."""
        chunks = _chunks(asked, replies, number)
        return [b"data: " + orjson.dumps(chunk) + b"\r\n\r\n" for chunk in chunks]

    def own(self, problem: Problem) -> Problem:
        """The problem in Gemini's words."""
        return refused(problem)

    def problem(self, problem: Problem) -> bytes:
        """The body of an error."""
        told = refused(problem)
        error = {"code": told.status, "message": told.message, "status": told.kind}
        return orjson.dumps({"error": error | ({"details": told.details} if told.details else {})})

    def empty(self, asked: Asked, number: int) -> bytes:
        """An answer without any candidate."""
        return orjson.dumps(_head(asked, [], number))

    def limit_headers(self, limits: RateHeaders) -> bytes:
        """Gemini tells nothing of its limits in headers."""
        return b""

    def headers(self, number: int, seconds: float) -> bytes:
        """What every answer of this API carries."""
        return f"server-timing: gfet4t7; dur={int(seconds * 1000)}\r\n".encode()

    def lists(self, path: str, headers: Mapping[bytes, bytes]) -> bool:
        """Whether a look at the models is meant for Gemini."""
        named = b"x-goog-api-key" in headers or b"x-goog-api-client" in headers
        return named or path.startswith("/v1beta/")

    def listing(self) -> dict[str, Any]:
        """The body of `GET /v1/models`."""
        return {"models": [self.model(name) for name in ("simulated", *SCRIPTS)]}

    def model(self, name: str) -> dict[str, Any]:
        """One model; any name is one."""
        return {
            "name": f"models/{name}",
            "version": "001",
            "displayName": name,
            "description": "A model that needs no network.",
            "inputTokenLimit": 1_048_576,
            "outputTokenLimit": 65_536,
            "supportedGenerationMethods": _METHODS,
            "temperature": 1,
            "topP": 0.95,
            "topK": 64,
            "maxTemperature": 2,
        }


def _counting(body: Mapping[str, Any], model: str, sample: int) -> Asked:
    right = shaped(body, COUNT)
    whole = right.get("generateContentRequest") or right
    check_body(whole)
    # Nothing is said: the answer is a number.
    limited = {**whole, "generationConfig": {"maxOutputTokens": 0}}
    return Asked(model, [read_question(limited, model, sample)], note=_Note(counts=True))


# Answers --------------------------------------------------------------------------------------


def _head(asked: Asked, replies: Sequence[Reply], number: int) -> dict[str, Any]:
    return {
        "usageMetadata": _usage(replies),
        "modelVersion": asked.model,
        "responseId": f"{number:022x}",
    }


def _whole(asked: Asked, replies: Sequence[Reply], number: int) -> dict[str, Any]:
    note: _Note = asked.note
    head = _head(asked, replies, number)
    if not note.unfiltered and any(reply.refusal is not None for reply in replies):
        return head | {"promptFeedback": {"blockReason": "SAFETY", "safetyRatings": _ratings()}}
    candidates = []
    for index, reply in enumerate(replies):
        content: dict[str, Any] = {"role": "model"}
        if parts := _parts(reply, note.thoughts):
            content["parts"] = parts
        candidates.append({"content": content, "finishReason": _reason(reply), "index": index})
    return {"candidates": candidates} | head


def _chunks(asked: Asked, replies: Sequence[Reply], number: int) -> list[dict[str, Any]]:
    """The same answer in pieces; the last of them says why it ends."""
    note: _Note = asked.note
    head = _head(asked, replies, number)
    if not replies or (not note.unfiltered and replies[0].refusal is not None):
        return [_whole(asked, replies, number) if replies else head]
    made = []
    for index, reply in enumerate(replies):
        for part in _parts(reply, note.thoughts):
            for piece in _pieces(part):
                content = {"role": "model", "parts": [piece]}
                made.append({"candidates": [{"content": content, "index": index}]} | head)
        content = {"role": "model", "parts": [{"text": ""}]}
        last = {"content": content, "finishReason": _reason(reply), "index": index}
        made.append({"candidates": [last]} | head)
    return made


def _parts(reply: Reply, thoughts: bool) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    if thoughts and reply.reasoning_tokens:
        parts.append({"text": _THOUGHT, "thought": True})
    for call in reply.tool_calls:
        function = call["function"]
        args = orjson.loads(function["arguments"])
        parts.append({"functionCall": {"id": call["id"], "name": function["name"], "args": args}})
    if not reply.tool_calls and reply.refusal is None and (reply.text or reply.finish == "stop"):
        parts.append({"text": reply.text})
    return parts


def _pieces(part: dict[str, Any]) -> list[dict[str, Any]]:
    """A text in word-sized pieces that join to exactly it; a call in one."""
    if not part.get("text"):
        return [part]
    return [{**part, "text": piece} for piece in _PIECE.findall(part["text"]) or [part["text"]]]


def _reason(reply: Reply) -> str:
    return "PROHIBITED_CONTENT" if reply.refusal is not None else _FINISH[reply.finish]


def _ratings() -> list[dict[str, Any]]:
    category = "HARM_CATEGORY_DANGEROUS_CONTENT"
    return [{"category": category, "probability": "HIGH", "blocked": True}]


def _usage(replies: Sequence[Reply]) -> dict[str, Any]:
    """Thoughts are counted beside the candidates, cached tokens inside the prompt."""
    first = replies[0] if replies else Reply(text="")
    thoughts = sum(reply.reasoning_tokens for reply in replies)
    spoken = sum(reply.completion_tokens for reply in replies) - thoughts
    made = {
        "promptTokenCount": first.prompt_tokens,
        "candidatesTokenCount": spoken,
        "totalTokenCount": first.prompt_tokens + spoken + thoughts,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": first.prompt_tokens}],
    }
    if thoughts:
        made["thoughtsTokenCount"] = thoughts
    if first.cached_tokens:
        made["cachedContentTokenCount"] = first.cached_tokens
    return made
