"""How often a question came before: like a Counter, in a fraction of its memory."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from penstock.generate.occurrences import Occurrences

KEYS = st.integers(0, 40).map(lambda number: b"\x01" + bytes(8) + number.to_bytes(8, "big"))


@given(st.lists(st.one_of(KEYS, st.binary(min_size=17, max_size=17)), max_size=300))
def test_it_counts_as_a_counter_does(keys: list[bytes]) -> None:
    occurrences, counter = Occurrences(), Counter[bytes]()
    # The last eight bytes tell keys apart; nothing but zeros counts as the number one.
    short = [int.from_bytes(key[-8:], "little") or 1 for key in keys]
    for key, mark in zip(keys, short, strict=True):
        name = mark.to_bytes(8, "big")
        assert occurrences.next(key) == counter[name]
        counter[name] += 1


def test_it_counts_beyond_the_first_table() -> None:
    occurrences = Occurrences()
    keys = [sha256(b"%d" % number).digest()[:17] for number in range(50_000)]
    assert not any(occurrences.next(key) for key in keys)
    assert all(occurrences.next(key) == 1 for key in keys)
    assert occurrences.next(keys[7]) == 2


def test_its_memory_is_bounded_also_while_it_grows() -> None:
    keys = [sha256(b"%d" % number).digest()[:17] for number in range(200_000)]
    tracemalloc.start()
    occurrences = Occurrences()
    for key in keys:
        occurrences.next(key)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak / len(keys) < 8 * 2 / 0.6 + 1
