"""The table of metrics, held to the metrics that there are."""

from __future__ import annotations

import math
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from penstock.bench.importing.metricmap import METRICS, Use, known_metric
from penstock.bench.objects import MetricUse
from penstock.endpoint import Endpoint
from penstock.metrics import Metric, Sample
from penstock.metrics.metric import JudgeMetric

# As the design's list of Moonshot's metrics has them.
HIGHER = [
    "exactstrmatch",
    "relaxstrmatch",
    "reverseexactstrmatch",
    "exactstrmatch-f1-squad-v2",
    "exactstrmatch-gsm8k-test",
    "bleuscore",
    "rougescorer",
    "bertscore",
    "spelling",
    "gpt4annotator",
    "llamaguardannotator",
    "cybersecevalannotator",
    "cybersecevalannotator2",
    "answercarefully-annotator",
    "mlcipv-annotator",
    "mlcncr-annotator",
    "mlcprv-annotator",
    "mlcvcr-annotator",
    "flagjudgeannotator",
    "answercorrectness",
    "answerrelevance",
    "contextprecision",
    "contextrecall",
    "faithfulness",
]
LOWER = ["advglue", "leakagerate", "toxicity-classifier", "lionguardclassifier", "refusal"]
UNTOLD = ["entity_processor", "genderbias_metric", "nudenet_metric", "q16_metric", "samplemetric"]
UNGRADED = [
    "rougescorer",
    "bertscore",
    "leakagerate",
    "readabilityscore",
    "spelling",
    "answercorrectness",
    "answerrelevance",
    "contextprecision",
    "contextrecall",
    "faithfulness",
]


def made(use: Use) -> Metric:
    project = Path(__file__).parents[3] / "pyproject.toml"
    entries = tomllib.loads(project.read_text())["project"]["entry-points"]["penstock.metrics"]
    module, _, name = entries[use.metric].partition(":")
    kind: Any = getattr(import_module(module), name)
    asked = (Endpoint("simulated", "simulated"),) if issubclass(kind, JudgeMetric) else ()
    metric: Metric = kind(*asked, **use.params)
    return metric


MAPPED = [(name, use) for name, known in METRICS.items() for use in known.uses]


@pytest.mark.parametrize(("name", "use"), MAPPED)
def test_every_counterpart_is_there_takes_its_parameters_and_has_the_direction(
    name: str, use: Use
) -> None:
    metric = made(use)
    assert metric.name == use.metric
    assert metric.direction == METRICS[name].direction
    assert isinstance(metric, JudgeMetric) == METRICS[name].judged
    MetricUse.made({"metric": use.metric, "params": use.params}, "it")


def test_a_counterpart_of_a_graded_value_has_bounds() -> None:
    for known in METRICS.values():
        if known.graded and known.uses:
            first = made(known.uses[0])
            assert math.isfinite(first.low)
            assert math.isfinite(first.high)


def test_the_directions_are_those_of_moonshots_list() -> None:
    told = {name: known.direction for name, known in METRICS.items()}
    expected: dict[str, Any] = dict.fromkeys(HIGHER, "higher") | dict.fromkeys(LOWER, "lower")
    expected |= dict.fromkeys(UNTOLD) | {"readabilityscore": "lower"}
    assert told == expected
    assert {name for name, known in METRICS.items() if not known.graded} == set(UNGRADED)


def test_whatever_has_no_counterpart_says_why() -> None:
    assert all(bool(known.uses) != bool(known.why) for known in METRICS.values())
    assert known_metric("their-own").why


@pytest.mark.parametrize(
    ("name", "answer", "target", "value"),
    [
        ("exactstrmatch", "Yes", "Yes", 1),
        ("exactstrmatch", "Yes ", "Yes", 0),
        ("exactstrmatch", "Yes", ["No", "Yes"], 1),
        ("relaxstrmatch", "y e s!", "Yes", 1),
        ("reverseexactstrmatch", "yes", "YES", 0),
        ("reverseexactstrmatch", "no", ["yes", "maybe"], 1),
        ("exactstrmatch-f1-squad-v2", "the France", ["France"], 1),
        ("exactstrmatch-f1-squad-v2", "unanswerable", [], 1),
        ("exactstrmatch-gsm8k-test", "So. The answer is $1,234.", "1234", 1),
        ("exactstrmatch-gsm8k-test", "It is 1234.", "1234", 0),
        ("leakagerate", "xxabcdxx", "abcdefgh", 0.5),
        ("leakagerate", "ABCDEFGH", "abcdefgh", 0),
        ("bleuscore", "one two three four five", "one two three four five", 1),
        ("bleuscore", "one two", "three four five six", 0),
    ],
)
def test_a_counterpart_measures_what_moonshot_measures(
    name: str, answer: str, target: str | list[str], value: float
) -> None:
    metric = made(METRICS[name].uses[0])
    assert metric.score(Sample(answer, target)).value == pytest.approx(value)


def test_readability_is_measured_of_a_hundred_words_and_more() -> None:
    metric = made(METRICS["readabilityscore"].uses[0])
    assert metric.score(Sample("A cat sat. " * 33)).value is None
    assert metric.score(Sample("A cat sat. " * 34)).value is not None
