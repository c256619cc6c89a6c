"""Items: as rows of a table and back, and what pairs them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from penstock.bench.item import Item, ItemScore, ItemStatus, items_of
from penstock.metrics.score import Score, ScoreStatus
from penstock.outcome import FailureKind
from penstock.tables import Table
from tests.bench.summary_kit import item, table
from tests.metrics.texts import patient

FULL = item(
    "q7",
    ItemScore("yes", 1.0, reason="right", extracted="7", parts=(1.0, 2.5)),
    number=3,
    template="t",
    epoch=2,
    cluster="passage 1",
    target=("7", "seven"),
    status=ItemStatus.REFUSED,
    finish="stop",
    input_tokens=12,
    output_tokens=3,
    attempts=2,
    recorded=True,
)
BARE = item(
    "q8",
    ItemScore("yes", None, ScoreStatus.ERROR, "the judge is gone", failure=FailureKind.TIMEOUT),
    target=(),
    answer=None,
    status=ItemStatus.FAILED,
    failure="timeout",
    error="no answer in 60 s",
    cost=None,
    latency=None,
)


def test_an_item_is_the_same_as_a_row_and_back() -> None:
    for each in (FULL, BARE):
        assert Item.of_row(each.row()) == each


def test_items_are_the_same_from_a_table(tmp_path: Path) -> None:
    path = table([FULL, BARE]).save(tmp_path / "items.arrow")
    assert list(items_of(Table.open(path))) == [FULL, BARE]


def test_items_without_any_value_in_a_column_are_the_same_from_a_table() -> None:
    assert list(items_of(table([BARE, BARE]))) == [BARE, BARE]


def test_no_target_is_not_the_same_as_nothing_being_right() -> None:
    for targets in ([None, ()], [()], [None], [(), ("5",), None]):
        items = [item("q", target=target) for target in targets]
        assert [each.target for each in items_of(table(items))] == targets


def test_recipes_with_other_metrics_share_a_table() -> None:
    items = [item("a", {"yes": 1.0}), item("b", {"bleu": 0.5, "rouge": 0.25}), item("c")]
    assert list(items_of(table(items))) == items


def test_a_score_is_the_same_with_its_label_and_without() -> None:
    scores = (
        Score(0.5, reason="half", extracted="x", parts=(1.0, 2.0)),
        Score.refused(),
        Score.error("no", FailureKind.RATE_LIMITED),
    )
    for score in scores:
        assert ItemScore.of("label", score).score == score
        assert ItemScore.of("label", score).metric == "label"


def test_what_pairs_items_is_neither_the_endpoint_nor_the_epoch_nor_the_place() -> None:
    other = item("q7", number=99, example=4, endpoint="n", epoch=1, template="t", prompt="else")
    assert other.key == FULL.key == ("r", "d", "t", "q7")
    assert item("q7", template="u").key != FULL.key
    assert item("q7", recipe="s", template="t").key != FULL.key


texts = st.text(max_size=20)
scores = st.builds(
    ItemScore,
    texts,
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(ScoreStatus),
    texts,
    st.none() | texts,
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=3).map(tuple),
    st.none() | st.sampled_from(FailureKind),
)
items = st.builds(
    Item,
    number=st.integers(0, 2**40), recipe=texts, dataset=texts, template=texts, endpoint=texts,
    example=st.integers(0, 2**40), id=texts, epoch=st.integers(0, 1000), cluster=st.none() | texts,
    prompt=texts, target=st.none() | st.lists(texts, max_size=3).map(tuple),
    answer=st.none() | texts,
    status=st.sampled_from(ItemStatus), finish=texts, failure=texts, error=texts,
    scores=st.lists(scores, max_size=3).map(tuple), input_tokens=st.integers(0, 2**40),
    output_tokens=st.integers(0, 2**40), cost=st.none() | texts,
    latency=st.none() | st.floats(0, 1e6), attempts=st.integers(0, 99), recorded=st.booleans(),
)  # fmt: skip


@patient
@given(st.lists(items, min_size=1, max_size=4))
def test_any_items_are_the_same_from_a_table(many: list[Item]) -> None:
    assert list(items_of(table(many))) == many
