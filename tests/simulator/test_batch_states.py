"""The machine that works batches off is sound, whatever the times and the order of things."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from penstock.simulator.api import Problem
from penstock.simulator.batch import Batch
from penstock.simulator.batch_api import Answered, BatchApi, Item
from penstock.simulator.batch_faults import BatchFaults
from penstock.simulator.batch_work import Worker
from penstock.simulator.spool import Lines

ORDER = ["validating", "working", "finalizing", "cancelling"]
ENDS = ["completed", "failed", "expired", "cancelled"]


class Api:
    """Writes down what it is told."""

    def __init__(self, wrong: bool) -> None:
        self.wrong = wrong
        self.told: list[tuple[str, str]] = []

    def check(self, batch: Batch) -> Iterator[None]:
        if self.wrong:
            batch.errors.append({"code": "wrong"})
        for _ in range(batch.total):
            yield

    def item(self, batch: Batch, line: bytes) -> Item:
        return Item(line.decode(), {}, "/")

    def result(self, batch: Batch, item: Item, answered: Answered) -> None:
        self.told.append((item.id, "error" if answered.problem else "done"))

    def undone(self, batch: Batch, item: Item, why: str) -> None:
        self.told.append((item.id, why))

    def ended(self, batch: Batch) -> None:
        self.told.append(("", batch.end))


def ask(batch: Batch, item: Item, fault: str) -> Answered:
    return Answered(1, 200, b"", Problem.invalid("no") if fault == "error" else None)


@given(
    total=st.integers(1, 12),
    seconds=st.sampled_from([0.0, 10.0]),
    expired=st.sampled_from([0.0, 0.5, 1.0]),
    shuffled=st.booleans(),
    wrong=st.booleans(),
    moves=st.lists(st.sampled_from([0.0, 0.3, 1.0, 2.5, "cancel", "hurry"]), max_size=12),
)
def test_a_batch_only_goes_forward_and_every_line_ends_once(
    total: int, seconds: float, expired: float, shuffled: bool, wrong: bool, moves: list[Any]
) -> None:
    api, lines = Api(wrong), Lines()
    names = [str(number) for number in range(total)]
    for name in names:
        lines.add(name.encode())
    batch = Batch("b", 1, cast(BatchApi, api), lines, {})
    batch.created, batch.seconds = 100.0, seconds
    faults = f"expired:{expired},error:0.4,shuffled:{int(shuffled)}"
    batch.faults = BatchFaults.read(faults, total)
    worker = Worker(ask, lambda batch: None)
    now, seen = 100.0, [batch.state]
    for move in [*moves, 100.0, *["hurry"] * 3]:
        if move == "cancel" and not batch.end:
            batch.entered("cancelling", now)
        now += move if isinstance(move, float) else 0
        hurry = perf_counter() + (10 if move == "hurry" else 0)  # else one line at a time
        wait = worker.step(batch, now, hurry)
        assert (wait is None) is (batch.end != "")
        assert batch.done <= batch.target
        seen.append(batch.state)
        if batch.state in ("validating", "working") and move != "hurry":
            assert now < batch.due(1.0) or wait == 0
    places = [(ORDER + ENDS).index(state) for state in seen]
    assert places == sorted(places)
    assert batch.end in ENDS
    told = [name for name, _ in api.told if name]
    left = {"expired": total - batch.done, "cancelled": total - batch.done}.get(batch.end, 0)
    if batch.end == "failed" or (batch.end == "cancelled" and wrong):
        assert told == []
    elif batch.checked:
        assert sorted(told) == sorted(names)
        assert batch.succeeded + batch.errored + left == total
    assert api.told[-1] == ("", batch.end)
    assert [end for name, end in api.told if not name] == [batch.end]
    if batch.end == "completed" and total > 8 and shuffled:
        assert told != names
