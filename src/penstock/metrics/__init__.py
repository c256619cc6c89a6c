"""Metrics: what an answer is worth, and why there is no value where there is none.

    metric = find_metric("bleu", lowercase=True)
    scores = metric.score_many([Sample("the cat sat", "The cat sat.")])
    print(summarise(metric, scores))

Everything is loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.metrics.finding import find_metric, metric_names
    from penstock.metrics.function import FunctionMetric
    from penstock.metrics.judge import LlmJudge
    from penstock.metrics.metric import JudgeMetric, Metric
    from penstock.metrics.overlap import Bleu, Chrf
    from penstock.metrics.rouge import Rouge1, Rouge2, RougeL, RougeLsum
    from penstock.metrics.score import Sample, Score, ScoreStatus
    from penstock.metrics.semantic import SemanticSimilarity
    from penstock.metrics.summary import Summary, summarise
    from penstock.metrics.text import Contains, EditDistance, EditSimilarity, ExactMatch

__all__ = [
    "Bleu",
    "Chrf",
    "Contains",
    "EditDistance",
    "EditSimilarity",
    "ExactMatch",
    "FunctionMetric",
    "JudgeMetric",
    "LlmJudge",
    "Metric",
    "Rouge1",
    "Rouge2",
    "RougeL",
    "RougeLsum",
    "Sample",
    "Score",
    "ScoreStatus",
    "SemanticSimilarity",
    "Summary",
    "find_metric",
    "metric_names",
    "summarise",
]

_ROOMS = {
    "Bleu": "overlap",
    "Chrf": "overlap",
    "Contains": "text",
    "EditDistance": "text",
    "EditSimilarity": "text",
    "ExactMatch": "text",
    "FunctionMetric": "function",
    "JudgeMetric": "metric",
    "LlmJudge": "judge",
    "Metric": "metric",
    "Rouge1": "rouge",
    "Rouge2": "rouge",
    "RougeL": "rouge",
    "RougeLsum": "rouge",
    "Sample": "score",
    "Score": "score",
    "ScoreStatus": "score",
    "SemanticSimilarity": "semantic",
    "Summary": "summary",
    "find_metric": "finding",
    "metric_names": "finding",
    "summarise": "summary",
}


def __getattr__(name: str) -> Any:
    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{room}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
