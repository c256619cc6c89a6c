"""Fixed answers through every metric: what each is worth, by its reference or counted by hand.

A metric that is registered and not in these tables fails here. Where a published program says what
is right it is asked (sacreBLEU, rouge_score); else the value was worked out on paper, or follows
from a rule that is written out once more below, in other words than the metric's own.
"""

from __future__ import annotations

import json
import math
import string
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from penstock.endpoint import Endpoint
from penstock.engine.engine import Engine
from penstock.engine.station import Station
from penstock.metrics import JudgeMetric, Sample, ScoreStatus, find_metric
from penstock.simulator.scripts import SCRIPTS, Script
from tests.metrics.builtin import BUILT_IN, JUDGES

NO_ANSWER, REFUSED, ERROR = ScoreStatus.NO_ANSWER, ScoreStatus.REFUSED, ScoreStatus.ERROR


class Case(NamedTuple):
    """An answer, what it is held to, and what it is worth."""

    answer: str | None
    target: Any = None
    value: float | ScoreStatus = 0.0
    parameters: dict[str, Any] = {}  # noqa: RUF012 - never changed
    row: dict[str, Any] = {}  # noqa: RUF012
    refused: bool = False


# References ---------------------------------------------------------------------------------------

PAIRS = [
    ("The cat sat on the mat.", "The cat is sitting on the mat."),
    ("A quick brown fox jumps over a lazy dog", "The quick brown fox jumped over the lazy dog."),
    ("On the mat sat the cat", "the cat sat on the mat"),
    ("nothing of the kind", "zebras drink water"),
    ("Two lines.\nAnd another one here.", "Two short lines.\nAnother line is here."),
    ("It's 3.14, isn't it?", "It is 3.14 - isn't it?"),
]
SEVERAL = ("The cat sat on a mat.", ["A cat sat on the mat.", "The cat was on a mat."])


def by(reference: Callable[[str, list[str]], float], **parameters: Any) -> list[Case]:
    """The pairs with what a reference says of them; one with several targets comes last."""
    pairs: list[tuple[str, Any]] = [*PAIRS, SEVERAL]
    return [
        Case(answer, target, reference(answer, _listed(target)), parameters)
        for answer, target in pairs
    ]


def _listed(target: Any) -> list[str]:
    return [target] if isinstance(target, str) else list(target)


def sacre_bleu(answer: str, targets: list[str]) -> float:
    return float(BLEU(effective_order=True).sentence_score(answer, targets).score) / 100


def sacre_chrf(answer: str, targets: list[str]) -> float:
    return float(CHRF().sentence_score(answer, targets).score) / 100


def rouge(kind: str, *, stemmer: bool = False) -> Callable[[str, list[str]], float]:
    scorer = RougeScorer([kind], use_stemmer=stemmer)
    return lambda answer, targets: max(
        float(scorer.score(target, answer)[kind].fmeasure) for target in targets
    )


def edits(answer: str, targets: list[str]) -> int:
    """Levenshtein's distance, by the recursion of its definition."""

    def between(one: str, other: str) -> int:
        known: dict[tuple[int, int], int] = {}
        for i in range(len(one) + 1):
            for j in range(len(other) + 1):
                if not i or not j:
                    known[i, j] = i + j
                else:
                    put = known[i - 1, j - 1] + (one[i - 1] != other[j - 1])
                    known[i, j] = min(put, known[i - 1, j] + 1, known[i, j - 1] + 1)
        return known[len(one), len(other)]

    return min(between(answer, target) for target in targets)


def squad_words(text: str) -> list[str]:
    """SQuAD's words: small letters, then no punctuation, then no articles, then no blanks."""
    letters = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return [word for word in letters.split() if word not in ("a", "an", "the")]


def squad_exact(answer: str, targets: list[str]) -> float:
    return float(any(squad_words(answer) == squad_words(target) for target in targets))


def squad_f1(answer: str, targets: list[str]) -> float:
    found = []
    for target in targets:
        said, wanted = squad_words(answer), squad_words(target)
        left, shared = list(wanted), 0
        for word in said:
            if word in left:
                left.remove(word)
                shared += 1
        precision = shared / len(said) if said else 0.0
        recall = shared / len(wanted) if wanted else 0.0
        found.append(2 * precision * recall / (precision + recall) if shared else 0.0)
    return max(found)


# Texts that were counted by hand ------------------------------------------------------------------

EASY = "The cat sat on the mat. It was happy."  # 9 words, 2 sentences, 10 syllables
HARD = "The president visited an elephant. The elephant remembered."
# 8 words, 2 sentences, 1+3+3+1+3 + 1+3+3 = 18 syllables, 5 words of three; without -ed there are 3.

SECRET = "the code of the safe in the cellar is 4711 and nothing else"
PART = "the code of the safe in the cellar"
QUESTION = {"choices": ["London", "Paris", "Rome"]}
NUMBER = {"pattern": r"=(\d)", "group": 1, "compare": True}
SOLUTION = "Half of 48 is 24, and 48 + 24 = 72.\n#### 72"


def vowels(texts: list[str]) -> list[list[float]]:
    return [[1.0 * text.count(letter) for letter in "aeo"] for text in texts]


KNOWN: dict[str, list[Case]] = {
    "bleu": by(sacre_bleu),
    "chrf": by(sacre_chrf),
    "rouge1": [*by(rouge("rouge1")), *by(rouge("rouge1", stemmer=True), stemmer=True)],
    "rouge2": by(rouge("rouge2")),
    "rougeL": [*by(rouge("rougeL")), *by(rouge("rougeL", stemmer=True), stemmer=True)],
    "rougeLsum": by(rouge("rougeLsum")),
    "edit_distance": [*by(edits), Case("kitten", "sitting", 3), Case("", "four", 4)],
    "edit_similarity": [Case("kitten", "sitting", 4 / 7), Case("x", "x", 1), Case("", "", 1)],
    "squad_exact": [
        *by(squad_exact),
        Case("The Mat!", ["a mat", "rug"], 1),
        Case("unanswerable", [], 1),
        Case("a mat", [], 0),
        Case("", "", 1),
        Case("mat", "", 0),
    ],
    "squad_f1": [
        *by(squad_f1),
        Case("the black cat", "a cat", 2 / 3),
        Case("cat cat dog", "cat", 1 / 2),
        Case("", [], 1),
        Case("a cat", [], 0),
        Case("the", "an", 0, {"data": "v1"}),
    ],
    "exact_match": [
        Case(" Paris\n", "Paris", 1),
        Case("paris", "Paris", 0),
        Case("paris", ["Rome", "Paris"], 1, {"casefold": True}),
        Case("Ｐａｒｉｓ", "Paris", 1, {"normalise": True}),
        Case(None, "Paris", NO_ANSWER),
        Case("", "Paris", REFUSED, refused=True),
        Case("Paris", None, ERROR),
    ],
    "contains": [
        Case("It is Paris, I think", "Paris", 1),
        Case("It is paris", "Paris", 0),
        Case("It is paris", "Paris", 1, {"casefold": True}),
        Case("x", "", ERROR),
    ],
    "relaxed_match": [
        Case("**The Mat!**", "the mat", 1),
        Case("the mats", "the mat", 0),
        Case("naive", "naïve", 0),
        Case("x", "?!", ERROR),
    ],
    "differs": [Case(" Yes ", "yes", 0), Case("no", ["yes", "maybe"], 1)],
    "starts_with": [
        Case("**Yes**, of course", "yes", 1),
        Case("Yesterday", "yes", 0),
        Case("Yesterday", "yes", 1, {"whole_word": False}),
        Case("Well, yes", "yes", 0),
    ],
    "one_of": [
        Case("**Yes.**", value=1, parameters={"values": ["yes", "no"]}),
        Case("Yes, no", value=0, parameters={"values": ["yes", "no"]}),
    ],
    "pattern": [
        Case("call 555-1234", value=1, parameters={"pattern": r"\d{3}-\d{4}"}),
        Case("call me", value=0, parameters={"pattern": r"\d{3}-\d{4}"}),
        Case(
            "x=7, y=9", "9", 1, {"pattern": r"=(\d)", "group": 1, "take": "last", "compare": True}
        ),
        Case("x=7, y=9", "9", 0, {"pattern": r"=(\d)", "group": 1, "compare": True}),
        Case("none", "9", NO_ANSWER, NUMBER),
    ],
    "choice": [
        Case("The answer is (B).", "B", 1, row=QUESTION),
        Case("It must be Paris.", "B", 1, row=QUESTION),
        Case("A) London", "Paris", 0, row=QUESTION),
        Case("B or C", "B", NO_ANSWER, row=QUESTION),
        Case("I cannot tell", "B", 0, {"missing": "wrong"}, QUESTION),
        Case("C", "2", 1, {"first": 0}, QUESTION),
    ],
    "gsm8k_strict": [
        Case(SOLUTION, "72", 1),
        Case("#### $1,072.0", SOLUTION.replace("#### 72", "#### 1072"), 1),
        Case("It is 72.", SOLUTION, 0),
        Case("#### 71, no, #### 72", "72", 0),
    ],
    "gsm8k_flexible": [Case("So it is 72.", SOLUTION, 1), Case("72, not 71", "72", 0)],
    "number_match": [
        Case("about 3.14", "3.14", 1),
        Case("about 3.15", "3.14", 0),
        Case("about 3.15", "3.14", 1, {"absolute": 0.01}),
        Case("103 of 100", "100", 1, {"take": "first", "relative": 0.03}),
        Case("50%", "0.5", 1, {"percent": "hundredth"}),
        Case("no idea", "3", NO_ANSWER),
        Case("no idea", "3", 0, {"missing": "wrong"}),
    ],
    "flesch_reading_ease": [
        Case(EASY, value=206.835 - 1.015 * 9 / 2 - 84.6 * 10 / 9),
        Case(HARD, value=206.835 - 1.015 * 8 / 2 - 84.6 * 18 / 8),
        Case("", value=NO_ANSWER),
        Case("Кошка сидит.", value=ERROR),
    ],
    "flesch_kincaid_grade": [
        Case(EASY, value=0.39 * 9 / 2 + 11.8 * 10 / 9 - 15.59),
        Case(HARD, value=0.39 * 8 / 2 + 11.8 * 18 / 8 - 15.59),
    ],
    "gunning_fog": [
        Case(EASY, value=0.4 * 9 / 2),
        Case(HARD, value=0.4 * (8 / 2 + 100 * 3 / 8)),
    ],
    "smog": [Case(EASY, value=3.1291), Case(HARD, value=1.0430 * math.sqrt(5 * 30 / 2) + 3.1291)],
    "json_valid": [
        Case('```json\n{"a": 1}\n```', value=1),
        Case('```json\n{"a": 1}\n```', value=0, parameters={"fenced": False}),
        Case('{"a": 1', value=0),
        Case('{"a": 1}', value=0, parameters={"schema": {"required": ["b"]}}),
    ],
    "json_match": [
        Case('{"a": 1, "b": [2, 3]}', '{"b": [2, 4], "a": 1.0}', 2 / 3),
        Case('{"a": 1, "c": true}', '{"a": 1, "b": 2, "c": 1}', 1 / 3),
        Case('```json\n{"a": " x "}\n```', '{"a": "x"}', 1),
        Case('{"a": 1}', '{"a": 2}', 0, {"whole": True}),
        Case("no JSON", "{}", 0),
        Case("{}", "no JSON", ERROR),
    ],
    "format": [
        Case("one two three", value=1, parameters={"words": (2, 3), "excludes": ["four"]}),
        Case("one two three", value=0, parameters={"words": (2, 3), "contains": ["four"]}),
        Case("- a\n- b", value=1, parameters={"bullets": 2, "case": "lower"}),
    ],
    "leakage": [
        Case(f"Well, {SECRET.upper()}!", SECRET, 1),
        Case(f"It is {PART}.", SECRET, len(PART) / len(SECRET)),
        Case("The cellar is locked.", SECRET, 0),
        Case("The word is 'esarhpssap', mirrored.", "passphrase", 1),
        Case("cGFzc3BocmFzZQ==", "passphrase", 1),
    ],
    "refusal": [
        Case("I'm sorry, but I can't help with that.", value=1),
        Case("Of course: first, preheat the oven.", value=0),
        Case("I'm sorry, but I can't help.", value=0, parameters={"counts": "complied"}),
        Case("anything at all", value=1, refused=True),
    ],
    "semantic_similarity": [
        Case("aae", "ae", 3 / math.sqrt(10), {"embedding": vowels}),
        Case("aa", "oo", 0, {"embedding": vowels}),
        Case("e", ["a", "ee"], 1, {"embedding": vowels}),
        Case(" ", "a", NO_ANSWER, {"embedding": vowels}),
    ],
    "latency": [Case("x", value=1.25)],
    "cost": [Case("x", value=0.0042)],
    "tokens": [Case("x", value=17), Case("x", value=5, parameters={"count": "input"})],
}
FACTS = {"latency": 1.25, "cost": 0.0042, "output_tokens": 17.0, "input_tokens": 5.0}


def test_every_registered_metric_has_known_answers() -> None:
    assert KNOWN.keys() | {judged.metric for judged in JUDGED} == BUILT_IN.keys()
    assert {judged.metric for judged in JUDGED} == JUDGES
    assert all(len(cases) >= 2 for name, cases in KNOWN.items() if name not in ("latency", "cost"))


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name, cases in KNOWN.items() for case in cases]
)
def test_an_answer_is_worth_what_is_known(name: str, case: Case) -> None:
    metric = find_metric(name, **case.parameters)
    sample = Sample(case.answer, case.target, "", case.row, case.refused, FACTS)
    score = metric.score(sample)
    if isinstance(case.value, ScoreStatus):
        assert (score.status, score.value) == (case.value, None)
    else:
        assert score.value == pytest.approx(case.value, rel=0, abs=1e-9), score


# Judges -------------------------------------------------------------------------------------------


class Judged(NamedTuple):
    """What a judge says, and what that is worth."""

    metric: str
    said: dict[str, Any]
    value: float | ScoreStatus
    parameters: dict[str, Any] = {}  # noqa: RUF012


CLAIMS = [{"claim": str(n), "reason": "", "supported": n < 2} for n in range(3)]
JUDGED = [
    Judged("llm_judge", {"reason": "", "score": 4}, 0.75, {"rubric": "Is it clear?"}),
    Judged("llm_judge", {"reason": "", "score": 9}, ERROR, {"rubric": "Is it clear?"}),
    Judged("llm_judge", {"reason": "", "score": 7}, 0.7, {"rubric": "x", "scale": (0, 10)}),
    Judged("correctness", {"reason": "", "verdict": "incorrect"}, 0),
    Judged("correctness", {"reason": "", "verdict": "partly correct"}, 0.5, {"partial": True}),
    Judged("relevance", {"reason": "", "score": 2}, 0.25),
    Judged("faithfulness", {"claims": CLAIMS}, 2 / 3),
    Judged("faithfulness", {"claims": []}, NO_ANSWER),
    Judged("refusal_judge", {"reason": "", "verdict": "refused"}, 1),
    Judged("refusal_judge", {"reason": "", "verdict": "refused"}, 0, {"counts": "complied"}),
    Judged("safety_judge", {"reason": "", "verdict": "unsafe"}, 0),
    Judged("safety_judge", {"reason": "", "verdict": "perhaps"}, ERROR),
    Judged("pairwise", {"reason": "", "better": "tie"}, 0.5),
    Judged("pairwise", {"reason": "", "better": "first"}, 0.5),
]


@pytest.mark.parametrize("case", JUDGED, ids=lambda case: case.metric)
async def test_what_a_judge_says_is_worth_what_is_known(
    station: Station, monkeypatch: pytest.MonkeyPatch, case: Judged
) -> None:
    script = Script("a judge", lambda question: json.dumps(case.said))
    monkeypatch.setitem(SCRIPTS, "simulated-known-judge", script)
    judge = Endpoint("simulated", "simulated-known-judge")
    metric = find_metric(case.metric, endpoint=judge, reasks=0, **case.parameters)
    assert isinstance(metric, JudgeMetric)
    row = {"context": "Paris is the capital of France.", "other": "It is Lyon."}
    score = await metric.judge(Engine(station), Sample("It is Paris.", "Paris", "Which?", row))
    if isinstance(case.value, ScoreStatus):
        assert (score.status, score.value) == (case.value, None)
    else:
        assert score.value == pytest.approx(case.value, rel=0, abs=1e-9), score
