"""One record of the journal, and the checksum that tells when it was damaged."""

from __future__ import annotations

from enum import IntEnum
from zlib import crc32

import msgspec

from penstock.errors import DamagedError

__all__ = ["Meta", "Record", "RecordKind", "read_meta"]


class RecordKind(IntEnum):
    """Only an answer satisfies a look-up; the others are kept for audit."""

    ANSWER = 0
    FAILURE = 1
    REPLACED = 2


class Meta(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What is known of a record beside its bodies. New fields go to the end, with a default:
    records written before have none."""

    provider: str
    model: str
    run: str
    at: float
    latency: float
    attempts: int
    cost: str
    price_source: str
    lane: str = "online"
    input_tokens: int = 0
    output_tokens: int = 0


class Record(msgspec.Struct, frozen=True, gc=False):
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
    lane: str = "online"
    input_tokens: int = 0
    output_tokens: int = 0

    def row(self) -> tuple[bytes, int, bytes, bytes, bytes, int]:
        """As the table holds it: key, kind, meta, request, response, checksum."""
        meta = _encode(
            Meta(
                self.provider,
                self.model,
                self.run,
                self.at,
                self.latency,
                self.attempts,
                self.cost,
                self.price_source,
                self.lane,
                self.input_tokens,
                self.output_tokens,
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
            known = msgspec.structs.astuple(read_meta(meta))
            return cls(key, response, request, RecordKind(kind), *known)
        except (TypeError, ValueError, msgspec.DecodeError):
            raise _damaged(number) from None


_encode = msgspec.msgpack.Encoder().encode
read_meta = msgspec.msgpack.Decoder(Meta).decode


def _checksum(key: bytes, kind: int, meta: bytes, request: bytes, response: bytes) -> int:
    # A replaced answer keeps its checksum: the kind alone may change after writing.
    sealed = b"\1" if kind == RecordKind.FAILURE else b"\0"
    return crc32(response, crc32(request, crc32(meta, crc32(sealed, crc32(key)))))


def _damaged(number: int) -> DamagedError:
    return DamagedError(f"record {number} does not match its checksum")
