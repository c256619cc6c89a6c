"""Chunks: a machine of four states, and its tally."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from penstock.errors import PenstockError
from penstock.grade.chunks import Chunk, Chunks, ChunkState, Tally, advance


@pytest.mark.parametrize("state", ChunkState)
@pytest.mark.parametrize("to", ChunkState)
def test_only_the_ways_of_the_picture_are_open(state: ChunkState, to: ChunkState) -> None:
    ways = {
        ("pending", "running"),
        ("running", "success"),
        ("running", "failure"),
        ("running", "pending"),
    }
    if (state.value, to.value) in ways:
        assert advance(state, to) is to
    else:
        with pytest.raises(PenstockError, match=f"that is {state} cannot become {to}"):
            advance(state, to)
    assert state.ended == (state in (ChunkState.SUCCESS, ChunkState.FAILURE))


def test_a_chunk_counts_its_attempts_and_keeps_its_last_error() -> None:
    chunk = Chunk(0, 10, 25, tokens=300, file="a.csv")
    assert len(chunk) == 15
    retried = chunk.begun().retried("too many requests")
    assert (retried.state, retried.attempts) == (ChunkState.PENDING, 1)
    assert retried.error == "too many requests"
    assert retried.begun().succeeded().error == ""
    failed = retried.begun().failed("no key")
    assert (failed.attempts, failed.error) == (2, "no key")
    assert chunk == Chunk(0, 10, 25, tokens=300, file="a.csv")


def test_two_chunks_cannot_have_the_same_number() -> None:
    with pytest.raises(PenstockError, match="number 1"):
        Chunks([Chunk(1, 0, 1), Chunk(1, 1, 2)])


def test_what_was_running_when_its_process_ended_waits_again() -> None:
    chunks = Chunks([Chunk(0, 0, 1), Chunk(1, 1, 2), Chunk(2, 2, 3)])
    chunks.begin(0)
    chunks.succeed(0)
    chunks.begin(1)
    assert chunks.tally == Tally(pending=1, running=1, success=1)
    data = json.loads(json.dumps(chunks.to_dict()))
    assert data["tally"] == {"pending": 1, "running": 1, "success": 1, "failure": 0}
    again = Chunks.from_dict(data)
    assert again.tally == Tally(pending=2, success=1)
    assert [chunk.attempts for chunk in again] == [1, 1, 0]
    assert again[0] == chunks[0]


class Work(RuleBasedStateMachine):
    """Chunks worked on in any order, beside a list that says what they should be."""

    @initialize(count=st.integers(1, 6))
    def start(self, count: int) -> None:
        self.chunks = Chunks(Chunk(number, number, number + 1) for number in range(count))
        self.states = ["pending"] * count
        self.begun = [0] * count

    def _some(self, data: st.DataObject, state: str) -> int:
        there = [number for number, each in enumerate(self.states) if each == state]
        return data.draw(st.sampled_from(there))

    @precondition(lambda self: "pending" in self.states)
    @rule(data=st.data())
    def begin(self, data: st.DataObject) -> None:
        number = self._some(data, "pending")
        self.chunks.begin(number)
        self.states[number] = "running"
        self.begun[number] += 1

    @precondition(lambda self: "running" in self.states)
    @rule(data=st.data(), end=st.sampled_from(["success", "failure", "pending"]))
    def end(self, data: st.DataObject, end: str) -> None:
        number = self._some(data, "running")
        if end == "success":
            self.chunks.succeed(number)
        elif end == "failure":
            self.chunks.fail(number, "why")
        else:
            self.chunks.retry(number, "again")
        self.states[number] = end

    @rule(data=st.data(), step=st.sampled_from(["begin", "succeed", "fail", "retry"]))
    def what_is_not_allowed_changes_nothing(self, data: st.DataObject, step: str) -> None:
        wrong = {"begin": {"running"}}.get(step, {"pending"}) | {"success", "failure"}
        there = [number for number, each in enumerate(self.states) if each in wrong]
        if not there:
            return
        number = data.draw(st.sampled_from(there))
        reason = () if step in ("begin", "succeed") else ("why",)
        with pytest.raises(PenstockError, match="cannot become"):
            getattr(self.chunks, step)(number, *reason)

    @rule()
    def written_and_read_again(self) -> None:
        self.chunks = Chunks.from_dict(json.loads(json.dumps(self.chunks.to_dict())))
        self.states = ["pending" if each == "running" else each for each in self.states]

    @invariant()
    def the_tally_is_that_of_the_chunks(self) -> None:
        if not hasattr(self, "chunks"):
            return
        assert [chunk.state.value for chunk in self.chunks] == self.states
        assert [chunk.attempts for chunk in self.chunks] == self.begun
        counted = Counter(self.states)
        assert self.chunks.tally.to_dict() == {
            state.value: counted[state.value] for state in ChunkState
        }
        assert self.chunks.tally.total == len(self.chunks) == len(self.states)
        assert self.chunks.tally.ended == (not counted["pending"] and not counted["running"])


TestWork = Work.TestCase
TestWork.settings = settings(deadline=None, max_examples=60, stateful_step_count=20)
