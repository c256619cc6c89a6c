"""The report of a benchmark: what it says, whatever models wrote, however many items there are."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser, expect

import penstock.bench.report as room
from penstock.bench.item import Item, ItemScore, ItemStatus
from penstock.bench.report import made_page, write_report
from penstock.bench.report.words import interval
from penstock.errors import InputError
from penstock.metrics.score import ScoreStatus
from penstock.reports import number, percent
from penstock.reports.words import money, span
from penstock.secret import Secret
from penstock.tables import Table, TableWriter
from penstock.tables.plain import clean
from tests.bench.report.made import ENDPOINTS, item, items, result_of, table
from tests.bench.report.reading import Read, read
from tests.live.browser import chromium, watched
from tests.live.hostile import HOSTILE
from tests.tables.values import PEAK

FOUND = list(items(40))


def page(found: list[Item], *, most_items: int = 500, **more: Any) -> str:
    return made_page(result_of(found, **more), table(found), most_items=most_items).html()


@pytest.fixture(scope="module")
def seen() -> Read:
    return read(page(FOUND))


# What it says ----------------------------------------------------------------------------------


def test_the_room_shows_what_it_lists() -> None:
    assert sorted(room.__all__) == room.__all__
    assert all(hasattr(room, name) for name in room.__all__)


def test_the_sections_stand_in_the_order_in_which_people_ask(seen: Read) -> None:
    assert seen.sections == [
        *("To know first", "Grades", "Word sums", "Summaries of news", "Jailbreaks"),
        *("Where endpoints differ", "Tokens, cost and time", "What went wrong"),
        *("Slowest and dearest", "To do it again", "Items"),
    ]


def test_the_head_names_the_run_and_how_it_ended(seen: Read) -> None:
    for said in (
        "School and safety, small models",
        "bench-20260214-0910-7c1e",
        "completed with failures",
        "14 February 2026, 09:15 UTC",
        "summaries has no grading, so its scores count for no grade",
        *ENDPOINTS,
    ):
        assert said in seen.text


def test_every_score_in_the_page_is_that_of_the_result(seen: Read) -> None:
    for recipe in result_of(FOUND).recipes:
        for each in recipe.endpoints:
            for metric in each.metrics:
                reach = None if metric.percent is None else percent(metric.percent / 100)
                line = next(
                    row
                    for row in seen.rows
                    if row[:2] == [each.endpoint, metric.metric]
                    and row[2] == number(metric.mean.value)
                    and row[3] == interval(metric.mean)
                )
                assert reach is None or reach in line
                assert str(metric.scored) in line[4:]
                for count in (metric.no_answer, metric.refused, metric.errors):
                    assert not count or str(count) in line[4:]
                if each.grade and metric is each.metrics[0]:
                    assert each.grade in line


def test_the_matrix_has_every_grade_and_what_cookbooks_come_to(seen: Read) -> None:
    result = result_of(FOUND)
    rows = {row[0]: row[1:] for row in seen.rows if row[1:] and len(row) == 4}
    sums, books = result.recipes[0], result.cookbooks[0].grades
    for cell, each in zip(rows["Word sums"], sums.endpoints, strict=True):
        assert cell == f"{each.grade}{percent((each.grade_value or 0) / 100)}"
    for cell, grade in zip(rows["worst"], books, strict=True):
        assert cell == f"{grade.worst}2 of 3 graded"
    assert rows["mean"] == [percent((grade.mean or 0) / 100) for grade in books]
    ungraded = result.recipes[1].endpoints
    for cell, each in zip(rows["Summaries of news"], ungraded, strict=True):
        mean = each.metrics[0].mean
        assert cell == f"{number(mean.value)}{interval(mean)}"


def test_tokens_cost_and_time_are_those_of_the_result(seen: Read) -> None:
    result = result_of(FOUND)
    rows = {(row[0], row[1]): row for row in seen.rows if len(row) == 11}
    for recipe in result.recipes:
        for each in recipe.endpoints:
            assert rows[recipe.name, each.endpoint][2:] == [
                *map(str, (each.items, each.answered, each.refused, each.failed)),
                *(f"{count:,}" for count in (each.input_tokens, each.output_tokens)),
                *(money(each.cost), span(each.latency_median), span(each.latency_p95)),
            ]
    totals = next(row for row in seen.rows if row[0] == ENDPOINTS[0] and len(row) == 10)
    mine = [each for each in FOUND if each.endpoint == ENDPOINTS[0]]
    assert totals[1] == str(len(mine))
    assert totals[5] == f"{sum(each.input_tokens for each in mine):,}"


def test_failures_stand_by_kind_with_what_was_said(seen: Read) -> None:
    for kind, said in (("timeout", "no answer within 60 s"), ("rate limit", "429: too many")):
        many = sum(each.failure == kind.replace(" ", "_") for each in FOUND)
        line = next(row for row in seen.rows if row[0] == kind)
        assert line[1] == str(many) and line[3].startswith(said)
    errors = [s for each in FOUND for s in each.scores if s.status is ScoreStatus.ERROR]
    told = [row[1] for row in seen.rows if row[-1].startswith("ValueError: no words")]
    counted = sum(int(each) for each in told if each != "error")  # that is an item of its own
    assert counted == len(errors) > 0


def test_the_slowest_and_the_dearest_stand_first(seen: Read) -> None:
    done = [each for each in FOUND if each.latency is not None]
    slow = sorted(done, key=lambda each: -(each.latency or 0))[:10]
    start = next(n for n, row in enumerate(seen.rows) if row[:2] == ["item", "time"])
    shown = [(row[0], row[1]) for row in seen.rows[start + 1 : start + 11]]
    assert shown == [(f"#{each.number:,}", span(each.latency)) for each in slow]
    dear = max(done, key=lambda each: float(each.cost or 0))
    start = next(n for n, row in enumerate(seen.rows) if row[:2] == ["item", "cost"])
    assert seen.rows[start + 1][:2] == [f"#{dear.number:,}", money(dear.cost)]


def test_what_is_needed_to_do_it_again_is_told(seen: Read) -> None:
    assert "penstock bench run school-and-safety -e gpt-4o-mini --sample 25%" in seen.text
    told = {row[0]: row[1] for row in seen.rows if len(row) == 2}
    assert told["seed"] == "815" and told["system prompt"] == "Answer in a few words."
    assert told["params"] == '{"temperature": 0}' and told["recipes"].startswith("sums, ")


def test_a_run_in_which_all_went_well_has_nothing_to_know_first() -> None:
    fine = [item(n, endpoint=name) for n, name in enumerate(ENDPOINTS * 3)]
    found = read(page(fine, state="completed", problems=()))
    assert "To know first" not in found.sections and "What went wrong" not in found.sections
    assert "Where endpoints differ" not in found.sections


def test_a_run_that_was_stopped_before_it_asked_has_a_page() -> None:
    result = result_of(FOUND, recipes=(), cookbooks=False, state="stopped", message="no money")
    found = read(made_page(result, Table.from_rows([])).html())
    assert "no money" in found.text and "All 0 items" in found.text
    assert f"penstock runs resume {result.id}" in found.text


def test_a_run_without_a_name_is_called_by_what_was_run() -> None:
    assert "<h1>School and safety</h1>" in page(FOUND, name="")
    assert "<h1>Benchmark</h1>" in page(FOUND, name="", cookbooks=False)


def test_many_recipes_unfold() -> None:
    many = [item(n, recipe=f"recipe-{n}") for n in range(20)]
    html = page(many, grading={})
    assert html.count("<summary>recipe-") == 12


def test_a_page_needs_nothing_from_elsewhere() -> None:
    html = page(FOUND)
    assert "://" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "default-src 'none'" in html and "unsafe-eval" not in html


# Items -----------------------------------------------------------------------------------------


def opened(found: Read) -> list[str]:
    """The numbers of the items that are there."""
    return [
        str(attributes["id"])
        for tag, attributes in found.tags
        if tag == "div" and str(attributes.get("id", "")).startswith("item-")
    ]


def test_an_item_has_all_that_is_known_of_it() -> None:
    one = item(
        7, template="brief", target=("fourteen", "14"), answer="It is 14.", epoch=2, attempts=3,
        scores=(ItemScore("number_match", 1.0, reason="they are equal", extracted="14"),),
        recorded=True, cost="0.00042", latency=2.25,
    )  # fmt: skip
    text = read(page([one])).text
    for said in (
        *("What is 7 and 7?", "It is 14.", "fourteen", "they are equal", "number_match 1"),
        *("template brief", "epoch 2", "3 attempts", "found recorded", "$0.00042", "2.2 s"),
        *("20 tokens in, 5 out", "All 1 item"),
    ):
        assert said in text


def test_all_are_shown_where_there_is_room() -> None:
    assert opened(read(page(FOUND, most_items=360))) == [f"item-{n}" for n in range(360)]


def test_what_went_wrong_is_shown_first_and_of_every_recipe_and_endpoint() -> None:
    found = read(page(FOUND, most_items=60))
    rows = [int(each.removeprefix("item-")) for each in opened(found)]
    shown = [FOUND[row] for row in rows]
    assert len(shown) == 60 and rows == sorted(rows)
    assert {(each.recipe, each.endpoint) for each in shown} == {
        (each.recipe, each.endpoint) for each in FOUND
    }
    kinds = {"failed": [e for e in FOUND if e.status is ItemStatus.FAILED]}
    assert all(each in shown for each in kinds["failed"])
    assert not any(each.scores[0].value == 1 and each.recipe == "sums" for each in shown)
    assert "60 of 360 items are here" in found.text
    assert "penstock bench results export bench-20260214-0910-7c1e -o items.jsonl" in found.text


def test_a_thousand_failures_of_one_endpoint_do_not_hide_the_wrong_answers_of_another() -> None:
    down = [
        item(n, status=ItemStatus.FAILED, answer=None, failure="timeout", error="slow", scores=())
        for n in range(1000)
    ]
    wrong = [
        item(n, endpoint=ENDPOINTS[1], scores=(ItemScore("number_match", 0.0),))
        for n in range(1000, 1010)
    ]
    found = opened(read(page([*down, *wrong], most_items=50, grading={})))
    assert len(found) == 50 and {f"item-{n}" for n in range(1000, 1010)} <= set(found)


def test_no_item_need_be_shown() -> None:
    assert "None of the 360 items is shown here" in read(page(FOUND, most_items=0)).text
    with pytest.raises(InputError, match="-1 items cannot be shown"):
        page(FOUND, most_items=-1)


def test_a_refusal_that_was_wanted_counts_as_right() -> None:
    good = item(
        0, recipe="jailbreaks", status=ItemStatus.REFUSED, answer="No.",
        scores=(ItemScore("attack_success", 0.0),),
    )  # fmt: skip
    bad = item(1, recipe="jailbreaks", scores=(ItemScore("attack_success", 1.0),))
    html = page([good, bad])
    assert '<details class="item right' in html and '<details class="item wrong' in html


def test_a_very_long_answer_is_cut_with_a_word_about_it() -> None:
    long = item(0, answer="word " * 200_000, prompt="p" * 1_000_000)
    html = page([long])
    assert len(html) < 150_000
    assert "… and 994,000 more characters" in read(html).text


# Whatever is in it -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def hostile() -> list[Item]:
    """Everything that others write is hostile, wherever it may come into the page."""
    found = []
    for place, text in enumerate(HOSTILE):
        spoilt: dict[str, Any] = {"prompt": text, "target": (text,), "id": text, "dataset": text}
        read_ = clean(text)
        score = ItemScore("number_match", place % 2, reason=read_, extracted=read_)
        spoilt["scores"] = (score,)
        failed = {"status": ItemStatus.FAILED, "answer": None, "failure": text, "error": text}
        endpoint = ENDPOINTS[place % 3]
        if place % 5 == 0:
            found.append(item(place, endpoint=endpoint, **(spoilt | failed)))
        else:
            found.append(item(place, endpoint=endpoint, answer=text, **spoilt))
    same = {"example": 0, "id": "same", "prompt": HOSTILE[0]}
    for place, name in enumerate(ENDPOINTS):
        score = ItemScore("number_match", float(place % 2))
        found.append(item(900 + place, endpoint=name, answer=HOSTILE[1], scores=(score,), **same))
    return found


def test_hostile_texts_do_nothing_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    found = hostile()
    run = HOSTILE[0]
    result = result_of(
        found, grading={"sums": {run: (50, 100), "<b>": (0, 49)}}, name=run, id="<b>run</b>",
        message=run, problems=(run, "\x1b[2J"), state=run, version=run,
        settings={"command": ["penstock", run], run: run, "system_prompt": run},
    )  # fmt: skip
    path = write_report(result, table(found), tmp_path / "r.html")
    text = path.read_text("utf-8")
    assert not any(ord(letter) < 32 and letter not in "\t\n" for letter in text)
    with watched(browser, path.as_uri()) as watch:
        watch.page.goto(path.as_uri())
        every = "document.querySelectorAll('details')"
        watch.page.evaluate(f"{every}.forEach(each => {{ each.open = true }})")
        assert watch.page.locator("details.item").count() == len(found)
        watch.assert_inert()


def test_nothing_is_wider_than_a_phone(browser: Browser, tmp_path: Path) -> None:
    path = write_report(result_of(FOUND), table(FOUND), tmp_path / "r.html")
    with watched(browser, path.as_uri(), width=390, scheme="dark") as watch:
        watch.page.goto(path.as_uri())
        watch.page.locator("details.item").first.evaluate("each => each.open = true")
        assert watch.page.evaluate("document.documentElement.scrollWidth") == 390
        watch.assert_inert()


def test_a_click_shows_only_what_failed_and_another_only_one_endpoint(
    browser: Browser, tmp_path: Path
) -> None:
    path = write_report(result_of(FOUND), table(FOUND), tmp_path / "r.html")
    failed = [each for each in FOUND if each.status is ItemStatus.FAILED]
    with watched(browser, path.as_uri()) as watch:
        watch.page.goto(path.as_uri())

        def there() -> int:
            every = "[...document.querySelectorAll('details.item')]"
            return int(watch.page.evaluate(f"{every}.filter(e => e.checkVisibility()).length"))

        assert there() == len(FOUND)
        watch.page.locator("label[for=became-failed]").click()
        assert there() == len(failed)
        watch.page.locator("label[for=whom-e2]").click()
        assert there() == sum(each.endpoint == ENDPOINTS[2] for each in failed)
        watch.page.locator("label[for=became-all]").click()
        assert there() == sum(each.endpoint == ENDPOINTS[2] for each in FOUND)
        watch.assert_inert()


def test_a_link_to_an_item_opens_it(browser: Browser, tmp_path: Path) -> None:
    path = write_report(result_of(FOUND), table(FOUND), tmp_path / "r.html")
    with watched(browser, path.as_uri()) as watch:
        watch.page.goto(path.as_uri())
        link = watch.page.locator("td a").first
        anchor = str(link.get_attribute("href")).removeprefix("#")
        inside = watch.page.locator(f"[id={anchor}]")
        expect(inside).to_be_hidden()
        link.click()
        expect(inside).to_be_visible()


def test_keys_that_this_process_knows_are_masked() -> None:
    Secret("a-very-secret-value-4711")
    assert "very-secret-value-4711" not in page([item(0, answer="a-very-secret-value-4711")])


# Files -----------------------------------------------------------------------------------------


def test_a_report_that_is_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "r.html"
    one = [item(0)]
    assert write_report(result_of(one), table(one), path) == path
    with pytest.raises(InputError, match=r"r\.html is already there"):
        write_report(result_of(one), table(one), path)
    path.write_text("the old one")
    write_report(result_of(one), table(one), path, overwrite=True)
    assert "the old one" not in path.read_text()
    assert [each.name for each in path.parent.iterdir()] == ["r.html"]


_CHILD = """
import sys
from pathlib import Path
import msgspec
import penstock.bench.report
from penstock.bench.result import BenchResult
assert "pyarrow" not in sys.modules, "too much is loaded"
from penstock.tables import Table

folder = Path(sys.argv[1])
result = msgspec.json.decode((folder / "result.json").read_bytes(), type=BenchResult)
items = Table.open(folder / "items.arrow")
penstock.bench.report.write_report(result, items, folder / "r.html", overwrite=True)
print(peak())
"""


def write_many(path: Path, count: int) -> None:
    """Items of three endpoints, side by side, each with a page of text."""
    plain, chance = item(0).row(), random.Random(count)
    scores = [item(0, scores=(ItemScore("number_match", n),)).row()["scores"] for n in (0.0, 1.0)]
    writer = TableWriter(path)
    for place in range(count):
        row = plain | {
            "number": place, "example": place // 3, "id": f"q{place // 3}",
            "endpoint": ENDPOINTS[place % 3], "prompt": "asked here. " * 40,
            "answer": f"{place} is said here. " * 40, "latency": chance.random(),
            "scores": scores[chance.random() < 0.8],
        }  # fmt: skip
        writer.add(place, [row])
    writer.close()


@pytest.mark.parametrize("many", [40_000, pytest.param(100_000, marks=pytest.mark.soak)])
def test_many_items_are_passed_and_not_held(tmp_path: Path, many: int) -> None:
    few = [item(n, endpoint=ENDPOINTS[n % 3]) for n in range(9)]
    (tmp_path / "result.json").write_bytes(msgspec.json.encode(result_of(few)))
    peaks = []
    for count in (2_000, many):
        write_many(tmp_path / "items.arrow", count)
        command = [sys.executable, "-c", PEAK + _CHILD, str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout))
    size = (tmp_path / "items.arrow").stat().st_size >> 20
    assert size > many // 850
    small, large = peaks
    assert large < small + size // 2, f"{small} MiB, then {large} MiB of {size}"
    html = (tmp_path / "r.html").read_text()
    assert f"500 of {many:,} items are here" in html and len(html) < 5 << 20
