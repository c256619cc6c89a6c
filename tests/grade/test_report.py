"""The report of a grading run: what it says, whatever the data holds, in flat memory."""

from __future__ import annotations

import json
import math
import random
import re
import statistics
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser

from penstock.engine.info import RunInfo
from penstock.engine.states import RunState
from penstock.errors import InputError
from penstock.grade.chunks import Chunk, ChunkState
from penstock.grade.marking import as_columns, read
from penstock.grade.report import made_page, summary_lines, write_report
from penstock.grade.report.findings import findings
from penstock.grade.report.spread import Bin, Labels, Numbers, Spread
from penstock.grade.report.survey import survey
from penstock.grade.report.words import file_names
from penstock.grade.results import STATUSES, FileResult, Grading
from penstock.grade.rubric import Rubric
from penstock.grade.scale import NumberScale
from penstock.secret import Secret
from penstock.tables import Table
from tests.grade.rubrics import patient
from tests.live.browser import chromium, watched
from tests.live.hostile import HOSTILE
from tests.tables.values import PEAK

# Gradings of made-up rows ----------------------------------------------------------------------

COUNTERS = {
    "rows_failed": 0,
    "asked": 1_188,
    "recorded": 0,
    "input_tokens": 1_412_233,
    "output_tokens": 388_201,
    "cost": "0.4661",
    "unpriced": 0,
    "price_sources": ["the endpoint"],
}
ESSAYS = Rubric.load(Path(sys.modules[Rubric.__module__].__file__ or "").with_name("starter.yaml"))
PLAIN = Rubric.of({"criteria": [{"name": "style", "scale": [1, 5]}], "reasons": "none"})
REASONS = {
    1: "There is an opinion, but no reason is given for it.",
    2: "One reason is named and then repeated in other words.",
    3: "A clear claim with one reason, which is stated but not explained.",
    4: "Two reasons that support the claim; the second one stays short.",
    5: "A clear claim, two explained reasons, and an objection that is answered.",
}
ORDERS = (
    "The sentences stand in no order that a reader could follow.",
    "A beginning and an end can be seen; between them steps are missing.",
    "Each paragraph takes up the one before it, and the end returns to the question.",
)


def info(state: RunState = RunState.COMPLETED, **counters: Any) -> RunInfo:
    return RunInfo(
        id="grade-20260214-0910-7c1e",
        state=state,
        counters=COUNTERS | counters,
        folder="",
        ended=datetime(2026, 2, 14, 9, 31, tzinfo=UTC),
        models=("openai/gpt-4o-mini",),
        seconds=311.0,
    )


def essay(rubric: Rubric, ability: float, rng: random.Random) -> dict[str, Any]:
    """The cells of an essay of some ability (0 to 1), as a grader would fill them."""
    argument = min(5, max(1, round(1 + 4 * ability + rng.gauss(0, 0.6))))
    structure = min(10.0, max(0.0, round(2 * (10 * ability + rng.gauss(0, 1.2))) / 2))
    language = ("poor", "fair", "good")[min(2, int(3 * ability))]
    topic = "yes" if rng.random() < 0.94 else "partly"
    order = ORDERS[min(2, int(structure / 3.4))]
    answer = {
        "argument": {"reason": REASONS[argument], "score": argument},
        "structure": {"reason": order, "score": structure},
        "language": {"reason": f"The language is {language} for this age.", "score": language},
        "on_topic": {"reason": "It answers the question that was set.", "score": topic},
        "feedback": "Your claim is easy to find. Next time, answer one objection as well.",
    }
    return as_columns(rubric, read(rubric, answer))


def result(rubric: Rubric, name: str, rows: Sequence[Mapping[str, Any]], **more: Any) -> FileResult:
    """A file from its rows; what a row does not say is not there."""
    columns = (*rubric.columns(), "status", "error")
    full = [dict.fromkeys(columns) | {"status": "ok"} | dict(row) for row in rows]
    counts = Counter(str(row["status"]) for row in full)
    path = Path("/school/essays") / name
    output = Path("/school/graded") / name
    table = Table.from_rows(full)
    return FileResult(path, output, len(full), dict(counts), scores=table, **more)


def essays(seed: int = 3) -> Grading:
    """Three classes, a few failures, and a file without texts."""
    rng = random.Random(seed)
    files: list[FileResult] = []
    failures: list[dict[str, Any]] = []
    for name, level, size in (
        ("class-9a", 0.64, 412),
        ("class-9b", 0.61, 398),
        ("class-9c", 0.38, 405),
    ):
        rows: list[dict[str, Any]] = []
        for number in range(size):
            dice = rng.random()
            if dice < 0.012:
                kind, said = rng.choice(
                    [("timeout", "no answer within 60 s"), ("truncated", "cut off at 600 tokens")]
                )
                rows.append({"status": "failed", "error": f"{kind}: {said}"})
                path = f"/school/essays/{name}.csv"
                failures.append({"file": path, "row": number, "kind": kind, "message": said})
            elif dice < 0.03:
                rows.append({"status": "empty"})
            else:
                rows.append(essay(ESSAYS, min(1, max(0, rng.gauss(level, 0.2))), rng))
        done = Chunk(len(files), 0, size, 91_000, name, ChunkState.SUCCESS, 1)
        files.append(result(ESSAYS, f"{name}.csv", rows, chunks=(done,)))
    problem = FileResult(
        Path("/school/essays/register.xlsx"),
        None,
        problem="there is no column for the text; it has 'pupil', 'room'",
        remedy="Name the column that holds the texts: --column NAME.",
    )
    return Grading(
        ESSAYS,
        (*files, problem),
        info(RunState.COMPLETED_WITH_FAILURES),
        failures=Table.from_rows(failures),
        skipped=((Path("/school/essays/plan.docx"), "is no table"),),
    )


def scored(values: Sequence[Any], rubric: Rubric = PLAIN, name: str = "a.csv") -> FileResult:
    """A file of grades by the rubric's only criterion; None is an empty row."""
    [criterion] = rubric.criteria
    rows = [
        {"status": "empty"}
        if value is None
        else {criterion.name: value, "total": rubric.total({criterion.name: value})}
        for value in values
    ]
    if not rubric.has_total:
        for row in rows:
            row.pop("total", None)
    return result(rubric, name, rows)


def grading(*files: FileResult, rubric: Rubric = PLAIN, **more: Any) -> Grading:
    return Grading(rubric, files, more.pop("run", info()), **more)


class Words(HTMLParser):
    """The tags of a page, and what a reader sees of it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self._texts: list[str] = []
        self.feed(page)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self._texts).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self._texts.append(data)


def seen(of: Grading) -> str:
    return Words(made_page(of).html()).text


def found(of: Grading) -> list[tuple[str, str]]:
    return [(each.where, each.text) for each in findings(of, survey(of))]


def numbers(of: Grading, criterion: str = "style") -> Numbers:
    spread = survey(of).whole.criteria[criterion]
    assert isinstance(spread, Numbers)
    return spread


# What it says ----------------------------------------------------------------------------------


def test_the_page_answers_what_a_teacher_asks_first() -> None:
    page = seen(essays())
    for said in (
        *("Short argumentative essay", "openai/gpt-4o-mini", "completed with failures"),
        *("rows graded 1,182 of 1,215, in 4 files", "mean total 55.1 of 100; median 53.8"),
        *("not graded 33 14 failed, 19 empty", "cost $0.4661 1.41M tokens in, 388k out"),
        *("14 rows failed.", "penstock runs resume grade-20260214-0910-7c1e"),
        *("class-9c.csv its mean total is 37.2, that of the others 64.1", "50 %"),
        *("on topic 95.3 % got “yes”: it hardly tells texts apart", "3 (34 %)"),
        *("mean 3.18, median 3, standard deviation 1.09, lowest 1, highest 5; 1,182 grades",),
        *("highest total: 100 class-9c.csv, row 311", "lowest total: 0 class-9a.csv, row 18"),
        *("A clear claim, two explained reasons, and an objection that is answered.",),
        *("there is no column for the text", "Name the column that holds the texts"),
        *("plan.docx", "is no table", "no answer within 60 s", "1–412", "5 min 11 s"),
        *("Should school begin later in the morning?", "14 February 2026, 09:31"),
    ):
        assert said in page, said


def test_the_spread_of_every_criterion_is_that_of_the_grades() -> None:
    of = essays()
    whole = survey(of).whole
    for criterion in ("argument", "structure", "total"):
        values = [
            value
            for file in of.files
            for value in (file.scores[criterion] if file.scores else [])
            if value is not None
        ]
        spread = whole.total if criterion == "total" else whole.criteria[criterion]
        assert isinstance(spread, Numbers)
        assert spread.count == len(values) == sum(each.count for each in spread.bins)
        assert spread.mean == pytest.approx(statistics.fmean(values))
        assert spread.median == pytest.approx(statistics.median(values))
        assert spread.std == pytest.approx(statistics.stdev(values))
        assert (spread.low, spread.high) == (min(values), max(values))
        if criterion != "total":
            counts = Counter(values)
            assert [each.count for each in spread.bins] == [counts[b.low] for b in spread.bins]


def test_labels_stand_in_the_order_of_the_rubric() -> None:
    spread = survey(essays()).whole.criteria["language"]
    assert isinstance(spread, Labels)
    assert [label for label, _ in spread.labels] == ["poor", "fair", "good"]
    assert sum(count for _, count in spread.labels) == spread.count == 1_182
    assert re.search("poor .*? fair .*? good", seen(essays()))


@patient
@given(st.lists(st.lists(st.floats(0, 100) | st.integers(0, 100)), max_size=5))
def test_parts_come_to_the_same_as_the_whole(parts: list[list[float]]) -> None:
    joined = Spread(NumberScale(0, 100))
    for part in parts:
        other = Spread(NumberScale(0, 100))
        other.add(part)
        joined.merge(other)
    values = [value for part in parts for value in part]
    summed = joined.summed()
    assert summed.count == len(values) == sum(each.count for each in summed.bins)
    if values:
        assert summed.mean == pytest.approx(statistics.fmean(values), abs=1e-9)
        assert summed.median == pytest.approx(statistics.median(values), abs=1e-9)
    if len(values) > 1:
        assert summed.std == pytest.approx(statistics.stdev(values), abs=1e-6)


def test_values_without_number_are_counted_on_a_grid() -> None:
    rng = random.Random(1)
    values = [rng.betavariate(2, 5) * 100 for _ in range(60_000)]
    spread = Spread(NumberScale(0, 100))
    for start in range(0, len(values), 4_000):
        spread.add(values[start : start + 4_000])
    summed = spread.summed()
    assert len(spread._counts) <= 4_096
    assert summed.median == pytest.approx(statistics.median(values), abs=0.03)
    assert summed.mean == pytest.approx(statistics.fmean(values))


@pytest.mark.parametrize(
    ("scale", "first", "last", "count"),
    [
        (NumberScale(1, 5), Bin(1, 1, 1), Bin(5, 5, 1), 5),
        (NumberScale(0, 1, 0.1), Bin(0, 0, 1), Bin(1, 1, 1), 11),
        (NumberScale(0, 10, 0.5), Bin(0, 0, 1), Bin(10, 10, 1), 21),
        (NumberScale(0, 100), Bin(0, 5, 1), Bin(95, 100, 1), 20),
        (NumberScale(-20, 20), Bin(-20, -18, 1), Bin(18, 20, 1), 20),
        (NumberScale(0, 30), Bin(0, 2, 1), Bin(28, 30, 1), 15),
        (NumberScale(0, 1, 0.01), Bin(0, 0.05, 1), Bin(0.95, 1, 1), 20),
        (NumberScale(0, 1_000_000), Bin(0, 50_000, 1), Bin(950_000, 1_000_000, 1), 20),
    ],
)
def test_a_scale_is_shown_by_its_own_values_or_in_round_steps(
    scale: NumberScale, first: Bin, last: Bin, count: int
) -> None:
    spread = Spread(scale)
    spread.add([scale.low, scale.high, None, True, math.nan, "3"])
    bins = spread.summed().bins
    assert (bins[0], bins[-1], len(bins)) == (first, last, count)
    assert sum(each.count for each in bins) == 2


def test_every_value_of_a_scale_stands_in_its_own_place() -> None:
    scale = NumberScale(0, 2, 0.1)
    spread = Spread(scale)
    spread.add(scale.schema()["enum"])
    assert [each.count for each in spread.summed().bins] == [1] * 21


def test_means_of_graders_stand_at_the_nearer_score_and_the_page_says_so() -> None:
    of = grading(scored([2.0, 7 / 3, 8 / 3, 3.0]), graders=3)
    assert [each.count for each in numbers(of).bins] == [0, 2, 2, 0, 0]
    assert numbers(of).mean == pytest.approx(2.5)
    assert "Means between two scores stand at the nearer one" in seen(of)
    assert "Means between" not in seen(grading(scored([2, 3])))


@pytest.mark.parametrize(
    ("count", "lowest", "highest"), [(1, 1, 0), (2, 1, 1), (5, 3, 2), (50, 4, 4)]
)
def test_no_row_is_both_lowest_and_highest(count: int, lowest: int, highest: int) -> None:
    found = survey(grading(scored([1 + n % 5 for n in range(count)])))
    places = [(each.file, each.row) for each in (*found.lowest, *found.highest)]
    assert (len(found.lowest), len(found.highest)) == (lowest, highest)
    assert len(set(places)) == len(places)
    if count == 50:
        assert [each.row for each in found.lowest] == [1, 6, 11, 16]
        assert [(each.row, each.total) for each in found.highest] == [
            *((50, 100), (45, 100), (40, 100), (35, 100))
        ]


def test_rows_are_numbered_through_however_many_there_are() -> None:
    rows: list[dict[str, Any]] = [{"style": 3, "total": 50.0} for _ in range(9_000)]
    rows[8_192] = {"status": "failed", "error": "late"}
    rows[8_500] = {"style": 5, "total": 100.0}
    found = survey(grading(result(PLAIN, "a.csv", rows)))
    assert [each.row for each in found.troubles] == [8_193]
    assert (found.highest[0].row, found.highest[0].total) == (8_501, 100)
    assert found.lowest[0].row == 1


def test_what_is_rare_is_not_shown_as_nothing() -> None:
    page = seen(grading(scored([3] * 999 + [1])))
    assert "< 1 %" in page and "100 %" in page


def test_rows_to_read_come_with_their_reasons_and_fields() -> None:
    rows = [
        essay(ESSAYS, 0.05, random.Random(1)) | {"argument_reason": "It begs the question."},
        essay(ESSAYS, 0.95, random.Random(1)) | {"feedback": "Send it to the newspaper."},
    ]
    page = seen(Grading(ESSAYS, (result(ESSAYS, "a.csv", rows),), info()))
    assert "It begs the question." in page and "Send it to the newspaper." in page
    overall = Rubric.of({"criteria": [{"name": "style", "scale": [1, 5]}], "reasons": "overall"})
    row = {"style": 2, "reason": "Rather dry.", "total": 25.0}
    assert "Rather dry." in seen(grading(result(overall, "a.csv", [row]), rubric=overall))


def test_every_status_is_said_with_what_it_means() -> None:
    rows = [{"status": status, "error": f"why {status}"} for status in STATUSES if status != "ok"]
    of = grading(result(PLAIN, "a.csv", [*rows, {"style": 3, "total": 50.0}]))
    page = seen(of)
    for status, meaning in STATUSES.items():
        assert f"{status} 1 16.7 % {meaning}" in page
    for row, status in enumerate(STATUSES.keys() - {"ok"}, 1):
        assert row and (f"why {status}" in page) == (status in ("failed", "error", "skipped"))


def test_failures_are_told_by_kind_and_the_first_of_them_by_row() -> None:
    rows = [{"status": "failed", "error": f"timeout: late {n}"} for n in range(60)]
    path = "/school/essays/a.csv"
    failures = Table.from_rows(
        [{"file": path, "row": n, "kind": "timeout", "message": f"late {n}"} for n in range(58)]
        + [{"file": path, "row": n, "kind": "server", "message": "500"} for n in (58, 59)]
    )
    of = grading(result(PLAIN, "a.csv", [{"style": 3, "total": 50.0}, *rows]), failures=failures)
    page = seen(of)
    assert "timeout 58 late 0 server 2 500" in page
    assert "a.csv 2 failed timeout: late 0" in page  # the second row, as people count
    assert "Rows without a grade (row 1 is the first row of data): 60" in page
    assert "timeout: late 49" in page and "timeout: late 50" not in page
    assert ("failures", "58 rows failed: timeout") in found(of)


def test_what_other_graders_graded_is_not_called_failed() -> None:
    rows: list[dict[str, Any]] = [{"style": 3, "total": 50.0}] * 4
    rows += [{"style": 2, "total": 25.0, "error": "timeout: 1 of 2 graders failed: late"}] * 5
    failures = Table.from_rows(
        [
            {"file": "/school/essays/a.csv", "row": n, "kind": "timeout", "message": "1 of 2"}
            for n in range(4, 9)
        ]
    )
    of = grading(
        result(PLAIN, "a.csv", rows), failures=failures, graders=2, agreement={"style": 0.9}
    )
    assert found(of) == [
        ("graders", "5 rows have their grades from only some of the graders: the others failed")
    ]
    page = seen(of)
    assert "rows failed graded by others first message timeout 0 5 1 of 2" in page
    assert "resume" not in page


@pytest.mark.parametrize(
    ("status", "state", "said"),
    [
        ("failed", RunState.COMPLETED_WITH_FAILURES, "2 rows failed."),
        ("pending", RunState.STOPPED, "2 rows are not graded yet."),
        ("pending", RunState.WAITING, "2 rows wait: answers lie in a batch."),
        ("empty", RunState.COMPLETED, ""),
        ("ok", RunState.COMPLETED, ""),
    ],
)
def test_how_to_go_on_is_said_where_there_is_something_left(
    status: str, state: RunState, said: str
) -> None:
    page = seen(grading(result(PLAIN, "a.csv", [{"status": status}] * 2), run=info(state)))
    assert ("penstock runs resume grade-20260214-0910-7c1e" in page) == bool(said)
    assert said in page


def test_many_chunks_are_folded_and_the_failed_ones_are_not() -> None:
    chunks = tuple(
        Chunk(n, n * 10, n * 10 + 10, 900, "0", ChunkState.SUCCESS, 1)
        if n != 7
        else Chunk(n, 70, 80, 900, "0", ChunkState.FAILURE, 3, "every row failed")
        for n in range(40)
    )
    few, many = (
        made_page(grading(replace(scored([3] * 4), chunks=some))).html()
        for some in (chunks[:10], chunks)
    )
    assert "All 40 chunks" in many and "39 success, 1 failure" in many
    assert many.count("every row failed") == 2 and few.count("every row failed") == 1
    assert "chunks</summary>" not in few and "71–80" in few


def test_agreement_is_told_with_what_it_means() -> None:
    rubric = Rubric.of({"criteria": [{"name": n, "scale": [1, 5]} for n in "abcde"]})
    alphas = dict(zip("abcde", (0.91, 0.7, 0.41, -0.2, None), strict=True))
    values = [1, 2, 3, 4, 5] * 5
    rows = [dict.fromkeys("abcde", n) | {"total": 25.0 * (n - 1)} for n in values]
    file, few = (result(rubric, "a.csv", some) for some in (rows, rows[:5]))
    page = seen(grading(file, rubric=rubric, agreement=alphas, graders=3))
    assert "Each text was graded 3 times." in page
    for said in ("a 0.91 good", "b 0.70 fair", "c 0.41 low", "d -0.20 none", "e – unknown"):
        assert said in page
    assert "does not make them right" in page
    assert found(grading(few, rubric=rubric, agreement=alphas, graders=3)) == []
    page = seen(grading(few, rubric=rubric, agreement=alphas, graders=3))
    assert "With 5 texts, alpha says little either way." in page
    assert found(grading(file, rubric=rubric, agreement=alphas, graders=3)) == [
        ("c", "the graders agree little (alpha 0.41): do not rely on single grades"),
        ("d", "the graders agree little (alpha -0.20): less than chance would give"),
    ]
    assert "Krippendorff" not in seen(grading(scored([1, 2])))


@pytest.mark.parametrize(
    ("counters", "said"),
    [
        ({"cost": "0"}, "cost $0.00"),
        ({"cost": "1234.567"}, "cost $1,234.57"),
        ({"cost": "0.000012345678"}, "cost $0.00001235"),
        ({"cost": "0.5", "unpriced": 3}, "$0.5, but no price is known of 3 answers"),
        ({"cost": "0", "unpriced": 1}, "unknown: no price is known of 1 answer"),
        ({"recorded": 12}, "1,188 asked, 12 answered from the journal"),
    ],
)
def test_what_it_cost_is_said_as_far_as_it_is_known(counters: dict[str, Any], said: str) -> None:
    assert said in seen(grading(scored([1]), run=info(**counters)))


# Worth a look ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "values", "said"),
    [
        ([1, 5], [4] * 95 + [3] * 5, "95 % got 4: it hardly tells texts apart"),
        ([1, 5], [5] * 50 + [1, 2, 3, 4] * 12, "51 % got the highest score there is: differences"),
        ([1, 5], [1] * 50 + [5, 2, 3, 4] * 12, "51 % got the lowest score there is: differences"),
        ([0, 100], [97] * 50 + [10, 30, 50, 70] * 12, "51 % lie at the highest end of the scale"),
        (
            [0, 100],
            [50, 52, 54, 57, 58, 61] * 20,
            "all scores lie from 50 to 61: most of the scale",
        ),
    ],
)
def test_scores_that_tell_little_are_pointed_out(
    scale: list[int], values: list[int], said: str
) -> None:
    rubric = Rubric.of({"criteria": [{"name": "style", "scale": scale}], "reasons": "none"})
    [(where, text)] = found(grading(scored(values, rubric), rubric=rubric))
    assert where == "style" and text.startswith(said)


def test_rows_without_text_are_pointed_out_and_a_file_that_has_hardly_any() -> None:
    full, hollow = scored([1, 2, 3, 4, 5] * 20), scored([None] * 40 + [3] * 10, name="b.csv")
    assert found(grading(full, hollow)) == [
        ("b.csv", "80 % of its rows have no text: is it the right column?"),
        ("rows", "26.7 % of the rows have no text to grade"),
    ]
    assert found(grading(scored([*([1, 2, 3, 4, 5] * 20), None]))) == []


def test_a_file_far_from_the_others_is_pointed_out() -> None:
    usual = [scored([2, 3, 3, 4] * 10, name=f"{n}.csv") for n in range(3)]
    assert found(grading(*usual)) == []
    far = scored([4, 5, 5, 4] * 10, name="far.csv")
    assert found(grading(*usual, far)) == [
        ("far.csv", "its mean total is 87.5, that of the others 50")
    ]
    # By what files differ in themselves, not by what they differ from each other.
    rubric = Rubric.of({"criteria": [{"name": "style", "scale": [0, 100]}], "reasons": "none"})
    one, two = (scored([n, n + 20] * 20, rubric, name=f"{n}.csv") for n in (40, 49))
    near = scored([47, 67] * 20, rubric, name="near.csv")
    assert [where for where, _ in found(grading(one, two, rubric=rubric))][:2] == [
        *("40.csv", "49.csv"),
    ]
    assert "near.csv" not in [where for where, _ in found(grading(one, near, rubric=rubric))]
    # Too few to say so.
    assert found(grading(*usual, scored([5] * 6, name="far.csv"))) == []


def test_files_that_were_not_graded_are_pointed_out_before_anything_else() -> None:
    bad = [FileResult(Path(f"{n}.csv"), None, problem="it is damaged") for n in range(7)]
    assert found(grading(*bad, scored([1, 2, 3])))[4:] == [
        ("4.csv", "it is damaged"),
        ("files", "2 more files have a problem, told under Files"),
    ]


def test_what_is_well_is_not_pointed_out() -> None:
    assert found(grading(scored([1, 2, 2, 3, 3, 3, 4, 4, 5] * 30))) == []
    assert "Worth a look" not in seen(grading(scored([1, 2, 3, 4, 5] * 9)))


# Whatever the data holds -----------------------------------------------------------------------


ODD = [
    Grading(PLAIN, (), info()),
    grading(result(PLAIN, "empty.csv", [])),
    grading(scored([3])),
    grading(scored([None] * 30)),
    grading(result(PLAIN, "a.csv", [{"status": "failed", "error": "late"}] * 30)),
    grading(FileResult(Path("a.csv"), None, problem="it is damaged")),
    grading(FileResult(Path("a.csv"), None, 4, {"pending": 4}), run=info(RunState.WAITING)),
    grading(scored([3] * 3, name="a.csv"), replace(scored([5]), output=Path("here/a.csv"))),
    grading(*(scored([1 + n % 5] * 3, name=f"{n}.csv") for n in range(60))),
]


@pytest.mark.parametrize("of", ODD)
def test_every_grading_has_a_report(of: Grading, tmp_path: Path) -> None:
    assert write_report(of, tmp_path, overwrite=False) == tmp_path / "report.html"
    json.loads((tmp_path / "report.json").read_text("utf-8"), parse_constant=pytest.fail)
    assert Words((tmp_path / "report.html").read_text("utf-8")).tags.count("script") == 1
    assert summary_lines(of)


def test_a_rubric_without_a_total_has_a_report() -> None:
    rubric = Rubric.of(
        {"criteria": [{"name": "tone", "labels": ["kind", "cold"]}], "reasons": "none"}
    )
    page = seen(grading(scored(["kind", "kind", "cold"], rubric), rubric=rubric))
    assert "kind (67 %)" in page and "Totals" not in page and "mean total" not in page


def test_long_labels_become_bars() -> None:
    labels = [f"a rather long label, number {n}" for n in range(6)]
    rubric = Rubric.of({"criteria": [{"name": "tone", "labels": labels}], "reasons": "none"})
    page = seen(grading(scored([*labels, labels[2]], rubric), rubric=rubric))
    assert "2 · 28.6 %" in page


def test_criteria_may_be_called_like_anything_else() -> None:
    names = ["state", "errors", "rows", "file", "result", "graded"]
    rubric = Rubric.of({"criteria": [{"name": n, "scale": [1, 5]} for n in names]})
    columns = [*rubric.columns(), "status", "error"]
    cells = [1, "why", 2, "why", 3, "why", 4, "why", 5, "why", 5, "why", 58.3, "ok", None]
    import pyarrow as pa

    data = pa.Table.from_arrays([pa.array([cell]) for cell in cells], names=columns)
    file = FileResult(Path("a.csv"), None, 1, {"ok": 1}, scores=Table(data))
    of = grading(file, file, rubric=rubric)
    assert [numbers(of, name).mean for name in names] == [1, 2, 3, 4, 5, 5]
    assert "a.csv 1 2 3 4 5 5" in seen(of)


def test_many_criteria_unfold() -> None:
    names = [f"criterion {n}" for n in range(40)]
    rubric = Rubric.of({"criteria": [{"name": n, "scale": [1, 5]} for n in names]})
    row = dict.fromkeys(names, 3) | {"total": 50.0}
    html = made_page(grading(result(rubric, "a.csv", [row]), rubric=rubric)).html()
    assert html.count("<summary>criterion ") == 32


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def test_hostile_texts_do_nothing_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    of = hostile()
    page = write_report(of, tmp_path, overwrite=False)
    text = page.read_text("utf-8")
    assert not any(ord(letter) < 32 and letter not in "\t\n" for letter in text)
    with watched(browser, page.as_uri()) as watch:
        watch.page.goto(page.as_uri())
        for each in watch.page.locator("summary").all():
            each.evaluate("each => each.parentElement.open = true")
        watch.assert_inert()


def hostile() -> Grading:
    """Everything that others write is hostile, wherever it may come into the page."""
    fields = {"note": {"type": "string"}}
    rubric = Rubric.of(
        {
            "name": "<script>window.canary=1</script>",
            "instructions": HOSTILE[0],
            "criteria": [
                {"name": "<img src=x onerror=window.canary=1>", "scale": [1, 5]},
                {"name": "b", "labels": ["<b>", "</svg><script>window.canary=1</script>"]},
            ],
            "examples": [{"text": HOSTILE[5], "grades": {"b": "<b>"}, "note": HOSTILE[6]}],
            "fields": fields,
        }
    )
    first, second = (each.name for each in rubric.criteria)
    rows: list[dict[str, Any]] = [
        {first: 1 + n % 5, f"{first}_reason": text, second: "<b>", f"{second}_reason": text}
        | {"note": text, "total": float(n % 101)}
        for n, text in enumerate(HOSTILE)
    ]
    rows += [{"status": "failed", "error": text} for text in HOSTILE]
    failures = [{"file": "x", "row": n, "kind": t, "message": t} for n, t in enumerate(HOSTILE)]
    name = "<svg onload=window.canary=1>\x1b[2J\u202e.csv"
    bad = FileResult(Path(name), None, problem=HOSTILE[1], remedy=HOSTILE[2], notes=(HOSTILE[3],))
    chunk = Chunk(0, 0, 9, 9, "0", ChunkState.FAILURE, 1, HOSTILE[4])
    good = result(rubric, f"1{name}", rows, chunks=(chunk,))
    return Grading(
        rubric,
        (good, bad),
        replace(info(), models=(HOSTILE[0],), id="<b>run</b>"),
        {first: 0.3, second: None},
        2,
        ((Path(name), HOSTILE[7]),),
        Table.from_rows(failures),
    )


def test_nothing_is_wider_than_a_phone(browser: Browser, tmp_path: Path) -> None:
    page = write_report(essays(), tmp_path, overwrite=False)
    with watched(browser, page.as_uri(), width=390, scheme="dark") as watch:
        watch.page.goto(page.as_uri())
        assert watch.page.evaluate("document.documentElement.scrollWidth") == 390
        watch.assert_inert()


def test_a_page_needs_nothing_from_elsewhere() -> None:
    html = made_page(essays()).html()
    assert "://" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "default-src 'none'" in html and len(html) < 150_000


def test_keys_that_this_process_knows_are_masked(tmp_path: Path) -> None:
    Secret("a-very-secret-value-815")
    file = FileResult(Path("a.csv"), None, problem="refused a-very-secret-value-815")
    write_report(grading(file), tmp_path, overwrite=False)
    for each in tmp_path.iterdir():
        assert "very-secret" not in each.read_text("utf-8")
    assert "very-secret" not in "".join(summary_lines(grading(file)))


# Files -----------------------------------------------------------------------------------------


def test_the_json_has_the_grading_and_its_distributions(tmp_path: Path) -> None:
    of = essays()
    write_report(of, tmp_path / "deep" / "folder", overwrite=False)
    saved = json.loads((tmp_path / "deep" / "folder" / "report.json").read_text("utf-8"))
    assert saved["rows"]["ok"] == 1_182 and saved["usage"]["cost"] == "0.4661"
    spread = saved["distributions"]
    assert spread["criteria"]["argument"]["count"] == 1_182
    assert [each["from"] for each in spread["criteria"]["argument"]["bins"]] == [1, 2, 3, 4, 5]
    assert list(spread["criteria"]["language"]["labels"]) == ["poor", "fair", "good"]
    assert spread["total"]["mean"] == pytest.approx(55.1, abs=0.05)
    assert [each and each["total"]["count"] for each in spread["files"]] == [397, 388, 397, None]
    assert {each["kind"]: each["failed"] for each in saved["failures"]} == {
        "timeout": 9,
        "truncated": 5,
    }
    assert [each["where"] for each in saved["findings"]] == [
        *("register.xlsx", "class-9c.csv", "on topic"),
    ]
    assert saved | of.to_dict() == saved | json.loads(json.dumps(of.to_dict()))


@pytest.mark.parametrize("taken", ["report.html", "report.json"])
def test_a_report_that_is_there_is_not_replaced_unasked(tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).write_text("mine")
    with pytest.raises(InputError, match=f"{taken} is already there"):
        write_report(grading(scored([1])), tmp_path, overwrite=False)
    assert [each.name for each in tmp_path.iterdir()] == [taken]
    assert (tmp_path / taken).read_text() == "mine"
    write_report(grading(scored([1])), tmp_path, overwrite=True)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["report.html", "report.json"]
    assert (tmp_path / taken).read_text() != "mine"


# For the terminal ------------------------------------------------------------------------------


def test_the_terminal_is_told_what_became_of_each_file() -> None:
    assert summary_lines(replace(essays(), report=Path("/school/graded/report.html"))) == [
        "class-9a.csv   412 rows, 397 graded, 6 failed, 9 empty -> /school/graded/class-9a.csv",
        "class-9b.csv   398 rows, 388 graded, 5 failed, 5 empty -> /school/graded/class-9b.csv",
        "class-9c.csv   405 rows, 397 graded, 3 failed, 5 empty -> /school/graded/class-9c.csv",
        "register.xlsx  problem: there is no column for the text; it has 'pupil', 'room'",
        "               Name the column that holds the texts: --column NAME.",
        "4 files, 1,215 rows: 1,182 graded, 14 failed, 19 empty",
        "1 file left out: no tables",
        "1,412,233 tokens in, 388,201 out; cost $0.4661; 5 min 11 s",
        "report: /school/graded/report.html",
        "to go on: penstock runs resume grade-20260214-0910-7c1e",
    ]


def test_of_many_files_those_with_a_problem_are_told() -> None:
    files = [scored([3], name=f"{n}.csv") for n in range(200)]
    files[150] = FileResult(Path("broken.csv"), None, problem="it is damaged")
    lines = summary_lines(grading(*files))
    assert len(lines) < 50 and any("it is damaged" in line for line in lines)
    assert "and 160 more files" in lines


def test_no_line_for_the_terminal_is_obeyed() -> None:
    for line in summary_lines(hostile()):
        assert not any(unicodedata.category(letter) in ("Cc", "Cf", "Zl") for letter in line)


def test_files_are_told_apart_by_as_little_as_it_takes() -> None:
    paths = ["/a/x/one.csv", "/a/x/two.csv", "/a/y/two.csv", "/b/z/q/s.csv", "/c/z/q/s.csv"]
    assert file_names([Path(path) for path in paths]) == [
        *("one.csv", "x/two.csv", "y/two.csv", "/b/z/q/s.csv", "/c/z/q/s.csv"),
    ]


# In flat memory --------------------------------------------------------------------------------

_CHILD = """
import sys
from pathlib import Path
import penstock.grade.report
assert "pyarrow" not in sys.modules, "too much is loaded"
from datetime import datetime
from penstock.engine.info import RunInfo
from penstock.grade.report import write_report
from penstock.grade.results import FileResult, Grading
from penstock.grade.rubric import Rubric
from penstock.tables import Table

rubric = Rubric.load(Path(penstock.grade.report.__file__).parents[1] / "starter.yaml")
names = ("asked", "recorded", "input_tokens", "output_tokens", "cost")
run = RunInfo("run", "completed", dict.fromkeys(names, 0), "", datetime.now())
scores = Table.open(sys.argv[1])
file = FileResult(Path("essays.csv"), None, len(scores), {"ok": len(scores)}, scores=scores)
write_report(Grading(rubric, (file,), run), Path(sys.argv[2]), overwrite=False)
print(peak())
"""


def test_ten_times_the_rows_take_no_more_memory(tmp_path: Path) -> None:
    from penstock.tables import TableWriter

    peaks = []
    for count in (5_000, 50_000):
        rng = random.Random(count)
        writer = TableWriter(tmp_path / f"{count}.arrow")
        for number in range(count):
            row = essay(ESSAYS, rng.random(), rng) | {"status": "ok", "error": None}
            reason = f"{number} is the number of this essay. " * 40
            writer.add(number, [row | {"argument_reason": reason, "total": rng.random() * 100}])
        writer.close()
        command = [sys.executable, "-c", PEAK + _CHILD, str(tmp_path / f"{count}.arrow")]
        command.append(str(tmp_path / str(count)))
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout))
    small, large = peaks
    assert large < small + 24, f"{small} MiB, then {large} MiB"
