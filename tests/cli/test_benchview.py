"""What a terminal shows of a benchmark: all of it in 80 columns, and nothing in it is obeyed."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.bench.item import ItemScore, ItemStatus
from penstock.cli.benchview import print_item, print_needs, print_result, print_results
from penstock.metrics.score import ScoreStatus
from penstock.reports.numbers import number
from penstock.tables.plain import clean
from tests.bench.report.made import item, items, result_of
from tests.live.hostile import HOSTILE

FOUND = list(items(20))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], list[str]]:
    """The lines that something prints on a terminal of 80 columns."""
    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(show: Callable[[], None]) -> list[str]:
        with monkeypatch.context() as patch:  # now: a fixture's stdout is not that of the test
            patch.setattr(sys, "stdout", terminal)
            show()
        text = terminal.getvalue()
        assert not any(ord(letter) < 32 and letter not in "\t\n" for letter in text), text
        assert "\u202e" not in text and "\x9b" not in text
        return text.splitlines()

    return run


Shown = Callable[[Callable[[], None]], list[str]]


def test_a_result_is_shown_with_every_score_in_80_columns(shown: Shown) -> None:
    result = result_of(FOUND)
    lines = shown(lambda: print_result(result, report=Path("report.html")))
    text = "\n".join(lines)
    table = [line for line in lines if not line.startswith(("completed", "!", "report"))]
    assert all(len(line) <= 80 for line in table)
    for recipe in result.recipes:
        assert recipe.name in text
        for each in recipe.endpoints:
            for metric in each.metrics:
                assert any(
                    metric.metric in line and f" {number(metric.mean.value)} " in line
                    for line in lines
                )
    assert "School and safety, overall" in text and "2 of 3 recipes" in text
    assert "! summaries has no grading" in text and "report: report.html" in text
    assert "Low Risk" in text


def test_what_has_no_score_is_told_once(shown: Shown) -> None:
    down = item(1, status=ItemStatus.FAILED, answer=None, failure="timeout", scores=(
        ItemScore("number_match", None, ScoreStatus.NO_ANSWER),
        ItemScore("tokens", None, ScoreStatus.NO_ANSWER)))  # fmt: skip
    good = item(0, scores=(
        ItemScore("number_match", 1.0), ItemScore("tokens", None, ScoreStatus.ERROR)))  # fmt: skip
    text = "\n".join(shown(lambda: print_result(result_of([good, down]))))
    assert text.count("1 failed") == 1 and text.count("1 error") == 1 and "no answer" not in text


def test_the_ids_of_results_are_never_broken(shown: Shown) -> None:
    result = result_of(FOUND)
    lines = shown(lambda: print_results([result, result]))
    assert all(len(line) <= 80 for line in lines)
    assert sum(line.startswith("bench-20260214-0910-7c1e ") for line in lines) == 2
    assert "180" in lines[1]


def test_an_item_is_shown_whole_and_stays_in_its_column(shown: Shown) -> None:
    one = item(
        7, answer="word " * 60, target=("a", "b"), template="brief", epoch=2, attempts=3,
        recorded=True, scores=(
            ItemScore("number_match", 0.0, reason="it is not equal", extracted="13"),
            ItemScore("tokens", None, ScoreStatus.ERROR, "no judge"),
        ),
    )  # fmt: skip
    lines = shown(lambda: print_item(one))
    text = " ".join(" ".join(lines).split())
    assert all(len(line) <= 80 for line in lines)
    for said in (
        *("item 7, sums, gpt-4o-mini", "What is 7 and 7?", "target a", "target b"),
        *("number_match 0", "read: 13", "why: it is not equal", "tokens error", "why: no judge"),
        *("20 tokens in, 5 out; $0.0001; 0.50 s; 3 attempts; ended by stop; found recorded",),
        *("template brief", "epoch 2"),
    ):
        assert said in text
    assert text.count("word") == 60


def test_an_item_that_failed_says_why(shown: Shown) -> None:
    down = item(3, status=ItemStatus.FAILED, answer=None, failure="rate_limit", error="429")
    assert any("rate limit: 429" in line for line in shown(lambda: print_item(down)))


def test_a_very_long_answer_is_cut_with_a_word_about_it(shown: Shown) -> None:
    lines = shown(lambda: print_item(item(0, answer="x " * 500_000)))
    assert len(lines) < 200 and "994,000 characters more" in " ".join(" ".join(lines).split())


STRANGE = [text for text in HOSTILE if not text.isprintable() and len(text) < 6_000]


@pytest.mark.parametrize("text", STRANGE, ids=range(len(STRANGE)))
def test_nothing_that_a_model_wrote_is_obeyed(shown: Shown, text: str) -> None:
    text = clean(text)
    score = ItemScore(text, 1.0, reason=text, extracted=text)
    one = item(
        0, prompt=text, answer=text, target=(text,), endpoint=text, scores=(score,), id=text,
        error=text, failure=text,
    )  # fmt: skip
    result = result_of([one], grading={"sums": {text: (50, 100), "b": (0, 49)}}, name=text,
                       problems=(text,), state=text, message=text)  # fmt: skip
    need = {"recipe": text, "datasets": [text], "templates": [text], "metrics": [text],
            "judge": text, "prompts": 1, "missing": [text]}  # fmt: skip

    def everything() -> None:
        print_item(one)
        print_result(result, report=Path("r.html"))
        print_results([result])
        print_needs([need])

    assert shown(everything)


def test_what_recipes_need_is_listed(shown: Shown) -> None:
    needs = [
        {"recipe": "sums", "datasets": ["a", "b"], "templates": [], "metrics": ["exact_match"],
         "judge": "", "prompts": 1200},
        {"recipe": "safety", "datasets": ["c"], "templates": ["t"], "metrics": ["refusal_judge"],
         "judge": "gpt-4o", "prompts": 10, "missing": ["there is no dataset 'c'"]},
    ]  # fmt: skip
    lines = shown(lambda: print_needs(needs))
    assert lines[:4] == [
        "sums",
        "  datasets   a, b",
        "  metrics    exact_match",
        "  questions  1,200 to each endpoint",
    ]
    assert "  judge      gpt-4o" in lines and "  missing    there is no dataset 'c'" in lines


def test_a_result_without_any_item_is_shown_too(shown: Shown) -> None:
    result = result_of(FOUND, recipes=(), cookbooks=False, state="stopped", message="no money")
    assert any("! no money" in line for line in shown(lambda: print_result(result)))
