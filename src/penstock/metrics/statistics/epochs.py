"""Several samples of one item as one value: the reducers of repeated runs.

    reducer("pass@3")([0, 1, 0, 0, 1])          # 0.9

A missing sample (None) is left out, and the value is None where what is there cannot decide it.

Definitions: pass@k by M. Chen et al., Evaluating Large Language Models Trained on Code (2021): the
chance that at least one of k samples passes; pass^k by S. Yao et al., tau-bench (2024): the chance
that all k do. Both are unbiased: they count the ways to take k of the samples, where raising the
share to a power would be too low for the one and too high for the other.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

from penstock.errors import InputError
from penstock.metrics.statistics.interval import check_count, moments, number, present

__all__ = ["Reducer", "at_least", "mode", "pass_all_k", "pass_at_k", "reducer"]

Reducer = Callable[[Sequence[float | None]], float | None]
_NAME = re.compile(r"(pass@|pass\^|at_least[ _]?)\(?(\d+)\)?")


def pass_at_k(n: int, passed: int, k: int) -> float:
    """The chance that at least one of k samples passes, where `passed` of n did."""
    _check(n, passed, k)
    return 1 - math.comb(n - passed, k) / math.comb(n, k)


def pass_all_k(n: int, passed: int, k: int) -> float:
    """The chance that all of k samples pass (pass^k), where `passed` of n did."""
    _check(n, passed, k)
    return math.comb(passed, k) / math.comb(n, k)


def at_least(samples: Sequence[float | None], k: int, *, passing: float = 1.0) -> float | None:
    """1 if k samples or more reach `passing`, else 0; None if missing ones would decide."""
    passed = _passed(samples, passing)
    if passed >= check_count("k", k, 1):
        return 1.0
    missing = sum(sample is None for sample in samples)
    return 0.0 if samples and passed + missing < k else None


def mode(samples: Sequence[float | None]) -> float | None:
    """The most frequent value. Of several the lowest: an even vote is not a success."""
    counts = Counter(present(samples))
    most = max(counts.values(), default=0)
    return min((value for value, times in counts.items() if times == most), default=None)


def reducer(name: str, *, passing: float = 1.0) -> Reducer:
    """By its name: mean, median, mode, max, min, at_least(k), pass@k or pass^k.

    A sample passes if its value is `passing` or more. With fewer than k samples there is no pass@k
    and no pass^k: None.
    """
    if found := _PLAIN.get(name):
        return found
    match = _NAME.fullmatch(name)
    if match is None or not int(match[2]):
        known = ", ".join([*_PLAIN, "at_least(k)", "pass@k", "pass^k"])
        raise InputError(f"there is no reducer {name!r}", remedy=f"There are: {known}.")
    kind, k = match[1], int(match[2])
    number(passing, "passing")
    if kind.startswith("at_least"):
        return lambda samples: at_least(samples, k, passing=passing)
    chance = pass_at_k if kind == "pass@" else pass_all_k

    def reduce(samples: Sequence[float | None]) -> float | None:
        n = len(present(samples))
        return chance(n, _passed(samples, passing), k) if n >= k else None

    return reduce


def _passed(samples: Sequence[float | None], passing: float) -> int:
    return sum(value >= passing for value in present(samples))


def _median(samples: Sequence[float | None]) -> float | None:
    values = sorted(present(samples))
    if not values:
        return None
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


_PLAIN: dict[str, Reducer] = {
    "mean": lambda samples: moments(present(samples)).mean,
    "median": _median,
    "mode": mode,
    "max": lambda samples: max(present(samples), default=None),
    "min": lambda samples: min(present(samples), default=None),
}


def _check(n: int, passed: int, k: int) -> None:
    check_count("passed", passed)
    if passed > check_count("n", n):
        raise InputError(f"{passed} samples passed among {n}")
    if check_count("k", k, 1) > n:
        raise InputError(
            f"{n} samples do not tell what {k} would do", remedy=f"Take k = {n} or draw more."
        )
