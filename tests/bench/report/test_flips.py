"""Flips: which questions endpoints did not answer alike, in whatever order the items come."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.bench.item import Item, ItemScore, ItemStatus
from penstock.bench.report import flips as room
from penstock.bench.report import made_page
from penstock.bench.report.flips import Flips
from tests.bench.report.made import ENDPOINTS, item, result_of, table
from tests.bench.report.reading import read

values = st.lists(
    st.tuples(
        st.integers(0, 6), st.sampled_from(ENDPOINTS), st.none() | st.sampled_from([0.0, 0.5, 1.0])
    ),
    max_size=60,
)


@given(values)
def test_questions_are_compared_as_a_plain_count_would(
    found: list[tuple[int, str, float | None]],
) -> None:
    flips = Flips(ENDPOINTS)
    plain: dict[int, dict[str, list[float]]] = {}
    for row, (number, endpoint, value) in enumerate(found):
        flips.add(row, ("r", "d", "", str(number)), endpoint, value)
        if value is not None:
            plain.setdefault(number, {}).setdefault(endpoint, []).append(value)
    means = [
        [sum(each) / len(each) for each in by.values()] for by in plain.values() if len(by) > 1
    ]
    made = flips.found(100).get("r")
    assert (0 if made is None else made.compared) == len(means)
    spreads = sorted((max(each) - min(each) for each in means if len(set(each)) > 1), reverse=True)
    shown = [] if made is None else [flip.spread for flip in made.largest]
    assert shown == pytest.approx(spreads)
    assert (0 if made is None else made.differ) == len(spreads)


def test_the_largest_differences_come_first_and_of_equal_ones_the_first_asked() -> None:
    flips = Flips(("a", "b"))
    for number, spread in enumerate((0.2, 1.0, 0.5, 1.0)):
        flips.add(2 * number, ("r", "d", "", str(number)), "a", 0.0)
        flips.add(2 * number + 1, ("r", "d", "", str(number)), "b", spread)
    found = flips.found(3)["r"]
    assert [flip.rows["a"] for flip in found.largest] == [2, 6, 4]
    assert found.largest[0].means == {"a": 0.0, "b": 1.0} and found.differ == 4


def test_one_endpoint_has_nothing_to_differ_from() -> None:
    flips = Flips(("a",))
    flips.add(0, ("r", "d", "", "1"), "a", 0.0)
    assert flips.found(3) == {}


def test_questions_beyond_the_bound_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "MOST_QUESTIONS", 2)
    flips = Flips(("a", "b"))
    for number in range(4):
        for row, endpoint in enumerate(("a", "b")):
            flips.add(2 * number + row, ("r", "d", "", str(number)), endpoint, float(row))
    assert flips.left_out == 4 and flips.found(9)["r"].differ == 2


def pair(number: int, answers: dict[str, tuple[str, float | None]]) -> list[Item]:
    made = []
    for place, (endpoint, (answer, value)) in enumerate(answers.items()):
        refused = value is None
        score = (
            ItemScore("number_match", value) if not refused
            else ItemScore("number_match", None, status="refused")  # type: ignore[arg-type]
        )  # fmt: skip
        made.append(
            item(
                10 * number + place,
                id=f"q{number}",
                endpoint=endpoint,
                answer=answer,
                prompt=f"question {number}",
                scores=(score,),
                status=ItemStatus.REFUSED if refused else ItemStatus.ANSWERED,
            )
        )
    return made


def test_the_page_shows_what_each_endpoint_said() -> None:
    first, second, third = ENDPOINTS
    found = [
        *pair(1, {first: ("right here", 1.0), second: ("wrong here", 0.0), third: ("no", None)}),
        *pair(2, {first: ("the same", 1.0), second: ("the same", 1.0), third: ("same", 1.0)}),
    ]
    random.Random(3).shuffle(found)
    seen = read(made_page(result_of(found), table(found)).html())
    assert ["Word sums", "number_match", "2", "1", "1"] in seen.rows
    told = seen.text.partition("The largest differences")[2].partition("Tokens, cost")[0]
    assert "question 1" in told and "question 2" not in told
    for said in ("right here", "wrong here", "refused", *ENDPOINTS):
        assert said in told


def test_several_epochs_count_by_their_mean() -> None:
    first, second, _ = ENDPOINTS
    found = []
    for epoch, value in enumerate((0.0, 1.0)):
        score, other = ItemScore("number_match", value), ItemScore("number_match", 1 - value)
        found.append(item(epoch, id="q", epoch=epoch, endpoint=first, scores=(score,)))
        found.append(item(9 + epoch, id="q", epoch=epoch, endpoint=second, scores=(other,)))
    seen = read(made_page(result_of(found), table(found)).html())
    assert "Where endpoints differ" not in seen.sections
