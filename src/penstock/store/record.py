"""One record of the journal, and the checksum that tells when it was damaged."""

from __future__ import annotations

from enum import IntEnum
from zlib import crc32

import msgspec

from penstock.errors import DamagedError

__all__ = ["Record", "RecordKind"]


class RecordKind(IntEnum):
    """Only an answer satisfies a look-up; the others are kept for audit."""

    ANSWER = 0
    FAILURE = 1
    REPLACED = 2


class Record(msgspec.Struct, frozen=True):
    """A question and what became of it, raw, as it went over the wire."""

    key: bytes
    response: bytes
    request: bytes = b""
    kind: RecordKind = RecordKind.ANSWER
    provider: str = ""
    model: str = ""
    run: str = ""
    at: float = 0.0
    latency: float = 0.0
    attempts: int = 1
    cost: str = ""
    price_source: str = ""

    def row(self) -> tuple[bytes, int, bytes, bytes, bytes, int]:
        """As the table holds it: key, kind, meta, request, response, checksum."""
        meta = _encode(
            (
                self.provider,
                self.model,
                self.run,
                self.at,
                self.latency,
                self.attempts,
                self.cost,
                self.price_source,
            )
        )
        check = _checksum(self.key, self.kind, meta, self.request, self.response)
        return self.key, self.kind, meta, self.request, self.response, check

    @classmethod
    def from_row(
        cls,
        number: int,
        key: bytes,
        kind: int,
        meta: bytes,
        request: bytes,
        response: bytes,
        check: int,
    ) -> Record:
        """A record from its row, or DamagedError."""
        try:
            if _checksum(key, kind, meta, request, response) != check:
                raise _damaged(number)
            provider, model, run, at, latency, attempts, cost, source = _decode(meta)
            return cls(
                key,
                response,
                request,
                RecordKind(kind),
                provider,
                model,
                run,
                at,
                latency,
                attempts,
                cost,
                source,
            )
        except (TypeError, ValueError, msgspec.DecodeError):
            raise _damaged(number) from None


_Meta = tuple[str, str, str, float, float, int, str, str]
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Meta).decode


def _checksum(key: bytes, kind: int, meta: bytes, request: bytes, response: bytes) -> int:
    # A replaced answer keeps its checksum: the kind alone may change after writing.
    sealed = b"\1" if kind == RecordKind.FAILURE else b"\0"
    return crc32(response, crc32(request, crc32(meta, crc32(sealed, crc32(key)))))


def _damaged(number: int) -> DamagedError:
    return DamagedError(f"record {number} does not match its checksum")
