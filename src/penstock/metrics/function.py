"""A plain function as a metric: `(answer, target) -> number or bool`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from penstock.errors import InputError
from penstock.metrics.metric import Direction, Measured, Metric, Need, check_declared
from penstock.metrics.score import Sample

__all__ = ["FunctionMetric"]

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class FunctionMetric(Metric):
    """A function of an answer, or of an answer and a target.

    Say the range and the direction where they are not 0 to 1 and higher: a value outside of it is
    an error in its row. Of several targets the best value counts.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str = "",
        summary: str = "",
        low: float = 0.0,
        high: float = 1.0,
        direction: Direction = "higher",
        version: int = 1,
    ) -> None:
        called = getattr(function, "__name__", type(function).__name__)
        self.name = name or called
        self.summary = summary or (inspect.getdoc(function) or "").partition("\n")[0]
        self.low, self.high, self.direction, self.version = low, high, direction, version
        check_declared(self)
        takes = _arguments(function, self.name)
        self.needs: frozenset[Need] = frozenset({"target"} if takes == 2 else ())
        self._function = function
        self._called = called

    @property
    def parameters(self) -> dict[str, Any]:
        return {"function": self._called}

    def measure(self, answer: str, sample: Sample) -> Measured:
        if not self.needs:
            return self._call(answer)
        scores = [self._checked(self._call(answer, target)) for target in sample.targets]
        values = [score.value for score in scores if score.value is not None]
        if not values:
            return scores[0]
        best = self.best(values)
        return next(score for score in scores if score.value == best)

    def _call(self, *arguments: str) -> Measured:
        made: Any = self._function(*arguments)
        if inspect.iscoroutine(made):
            made.close()
            raise TypeError(f"{self.name} is asynchronous; a metric's function is not")
        value: Measured = made
        return value


def _arguments(function: Callable[..., Any], name: str) -> int:
    """How many arguments a function is called with: 1 or 2."""
    if not callable(function) or inspect.iscoroutinefunction(function):
        raise InputError(f"{name} is no plain function and cannot be a metric")
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some built-in functions do not tell
        return 2
    plain = [each for each in parameters if each.kind in _POSITIONAL]
    needed = sum(each.default is inspect.Parameter.empty for each in plain)
    forced = any(
        each.kind is each.KEYWORD_ONLY and each.default is each.empty for each in parameters
    )
    several = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    if forced or needed > 2 or not (plain or several):
        raise InputError(
            f"the function {name} cannot be called as {name}(answer, target)",
            remedy="A metric's function takes an answer, or an answer and a target.",
        )
    return 2 if several or needed == 2 else 1 if needed == 1 else min(len(plain), 2)
