"""Metrics by name: classes, ready ones and plain functions, through one door."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Any

import pytest

import penstock
from penstock import metrics, plugins
from penstock.errors import InputError, NotFoundError
from penstock.metrics import (
    Bleu,
    FunctionMetric,
    Metric,
    Sample,
    ScoreStatus,
    find_metric,
    metric_names,
)
from penstock.metrics.metric import Measured
from tests.metrics.builtin import BUILT_IN


@pytest.fixture(autouse=True)
def _tidy() -> Iterator[None]:
    before = dict(plugins._registered)
    yield
    plugins._registered.clear()
    plugins._registered.update(before)


class Mine(Metric):
    name = "mine"

    def __init__(self, least: int = 3) -> None:
        self.least = least

    def measure(self, answer: str, sample: Sample) -> Measured:
        return len(answer) >= self.least


def test_a_registered_class_is_made_with_its_parameters() -> None:
    penstock.register("metric", "mine", Mine)
    assert "mine" in metric_names()
    metric = find_metric("mine", least=5)
    assert metric.parameters == {"least": 5}
    assert [metric.score(Sample(text)).value for text in ("1234", "12345")] == [0.0, 1.0]


def test_a_wrong_parameter_is_told_with_the_right_ones() -> None:
    penstock.register("metric", "mine", Mine)
    with pytest.raises(InputError, match=r"(?s)'mine'.*'most'.*It takes: least"):
        find_metric("mine", most=5)


def test_an_error_inside_a_constructor_stays_its_own() -> None:
    class Broken(Mine):
        def __init__(self) -> None:
            raise TypeError("mine alone")

    penstock.register("metric", "broken", Broken)
    with pytest.raises(TypeError, match="mine alone"):
        find_metric("broken")


def test_a_ready_metric_is_given_as_it_is_and_takes_no_parameters() -> None:
    ready = Mine(7)
    penstock.register("metric", "ready", ready)
    assert find_metric("ready") is ready
    with pytest.raises(InputError, match="ready made"):
        find_metric("ready", least=3)


def test_a_plain_function_is_wrapped_with_a_name_a_range_and_a_direction() -> None:
    def gap(answer: str, target: str) -> int:
        """Difference in length.

        More words.
        """
        return abs(len(answer) - len(target))

    penstock.register("metric", "gap", gap)
    metric = find_metric("gap", high=100, direction="lower")
    assert isinstance(metric, FunctionMetric)
    assert (metric.name, metric.summary) == ("gap", "Difference in length.")
    assert metric.describe()["parameters"] == {"function": "gap"}
    assert metric.needs == {"target"}
    assert metric.score(Sample("abc", ["a", "ab"])).value == 1.0, "the best of the targets"
    assert metric.score(Sample("abc")).status is ScoreStatus.ERROR
    with pytest.raises(InputError, match="'worst'"):
        find_metric("gap", worst=1)


def test_of_several_targets_one_that_cannot_be_measured_does_not_count() -> None:
    def share(answer: str, target: str) -> float:
        return len(answer) / len(target)

    metric = FunctionMetric(share)
    assert metric.score(Sample("a", ["", "ab"])).reason.startswith("ZeroDivisionError")
    assert metric.score(Sample("abc", ["ab", "abcd"])).value == 0.75, "1.5 is out of range"
    assert metric.score(Sample("abc", ["ab", "a"])).status is ScoreStatus.ERROR


def test_a_function_of_the_answer_alone_needs_no_target() -> None:
    metric = FunctionMetric(str.isupper, name="shouting")
    assert metric.needs == frozenset()
    assert metric.score(Sample("HELLO")).value == 1.0


async def _later(answer: str, target: str) -> float:
    return 1.0


@pytest.mark.parametrize("function", [_later, lambda: 1, lambda a, b, c: 1, lambda a, *, k: 1, 3])
def test_what_cannot_be_called_with_an_answer_and_a_target_is_refused(function: Any) -> None:
    with pytest.raises(InputError):
        FunctionMetric(function)


def test_a_coroutine_that_comes_back_is_an_error_and_is_closed() -> None:
    score = FunctionMetric(lambda answer, target: _later(answer, target)).score(Sample("a", "b"))
    assert "asynchronous" in score.reason


def test_what_is_no_metric_is_refused() -> None:
    penstock.register("metric", "odd", dict)
    with pytest.raises(InputError, match="no Metric"):
        find_metric("odd")
    penstock.register("metric", "odd", 3)
    with pytest.raises(InputError, match="int"):
        find_metric("odd")
    with pytest.raises(NotFoundError):
        find_metric("no_such_metric_at_all")


@pytest.mark.parametrize(("name", "where"), BUILT_IN.items())
def test_every_built_in_metric_is_where_its_entry_point_says(name: str, where: str) -> None:
    made = EntryPoint(name, where, "penstock.metrics").load()
    assert issubclass(made, Metric)
    assert made.name == name
    assert made.summary.endswith(".")
    assert "\n" not in made.summary


def test_every_metric_that_is_written_is_registered_and_shown_by_the_face() -> None:
    written = {
        f"{thing.__module__}:{thing.__name__}"
        for room in pkgutil.iter_modules(metrics.__path__, f"{metrics.__name__}.")
        for thing in vars(import_module(room.name)).values()
        if inspect.isclass(thing) and issubclass(thing, Metric) and thing.__module__ == room.name
        if not inspect.isabstract(thing) and not thing.__name__.startswith("_")
    }
    bases = {f"penstock.metrics.judges:{name}" for name in ("RubricJudge", "VerdictJudge")}
    written -= bases | {"penstock.metrics.function:FunctionMetric"}
    assert written == set(BUILT_IN.values())
    assert {where.partition(":")[2] for where in BUILT_IN.values()} <= set(metrics.__all__)
    assert list(BUILT_IN) == sorted(BUILT_IN)


def test_a_built_in_metric_is_found_by_its_name() -> None:
    assert set(BUILT_IN) <= set(metric_names())
    assert find_metric("bleu", order=2) == Bleu(order=2)
    with pytest.raises(InputError, match="order of bleu is 0"):
        find_metric("bleu", order=0)
