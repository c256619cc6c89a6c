"""The tables that compare providers, made by asking the providers themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
import orjson

from penstock.endpoint import Endpoint
from penstock.errors import PenstockError
from penstock.outcome import Finish, Usage
from penstock.providers import (
    anthropic_read,
    anthropic_schema,
    gemini_read,
    gemini_schema,
    openai_read,
    openai_schema,
)
from penstock.providers.anthropic import Anthropic
from penstock.providers.compatible import COMPATIBLE
from penstock.providers.gemini import Gemini
from penstock.providers.openai import OpenAI
from penstock.providers.provider import HttpProvider
from penstock.request import Request
from penstock.secret import Secret

__all__ = ["Rows", "access", "compatible", "finishes", "keywords", "parameters", "usage"]

Rows = list[tuple[str, ...]]
KINDS: Mapping[str, type[HttpProvider]] = {
    "openai": OpenAI,
    "anthropic": Anthropic,
    "gemini": Gemini,
}
# What people write, as OpenAI and others spell it; each with a value that makes sense.
PARAMETERS: Mapping[str, Any] = {
    "max_tokens": 100,
    "max_completion_tokens": 100,
    "temperature": 0.5,
    "top_p": 0.5,
    "top_k": 5,
    "seed": 1,
    "stop": ["end"],
    "presence_penalty": 0.5,
    "frequency_penalty": 0.5,
    "logit_bias": {"50": 1},
    "logprobs": True,
    "top_logprobs": 2,
    "reasoning_effort": "low",
    "thinking": {"type": "adaptive"},
    "response_format": {"type": "json_object"},
    "tool_choice": "required",
    "parallel_tool_calls": False,
    "user": "somebody",
    "metadata": {"user_id": "somebody"},
    "service_tier": "auto",
    "store": False,
}
_TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def access() -> Rows:
    """Who is called where, and with what."""
    rows: Rows = []
    for name, kind in KINDS.items():
        bare, keyed = (_opened(kind, name).headers(key) for key in (None, Secret("k")))
        [header] = keyed.keys() - bare.keys()
        sent = f"{header}: {keyed[header].replace('k', '...') if ' ' in keyed[header] else '...'}"
        rows.append((_code(name), _codes(kind.key_variables), _code(kind.url_variables[0]),
                     _code(kind.usual_url), _code(sent)))  # fmt: skip
    return rows


def compatible() -> Rows:
    """Servers that speak OpenAI's protocol under a name of their own."""
    return [
        (
            _code(name),
            _code(kind.usual_url) if kind.usual_url else "",
            _code(kind.url_variables[0]),
            _codes(kind.key_variables),
            kind.differs,
        )
        for name, kind in COMPATIBLE.items()
    ]


def parameters() -> Rows:
    """What becomes of each parameter on its way."""
    return [
        (_code(name), *(_sent(kind, whose, name, value) for whose, kind in KINDS.items()))
        for name, value in PARAMETERS.items()
    ]


def keywords() -> Rows:
    """What becomes of each keyword of a schema."""
    tables = (openai_schema.SCHEMA_RULES, anthropic_schema.SCHEMA_RULES, gemini_schema.SCHEMA_RULES)
    usual = ("kept", "moved to the description", "moved to the description")
    names = sorted({name for table in tables for name in table}, key=str.lower)
    return [
        (_code(name), *(table.get(name, rest) for table, rest in zip(tables, usual, strict=True)))
        for name in names
    ]


def finishes() -> Rows:
    """Each finish, and the words that mean it."""
    tables = [room._FINISH for room in (openai_read, anthropic_read, gemini_read)]
    return [
        (
            _code(finish),
            *(_codes(word for word, meant in table.items() if meant is finish) for table in tables),
        )
        for finish in Finish
        if finish is not Finish.ERROR
    ]


def usage() -> Rows:
    """Each count, and the numbers of the provider's that go into it."""
    fields = Usage.__struct_fields__
    found = {name: {field: [] for field in fields} for name in KINDS}  # type: ignore[var-annotated]
    for name, kind in KINDS.items():
        for path, body in _counted(name):
            counts = kind.read(orjson.dumps(body)).usage
            for field in fields:
                if getattr(counts, field):
                    found[name][field].append(path)
    return [(_code(field), *(_codes(found[name][field]) for name in KINDS)) for field in fields]


def _counted(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """An answer for each number that a provider counts, with that number alone."""
    room, place = {
        "openai": (openai_read, "usage"),
        "anthropic": (anthropic_read, "usage"),
        "gemini": (gemini_read, "usageMetadata"),
    }[name]
    whole: dict[str, dict[str, Any]] = {
        "openai": {"choices": [{"message": {}, "finish_reason": "stop"}]},
        "anthropic": {"content": [], "stop_reason": "end_turn"},
        "gemini": {"candidates": [{"finishReason": "STOP"}]},
    }
    for path in _paths(room._Usage):
        inner: Any = 7
        for step in reversed(path):
            inner = {step: inner}
        yield ".".join(path), {**whole[name], place: inner}


def _paths(kind: Any) -> Iterator[tuple[str, ...]]:
    for field in msgspec.structs.fields(kind):
        [inner] = [each for each in field.type.__args__ if each is not type(None)]
        if inner is int:
            yield (field.encode_name,)
        else:
            yield from ((field.encode_name, *path) for path in _paths(inner))


def _opened(kind: type[HttpProvider], name: str) -> HttpProvider:
    provider = kind(Endpoint(name, "some-model", url="http://localhost:1", key=Secret("k")))
    provider.open()
    return provider


def _sent(kind: type[HttpProvider], whose: str, name: str, value: Any) -> str:
    provider = _opened(kind, whose)
    tools = [_TOOL] if "tool" in name else None

    def body(**params: Any) -> dict[str, Any]:
        request = Request.of(provider.endpoint, "Hi", tools=tools, **params)
        return provider.body(request, stream=False)

    try:
        asked = body(**{name: value})
    except PenstockError:
        return "refused"
    if asked.get(name) == value:
        return "as it is"
    bare = dict(_leaves(body()))
    return _codes(
        dict.fromkeys(_place(path) for path, leaf in _leaves(asked) if bare.get(path) != leaf)
    )


def _place(path: str) -> str:
    """A path without what is inside a value."""
    return ".".join(path.split(".")[:2]) if path.startswith(_HOLDERS) else path.split(".")[0]


_HOLDERS = ("generationConfig", "output_config", "toolConfig", "metadata")


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}" if path else name)
    elif path and value != {}:
        yield path, repr(value)


def _code(text: object) -> str:
    return f"`{text}`"


def _codes(texts: Iterable[object]) -> str:
    return ", ".join(map(_code, texts))
