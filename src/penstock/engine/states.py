"""The states of a run: one small machine, and the exit codes that follow from it."""

from __future__ import annotations

from enum import StrEnum

from penstock.errors import Exit, PenstockError

__all__ = ["RunState", "advance", "exit_code"]


class RunState(StrEnum):
    """What a run is doing, or how it ended."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    COMPLETED_WITH_FAILURES = "completed with failures"
    WAITING = "waiting"
    """For batches that lie at a provider; nobody here is at work."""
    STOPPED = "stopped"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def ended(self) -> bool:
        return self not in (RunState.PENDING, RunState.RUNNING)


_ENDS = frozenset(state for state in RunState if state.ended)
# Any run may be taken up again: what it had done is found in the journal.
_ALLOWED = {
    RunState.PENDING: frozenset({RunState.RUNNING, RunState.CANCELLED, RunState.FAILED}),
    RunState.RUNNING: _ENDS | {RunState.RUNNING},
    **{state: frozenset({RunState.RUNNING}) for state in _ENDS},
}
_EXITS = {
    RunState.PENDING: Exit.FAULT,
    RunState.RUNNING: Exit.FAULT,
    RunState.COMPLETED: Exit.OK,
    RunState.COMPLETED_WITH_FAILURES: Exit.FAILURES,
    RunState.WAITING: Exit.SUBMITTED,
    RunState.STOPPED: Exit.STOPPED,
    RunState.CANCELLED: Exit.CANCELLED,
    RunState.FAILED: Exit.FAULT,
}


def advance(state: RunState, to: RunState) -> RunState:
    """The next state, if the machine allows it."""
    if to not in _ALLOWED[state]:
        raise PenstockError(f"a run that is {state} cannot become {to}")
    return to


def exit_code(state: RunState) -> Exit:
    """How the shell ends after a run in this state."""
    return _EXITS[state]
