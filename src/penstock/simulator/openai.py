"""OpenAI's chat completions: from their wire to a Question, from Replies to their wire.

The shapes were checked against the types of the official SDK; nothing is sent that those types
do not know.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from penstock.simulator.api import Asked, Problem, RateHeaders
from penstock.simulator.limits import go_duration
from penstock.simulator.openai_read import check_body, read_media, read_text, read_tools
from penstock.simulator.question import Question, Reply, Turn
from penstock.simulator.scripts import SCRIPTS

__all__ = ["OpenAI"]

_REASONS = re.compile(r"(?:.*/)?(?:o\d|gpt-[5-9])")
_PIECE = re.compile(r"\s*\S+\s*$|\s*\S+")
_FINGERPRINT = "fp_simulated"
_ROLES = {"developer": "system", "function": "tool"}


class OpenAI:
    """The adapter for every path that ends in /chat/completions."""

    name = "openai"

    def matches(self, path: str) -> bool:
        """Whether this API answers a path."""
        return path.endswith("/chat/completions")

    def read(
        self,
        body: Mapping[str, Any],
        path: str = "",
        sample: int = 0,
        headers: Mapping[bytes, bytes] | None = None,
    ) -> Asked:
        """Understand a request body, or raise a Problem as the real server would."""
        model = check_body(body, _deployment(path))
        question = _question(body, model, sample)
        choices = body.get("n") or 1
        options = body.get("stream_options") or {}
        questions = [question]
        if choices > 1:
            questions = [_question(body, model, sample, draw) for draw in range(choices)]
        return Asked(model, questions, bool(body.get("stream")), bool(options.get("include_usage")))

    def render(self, asked: Asked, replies: Sequence[Reply], number: int) -> bytes:
        """The body of a whole answer."""
        return orjson.dumps(
            {
                "id": f"chatcmpl-{number:029x}",
                "object": "chat.completion",
                "created": int(time.time()),
                "model": asked.model,
                "choices": [_choice(index, reply) for index, reply in enumerate(replies)],
                "usage": _usage(replies),
                "service_tier": "default",
                "system_fingerprint": _FINGERPRINT,
            }
        )

    def events(self, asked: Asked, replies: Sequence[Reply], number: int) -> list[bytes]:
        """The server-sent events of a streamed answer, each with its empty line."""
        base = {
            "id": f"chatcmpl-{number:029x}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": asked.model,
            "service_tier": "default",
            "system_fingerprint": _FINGERPRINT,
        }
        if asked.usage:
            base["usage"] = None
        chunks = [
            base | {"choices": [{"index": index, "delta": delta, "logprobs": None, **finish}]}
            for index, reply in enumerate(replies)
            for delta, finish in _deltas(reply)
        ]
        if asked.usage:
            chunks.append(base | {"choices": [], "usage": _usage(replies)})
        events = [b"data: " + orjson.dumps(chunk) + b"\n\n" for chunk in chunks]
        return [*events, b"data: [DONE]\n\n"]

    def own(self, problem: Problem) -> Problem:
        """The problems are in this API's words already."""
        return problem

    def problem(self, problem: Problem) -> bytes:
        """The body of an error."""
        return orjson.dumps(
            {
                "error": {
                    "message": problem.message,
                    "type": problem.kind,
                    "param": problem.param,
                    "code": problem.code,
                }
            }
        )

    def empty(self, asked: Asked, number: int) -> bytes:
        """An answer without any choice."""
        return self.render(asked, [], number)

    def limit_headers(self, limits: RateHeaders) -> bytes:
        """The headers that tell what is left of the limits."""
        return b"".join(
            f"x-ratelimit-limit-{name}: {bucket.limit}\r\n"
            f"x-ratelimit-remaining-{name}: {bucket.remaining}\r\n"
            f"x-ratelimit-reset-{name}: {go_duration(bucket.reset)}\r\n".encode()
            for name, bucket in limits
        )

    def headers(self, number: int, seconds: float) -> bytes:
        """What every answer of this API carries."""
        return (
            f"x-request-id: req_{number:032x}\r\nopenai-processing-ms: {int(seconds * 1000)}\r\n"
            "openai-version: 2020-10-01\r\n"
        ).encode()

    def lists(self, path: str, headers: Mapping[bytes, bytes]) -> bool:
        """Any look at the models that no other API claims."""
        return True

    def listing(self) -> dict[str, Any]:
        """The body of `GET /v1/models`."""
        models = [self.model(name) for name in ("simulated", *SCRIPTS)]
        return {"object": "list", "data": models}

    def model(self, name: str) -> dict[str, Any]:
        """One model; any name is one."""
        return {"id": name, "object": "model", "created": 1_750_000_000, "owned_by": "penstock"}


def _deployment(path: str) -> str:
    """The model named by an Azure path, or ""."""
    _, found, rest = path.partition("/deployments/")
    return rest.partition("/")[0] if found else ""


def _question(body: Mapping[str, Any], model: str, sample: int, draw: int = 0) -> Question:
    turns: list[Turn] = []
    images = files = 0
    media = hashlib.blake2b(digest_size=16)
    for message in body["messages"]:
        content = message.get("content")
        role = message.get("role", "user")
        if isinstance(content, str) and "tool_calls" not in message:
            turns.append(Turn(_ROLES.get(role, role), content))
            continue
        turns.append(Turn(_ROLES.get(role, role), read_text(message)))
        more = read_media(content, media)
        images += more.images
        files += more.files
    tools, choice = read_tools(body)
    stop = body.get("stop") or ()
    return Question(
        model=model,
        turns=turns,
        images=images,
        files=files,
        media=media.hexdigest() if images or files else "",
        schema=_schema(body.get("response_format")),
        tools=tools,
        tool_choice=choice,
        max_tokens=body.get("max_completion_tokens") or body.get("max_tokens"),
        stop=(stop,) if isinstance(stop, str) else tuple(stop),
        reasoning=_reasoning(body, model),
        sample=sample,
        draw=draw,
        seed=body.get("seed"),
    )


def _schema(wanted: Any) -> Any:
    if not wanted or wanted.get("type") == "text":
        return None
    if wanted.get("type") == "json_schema":
        schema = wanted["json_schema"].get("schema")
        return True if schema is None else schema
    return True


def _reasoning(body: Mapping[str, Any], model: str) -> str:
    effort = body.get("reasoning_effort")
    if effort is not None:
        return "" if effort == "none" else str(effort)
    return "medium" if _REASONS.match(model) else ""


def _choice(index: int, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if reply.tool_calls or reply.refusal is not None else reply.text,
        "refusal": reply.refusal,
        "annotations": [],
    }
    if reply.tool_calls:
        message["tool_calls"] = reply.tool_calls
    return {"index": index, "message": message, "logprobs": None, "finish_reason": reply.finish}


def _usage(replies: Sequence[Reply]) -> dict[str, Any]:
    first = replies[0] if replies else Reply(text="")
    completion = sum(reply.completion_tokens for reply in replies)
    return {
        "prompt_tokens": first.prompt_tokens,
        "completion_tokens": completion,
        "total_tokens": first.prompt_tokens + completion,
        "prompt_tokens_details": {"cached_tokens": first.cached_tokens, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": sum(reply.reasoning_tokens for reply in replies),
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _deltas(reply: Reply) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    going: dict[str, Any] = {"finish_reason": None}
    first: dict[str, Any] = {"role": "assistant", "content": "", "refusal": None}
    if reply.tool_calls:
        first["content"] = None
    deltas: list[tuple[dict[str, Any], dict[str, Any]]] = [(first, going)]
    for index, call in enumerate(reply.tool_calls):
        opening = call | {"index": index, "function": call["function"] | {"arguments": ""}}
        deltas.append(({"tool_calls": [opening]}, going))
        deltas += [
            ({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, going)
            for piece in _pieces(call["function"]["arguments"])
        ]
    if reply.refusal is not None:
        deltas += [({"refusal": piece}, going) for piece in _pieces(reply.refusal)]
    elif not reply.tool_calls:
        deltas += [({"content": piece}, going) for piece in _pieces(reply.text)]
    return [*deltas, ({}, {"finish_reason": reply.finish})]


def _pieces(text: str) -> list[str]:
    """A text in word-sized pieces that join to exactly it."""
    return _PIECE.findall(text) or ([text] if text else [])
