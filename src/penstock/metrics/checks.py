"""Parameters of metrics, checked when a metric is made: what is wrong is said before any work."""

from __future__ import annotations

from penstock.errors import InputError
from penstock.metrics.metric import Metric

__all__ = ["check_choice", "check_flags", "check_whole"]


def check_flags(metric: Metric, *names: str) -> None:
    """Each of these is True or False."""
    for name in names:
        value = getattr(metric, name)
        if not isinstance(value, bool):
            raise InputError(f"{name} of {metric.name} is {value!r}; True or False is wanted")


def check_whole(metric: Metric, name: str, least: int, most: int) -> None:
    """A whole number within bounds."""
    value = getattr(metric, name)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(
            f"{name} of {metric.name} is {value!r}; a whole number from {least} to {most} is wanted"
        )


def check_choice(metric: Metric, name: str, *known: str) -> None:
    """One of a few words."""
    value = getattr(metric, name)
    if not isinstance(value, str) or value not in known:
        raise InputError(
            f"{name} of {metric.name} is {value!r}", remedy=f"Known are {', '.join(known)}."
        )
