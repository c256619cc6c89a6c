"""The page in a real browser: it fills, it scrolls, it shows text as text."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from penstock.engine.states import RunState
from penstock.live import Feed, Viewer
from tests.live.browser import Watched, watched
from tests.live.going import Going
from tests.live.hostile import HOSTILE

_TITLE_IS = "title => document.getElementById('panel-title').textContent === title"
_LINES = "#window .line:not([hidden])"


@contextmanager
def _shown(
    going: Going, browser: Browser, *, title: str = "A run", width: int = 1200
) -> Iterator[Watched]:
    with (
        Viewer(going.workspace, going.run.id, title=title, catalog=going.catalog) as viewer,
        watched(browser, viewer.url, width=width) as found,
    ):
        found.page.goto(viewer.url)
        yield found


def _last_number(page: Page) -> str:
    return page.locator(f"{_LINES} .cell:first-child").last.inner_text()


def test_the_page_fills_while_rows_arrive(browser: Browser, tmp_path: Path) -> None:
    with Going(tmp_path, total=300) as going, _shown(going, browser, title="Rivers") as seen:
        page = seen.page
        expect(page.locator("#empty")).to_be_visible()
        more = threading.Event()

        def work() -> None:
            for number in range(300):
                if number == 100:
                    going.tell()
                    more.wait(30)
                going.add({"topic": f"topic {number}"}, "timeout" if number == 7 else "")
            going.finish(RunState.COMPLETED_WITH_FAILURES)

        worker = threading.Thread(target=work)
        worker.start()
        expect(page.locator("#title")).to_have_text("Rivers")
        expect(page.locator("#state")).to_have_text("Running")
        expect(page.locator("#place")).to_have_text("100 rows")
        # It follows the newest.
        expect(page.locator(f"{_LINES} .cell").filter(has_text="topic 99")).to_be_visible()
        more.set()
        expect(page.locator("#place")).to_have_text("300 rows")
        expect(page.locator("#state")).to_have_text("Completed with failures")
        expect(page.locator(f"{_LINES} .cell").filter(has_text="topic 299")).to_be_visible()
        expect(page.locator("#kinds li")).to_have_text(["timeout 1"])
        expect(page.locator("#progress")).to_have_attribute("aria-valuenow", "300")
        worker.join()
        seen.assert_inert()


def test_a_hundred_thousand_rows_scroll_to_the_end_with_few_elements(
    browser: Browser, tmp_path: Path
) -> None:
    with Going(tmp_path, total=100_000) as going:
        for number in range(100_000):
            going.add({"topic": f"topic {number}"})
        going.finish()
        with _shown(going, browser) as seen:
            page = seen.page
            cell = page.locator(f"{_LINES} .cell")
            expect(cell.get_by_text("topic 0", exact=True)).to_be_visible()
            for share in (0.5, 0.123, 0.9, 0.31):
                page.evaluate(
                    "share => { const g = document.getElementById('grid');"
                    " g.scrollTop = share * g.scrollHeight; }",
                    share,
                )
                expect(
                    cell.get_by_text(f"topic {round(share * 100_000)}", exact=True)
                ).to_be_visible()
                assert page.locator("#window .line").count() < 100
            page.locator("#grid").focus()
            page.keyboard.press("End")
            expect(cell.get_by_text("topic 99999", exact=True)).to_be_visible()
            assert page.locator("#window .line").count() < 100
            asked = [url for url in seen.asked if "rows?" in url]
            assert len(asked) < 40  # pages that were looked at, not all thousand
            seen.assert_inert()


def test_more_rows_than_a_browser_can_be_tall_are_all_reached(
    browser: Browser, tmp_path: Path
) -> None:
    with Going(tmp_path) as going:
        with Feed(going.run.folder) as feed:
            for number in range(300_000):
                feed.add(number, {"n": f"n{number}"}, "ok")
        going.run.finish(RunState.COMPLETED)
        with _shown(going, browser) as seen:
            page = seen.page
            cell = page.locator(f"{_LINES} .cell")
            page.locator("#grid").focus()
            expect(cell.get_by_text("n0", exact=True)).to_be_visible()
            page.keyboard.press("End")
            expect(cell.get_by_text("n299999", exact=True)).to_be_visible()
            page.keyboard.press("ArrowUp")
            page.keyboard.press("Enter")
            expect(page.locator("#panel-title")).to_have_text("Row 299,998")
            seen.assert_inert()


def test_only_the_failed_rows_are_shown_when_asked_for(browser: Browser, tmp_path: Path) -> None:
    with Going(tmp_path, total=500) as going:
        for number in range(500):
            late = number % 50 == 49
            going.add({"n": number}, "timeout" if late else "", "the answer came too late")
        going.finish(RunState.COMPLETED_WITH_FAILURES)
        with _shown(going, browser) as seen:
            page = seen.page
            page.get_by_role("button", name="Failed rows").click()
            numbers = page.locator(f"{_LINES} .cell:first-child")
            expect(numbers).to_have_text([str(number) for number in range(49, 500, 50)])
            expect(page.locator("#place")).to_have_text("10 failed of 500 rows")
            numbers.nth(3).click()
            expect(page.locator("#panel-title")).to_have_text("Row 199")
            expect(page.locator(".failure")).to_contain_text("the answer came too late")
            page.get_by_role("button", name="The next row").click()
            expect(page.locator("#panel-title")).to_have_text("Row 249")
            page.get_by_role("button", name="Failed rows").click()
            expect(page.locator("#place")).to_have_text("500 rows")
            expect(page.locator("#panel")).to_be_hidden()
            seen.assert_inert()


def test_a_cell_is_cut_in_the_table_and_whole_in_the_panel(
    browser: Browser, tmp_path: Path
) -> None:
    text = "the beginning\n" + "and on it went, " * 500 + "the end"
    with Going(tmp_path) as going:
        going.add({"topic": "rivers", "answer": text, "parts": {"b": [1, 2]}})
        going.finish()
        with _shown(going, browser) as seen:
            page = seen.page
            cell = page.locator(f"{_LINES} .cell").nth(3)
            expect(cell).to_contain_text("the beginning ↵ and on it went")
            assert len(cell.inner_text()) < 400
            cell.click()
            values = page.locator("#panel pre")
            expect(values.nth(1)).to_contain_text("the end")
            assert values.nth(1).text_content() == text
            assert values.nth(2).text_content() == '{\n  "b": [\n    1,\n    2\n  ]\n}'
            page.keyboard.press("Escape")
            expect(page.locator("#panel")).to_be_hidden()
            seen.assert_inert()


def test_the_table_can_be_used_from_the_keyboard_alone(browser: Browser, tmp_path: Path) -> None:
    with Going(tmp_path) as going:
        for number in range(200):
            going.add({"a": number, "b": f"text {number}"})
        going.finish()
        with _shown(going, browser) as seen:
            page = seen.page
            expect(page.locator(_LINES).first).to_contain_text("text 0")
            for _ in range(3):  # two buttons, then the table
                page.keyboard.press("Tab")
            expect(page.locator("#grid")).to_be_focused()
            for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight"):
                page.keyboard.press(key)
            expect(page.locator(".cell.chosen")).to_have_text("2")
            page.keyboard.press("Enter")
            expect(page.locator("#panel-title")).to_have_text("Row 2")
            expect(page.locator("#panel-title")).to_be_focused()
            page.keyboard.press("Escape")
            expect(page.locator("#grid")).to_be_focused()
            page.keyboard.press("PageDown")
            page.keyboard.press("Home")
            expect(page.locator(".line.active")).to_contain_text("text 0")
            seen.assert_inert()


def test_who_scrolls_up_is_left_in_peace_until_following_again(
    browser: Browser, tmp_path: Path
) -> None:
    with Going(tmp_path) as going:
        for number in range(500):
            going.add({"n": f"n{number}"})
        going.tell()
        with _shown(going, browser) as seen:
            page = seen.page
            follow = page.get_by_role("button", name="Follow newest")
            cell = page.locator(f"{_LINES} .cell")
            expect(cell.get_by_text("n499", exact=True)).to_be_visible()
            expect(follow).to_have_attribute("aria-pressed", "true")
            page.locator("#grid").hover()
            page.mouse.wheel(0, -4000)
            expect(follow).to_have_attribute("aria-pressed", "false")
            expect(cell.get_by_text("n380", exact=True)).to_be_visible()
            for number in range(500, 600):
                going.add({"n": f"n{number}"})
            going.tell()
            expect(page.locator("#place")).to_have_text("600 rows")
            expect(cell.get_by_text("n380", exact=True)).to_be_visible()
            follow.click()
            expect(cell.get_by_text("n599", exact=True)).to_be_visible()
            seen.assert_inert()


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (RunState.COMPLETED, "Completed"),
        (RunState.COMPLETED_WITH_FAILURES, "Completed with failures"),
        (RunState.STOPPED, "Stopped"),
        (RunState.CANCELLED, "Cancelled"),
        (RunState.FAILED, "Failed"),
        (RunState.WAITING, "Waiting for batches"),
    ],
)
def test_the_end_of_a_run_is_said(
    browser: Browser, tmp_path: Path, state: RunState, said: str
) -> None:
    with Going(tmp_path, total=3) as going:
        going.add({"n": 1})
        going.finish(state, "because it was so")
        with _shown(going, browser) as seen:
            expect(seen.page.locator("#state")).to_have_text(said)
            expect(seen.page.locator("#message")).to_have_text("because it was so")


def test_a_page_whose_viewer_is_gone_says_so_and_keeps_its_rows(
    browser: Browser, tmp_path: Path
) -> None:
    with Going(tmp_path) as going:
        going.add({"n": "still here"})
        going.tell()
        viewer = Viewer(going.workspace, going.run.id, title="x", catalog=going.catalog)
        with watched(browser, viewer.url) as seen:
            seen.page.goto(viewer.url)
            expect(seen.page.locator(_LINES)).to_contain_text("still here")
            viewer.close()
            expect(seen.page.locator("#state")).to_have_text("No longer connected")
            expect(seen.page.locator(_LINES)).to_contain_text("still here")


def test_a_run_taken_up_again_begins_a_new_table(browser: Browser, tmp_path: Path) -> None:
    with Going(tmp_path) as going, _shown(going, browser) as seen:
        for number in range(50):
            going.add({"n": f"old {number}"})
        going.tell()
        expect(seen.page.locator(_LINES).first).to_contain_text("old")
        going.feed.close()
        going.feed = Feed(going.run.folder)
        going.add({"n": "new 0"})
        going.tell()
        expect(seen.page.locator("#place")).to_have_text("1 row")
        expect(seen.page.locator(_LINES)).to_have_count(1)
        expect(seen.page.locator(_LINES)).to_contain_text("new 0")


@pytest.mark.parametrize("width", [360, 1200])
def test_nothing_sticks_out_of_the_page_at_any_width(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    with Going(tmp_path, total=50) as going:
        for number in range(50):
            row = {f"column {place}": "some words " * place for place in range(12)}
            going.add(row, "rate_limited" if number % 9 == 0 else "")
        going.tell()
        with _shown(going, browser, width=width, title="A rather long title " * 8) as seen:
            page = seen.page
            expect(page.locator(_LINES).first).to_contain_text("some words")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.locator(_LINES).first.click()
            expect(page.locator("#panel")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            box = page.locator("#panel").bounding_box()
            assert box is not None and box["x"] + box["width"] <= width


def test_no_hostile_text_is_more_than_text(browser: Browser, tmp_path: Path) -> None:
    with Going(tmp_path, total=len(HOSTILE)) as going:
        going.run.progress.failures.clear()
        for number, text in enumerate(HOSTILE):
            going.add(
                {"answer": text, text[:200]: number, "inside": {text[:50]: [text[:50]]}},
                "malformed" if number % 2 else "",
                text[:5000],
            )
        going.finish(RunState.STOPPED, HOSTILE[0])
        title = " ".join(text[:40] for text in HOSTILE)
        with _shown(going, browser, title=title) as seen:
            page = seen.page
            expect(page.locator("#place")).to_have_text(f"{len(HOSTILE)} rows")
            expect(page.locator("#message")).to_have_text(HOSTILE[0])
            for place, text in enumerate(HOSTILE):
                if place == 0:
                    page.locator(f"{_LINES} .cell").nth(2).click()
                else:
                    page.evaluate("document.getElementById('panel-down').click()")
                page.wait_for_function(_TITLE_IS, arg=f"Row {place}")
                if text.isprintable():
                    assert page.locator("#panel pre").first.text_content() == text
            kinds = page.evaluate(
                "[...new Set([...document.querySelectorAll('body *')].map(e => e.localName))]"
            )
            ours = {"header", "div", "h1", "span", "p", "dl", "dt", "dd", "button", "ul", "li"}
            ours |= {
                "main",
                "aside",
                "h2",
                "h3",
                "section",
                "pre",
                "strong",
                "small",
                "noscript",
                "wbr",
            }
            assert set(kinds) <= ours
            seen.assert_inert()
