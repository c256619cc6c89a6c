"""The life of a batch: one small machine."""

from __future__ import annotations

from enum import StrEnum

from penstock.errors import PenstockError

__all__ = ["BatchEvent", "BatchState", "advance"]


class BatchState(StrEnum):
    """Where a batch stands, as far as it is known here."""

    UNSUBMITTED = "unsubmitted"
    SUBMITTED = "submitted"
    FINISHED = "finished"
    DOWNLOADED = "downloaded"
    TO_RESUBMIT = "to resubmit"

    @property
    def open(self) -> bool:
        return self is not BatchState.DOWNLOADED


class BatchEvent(StrEnum):
    """What can happen to it."""

    ACCEPTED = "accepted"
    """The provider has it; its name is known."""
    ENDED = "ended"
    """There are results, of all of it or of a part."""
    REFUSED = "refused"
    """Nothing of it was done, and nothing will be."""
    PUT_OFF = "put off"
    """Too much is under way there, or it is gone: submit it again, later."""
    COLLECTED = "collected"
    """Every result is in the journal."""
    NOT_OURS = "not ours"
    """What had been taken for it holds other questions."""
    AGAIN = "again"
    """The time to submit it again has come."""


_S, _E = BatchState, BatchEvent
_NEXT = {
    (_S.UNSUBMITTED, _E.ACCEPTED): _S.SUBMITTED,
    (_S.UNSUBMITTED, _E.REFUSED): _S.DOWNLOADED,
    (_S.UNSUBMITTED, _E.PUT_OFF): _S.TO_RESUBMIT,
    (_S.SUBMITTED, _E.ENDED): _S.FINISHED,
    (_S.SUBMITTED, _E.REFUSED): _S.DOWNLOADED,
    (_S.SUBMITTED, _E.PUT_OFF): _S.TO_RESUBMIT,
    (_S.FINISHED, _E.COLLECTED): _S.DOWNLOADED,
    (_S.FINISHED, _E.NOT_OURS): _S.UNSUBMITTED,
    (_S.FINISHED, _E.PUT_OFF): _S.TO_RESUBMIT,
    (_S.TO_RESUBMIT, _E.AGAIN): _S.UNSUBMITTED,
}


def advance(state: BatchState, event: BatchEvent) -> BatchState:
    """The next state, if the machine allows it."""
    try:
        return _NEXT[state, event]
    except KeyError:
        raise PenstockError(f"a batch that is {state} cannot be {event}") from None
