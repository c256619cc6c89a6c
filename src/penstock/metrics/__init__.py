"""Metrics: what an answer is worth, and why there is no value where there is none.

    metric = find_metric("bleu", lowercase=True)
    scores = metric.score_many([Sample("the cat sat", "The cat sat.")])
    print(summarise(metric, scores))

Beside the metrics: how far numbers can be trusted (`statistics`), and raters agree (`agreement`).
Everything is loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.metrics.agreement import (
        Agreement,
        cohen_kappa,
        fleiss_kappa,
        krippendorff_alpha,
        percent_agreement,
    )
    from penstock.metrics.choice import Choice
    from penstock.metrics.finding import find_metric, metric_names
    from penstock.metrics.function import FunctionMetric
    from penstock.metrics.jsonmatch import JsonMatch
    from penstock.metrics.judge import LlmJudge
    from penstock.metrics.judges import (
        Correctness,
        Faithfulness,
        RefusalJudge,
        Relevance,
        SafetyJudge,
    )
    from penstock.metrics.leakage import Leakage
    from penstock.metrics.metric import JudgeMetric, Metric
    from penstock.metrics.numeric import Gsm8kFlexible, Gsm8kStrict, NumberMatch
    from penstock.metrics.overlap import Bleu, Chrf
    from penstock.metrics.pairwise import Pairwise
    from penstock.metrics.pattern import Differs, OneOf, Pattern, RelaxedMatch, StartsWith
    from penstock.metrics.readability import FleschKincaidGrade, FleschReadingEase, GunningFog, Smog
    from penstock.metrics.refusal import Refusal
    from penstock.metrics.resources import Cost, Latency, Tokens, facts_of
    from penstock.metrics.rouge import Rouge1, Rouge2, RougeL, RougeLsum
    from penstock.metrics.score import Sample, Score, ScoreStatus
    from penstock.metrics.semantic import SemanticSimilarity
    from penstock.metrics.squad import SquadExact, SquadF1
    from penstock.metrics.statistics import (
        Comparison,
        Interval,
        JudgeAccuracy,
        bootstrap,
        clustered_interval,
        compare,
        corrected_rate,
        holm_corrected,
        mean_interval,
        reducer,
        wilson,
    )
    from penstock.metrics.structure import Format, JsonValid
    from penstock.metrics.summary import Summary, summarise
    from penstock.metrics.text import Contains, EditDistance, EditSimilarity, ExactMatch

__all__ = [
    "Agreement",
    "Bleu",
    "Choice",
    "Chrf",
    "Comparison",
    "Contains",
    "Correctness",
    "Cost",
    "Differs",
    "EditDistance",
    "EditSimilarity",
    "ExactMatch",
    "Faithfulness",
    "FleschKincaidGrade",
    "FleschReadingEase",
    "Format",
    "FunctionMetric",
    "Gsm8kFlexible",
    "Gsm8kStrict",
    "GunningFog",
    "Interval",
    "JsonMatch",
    "JsonValid",
    "JudgeAccuracy",
    "JudgeMetric",
    "Latency",
    "Leakage",
    "LlmJudge",
    "Metric",
    "NumberMatch",
    "OneOf",
    "Pairwise",
    "Pattern",
    "Refusal",
    "RefusalJudge",
    "RelaxedMatch",
    "Relevance",
    "Rouge1",
    "Rouge2",
    "RougeL",
    "RougeLsum",
    "SafetyJudge",
    "Sample",
    "Score",
    "ScoreStatus",
    "SemanticSimilarity",
    "Smog",
    "SquadExact",
    "SquadF1",
    "StartsWith",
    "Summary",
    "Tokens",
    "bootstrap",
    "clustered_interval",
    "cohen_kappa",
    "compare",
    "corrected_rate",
    "facts_of",
    "find_metric",
    "fleiss_kappa",
    "holm_corrected",
    "krippendorff_alpha",
    "mean_interval",
    "metric_names",
    "percent_agreement",
    "reducer",
    "summarise",
    "wilson",
]

_ROOMS = {
    "Agreement": "agreement",
    "Bleu": "overlap",
    "Choice": "choice",
    "Chrf": "overlap",
    "Comparison": "statistics",
    "Contains": "text",
    "Correctness": "judges",
    "Cost": "resources",
    "Differs": "pattern",
    "EditDistance": "text",
    "EditSimilarity": "text",
    "ExactMatch": "text",
    "Faithfulness": "judges",
    "FleschKincaidGrade": "readability",
    "FleschReadingEase": "readability",
    "Format": "structure",
    "FunctionMetric": "function",
    "Gsm8kFlexible": "numeric",
    "Gsm8kStrict": "numeric",
    "GunningFog": "readability",
    "Interval": "statistics",
    "JsonMatch": "jsonmatch",
    "JsonValid": "structure",
    "JudgeAccuracy": "statistics",
    "JudgeMetric": "metric",
    "Latency": "resources",
    "Leakage": "leakage",
    "LlmJudge": "judge",
    "Metric": "metric",
    "NumberMatch": "numeric",
    "OneOf": "pattern",
    "Pairwise": "pairwise",
    "Pattern": "pattern",
    "Refusal": "refusal",
    "RefusalJudge": "judges",
    "RelaxedMatch": "pattern",
    "Relevance": "judges",
    "Rouge1": "rouge",
    "Rouge2": "rouge",
    "RougeL": "rouge",
    "RougeLsum": "rouge",
    "SafetyJudge": "judges",
    "Sample": "score",
    "Score": "score",
    "ScoreStatus": "score",
    "SemanticSimilarity": "semantic",
    "Smog": "readability",
    "SquadExact": "squad",
    "SquadF1": "squad",
    "StartsWith": "pattern",
    "Summary": "summary",
    "Tokens": "resources",
    "bootstrap": "statistics",
    "clustered_interval": "statistics",
    "cohen_kappa": "agreement",
    "compare": "statistics",
    "corrected_rate": "statistics",
    "facts_of": "resources",
    "find_metric": "finding",
    "fleiss_kappa": "agreement",
    "holm_corrected": "statistics",
    "krippendorff_alpha": "agreement",
    "mean_interval": "statistics",
    "metric_names": "finding",
    "percent_agreement": "agreement",
    "reducer": "statistics",
    "summarise": "summary",
    "wilson": "statistics",
}


def __getattr__(name: str) -> Any:
    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{room}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
