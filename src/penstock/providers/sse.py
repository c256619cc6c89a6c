"""Server-sent events, as bytes come in."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

__all__ = ["Event", "Events"]


class Event(msgspec.Struct, frozen=True):
    """One event of a stream."""

    data: str
    name: str = ""


class Events:
    """Cuts bytes into events; an event is given out when its blank line has come."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._data: list[str] = []
        self._name = ""

    def send(self, piece: bytes) -> Iterator[Event]:
        """The events that this piece completes."""
        if b"\n" not in piece:  # a long line in small pieces is put together once
            self._rest.append(piece)
            return
        *lines, rest = b"".join((*self._rest, piece)).split(b"\n")
        self._rest = [rest]
        for line in lines:
            text = line.rstrip(b"\r").decode("utf-8", "replace")
            if not text:
                if self._data:
                    yield Event("\n".join(self._data), self._name)
                self._data, self._name = [], ""
            elif not text.startswith(":"):
                field, _, value = text.partition(":")
                value = value.removeprefix(" ")
                if field == "data":
                    self._data.append(value)
                elif field == "event":
                    self._name = value
