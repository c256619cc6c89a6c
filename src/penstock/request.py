"""A Request: one question, and the key under which its answer is kept.

The key is made of everything that can change the answer and of nothing else: the endpoint's
identity, the messages, the parameters, the schema, the tools and the sample. Secrets, time-outs,
limits and the lane are not in it. It is 17 bytes: a version, then 128 bits of SHA-256.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from hashlib import sha256
from operator import index
from typing import Any

import msgspec
import orjson

from penstock.endpoint import Endpoint
from penstock.errors import RequestError
from penstock.messages import Message, normalise
from penstock.schema import AnswerSchema

__all__ = ["KEY_SIZE", "Request"]

_VERSION = b"\x01"
KEY_SIZE = 17
_SECRETS = frozenset({"api_key", "api-key", "apikey", "authorization"})
_NOT_PARAMS = frozenset({"model", "messages", "stream", "stream_options", "n", "tools"})


class Request(msgspec.Struct, frozen=True, gc=False):
    """One question. It does not know its row."""

    endpoint: Endpoint
    messages: list[Message]
    params: Mapping[str, Any] = msgspec.field(default_factory=dict)
    schema: AnswerSchema | None = None
    tools: Sequence[Mapping[str, Any]] | None = None
    sample: int = 0
    _key: bytes | None = None

    @classmethod
    def of(
        cls,
        endpoint: Endpoint,
        prompt: Any,
        *,
        system: str | None = None,
        schema: Any = None,
        tools: Sequence[Mapping[str, Any]] | None = None,
        sample: int = 0,
        **params: Any,
    ) -> Request:
        """A Request from what a person gives: a text or messages, a model or a schema.

        The endpoint's own parameters are the defaults; None takes one back.
        """
        return cls(
            endpoint,
            normalise(prompt, system),
            merged_params(endpoint.params, params),
            None if schema is None else AnswerSchema.of(schema),
            list(tools) if tools else None,
            sample,
        )

    @property
    def key(self) -> bytes:
        """The name of the answer in the journal."""
        if self._key is None:
            msgspec.structs.force_setattr(self, "_key", self._make_key())
        return self._key  # type: ignore[return-value]

    @property
    def id(self) -> str:
        """The key as people see it, in logs and tables."""
        return self.key.hex()

    def _make_key(self) -> bytes:
        try:
            parts = (
                self.endpoint.identity,
                orjson.dumps(_checked(self.messages), option=orjson.OPT_SORT_KEYS),
                orjson.dumps(_plain(self.params), option=orjson.OPT_SORT_KEYS)
                if self.params
                else b"{}",
                b"" if self.schema is None else self.schema.canonical,
                b"" if not self.tools else orjson.dumps(_plain(self.tools)),
                b"%d" % index(self.sample),
            )
        except (TypeError, RecursionError) as error:
            raise RequestError(f"the question cannot be written as JSON: {error}") from None
        # Lengths keep the parts apart: no two questions run into the same bytes.
        lengths = b"%d,%d,%d,%d,%d,%d;" % tuple(map(len, parts))
        return _VERSION + sha256(b"".join((lengths, *parts))).digest()[: KEY_SIZE - 1]


def merged_params(defaults: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters over their defaults, without the ones set to None, names checked."""
    if not defaults and not params:
        return {}
    merged = {k: v for k, v in {**defaults, **params}.items() if v is not None}
    taken = _NOT_PARAMS & merged.keys()
    if taken:
        raise RequestError(
            f"{', '.join(sorted(taken))} cannot be given as a parameter",
            remedy="Penstock sets it itself (several draws of one prompt: sample=0, 1, 2, ...).",
        )
    secret = _SECRETS & {name.lower() for name in merged}
    if secret:
        raise RequestError(
            f"{', '.join(sorted(secret))} cannot be given as a parameter; it would be recorded",
            remedy="Give the key to the endpoint: Endpoint(..., key='env:NAME').",
        )
    return merged


def _checked(messages: list[Message]) -> Any:
    """Most messages are two texts, and nothing in them needs a look."""
    for message in messages:
        if len(message) != 2 or type(message.get("content")) is not str:
            return _plain(messages)
    return messages


def _plain(value: Any) -> Any:
    """Numbers by their value: 1 and 1.0 ask the same."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise RequestError(f"{value} is no number that JSON can carry")
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
