"""What the server saw, every request of it, written down before any fault can strike.

The ledger is the judge in tests of other rooms, so it must not depend on their honesty. It is
kept as columns (about a hundred bytes a request) because a run may have a million of them. With
a file, a line goes out when a request arrives and another when it is done, unbuffered, so that
the record survives a kill. The key of a request is never written, only whether there was one.
"""

from __future__ import annotations

import time
from array import array
from bisect import bisect_left
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from penstock.errors import InputError

__all__ = ["Ledger"]

_MASK = 0xFFFFFFFFFFFFFFFF


class Ledger:
    """The columns, and the counts that the summary shows."""

    def __init__(self, file: BinaryIO | None = None) -> None:
        self._file = file
        self._arrived = array("d")
        self._answered = array("d")
        self._digests = bytearray()
        self._samples = array("q")
        self._names = array("I")
        self._status = array("H")
        self._faults = array("H")
        self._prompt = array("L")
        self._completion = array("L")
        self._flags = bytearray()
        self._kinds: list[tuple[str, str, str, str]] = []
        self._kind_ids: dict[tuple[str, str, str, str], int] = {}
        self._line_numbers = array("Q")
        self._line_ends = array("Q")
        self._line_ids = bytearray()
        self._fault_names = [""]
        self._seen: set[int] = set()
        self.repeated = 0
        self.in_flight = 0
        self.max_in_flight = 0
        self.rejected = 0

    @classmethod
    def open(cls, path: str | None) -> Ledger:
        """A ledger that also appends to a file, if one is named."""
        if path is None:
            return cls()
        try:
            return cls(Path(path).open("ab", buffering=0))
        except OSError as error:
            raise InputError(f"ledger: cannot write {path}: {error.strerror}") from None

    def fresh(self) -> Ledger:
        """An empty ledger for the same file. What is in flight ends in the old one."""
        return Ledger(self._file)

    def __len__(self) -> int:
        return len(self._arrived)

    def errand(self, method: str, path: str, auth: bool) -> int:
        """Write down a request around a batch: no question to a model, and never a repetition."""
        return self.arrive(method, path, "", _NO_DIGEST, 0, _ERRAND | auth)

    def line(
        self, path: str, model: str, digest: bytes, sample: int, batch: str, custom_id: str
    ) -> int:
        """Write down a request that a batch brought."""
        self._line_numbers.append(len(self) + 1)
        self._line_ids += custom_id.encode("utf-8", "replace")
        self._line_ends.append(len(self._line_ids))
        return self.arrive("POST", path, model, digest, sample, True, batch)

    def arrive(
        self,
        method: str,
        path: str,
        model: str,
        digest: bytes,
        sample: int,
        flags: int,
        batch: str = "",
    ) -> int:
        """Write a request down; its number counts from 1. `flags` is whether it had a key."""
        kind = (method, path, model, batch)
        kind_id = self._kind_ids.get(kind)
        if kind_id is None:
            kind_id = self._kind_ids[kind] = len(self._kinds)
            self._kinds.append(kind)
        self._arrived.append(time.time())
        self._answered.append(0.0)
        self._digests += digest
        self._samples.append(sample)
        self._names.append(kind_id)
        self._status.append(0)
        self._faults.append(0)
        self._prompt.append(0)
        self._completion.append(0)
        self._flags.append(flags)
        if digest != _NO_DIGEST:
            mark = int.from_bytes(digest[:8], "big") ^ (sample * 0x9E3779B97F4A7C15 & _MASK)
            if mark in self._seen:
                self.repeated += 1
                self._flags[-1] |= _REPEATED
            else:
                self._seen.add(mark)
        self.in_flight += 1
        if self.in_flight > self.max_in_flight:
            self.max_in_flight = self.in_flight
        number = len(self._arrived)
        if self._file is not None:
            self._file.write(orjson.dumps(self._entry(number - 1)) + b"\n")
        return number

    def fault(self, number: int, name: str) -> None:
        """Note that a request was met with a fault."""
        if name not in self._fault_names:
            self._fault_names.append(name)
        self._faults[number - 1] = self._fault_names.index(name)

    def finish(
        self, number: int, status: int, complete: bool, prompt: int = 0, completion: int = 0
    ) -> None:
        """Note how a request ended; status 0 means that nothing was answered."""
        index = number - 1
        self._answered[index] = time.time()
        self._status[index] = status
        self._prompt[index] = prompt
        self._completion[index] = completion
        self._flags[index] |= _DONE | (_COMPLETE if complete else 0)
        self.in_flight -= 1
        if self._file is not None:
            self._file.write(orjson.dumps(self._entry(index)) + b"\n")

    def entries(self, since: int = 0, limit: int = 100_000) -> list[dict[str, Any]]:
        """The requests after number `since`, at most `limit` of them."""
        stop = min(len(self), since + limit)
        return [self._entry(index) for index in range(max(0, since), stop)]

    def _entry(self, index: int) -> dict[str, Any]:
        method, path, model, batch = self._kinds[self._names[index]]
        flags = self._flags[index]
        digest = bytes(self._digests[index * 32 : index * 32 + 32])
        return {
            "number": index + 1,
            "time": self._arrived[index],
            "method": method,
            "path": path,
            "digest": digest.hex() if digest != _NO_DIGEST else "",
            "sample": self._samples[index],
            "model": model,
            "lane": "batch" if batch else "" if flags & _ERRAND else "online",
            "batch": batch,
            "custom_id": self._custom_id(index + 1) if batch else "",
            "authorization": bool(flags & _AUTH),
            "repeated": bool(flags & _REPEATED),
            "status": self._status[index],
            "fault": self._fault_names[self._faults[index]],
            "prompt_tokens": self._prompt[index],
            "completion_tokens": self._completion[index],
            "done": bool(flags & _DONE),
            "complete": bool(flags & _COMPLETE),
            "answered_at": self._answered[index] or None,
        }

    def _custom_id(self, number: int) -> str:
        place = bisect_left(self._line_numbers, number)
        start = self._line_ends[place - 1] if place else 0
        return self._line_ids[start : self._line_ends[place]].decode()

    def summary(self) -> dict[str, Any]:
        """The counts of everything since the start or the last reset."""
        by_status = {str(status): self._status.count(status) for status in set(self._status)}
        by_fault = {
            name: self._faults.count(index)
            for index, name in enumerate(self._fault_names)
            if name and self._faults.count(index)
        }
        prompt, completion = sum(self._prompt), sum(self._completion)
        harmless = {self._fault_names.index(n) for n in _HARMLESS if n in self._fault_names}
        whole = sum(
            status == 200 and flags & (_COMPLETE | _ERRAND) == _COMPLETE and fault in harmless
            for status, flags, fault in zip(self._status, self._flags, self._faults, strict=True)
        )
        return {
            "requests": len(self),
            "answered": whole,
            "lines": len(self._line_numbers),
            "errands": sum(flags & _ERRAND != 0 for flags in self._flags),
            "by_status": dict(sorted(by_status.items())),
            "by_fault": dict(sorted(by_fault.items())),
            "distinct": len(self._seen),
            "repeated": self.repeated,
            "tokens": prompt + completion,
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "in_flight": self.in_flight,
            "max_in_flight": self.max_in_flight,
            "rejected": self.rejected,
        }

    def close(self) -> None:
        """Close the file, if there is one."""
        if self._file is not None:
            self._file.close()


_AUTH, _REPEATED, _DONE, _COMPLETE, _ERRAND = 1, 2, 4, 8, 16
_NO_DIGEST = bytes(32)
_HARMLESS = ("", "slow_body", "wrong_schema", "duplicate", "unknown")
