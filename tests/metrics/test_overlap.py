"""BLEU and chrF are those of sacreBLEU."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from penstock.errors import InputError
from penstock.metrics import Bleu, Chrf, Sample, ScoreStatus, summarise
from penstock.metrics.metric import Metric
from penstock.metrics.overlap import words_13a
from tests.metrics.texts import FIXED, patient, texts, worded

logging.getLogger("sacrebleu").setLevel(logging.ERROR)
TOKENIZER: Any = Tokenizer13a()  # type: ignore[no-untyped-call]
several = st.lists(worded, min_size=1, max_size=4)
corpora = st.lists(st.tuples(texts, several), min_size=1, max_size=6)

BLEU_OPTIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"lowercase": True}, {"lowercase": True}),
    ({"order": 2}, {"max_ngram_order": 2}),
    ({"tokenizer": "char"}, {"tokenize": "char"}),
    ({"tokenizer": "none"}, {"tokenize": "none"}),
    ({"smoothing": "none"}, {"smooth_method": "none"}),
]
CHRF_OPTIONS: list[dict[str, Any]] = [
    {},
    {"word_order": 2},
    {"lowercase": True},
    {"whitespace": True},
    {"char_order": 3, "beta": 1},
]


def streams(corpus: list[tuple[str, list[str]]]) -> tuple[list[str], list[list[str]]]:
    """A corpus as sacreBLEU wants it: where a row has fewer targets, its last again."""
    most = max(len(targets) for _, targets in corpus)
    filled = [targets + [targets[-1]] * (most - len(targets)) for _, targets in corpus]
    return [answer for answer, _ in corpus], [list(each) for each in zip(*filled, strict=True)]


def corpus_value(metric: Metric, corpus: list[tuple[str, list[str]]]) -> float:
    scores = metric.score_many([Sample(answer, targets) for answer, targets in corpus])
    [value] = summarise(metric, scores).overall.values()
    return value


@patient
@given(texts)
def test_words_are_those_of_the_13a_tokenizer(text: str) -> None:
    assert words_13a(text) == TOKENIZER(text.rstrip()).split()


@pytest.mark.parametrize(("ours", "theirs"), BLEU_OPTIONS)
@patient
@given(answer=texts, targets=several)
def test_bleu_of_a_row_is_sacrebleus(
    ours: dict[str, Any], theirs: dict[str, Any], answer: str, targets: list[str]
) -> None:
    score = Bleu(**ours).score(Sample(answer, targets))
    if score.status is ScoreStatus.ERROR:
        assert not any(words_13a(target) for target in targets)
        return
    wanted = BLEU(effective_order=True, **theirs).sentence_score(answer, targets).score
    assert score.value == pytest.approx(wanted / 100, abs=1e-12)


@pytest.mark.parametrize(("ours", "theirs"), BLEU_OPTIONS[:2])
@patient
@given(corpus=corpora)
def test_bleu_of_a_corpus_is_sacrebleus(
    ours: dict[str, Any], theirs: dict[str, Any], corpus: list[tuple[str, list[str]]]
) -> None:
    kept = [row for row in corpus if any(words_13a(target) for target in row[1])]
    if kept:
        wanted = BLEU(**theirs).corpus_score(*streams(kept)).score
        assert corpus_value(Bleu(**ours), kept) == pytest.approx(wanted / 100, abs=1e-12)


@pytest.mark.parametrize("options", CHRF_OPTIONS)
@patient
@given(answer=texts, targets=several)
def test_chrf_of_a_row_is_sacrebleus(
    options: dict[str, Any], answer: str, targets: list[str]
) -> None:
    value = Chrf(**options).score(Sample(answer, targets)).value
    wanted = CHRF(**options).sentence_score(answer, targets).score
    assert value == pytest.approx(wanted / 100, abs=1e-12)


@pytest.mark.parametrize("options", CHRF_OPTIONS[:2])
@patient
@given(corpus=corpora)
def test_chrf_of_a_corpus_is_sacrebleus(
    options: dict[str, Any], corpus: list[tuple[str, list[str]]]
) -> None:
    wanted = CHRF(**options).corpus_score(*streams(corpus)).score
    assert corpus_value(Chrf(**options), corpus) == pytest.approx(wanted / 100, abs=1e-12)


@pytest.mark.parametrize("answer", FIXED)
@pytest.mark.parametrize("target", [text for text in FIXED if text.strip()])
def test_fixed_texts_agree_too(answer: str, target: str) -> None:
    sample = Sample(answer, target)
    bleu = BLEU(effective_order=True).sentence_score(answer, [target]).score
    assert Bleu().score(sample).value == pytest.approx(bleu / 100, abs=1e-12)
    chrf = CHRF(word_order=2).sentence_score(answer, [target]).score
    assert Chrf(word_order=2).score(sample).value == pytest.approx(chrf / 100, abs=1e-12)


def test_answer_and_target_are_not_interchanged() -> None:
    short, long = "the cat", "the cat sat on the mat today"
    assert Bleu().score(Sample(short, long)).value != Bleu().score(Sample(long, short)).value
    wanted = BLEU(effective_order=True).sentence_score(short, [long]).score / 100
    assert Bleu().score(Sample(short, long)).value == pytest.approx(wanted)


def test_the_corpus_is_not_the_mean_of_its_rows() -> None:
    metric = Bleu()
    scores = metric.score_many(
        [
            Sample("the cat sat on the mat", "the cat sat on the mat"),
            Sample("no", "the dog ran far"),
        ]
    )
    summary = summarise(metric, scores)
    assert summary.mean == pytest.approx(0.5)
    assert summary.overall["corpus_bleu"] != pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("metric", [Bleu(), Chrf()])
@pytest.mark.parametrize("target", ["", " \n", ["", "\t"]])
def test_a_target_without_words_is_an_error_and_not_a_zero(
    metric: Metric, target: str | list[str]
) -> None:
    score = metric.score(Sample("the cat", target))
    assert (score.value, score.status) == (None, ScoreStatus.ERROR)


@pytest.mark.parametrize("metric", [Bleu(), Chrf(word_order=2)])
def test_very_long_texts_are_scored(metric: Metric) -> None:
    long = "the quick brown fox jumps over it, " * 10_000
    assert metric.score(Sample(long, long)).value == pytest.approx(1)
    assert metric.score(Sample("the", long)).status is ScoreStatus.SCORED


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bleu(order=0),
        lambda: Bleu(order=True),
        lambda: Bleu(tokenizer="zh"),  # type: ignore[arg-type]
        lambda: Bleu(smoothing="floor"),  # type: ignore[arg-type]
        lambda: Bleu(lowercase=1),  # type: ignore[arg-type]
        lambda: Chrf(char_order=0),
        lambda: Chrf(word_order=-1),
        lambda: Chrf(beta=2.5),  # type: ignore[arg-type]
        lambda: Chrf(whitespace="no"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_parameter_is_refused_at_once(make: Callable[[], Metric]) -> None:
    with pytest.raises(InputError):
        make()
