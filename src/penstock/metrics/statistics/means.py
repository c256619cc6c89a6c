"""Means with limits, also where items hang together.

Items of one cluster, such as paraphrases of one question or the items of one dataset, tell less
than as many independent ones. The cluster-robust error sums the deviations within each cluster
first: with clusters of one it is the plain error, and it grows with what the items of a cluster
share. Few clusters (below about 20) make it too small, which the t quantile for clusters - 1
degrees of freedom mends in part.

Definitions: K.-Y. Liang and S. Zeger (1986), with the usual factor G / (G - 1); for evaluations E.
Miller, Adding Error Bars to Evals (2024). Cohen's d of paired data is d_z of D. Lakens (2013).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from penstock.errors import InputError
from penstock.metrics.statistics.interval import (
    Interval,
    check_level,
    moments,
    number,
    present,
)
from penstock.metrics.statistics.student import t_quantile

__all__ = [
    "Cluster",
    "clustered_error",
    "clustered_interval",
    "cohens_d",
    "gather",
    "mean_interval",
]


class Cluster(NamedTuple):
    """What the mean needs to know of a cluster."""

    total: float
    size: int


def mean_interval(
    values: Iterable[float | None],
    *,
    level: float = 0.95,
    within: tuple[float, float] | None = None,
) -> Interval:
    """The mean with limits by Student's t; `within` is the range that the values can have.

    None is a missing value: it is left out and not counted.
    """
    found = moments(present(values))
    made = _limited(found.n, found.mean, found.error, level, "value")
    return made if within is None else made.clipped(*within)


def clustered_error(values: Iterable[float | None], clusters: Iterable[Hashable]) -> float | None:
    """The cluster-robust standard error of the mean; None with fewer than two clusters."""
    return _error(gather(values, clusters))


def clustered_interval(
    values: Iterable[float | None],
    clusters: Iterable[Hashable],
    *,
    level: float = 0.95,
    within: tuple[float, float] | None = None,
) -> Interval:
    """The mean over all items with limits that allow for clusters; n counts the clusters."""
    gathered = gather(values, clusters)
    made = _limited(len(gathered), _mean(gathered), _error(gathered), level, "cluster")
    return made if within is None else made.clipped(*within)


def cohens_d(differences: Iterable[float | None]) -> float | None:
    """The mean of paired differences in units of their standard deviation (d_z).

    None where they do not spread, or there are fewer than two.
    """
    found = moments(present(differences))
    return found.mean / found.deviation if found.mean is not None and found.deviation else None


def gather(values: Iterable[float | None], clusters: Iterable[Hashable]) -> list[Cluster]:
    """The clusters that have values, in an order that does not depend on that of the items."""
    found: dict[Hashable, list[float]] = {}
    try:
        for at, (value, cluster) in enumerate(zip(values, clusters, strict=True)):
            if value is not None:
                found.setdefault(cluster, []).append(number(value, at))
    except ValueError:
        raise InputError("there are not as many clusters as values") from None
    return sorted(Cluster(math.fsum(each), len(each)) for each in found.values())


def _mean(clusters: Sequence[Cluster]) -> float | None:
    count = sum(cluster.size for cluster in clusters)
    return math.fsum(cluster.total for cluster in clusters) / count if count else None


def _error(clusters: Sequence[Cluster]) -> float | None:
    mean, groups = _mean(clusters), len(clusters)
    if mean is None or groups < 2:
        return None
    if len({total / size for total, size in clusters}) == 1:
        return 0.0
    squares = math.fsum((total - size * mean) ** 2 for total, size in clusters)
    count = sum(cluster.size for cluster in clusters)
    return math.sqrt(squares * groups / (groups - 1)) / count


def _limited(n: int, mean: float | None, error: float | None, level: float, what: str) -> Interval:
    check_level(level)
    method = "t" if what == "value" else "t, clustered"
    if mean is None:
        return Interval(None, None, None, level, method, 0, "there are no values")
    if error is None:
        return Interval(mean, None, None, level, method, n, f"one {what} tells nothing of others")
    half = t_quantile(level, n - 1) * error
    note = "" if error else f"all {what}s are equal"
    return Interval(mean, mean - half, mean + half, level, method, n, note)
