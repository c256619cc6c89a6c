"""What grading would take, told before anything is sent: counts, estimates, parts."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from penstock.endpoint import Endpoint, Prices
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.grade.counting import counted
from penstock.grade.estimating import Estimates, estimated
from penstock.grade.grading import GradeJob
from penstock.grade.parts import written_parts
from penstock.outcome import Usage
from penstock.simulator import Simulator
from tests.grade.grade_kit import Grade, essays, job, read, sent, settings, write_csv, write_lines

At = Callable[..., Endpoint]
PRICES = Prices(input=Decimal(2), output=Decimal(30), batch_input=Decimal(1))


def texts(path: Path, *given: str | None) -> Path:
    return write_lines(path, [{"text": text} for text in given])


def tokens(job: GradeJob, bench: Workbench, *given: str) -> int:
    """By the one counter."""
    grader = job.grader(bench)
    return sum(grader.tokens(text) for text in given)


@pytest.fixture
def copies(tmp_path: Path) -> Path:
    return tmp_path / "copies"


# Counts ---------------------------------------------------------------------------------------


def test_rows_texts_and_tokens_are_counted_as_they_are_asked(
    bench: Workbench, at: At, tmp_path: Path, copies: Path
) -> None:
    a = texts(tmp_path / "a.jsonl", "one", None, "two words", " ")
    b = texts(tmp_path / "b.jsonl", "three")
    b.write_text(b.read_text() + '{"text": \n')
    made = job([a, b], [at()], row_limit=3)
    found = counted(made, bench, copies)
    assert [path for path, _ in found.files] == [a, b]
    (_, first), (_, second) = found.files
    assert first == (4, 2, tokens(made, bench, "one", "two words"), 2, 0)
    assert second == (2, 1, tokens(made, bench, "three"), 1, 0), "a broken row is no text"
    assert found.total == (6, 3, first.tokens + second.tokens, 3, 0)
    assert found.over == () and found.refused == ()


def test_a_count_needs_no_key_sends_nothing_and_makes_no_workspace(
    bench: Workbench, at: At, simulator: Simulator, tmp_path: Path, copies: Path
) -> None:
    made = job(texts(tmp_path / "a.jsonl", "one"), [at(key="env:NO_SUCH_KEY")])
    assert counted(made, bench, copies).total.texts == 1
    assert estimated(made, bench, copies).total.questions == 1
    assert simulator.summary()["requests"] == 0
    assert not bench.workspace.exists


def test_every_grader_is_counted(bench: Workbench, at: At, tmp_path: Path, copies: Path) -> None:
    path = texts(tmp_path / "a.jsonl", "one", "two")
    one = counted(job(path, [at()]), bench, copies).total.tokens
    assert counted(job(path, [at()], graders=3), bench, copies).total.tokens == 3 * one
    both = [at(), at("other")]
    assert counted(job(path, both, graders=2), bench, copies).total.tokens == 4 * one


def test_a_row_over_the_limit_is_counted_apart_whatever_a_run_would_do(
    bench: Workbench, at: At, tmp_path: Path, copies: Path
) -> None:
    path = texts(tmp_path / "a.jsonl", "short", "long " * 500, "short")
    made = job(path, [at()])
    limit = tokens(made, bench, "short") + 10
    found = counted(job(path, [at()], token_limit=limit), bench, copies).total
    assert (found.rows, found.chunks, found.over) == (3, 2, 1)


def test_limits_of_files_and_days_are_told_and_hold_nothing_up(
    at: At, tmp_path: Path, copies: Path
) -> None:
    path = write_csv(tmp_path / "a.csv", essays(5))
    kept = settings(token_management__file_token_limit=20, token_management__daily_token_limit=30)
    with Workbench(kept, tmp_path / "home") as bench:
        found = counted(job(path, [at()]), bench, copies)
        assert found.total.texts == 5
        file, day = found.over
        assert str(path) in file and "a file may take 20" in file
        assert "30 are left for today" in day
        assert estimated(job(path, [at()]), bench, copies).over == found.over
        more = job(path, [at()], file_token_limit=10**6, daily_token_limit=10**6)
        assert counted(more, bench, copies).over == ()


def test_a_file_that_cannot_be_graded_is_told_beside_the_others(
    bench: Workbench, at: At, tmp_path: Path, copies: Path
) -> None:
    good = write_csv(tmp_path / "good.csv", essays(2))
    bad = write_csv(tmp_path / "bad.csv", [{"a": 1, "b": 2}])
    found = counted(job([good, bad], [at()]), bench, copies)
    assert [path for path, _ in found.files] == [good]
    [refused] = found.to_dict()["refused"]
    assert refused["path"] == str(bad) and "--column" in refused["remedy"]


# Estimates ------------------------------------------------------------------------------------


def test_an_estimate_is_the_sum_of_its_questions(
    bench: Workbench, at: At, tmp_path: Path, copies: Path
) -> None:
    a = texts(tmp_path / "a.jsonl", "one", "", "two")
    b = texts(tmp_path / "b.jsonl", "three and more")
    endpoint = at(prices=PRICES, params={"max_tokens": 50})
    made = job([a, b], [endpoint], graders=2)
    found = estimated(made, bench, copies)
    (_, first), (_, second) = found.files
    assert (first.rows, first.questions, first.recorded) == (3, 4, 0)
    assert first.input_tokens == tokens(made, bench, "one", "two")
    assert first.output_tokens == 4 * 50
    price = bench.prices().price(endpoint)
    assert price is not None
    assert first.cost == price.cost(Usage(first.input_tokens, first.output_tokens))
    by_batch = bench.prices().price(endpoint, "batch")
    assert by_batch is not None
    assert second.batch_cost == by_batch.cost(Usage(second.input_tokens, second.output_tokens))
    total = found.total
    assert first.cost is not None and second.cost is not None
    assert total.cost == first.cost + second.cost
    assert total.questions == 6 and total.input_tokens == first[3] + second[3]
    assert "endpoint" in found.price_sources and not found.unpriced


def test_equal_texts_are_one_question_as_they_are_when_they_are_asked(
    bench: Workbench, at: At, grade: Grade, simulator: Simulator, tmp_path: Path, copies: Path
) -> None:
    a = texts(tmp_path / "a.jsonl", "same", "same", "other")
    b = texts(tmp_path / "b.jsonl", "same")
    found = estimated(job([a, b], [at()]), bench, copies)
    assert [each.questions for _, each in found.files] == [2, 0]
    grade([a, b])
    assert sent(simulator) == found.total.questions


def test_what_is_answered_costs_nothing_and_tells_how_long_answers_are(
    bench: Workbench, at: At, grade: Grade, tmp_path: Path, copies: Path
) -> None:
    path = write_csv(tmp_path / "a.csv", essays(40))
    endpoint = at(prices=PRICES)
    guess = estimated(job(path, [endpoint]), bench, copies)
    assert guess.seen == 0 and guess.total.output_tokens == 40 * (2 * 12 + 2 * 50)
    first = grade(path, model=endpoint, first=10)
    mean = first.run.counters["output_tokens"] / 10
    better = estimated(job(path, [endpoint]), bench, copies)
    assert (better.seen, better.total.recorded) == (10, 10)
    assert better.total.output_tokens == 30 * round(mean)
    whole = grade(path, model=endpoint)
    assert better.total.cost is not None
    assert float(better.total.cost) == pytest.approx(float(whole.run.cost), rel=0.2)
    done = estimated(job(path, [endpoint]), bench, copies).total
    assert (done.recorded, done.input_tokens, done.cost) == (40, 0, Decimal(0))
    anew = estimated(job(path, [endpoint], cache="refresh"), bench, copies).total
    assert anew.recorded == 0 and anew.input_tokens > 0


def test_a_price_that_nobody_knows_is_not_guessed(
    bench: Workbench, at: At, tmp_path: Path, copies: Path
) -> None:
    path = texts(tmp_path / "a.jsonl", "one")
    found = estimated(job(path, [at(prices=PRICES), at("free")]), bench, copies)
    assert found.total.cost is None and len(found.unpriced) == 1
    assert found.to_dict()["total"]["cost"] is None


def test_costs_that_are_not_tracked_are_not_estimated(at: At, tmp_path: Path, copies: Path) -> None:
    path = texts(tmp_path / "a.jsonl", "one")
    kept = settings(token_management__cost_tracking=False)
    with Workbench(kept, tmp_path / "home") as bench:
        assert estimated(job(path, [at(prices=PRICES)]), bench, copies).total.cost is None


@pytest.mark.parametrize(("lane", "priced"), [("online", False), ("batch", True)])
def test_the_batch_lane_has_a_price_where_there_is_one(
    bench: Workbench, at: At, tmp_path: Path, copies: Path, lane: Any, priced: bool
) -> None:
    """Nobody knows whether a foreign server has batches; who asks for them says so."""
    path = texts(tmp_path / "a.jsonl", "one")
    endpoint = at(prices=Prices(input=Decimal(2), output=Decimal(30)))
    total = estimated(job(path, [endpoint], lane=lane), bench, copies).total
    assert total.cost is not None and (total.batch_cost is not None) == priced


def test_what_the_day_leaves(
    bench: Workbench, at: At, grade: Grade, tmp_path: Path, copies: Path
) -> None:
    path = write_csv(tmp_path / "a.csv", essays(6))
    first = grade(path, first=4)
    limit = first.run.tokens + 100

    def found(**wishes: Any) -> Estimates:
        return estimated(job(path, [at()], **wishes), bench, copies)

    assert found().left_now is None and found().left_after is None
    some = found(daily_token_limit=limit)
    assert some.left_now == 100
    assert some.left_after == 100 - some.total.input_tokens - some.total.output_tokens < 0


# Parts ----------------------------------------------------------------------------------------


def test_parts_hold_every_row_once_in_order(
    bench: Workbench, at: At, simulator: Simulator, tmp_path: Path, copies: Path
) -> None:
    path = write_csv(tmp_path / "in" / "a.csv", essays(10))
    made = written_parts(job(path, [at()], out=tmp_path / "out", row_limit=4), bench, copies)
    [split] = made.files
    assert [part.name for part in split.parts.files] == [f"a-part-00{n}-of-003.csv" for n in "123"]
    rows = [row for part in split.parts.files for row in read(part)]
    assert rows == read(path) and simulator.summary()["requests"] == 0


def test_parts_of_equal_names_do_not_meet(
    bench: Workbench, at: At, tmp_path: Path, copies: Path
) -> None:
    for place in ("x", "y"):
        write_csv(tmp_path / "in" / place / "a.csv", essays(2, word=place))
    texts(tmp_path / "in" / "x" / "a.jsonl", "line")
    with gzip.open(tmp_path / "in" / "x" / "a.csv.gz", "wt") as file:
        file.write("text\npacked\n")
    out = tmp_path / "out"
    made = written_parts(job(tmp_path / "in", [at()], out=out, chunks=1), bench, copies)
    written = [part for split in made.files for part in split.parts.files]
    assert len(set(written)) == 4 == len([path for path in out.rglob("*part*") if path.is_file()])
    again = job(tmp_path / "in", [at()], out=out, chunks=1, overwrite=True)
    assert len(written_parts(again, bench, copies).files) == 4


def test_parts_of_an_earlier_split_are_not_mixed_with_new_ones(
    bench: Workbench, at: At, tmp_path: Path, copies: Path
) -> None:
    path = write_csv(tmp_path / "in" / "a.csv", essays(6))

    def split(**wishes: Any) -> None:
        written_parts(job(path, [at()], out=tmp_path / "out", **wishes), bench, copies)

    split(chunks=3)
    with pytest.raises(InputError, match="is there already"):
        split(chunks=3)
    with pytest.raises(InputError, match="an earlier split into 3; now there are 2"):
        split(chunks=2, overwrite=True)
    assert len(list((tmp_path / "out").glob("a-part-*"))) == 3, "nothing was written"
    split(chunks=3, overwrite=True)
    with pytest.raises(InputError, match=r"where a\.csv lies"):
        written_parts(job(path, [at()], out=tmp_path / "in"), bench, copies)
