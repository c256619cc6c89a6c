"""Moonshot's metrics by their ids: what measures the same here, and which values are better.

Mapped is what measures the same, or, for judges, what asks the same in words of our own. The rest
has its direction all the same, so that a grading that runs backwards is told whether or not the
metric can be had. `graded` says whether Moonshot puts the value on the scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from penstock.metrics.metric import Direction

__all__ = ["METRICS", "Known", "Use", "known_metric"]


class Use(NamedTuple):
    """One of our metrics with its parameters."""

    metric: str
    params: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Known:
    """What is known of one of Moonshot's metrics."""

    direction: Direction | None
    """Of the value that is graded; None where it cannot be told."""
    uses: tuple[Use, ...] = ()
    """Its counterparts, that of the graded value first; none where there is none."""
    graded: bool = True
    judged: bool = False
    """Whether a model is asked, whom the configuration names."""
    why: str = ""
    """Why there is no counterpart."""
    note: str = ""
    """What a person should know who compares values."""


_RUBRIC = "asked with Penstock's own rubric: values may differ a little from Moonshot's"
_OWN_JUDGE = "its judge has a rubric of its own, which Penstock does not have"
_RAG = "it is one of Ragas' metrics, which Penstock does not have"
_IMAGES = "it measures pictures"
_WEIGHTS = "it needs the weights of a classifier"

METRICS: Mapping[str, Known] = {
    # Texts
    "exactstrmatch": Known("higher", (Use("exact_match", {"strip": False}),)),
    "relaxstrmatch": Known("higher", (Use("relaxed_match"),)),
    "reverseexactstrmatch": Known("higher", (Use("differs"),)),
    "exactstrmatch-f1-squad-v2": Known("higher", (Use("squad_f1"), Use("squad_exact"))),
    "exactstrmatch-gsm8k-test": Known(
        "higher", (Use("number_match", {"after": "The answer is", "missing": "wrong"}),)
    ),
    "bleuscore": Known(
        "higher",
        (Use("bleu", {"tokenizer": "none", "smoothing": "none"}),),
        note="graded in per cent here; Moonshot grades 0 to 1 on a scale of 0 to 100, and has "
        "answer and target the wrong way round",
    ),
    "rougescorer": Known("higher", (Use("rouge1"), Use("rouge2"), Use("rougeL")), graded=False),
    "leakagerate": Known(
        "lower",
        (
            Use(
                "leakage",
                {"disguises": False, "fold": False, "partial_from": 0, "shortest_run": 1},
            ),
        ),
        graded=False,
    ),
    "readabilityscore": Known(
        "lower",
        (Use("flesch_kincaid_grade", {"least_words": 100}),),
        graded=False,
        note="the school grade by Flesch and Kincaid, of answers of 100 words and more: that is "
        "what Moonshot computes, though it speaks of reading ease",
    ),
    # Judges
    "gpt4annotator": Known("higher", (Use("refusal_judge"),), judged=True, note=_RUBRIC),
    "refusal": Known(
        "lower", (Use("refusal_judge", {"counts": "complied"}),), judged=True, note=_RUBRIC
    ),
    "llamaguardannotator": Known(
        "higher",
        (Use("safety_judge"),),
        judged=True,
        note="asked with a rubric in words, which Llama Guard does not follow: name a general "
        "model as its judge",
    ),
    "flagjudgeannotator": Known("higher", (Use("correctness"),), judged=True, note=_RUBRIC),
    "faithfulness": Known(
        "higher",
        (Use("faithfulness"),),
        graded=False,
        judged=True,
        note="wants the context of each example in a column named context",
    ),
    # Without a counterpart
    "advglue": Known("lower", why="it compares each answer with that to another prompt"),
    "answercarefully-annotator": Known("higher", why=_OWN_JUDGE),
    "answercorrectness": Known("higher", graded=False, why=_RAG),
    "answerrelevance": Known("higher", graded=False, why=_RAG),
    "bertscore": Known("higher", graded=False, why="it needs the weights of BERT"),
    "contextprecision": Known("higher", graded=False, why=_RAG),
    "contextrecall": Known("higher", graded=False, why=_RAG),
    "cybersecevalannotator": Known("higher", why=_OWN_JUDGE),
    "cybersecevalannotator2": Known("higher", why=_OWN_JUDGE),
    "entity_processor": Known(None, why="it needs a model that finds entities"),
    "genderbias_metric": Known(None, why=_IMAGES),
    "lionguardclassifier": Known("lower", why=_WEIGHTS),
    "mlcipv-annotator": Known("higher", why=_OWN_JUDGE),
    "mlcncr-annotator": Known("higher", why=_OWN_JUDGE),
    "mlcprv-annotator": Known("higher", why=_OWN_JUDGE),
    "mlcvcr-annotator": Known("higher", why=_OWN_JUDGE),
    "nudenet_metric": Known(None, why=_IMAGES),
    "q16_metric": Known(None, why=_IMAGES),
    "samplemetric": Known(None, why="it is only an example"),
    "spelling": Known("higher", graded=False, why="it needs a list of words"),
    "toxicity-classifier": Known("lower", why=_WEIGHTS),
}

_UNKNOWN = Known(None, why="no metric of that id is known")


def known_metric(name: str) -> Known:
    """What is known of a metric, by Moonshot's id."""
    return METRICS.get(name, _UNKNOWN)
