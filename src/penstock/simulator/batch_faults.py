"""Bad days of batches: what a batch, its lines, or the requests around it may meet.

Which ones meet a fault depends on the seed and on their numbers: the batch's and the line's for
what happens inside of a batch, the request's own for what happens on the wire. What happens inside
is settled when the batch is made; a later one with the same lines has other luck.
"""

from __future__ import annotations

from typing import NamedTuple

from penstock.errors import InputError
from penstock.simulator.dice import unit

__all__ = ["BATCH_KINDS", "BatchFaults"]

BATCH_KINDS = {
    "failed": ("batches", "the whole batch fails when it is validated"),
    "expired": ("lines", "the batch expires with this share of its lines undone"),
    "shuffled": ("batches", "the results come in another order than the requests"),
    "error": ("lines", "the line fails with a server's error (500)"),
    "wrong_schema": ("lines", "the answer does not fit its schema"),
    "missing": ("lines", "the line is answered, but the results leave it out"),
    "duplicate": ("lines", "the results have the line twice"),
    "unknown": ("lines", "the results have a line more, with an id that nobody sent"),
    "poll": ("polls", "a look at a batch, or at the list of them, gets 500"),
    "lost": ("creations", "the batch is made, but the connection closes without an answer"),
    "cut": ("results", "the first download closes half-way; the next one is whole"),
}
_SALTS = {kind: 100 + place for place, kind in enumerate(BATCH_KINDS)}


class BatchFaults(NamedTuple):
    """The share of each kind that is set."""

    shares: dict[str, float]
    seed: int = 0

    @classmethod
    def read(cls, text: str, seed: int = 0) -> BatchFaults:
        """Understand `error:0.1,missing:0.05`, or say what is allowed."""
        shares: dict[str, float] = {}
        for part in filter(None, (piece.strip() for piece in text.split(","))):
            kind, _, told = part.partition(":")
            if kind not in BATCH_KINDS:
                raise InputError(
                    f"batch_faults: {kind!r} is no kind of fault",
                    remedy=f"Allowed: {', '.join(BATCH_KINDS)}.",
                )
            shares[kind] = _share(part, told)
        return cls(shares, seed)

    def strikes(self, kind: str, number: int, line: int = 0) -> bool:
        """Whether the nth of its kind, or a line of the nth, meets a fault."""
        share = self.shares.get(kind)
        return bool(share) and unit(self.seed + line, number, _SALTS[kind]) < (share or 0)

    def share(self, kind: str) -> float:
        """The share itself, where it is the size of the fault."""
        return self.shares.get(kind, 0.0)


def _share(part: str, text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InputError(
            f"batch_faults: {part!r} has no share from 0 to 1",
            remedy="Write KIND:SHARE, as in missing:0.05.",
        )
    return share
