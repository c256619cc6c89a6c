"""Telling an endpoint that is down from a question that failed.

While an endpoint as a whole fails, asking it again and again helps nobody: admission pauses, one
probe goes out now and then, and no attempt is counted against any row. It is over with the first
answer; only after `patience` do the rows fail.
"""

from __future__ import annotations

from penstock.outcome import FailureKind

__all__ = ["Outage"]

_SIGNS = frozenset(
    {
        FailureKind.CONNECTION,
        FailureKind.TIMEOUT,
        FailureKind.SERVER,
        FailureKind.OVERLOADED,
    }
)
_OURS = frozenset({FailureKind.CANCELLED, FailureKind.INTERNAL})
_ENOUGH = 10
_UNREACHED = 3  # in a row, where somebody answered before: no question is to blame for that
_STRANGER = 60.0  # patience with an endpoint that has never answered: is the address right?
_FEW = 0.4
_FIRST_PROBE = 0.5
_LONGEST = 5.0
_LONGEST_SAID = 60.0  # that a Retry-After may put off a probe


class Outage:
    """Whether an endpoint is down. Pure: told the time, asks nobody.

    What had been sent before the first failure proves nothing either way. Of what was sent after
    it, nearly all must have failed: where some merely fail fast, the others are still on their way.
    While only failures come back, no more than is needed to tell goes out.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._first: float | None = None
        self._sent = 0
        self._failed = 0
        self._in_a_row = 0
        self._unreached = 0
        self.known = False
        self._since: float | None = None
        self._next_probe = 0.0
        self._pause = _FIRST_PROBE
        self._probing = False
        self.count = 0

    @property
    def down(self) -> bool:
        return self._since is not None

    @property
    def suspects(self) -> bool:
        """Whether the last word of the endpoint was a failure."""
        return self._first is not None

    def sent(self) -> None:
        """A question goes out."""
        if self._first is not None:
            self._probing |= self.down
            self._sent += 1

    def failed(
        self, kind: FailureKind | None, sent_at: float, now: float, retry_after: float = 0.0
    ) -> None:
        """A question came back without an answer."""
        if kind in _OURS:
            self.returned()
            return
        if kind not in _SIGNS:  # the server spoke
            self.answered(sent_at)
            return
        self._in_a_row += 1
        self._unreached = self._unreached + 1 if kind is FailureKind.CONNECTION else 0
        retry_after = min(retry_after, _LONGEST_SAID)
        if self._first is None:
            self._first, self._sent, self._failed = now, 0, 0
        elif sent_at >= self._first:
            self._failed += 1
        if self._since is not None:
            if self._probing and sent_at > self._since:
                self._probe_later(now, max(retry_after, min(_LONGEST, self._pause * 2)))
        elif self._enough and self._sent - self._failed <= _FEW * self._failed:
            self._since = now
            self.count += 1
            self._probe_later(now, max(retry_after, _FIRST_PROBE))

    def answered(self, sent_at: float) -> bool:
        """An answer came; True when it ends an outage."""
        self._in_a_row = self._unreached = 0
        self.known = True
        if self._first is None or sent_at < self._first:
            return False
        was_down = self.down
        self._first = self._since = None
        self._probing = False
        return was_down

    def returned(self) -> None:
        """A question came back unsent, or nobody knows what became of it."""
        self._probing = False

    @property
    def suspected(self) -> bool:
        """Whether to wait for what is on its way before sending more."""
        return self._in_a_row >= _ENOUGH and self._sent >= _ENOUGH

    @property
    def _enough(self) -> bool:
        return self._failed >= _ENOUGH or (self.known and self._unreached >= _UNREACHED)

    def _probe_later(self, now: float, pause: float) -> None:
        self._probing = False
        self._pause = pause
        self._next_probe = now + pause

    def probe_in(self, now: float) -> float | None:
        """Seconds until a probe may go; None while one is out."""
        return None if self._probing else max(0.0, self._next_probe - now)

    def lasted(self, now: float) -> float:
        """Seconds since it began."""
        return 0.0 if self._since is None else now - self._since

    def over_patience(self, now: float) -> bool:
        """Whether it is time to give up."""
        patience = self._patience if self.known else min(self._patience, _STRANGER)
        return self._since is not None and now - self._since >= patience
