"""Chunks of a file at work: one small machine, and how many are in which state.

    pending ──> running ──> success
       ^           ├──────> failure
       └── retry ──┘

A chunk is a value: each step gives a new one. `Chunks` holds those of a run and counts them, so
that a live table costs nothing. Nothing is written here: the job keeps what `to_dict` gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

from penstock.errors import PenstockError

__all__ = ["Chunk", "ChunkState", "Chunks", "Tally", "advance"]


class ChunkState(StrEnum):
    """What a chunk is doing, or how it ended."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCESS = "success"
    FAILURE = "failure"

    @property
    def ended(self) -> bool:
        return self in (ChunkState.SUCCESS, ChunkState.FAILURE)


_ALLOWED = {
    ChunkState.PENDING: frozenset({ChunkState.RUNNING}),
    ChunkState.RUNNING: frozenset({ChunkState.SUCCESS, ChunkState.FAILURE, ChunkState.PENDING}),
    ChunkState.SUCCESS: frozenset[ChunkState](),
    ChunkState.FAILURE: frozenset[ChunkState](),
}


def advance(state: ChunkState, to: ChunkState) -> ChunkState:
    """The next state, if the machine allows it."""
    if to not in _ALLOWED[state]:
        raise PenstockError(f"a chunk that is {state} cannot become {to}")
    return to


@dataclass(frozen=True, slots=True)
class Chunk:
    """The rows from `start` to before `stop` of one file, and what became of them."""

    number: int
    start: int
    stop: int
    tokens: int = 0
    file: str = ""
    state: ChunkState = ChunkState.PENDING
    attempts: int = 0
    error: str = ""

    def __len__(self) -> int:
        return self.stop - self.start

    def begun(self) -> Chunk:
        """It is at work, once more."""
        state = advance(self.state, ChunkState.RUNNING)
        return replace(self, state=state, attempts=self.attempts + 1)

    def succeeded(self) -> Chunk:
        return replace(self, state=advance(self.state, ChunkState.SUCCESS), error="")

    def failed(self, error: str) -> Chunk:
        return replace(self, state=advance(self.state, ChunkState.FAILURE), error=error)

    def retried(self, error: str) -> Chunk:
        """Back to the others that wait; `error` says why."""
        return replace(self, state=advance(self.state, ChunkState.PENDING), error=error)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"state": self.state.value}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Chunk:
        return cls(**{**data, "state": ChunkState(data["state"])})


class Tally(NamedTuple):
    """How many chunks are in each state."""

    pending: int = 0
    running: int = 0
    success: int = 0
    failure: int = 0

    @property
    def total(self) -> int:
        return sum(self)

    @property
    def ended(self) -> bool:
        """Whether none is left to do."""
        return not self.pending and not self.running

    def to_dict(self) -> dict[str, int]:
        return self._asdict()


class Chunks:
    """The chunks of a run by number, and their tally."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self._chunks: dict[int, Chunk] = {}
        self._counts = dict.fromkeys(ChunkState, 0)
        for chunk in chunks:
            if chunk.number in self._chunks:
                raise PenstockError(f"there are two chunks with the number {chunk.number}")
            self._chunks[chunk.number] = chunk
            self._counts[chunk.state] += 1

    def __len__(self) -> int:
        return len(self._chunks)

    def __iter__(self) -> Iterator[Chunk]:
        return iter(list(self._chunks.values()))

    def __getitem__(self, number: int) -> Chunk:
        return self._chunks[number]

    @property
    def tally(self) -> Tally:
        return Tally(*(self._counts[state] for state in ChunkState))

    def begin(self, number: int) -> Chunk:
        return self._put(self._chunks[number].begun())

    def succeed(self, number: int) -> Chunk:
        return self._put(self._chunks[number].succeeded())

    def fail(self, number: int, error: str) -> Chunk:
        return self._put(self._chunks[number].failed(error))

    def retry(self, number: int, error: str) -> Chunk:
        return self._put(self._chunks[number].retried(error))

    def to_dict(self) -> dict[str, Any]:
        return {
            "tally": self.tally.to_dict(),
            "chunks": [chunk.to_dict() for chunk in self._chunks.values()],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Chunks:
        """As they were. One that was running when its process ended waits again."""
        chunks = map(Chunk.from_dict, data["chunks"])
        running = ChunkState.RUNNING
        return cls(each.retried(each.error) if each.state is running else each for each in chunks)

    def _put(self, chunk: Chunk) -> Chunk:
        self._counts[self._chunks[chunk.number].state] -= 1
        self._counts[chunk.state] += 1
        self._chunks[chunk.number] = chunk
        return chunk
