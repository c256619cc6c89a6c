"""Metrics by their names: the built-in ones, a package's and one's own through the same door."""

from __future__ import annotations

import inspect
from typing import Any

from penstock import plugins
from penstock.endpoint import Endpoint
from penstock.errors import InputError
from penstock.metrics.function import FunctionMetric
from penstock.metrics.metric import JudgeMetric, Metric

__all__ = ["asks_judge", "find_judged", "find_metric", "metric_names"]


def metric_names() -> list[str]:
    """Every name that `find_metric` knows."""
    return sorted(plugins.names("metric"))


def asks_judge(name: str) -> bool:
    """Whether a metric asks a model, with which it is made; one that is ready made has its own."""
    thing = plugins.find("metric", name)
    return isinstance(thing, type) and issubclass(thing, JudgeMetric)


def find_judged(name: str, judge: Endpoint | None, remedy: str, **parameters: Any) -> Metric:
    """The same as `find_metric`, with its judge where it asks one; else an error that says what to
    do about it."""
    if not asks_judge(name):
        return find_metric(name, **parameters)
    if "endpoint" in parameters:
        raise InputError(
            f"the metric {name!r} has an endpoint among its parameters",
            remedy="Name its judge instead.",
        )
    if judge is None:
        raise InputError(f"the metric {name!r} asks a model, and no judge is named", remedy=remedy)
    return find_metric(name, endpoint=judge, **parameters)


def find_metric(name: str, **parameters: Any) -> Metric:
    """The metric of that name, made with its parameters.

    What is registered may be a class, a metric already made, or a plain function of an answer and
    a target, whose parameters are those of `FunctionMetric`.
    """
    thing = plugins.find("metric", name)
    if isinstance(thing, Metric):
        if parameters:
            raise InputError(
                f"the metric {name!r} was registered ready made and takes no parameters",
                remedy="Register its class instead, to give them here.",
            )
        return thing
    if isinstance(thing, type):
        if not issubclass(thing, Metric):
            raise InputError(
                f"the metric {name!r} is the class {thing.__name__}, which is no Metric",
                remedy="Derive it from penstock.metrics.Metric.",
            )
        _check_parameters(thing, name, parameters)
        return thing(**parameters)
    if callable(thing):
        parameters = {"name": name, **parameters}
        _check_parameters(FunctionMetric, name, {"function": thing, **parameters})
        return FunctionMetric(thing, **parameters)
    raise InputError(f"the metric {name!r} is of type {type(thing).__name__}, which cannot score")


def _check_parameters(made: type[Metric], name: str, parameters: dict[str, Any]) -> None:
    """Told before the constructor runs, so that an error inside of it stays its own."""
    signature = inspect.signature(made)
    try:
        signature.bind(**parameters)
    except TypeError as error:
        known = ", ".join(each for each in signature.parameters if each != "function")
        raise InputError(
            f"the metric {name!r} cannot be made: {error}",
            remedy=f"It takes: {known}." if known else "It takes no parameters.",
        ) from None
