"""ROUGE is that of rouge-score, and its stemmer that of nltk."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer  # type: ignore[import-untyped]
from rouge_score.rouge_scorer import RougeScorer, lcs_ind  # type: ignore[import-untyped]

from penstock.errors import InputError
from penstock.metrics import Rouge1, Rouge2, RougeL, RougeLsum, Sample, ScoreStatus
from penstock.metrics.lcs import common_length, common_places
from penstock.metrics.metric import Metric
from penstock.metrics.porter import stem
from penstock.metrics.rouge import unicode_words
from tests.metrics.texts import patient, texts

KINDS: list[type[Metric]] = [Rouge1, Rouge2, RougeL, RougeLsum]
ENDINGS = [
    *("s", "es", "ies", "sses", "ss", "ed", "ied", "eed", "ing", "ly", "y", "ational", "tional"),
    *("enci", "anci", "izer", "bli", "abli", "alli", "entli", "eli", "ousli", "ization", "ation"),
    *("ator", "alism", "iveness", "fulness", "ousness", "aliti", "iviti", "biliti", "fulli"),
    *("logi", "icate", "ative", "alize", "iciti", "ical", "ful", "ness", "al", "ance", "ence"),
    *("er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "sion", "tion", "ou"),
    *("ism", "ate", "iti", "ous", "ive", "ize", "e", "ee", "ll", "tt", "at", "bl", "iz"),
]
SOME = ["a", "b", "c", "was", "wa", "running", "runs"]
FORMS = "sky skies dying lying tying news innings inning outings outing cannings canning howe"
words = st.text("abcdeilnorstuxyz0", max_size=6).flatmap(
    lambda head: st.lists(st.sampled_from(ENDINGS), max_size=3).map(
        lambda tail: head + "".join(tail)
    )
)
lines = st.lists(st.lists(st.sampled_from(SOME), max_size=7).map(" ".join), max_size=5).map(
    "\n".join
)
few_letters = st.lists(st.sampled_from("abc"), max_size=12)


def has_words(text: str) -> bool:
    return any(letter.isascii() and letter.isalnum() for letter in text.lower())


@patient
@given(words)
def test_stems_are_those_of_nltk(word: str) -> None:
    assert stem(word) == PorterStemmer().stem(word)


@pytest.mark.parametrize(
    "word", [*FORMS.split(), "proceed", "exceed", "succeed", "yyyyyyy", "a" * 99]
)
def test_odd_words_have_the_stems_of_nltk(word: str) -> None:
    assert stem(word) == PorterStemmer().stem(word)


def test_many_words_of_all_endings_have_the_stems_of_nltk() -> None:
    dice, theirs = random.Random(7), PorterStemmer()
    for _ in range(20_000):
        head = "".join(dice.choices("aeiouybcdlmnrstvz", k=dice.randint(1, 5)))
        word = head + "".join(dice.choices(ENDINGS, k=dice.randint(0, 2)))
        assert stem(word) == theirs.stem(word), word


@patient
@given(few_letters, few_letters)
def test_common_subsequences_are_found_where_rouge_score_finds_them(
    one: list[str], other: list[str]
) -> None:
    places = common_places(one, other)
    assert places == lcs_ind(one, other)
    assert common_length(one, other) == len(places)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stemmer", [False, True])
@patient
@given(answer=texts | lines, target=texts | lines)
def test_rouge_is_that_of_rouge_score(
    kind: type[Metric], stemmer: bool, answer: str, target: str
) -> None:
    metric = kind(stemmer=stemmer)  # type: ignore[call-arg]
    score = metric.score(Sample(answer, target))
    if not has_words(target):
        assert score.status is ScoreStatus.ERROR
        return
    theirs = RougeScorer([kind.name], use_stemmer=stemmer).score(target, answer)[kind.name]
    assert score.value == pytest.approx(theirs.fmeasure, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@patient
@given(answer=lines, targets=st.lists(lines.filter(has_words), min_size=1, max_size=4))
def test_of_several_targets_the_best_counts(
    kind: type[Metric], answer: str, targets: list[str]
) -> None:
    theirs = RougeScorer([kind.name]).score_multi(targets, answer)[kind.name]
    value = kind().score(Sample(answer, targets)).value
    assert value == pytest.approx(theirs.fmeasure, abs=1e-12)


def test_other_scripts_are_an_error_by_default_and_are_read_when_asked_for() -> None:
    sample = Sample("机器学习很有趣", "机器学习有趣")
    score = Rouge1().score(sample)
    assert score.status is ScoreStatus.ERROR
    assert "words='unicode'" in score.reason
    assert Rouge1(words="unicode").score(sample).value == pytest.approx(12 / 13)
    assert RougeL(words="unicode").score(sample).value == pytest.approx(12 / 13)
    assert Rouge1(words="unicode").score(Sample("x", "🙂 …")).status is ScoreStatus.ERROR


def test_unicode_words_are_whole_words_in_scripts_with_spaces() -> None:
    assert unicode_words("Ärger, naïve_İ!") == ["ärger", "naïve", "i̇"]
    assert unicode_words("हिन्दी भाषा") == ["हिन्दी", "भाषा"]
    assert unicode_words("日本のCat 2号") == ["日", "本", "の", "cat", "2", "号"]


@pytest.mark.parametrize("kind", KINDS)
def test_long_texts_are_scored(kind: type[Metric]) -> None:
    dice = random.Random(1)
    one, other = (" ".join(dice.choices("abcdefgh", k=8_000)) for _ in range(2))
    assert kind().score(Sample(one, one)).value == 1
    assert 0 < float(kind().score(Sample(one, other)).value or 0) < 1


def test_texts_too_long_to_compare_are_an_error() -> None:
    long = "word " * 50_000
    assert "50,000" in RougeL().score(Sample(long, "x " + long)).reason
    assert "50,000" in RougeLsum().score(Sample(long, long + "x")).reason
    lined = "\n".join(map(str, range(3_000)))
    assert "3,000 and 3,000 lines" in RougeLsum().score(Sample(lined, lined)).reason
    assert Rouge2().score(Sample(long, long)).value == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{"stemmer": "porter"}, {"words": "latin"}, {"words": 3}])
def test_a_wrong_parameter_is_refused_at_once(kind: type[Metric], options: dict[str, str]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        kind(**options)
