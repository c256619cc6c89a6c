"""Anthropic's Messages: from their wire to a Question, from Replies to their wire.

The shapes were checked against the types of the official SDK; nothing is sent that those types
do not know. Tokens are reported as read from a cache only where a request asks for caching.
"""

from __future__ import annotations

import base64
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

from penstock.simulator.anthropic_read import LATEST, check_options, check_version, read_tools
from penstock.simulator.anthropic_turns import read_system, read_turns
from penstock.simulator.api import Asked, Problem, RateHeaders
from penstock.simulator.question import Question, Reply
from penstock.simulator.scripts import SCRIPTS

__all__ = ["Anthropic"]

_PIECE = re.compile(r"\s*\S+\s*$|\s*\S+")
_COUNT = "/count_tokens"
_STEP = 12
_STOPS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}
_THOUGHTS = "The question is read again, slowly. Then the answer is weighed against it."
_TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_SAID = {
    403: "Your API key does not have permission to use the specified resource.",
    409: "The request conflicts with another.",
    429: "This request would exceed your account's rate limit. Please try again later.",
    500: "Internal server error",
    503: "Service unavailable",
    529: "Overloaded",
}


class Noted(NamedTuple):
    """What a rendered answer must know of its request."""

    counts: bool = False
    thinks: bool = False
    shows_thoughts: bool = True
    caches: bool = False
    tier: str = "standard"


class Anthropic:
    """The adapter for /v1/messages and the counting of tokens beside it."""

    name = "anthropic"

    def matches(self, path: str) -> bool:
        """Whether this API answers a path."""
        return path.removesuffix(_COUNT).endswith("/v1/messages")

    def read(
        self,
        body: Mapping[str, Any],
        path: str = "",
        sample: int = 0,
        headers: Mapping[bytes, bytes] | None = None,
    ) -> Asked:
        """Understand a request body, or raise a Problem as the real server would."""
        latest = check_version(headers or {}) == LATEST
        counts = path.partition("?")[0].endswith(_COUNT)
        model = check_options(body, latest, counts)
        thinking = body.get("thinking") or {}
        noted = Noted(
            counts,
            thinking.get("type") in ("enabled", "adaptive"),
            thinking.get("display") != "omitted",
            b'"cache_control":{' in orjson.dumps(body),
        )
        question = _question(body, model, sample, latest, noted)
        return Asked(model, [question], bool(body.get("stream")), note=noted)

    def render(self, asked: Asked, replies: Sequence[Reply], number: int) -> bytes:
        """The body of a whole answer."""
        if asked.note.counts:
            return orjson.dumps({"input_tokens": replies[0].prompt_tokens if replies else 0})
        reply = replies[0] if replies else Reply(text="")
        message = _message(asked, reply, number)
        message["content"] = list(_blocks(reply, asked.note))
        return orjson.dumps(message | _stop(reply))

    def events(self, asked: Asked, replies: Sequence[Reply], number: int) -> list[bytes]:
        """The server-sent events of a streamed answer, each with its empty line."""
        reply = replies[0] if replies else Reply(text="")
        start = _message(asked, reply, number)
        start["usage"] |= {"output_tokens": 1, "output_tokens_details": None}
        events = [_event("message_start", message=start), _event("ping")]
        for index, block in enumerate(_blocks(reply, asked.note)):
            events += _block_events(index, block)
        usage = _usage(reply, asked.note)
        counts = {name: usage[name] for name in _TOLD_LAST}
        events.append(_event("message_delta", delta=_stop(reply), usage=counts))
        return [*events, _event("message_stop")]

    def own(self, problem: Problem) -> Problem:
        """The statuses are this API's too; only the words differ, and those are put last."""
        return problem

    def problem(self, problem: Problem) -> bytes:
        """The body of an error."""
        status = problem.status
        usual = "invalid_request_error" if status < 500 else "api_error"
        error: dict[str, Any] = {
            "type": _TYPES.get(status, usual),
            "message": _SAID.get(status, problem.message),
        }
        if status == 401:
            error["message"] = "API key is invalid." if problem.code else "No API key was given."
        if problem.kind == "insufficient_quota":
            error["message"] = "Your organization has reached its monthly API usage threshold."
            error["details"] = {"error_code": "enforced_spend_limit_reached"}
        request_id = f"req_{problem.number:024x}" if problem.number else None
        return orjson.dumps({"type": "error", "error": error, "request_id": request_id})

    def empty(self, asked: Asked, number: int) -> bytes:
        """An answer without any content."""
        return self.render(asked, [], number)

    def limit_headers(self, limits: RateHeaders) -> bytes:
        """The headers that tell what is left of the limits.

        There is one limit of tokens here, so those of input and output are told with its numbers.
        """
        lines = []
        for name, bucket in limits:
            reset = datetime.fromtimestamp(math.ceil(time.time() + bucket.reset), UTC)
            kinds = (name, "input-tokens", "output-tokens") if name == "tokens" else (name,)
            lines += [
                f"anthropic-ratelimit-{kind}-limit: {bucket.limit}\r\n"
                f"anthropic-ratelimit-{kind}-remaining: {bucket.remaining}\r\n"
                f"anthropic-ratelimit-{kind}-reset: {reset:%Y-%m-%dT%H:%M:%SZ}\r\n"
                for kind in kinds
            ]
        return "".join(lines).encode()

    def headers(self, number: int, seconds: float) -> bytes:
        """What every answer of this API carries."""
        organization = "00000000-0000-4000-8000-000000000000"
        return (
            f"request-id: req_{number:024x}\r\nanthropic-organization-id: {organization}\r\n"
        ).encode()

    def lists(self, path: str, headers: Mapping[bytes, bytes]) -> bool:
        """Whether a look at the models is meant for this API: only its clients tell a version."""
        return b"anthropic-version" in headers

    def listing(self) -> dict[str, Any]:
        """The body of `GET /v1/models`."""
        models = [self.model(name) for name in ("simulated", *SCRIPTS)]
        ends = {"first_id": models[0]["id"], "last_id": models[-1]["id"]}
        return {"data": models, "has_more": False, **ends}

    def model(self, name: str) -> dict[str, Any]:
        """One model; any name is one."""
        return {
            "type": "model",
            "id": name,
            "display_name": name,
            "created_at": "2025-06-15T00:00:00Z",
            "lifecycle": "active",
            "max_input_tokens": 200_000,
            "max_tokens": 128_000,
        }


def _question(
    body: Mapping[str, Any], model: str, sample: int, latest: bool, noted: Noted
) -> Question:
    said = read_turns(body["messages"], latest)
    tools, choice = read_tools(body, model)
    config = body.get("output_config") or {}
    return Question(
        model=model,
        turns=[*read_system(body.get("system")), *said.turns],
        images=said.images,
        files=said.files,
        media=said.media,
        schema=(config.get("format") or {}).get("schema"),
        tools=tools,
        tool_choice=choice,
        max_tokens=0 if noted.counts else body["max_tokens"],
        stop=tuple(body.get("stop_sequences") or ()),
        reasoning=(config.get("effort") or "medium") if noted.thinks else "",
        sample=sample,
    )


# Answers --------------------------------------------------------------------------------------

_TOLD_LAST = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
    "output_tokens_details",
)


def _message(asked: Asked, reply: Reply, number: int) -> dict[str, Any]:
    return {
        "id": f"msg_{number:024x}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "usage": _usage(reply, asked.note),
    }


def _stop(reply: Reply) -> dict[str, Any]:
    reason = "stop_sequence" if reply.stopped is not None else _STOPS[reply.finish]
    made: dict[str, Any] = {"stop_reason": reason, "stop_sequence": reply.stopped}
    made["stop_details"] = None
    if reply.refusal is not None:
        details = {"type": "refusal", "category": None, "explanation": reply.refusal}
        made |= {"stop_reason": "refusal", "stop_details": details}
    return made


def _usage(reply: Reply, noted: Noted) -> dict[str, Any]:
    cached = reply.cached_tokens if noted.caches else 0
    thought = {"thinking_tokens": reply.reasoning_tokens} if noted.thinks else None
    return {
        "input_tokens": reply.prompt_tokens - cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "output_tokens": reply.completion_tokens,
        "output_tokens_details": thought,
        "service_tier": noted.tier,
    }


def _blocks(reply: Reply, noted: Noted) -> Iterator[dict[str, Any]]:
    if noted.thinks and reply.reasoning_tokens:
        thought = _THOUGHTS if noted.shows_thoughts else ""
        signature = base64.b64encode(f"thought {reply.reasoning_tokens}".encode()).decode()
        yield {"type": "thinking", "thinking": thought, "signature": signature}
    if reply.text:
        yield {"type": "text", "text": reply.text, "citations": None}
    for call in reply.tool_calls:
        yield {
            "type": "tool_use",
            "id": call["id"].replace("call_", "toolu_"),
            "name": call["function"]["name"],
            "input": orjson.loads(call["function"]["arguments"]),
        }


def _block_events(index: int, block: dict[str, Any]) -> list[bytes]:
    """A block as it begins, its pieces, its end."""
    kind = block["type"]
    empty = {"text": "", "thinking": "", "signature": "", "input": {}}
    begun = block | {name: empty[name] for name in block if name in empty}
    deltas: list[dict[str, Any]] = []
    if kind == "text":
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
    elif kind == "thinking":
        thoughts = _pieces(block["thinking"])
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in thoughts]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    else:
        told = orjson.dumps(block["input"]).decode()
        pieces = ["", *(told[at : at + _STEP] for at in range(0, len(told), _STEP))]
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return [
        _event("content_block_start", index=index, content_block=begun),
        *(_event("content_block_delta", index=index, delta=delta) for delta in deltas),
        _event("content_block_stop", index=index),
    ]


def _event(name: str, **data: Any) -> bytes:
    return f"event: {name}\n".encode() + b"data: " + orjson.dumps({"type": name, **data}) + b"\n\n"


def _pieces(text: str) -> list[str]:
    """A text in word-sized pieces that join to exactly it."""
    return _PIECE.findall(text) or ([text] if text else [])
