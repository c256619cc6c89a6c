"""Multiple choice: what is chosen is read, what is not chosen is not guessed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.metrics import Sample, ScoreStatus
from penstock.metrics.choice import Choice, chosen_option
from penstock.metrics.options import LETTERS
from tests.metrics.texts import patient, texts

CITIES = {"A": "Rome", "B": "Paris", "C": "New York", "D": "York"}
BARE = dict.fromkeys(LETTERS, "")

CHOSEN = [
    ("B", "B"),
    ("b", "B"),
    ("(B)", "B"),
    ("[B]", "B"),
    ("**B)**", "B"),
    ("B.", "B"),
    ("Ｂ", "B"),
    ("`B`", "B"),
    (" \n B \n", "B"),
    ("$\\boxed{B}$", "B"),
    ("\\boxed{\\text{B}}", "B"),
    ("So we get \\(\\boxed{C}\\).", "C"),
    ("The answer is (B).", "B"),
    ("The answer is B", "B"),
    ("the correct answer is: **B**", "B"),
    ("The correct option is B.", "B"),
    ("Answer: B", "B"),
    ("Answer: (B) Paris", "B"),
    ("ANSWER = B", "B"),
    ("The best choice would be C.", "C"),
    ("Option B because the Seine flows there.", "B"),
    ("I choose B.", "B"),
    ("I would go with option D", "D"),
    ("I'd pick B, though it is close.", "B"),
    ("It's B.", "B"),
    ("B is correct.", "B"),
    ("(B) is the right answer.", "B"),
    ("B is the only correct option here.", "B"),
    ("B because the Seine flows there.", "B"),
    ("B, since the Seine flows there.", "B"),
    ("B) Paris", "B"),
    ("B. Paris", "B"),
    ("B: Paris is the capital of France, as everyone knows.", "B"),
    ("A) Rome, because it is old.", "A"),
    ("Let me think.\nThe Seine flows there.\nB", "B"),
    ("Let me think.\n\nFinal answer: C", "C"),
    ("First I took the answer is A for granted. Final answer: D", "D"),
    ("Working...\n#### C", "C"),
    ("A is wrong because it lies in Italy. The answer is B.", "B"),
    ("The answer is not A. The answer is B.", "B"),
    ("Die richtige Antwort ist B.", "B"),
    ("La réponse est B.", "B"),
    ("La respuesta correcta es B.", "B"),
    ("La risposta è B.", "B"),
    ("答案是B。", "B"),
    ("正解はBです。", "B"),
    ("정답은 B입니다.", "B"),
    ("<think>Is it A? The answer is A. No.</think>The answer is B.", "B"),
    ("The city of light is the capital (B).", "B"),
    ("Therefore, **B**.", "B"),
    ("Thus the correct letter is B", "B"),
    ('{"answer": "B"}', "B"),
    ("<answer>B</answer>", "B"),
    ("I'm going with B", "B"),
    ('The answer is "B".', "B"),
    ("It is definitely not A. I would say D.", "D"),
    ("The correct answer is B, not C.", "B"),
    ("A is incorrect, B is incorrect, D is incorrect, therefore C is correct.", "C"),
    ("Let us see. A is old. C is far. So the answer must be B.", "B"),
    ("Answer: A\n\nExplanation: the others (B) are wrong.", "A"),
    ("Sure! The answer is:\n\nB) Paris", "B"),
]
CHOSEN_BY_TEXT = [
    ("Paris", "B"),
    ("paris.", "B"),
    ("The capital of France is Paris.", "B"),
    ("It is New York.", "C"),
    ("I believe that it is **York**.", "D"),
    ("It is Paris (B).", "B"),
]
NOT_CHOSEN = [
    "",
    "I do not know.",
    "A dog would say so.",
    "I think that this is hard.",
    "A good question! I am not sure.",
    "The answer is B or C.",
    "The answer is B and C.",
    "The answer is either A/B.",
    "Option A, or option B.",
    "The answer is B. No, the answer is C.",
    "A) is old. B) is large. C) is new.",
    "A) Rome\nB) Paris\nC) New York\nD) York",
    "It is (A) or maybe (B).",
    "It is not (B).",
    "The answer is not B.",
    "Option B is wrong.\nOption C is wrong.",
    "The answer is H",
    "I'd say this is about Europe.",
    "Answer A's premise is odd.",
    "Grade B movies are fun.",
    "A and C are both plausible.",
    "It could be A, B, C or D.",
    "None of the above.",
    "I'm not sure, maybe A or B.",
    "So A begins the alphabet.",
]


@pytest.mark.parametrize(("answer", "letter"), CHOSEN)
@pytest.mark.parametrize("options", [CITIES, BARE], ids=["texts", "letters"])
def test_a_chosen_letter_is_read(answer: str, letter: str, options: dict[str, str]) -> None:
    assert chosen_option(answer, options) == letter


@pytest.mark.parametrize(("answer", "letter"), CHOSEN_BY_TEXT)
def test_an_options_own_text_chooses_it(answer: str, letter: str) -> None:
    assert chosen_option(answer, CITIES) == letter


def test_prices_are_no_layout() -> None:
    prices = {"A": "$5,000", "B": "$7,000"}
    assert chosen_option("I think it is $7,000.", prices) == "B"
    assert chosen_option("$\\boxed{\\text{B}}$", prices) == "B"


@pytest.mark.parametrize("answer", NOT_CHOSEN)
def test_what_is_not_chosen_is_not_guessed(answer: str) -> None:
    assert chosen_option(answer, CITIES) in ("", "*")


@pytest.mark.parametrize(
    "answer",
    [
        "It is Rome or Paris.",
        "Unlike Rome, Paris lies on the Seine.",
        "It is not Paris.",
        "B) Rome",
        "B) Rome, since it is old.",
        "Answer unknown; perhaps Parisian.",
    ],
)
def test_texts_that_contradict_or_deny_choose_nothing(answer: str) -> None:
    assert chosen_option(answer, CITIES) in ("", "*")


# The metric ---------------------------------------------------------------------------------------


def scored(answer: str, target: str | list[str], **row: Any) -> float | None:
    return Choice().score(Sample(answer, target, row=row)).value


CHOICES = list(CITIES.values())


def test_options_come_from_the_row_in_any_of_the_usual_forms() -> None:
    for row in (
        {"choices": CHOICES},
        {"options": CHOICES},
        {"options": CITIES},
        {"choices": {"text": CHOICES, "label": list("ABCD")}},
    ):
        assert scored("It must be Paris.", "B", **row) == 1
        assert scored("It must be Paris.", "paris", **row) == 1
        assert scored("It must be Paris.", "B) Paris", **row) == 1
        assert scored("D", "B", **row) == 0


def test_options_are_read_from_a_question_that_lists_them() -> None:
    question = "Which city?\nA) Rome\nB) Paris\n"
    sample = Sample("Paris", "B) Paris", question)
    assert Choice().score(sample).value == 1
    assert Choice().score(Sample("C", "B) Paris", question)).status is ScoreStatus.NO_ANSWER


def test_a_target_may_be_a_number_when_told_so() -> None:
    sample = Sample("B", "1", row={"choices": CHOICES})
    assert Choice(first=0).score(sample).value == 1
    assert Choice(first=1).score(sample).value == 0
    assert "'1'" in Choice().score(sample).reason


def test_what_was_read_is_kept_and_several_targets_are_all_right() -> None:
    score = Choice().score(Sample("The answer is (C).", ["B", "C"]))
    assert (score.value, score.extracted) == (1, "C")


def test_an_answer_without_a_choice_is_no_answer_or_wrong_as_told() -> None:
    nothing = Sample("Who knows?", "A")
    assert Choice().score(nothing).status is ScoreStatus.NO_ANSWER
    wrong = Choice(missing="wrong").score(nothing)
    assert (wrong.value, wrong.reason) == (0, "the answer chooses no option")
    several = Choice().score(Sample("A or B? The answer is A or B.", "A"))
    assert several.status is ScoreStatus.NO_ANSWER
    assert "several" in several.reason


@pytest.mark.parametrize(
    ("target", "row", "said"),
    [
        ("Madrid", {"choices": CHOICES}, "'Madrid' is none of A\\) Rome"),
        ("F", {"choices": CHOICES}, "none of"),
        ("A", {"choices": "Rome, Paris"}, "a list of texts"),
        ("A", {"choices": ["Rome"]}, "1 options"),
        ("A", {"choices": {"x": "Rome", "y": "Paris"}}, "labels"),
    ],
)
def test_a_row_that_makes_no_sense_is_an_error_that_says_so(
    target: str, row: dict[str, Any], said: str
) -> None:
    score = Choice().score(Sample("A", target, row=row))
    assert score.status is ScoreStatus.ERROR
    assert re.search(said, score.reason)


@pytest.mark.parametrize("options", [{"first": 2}, {"missing": "zero"}, {"columns": "choices"}])
def test_wrong_parameters_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        Choice(**options)


@patient
@given(texts, st.sampled_from(LETTERS[:4]))
def test_any_text_gives_a_choice_of_the_options_or_none(answer: str, target: str) -> None:
    score = Choice().score(Sample(answer, target, row={"choices": CHOICES}))
    assert score.status in (ScoreStatus.SCORED, ScoreStatus.NO_ANSWER)
    assert score.extracted is None or score.extracted in CITIES


def test_long_answers_take_no_longer_than_they_must() -> None:
    for piece in ("(A) ", "answer is ", "<think>", "A or ", "not A. ", "\\boxed{", "A) x\n"):
        long = piece * (150_000 // len(piece))
        assert Choice().score(Sample(long, "B")).status is not ScoreStatus.ERROR
    assert Choice().score(Sample("B " * 200_000, "B")).status is ScoreStatus.ERROR
