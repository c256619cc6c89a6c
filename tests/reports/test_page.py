"""The page: what is in it, and that nothing in it is obeyed, in a real browser."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest
from playwright.sync_api import Browser, expect

from penstock import reports
from penstock.errors import InputError
from penstock.reports import (
    Markup,
    Page,
    badge,
    bars,
    details,
    figure,
    heatmap,
    intervals,
    lines,
    preformatted,
    prose,
    table,
)
from penstock.secret import Secret
from tests.live.browser import watched
from tests.live.hostile import HOSTILE
from tests.reports.sample import sample


def test_the_room_shows_what_it_lists() -> None:
    assert sorted(reports.__all__) == reports.__all__
    assert all(getattr(reports, name) is not None for name in reports.__all__)


# What is in it --------------------------------------------------------------------------------


def test_a_page_needs_nothing_from_elsewhere() -> None:
    html = sample().html()
    # The name of the SVG standard is no address that anybody fetches.
    assert "://" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "default-src 'none'" in html
    assert "unsafe-eval" not in html
    assert len(html) < 100_000


def test_a_page_without_a_table_has_no_script() -> None:
    html = Page("x").section("y", prose("z")).html()
    assert "<script" not in html and "script-src" not in html
    assert "<script>" in Page("x").section("y", table(["a"], [[1]])).html()


def test_text_that_looks_like_a_table_brings_no_script() -> None:
    assert "<script" not in Page("x").section("y", "<table data-sortable>").html()


def test_only_parts_go_in_as_they_are() -> None:
    part = badge("good", "good")
    assert isinstance(part, Markup)
    html = Page("x").section("y", part, "<b>text</b>", part + "<i>").html()
    assert '<span class="badge good">good</span>' in html
    assert "&lt;b&gt;text&lt;/b&gt;" in html
    # Whatever is done to a part makes it a text again.
    assert "&lt;i&gt;" in html and "&lt;span class=" in html


def test_a_figure_takes_charts_and_nothing_else() -> None:
    with pytest.raises(TypeError, match="a chart made by"):
        figure(cast(Markup, "<svg onload=alert(1)>"))


def test_half_characters_and_control_characters_are_spelled_out() -> None:
    html = Page("a\ud800b", "c\x00d").section("e\u202ef", preformatted("g\x1bh\r\ni")).html()
    assert "a\ufffdb" in html and "c\\x00d" in html and "e\\u202ef" in html
    assert "g\\x1bh\ni" in html
    html.encode("utf-8")


def test_the_keys_this_process_knows_are_masked() -> None:
    key = "a-very-secret-value-4711"
    Secret(key)
    page = Page(f"with {key}").section("x", table([key], [[key]]), figure(bars([(key, 1)])))
    assert key not in page.html()
    # What only looks like a key may be the name of a column.
    assert "key_findings_of_all" in Page("x").section("key_findings_of_all").html()


def test_columns_of_numbers_stand_to_the_right() -> None:
    rows = [["a", 1, 2.5, None], ["b", 2, math.nan, "x"]]
    html = table(["name", "n", "mean", "mixed"], rows)
    marks = re.findall(r'<th scope="col"( class="number")?>', html)
    assert [bool(mark) for mark in marks] == [False, True, True, False]
    html = table(["name", "n"], [["a", "12 %"]], numeric=["n"])
    assert '<td class="number">12 %</td>' in html


def test_cells_of_any_kind_can_be_shown() -> None:
    values = [None, True, 3, 2**80, 10**400, 0.5, Decimal("1.50"), b"\x00", [1, "<"], {"a": None}]
    html = table([str(place) for place in range(len(values))], [values])
    cells = re.findall(r"<td[^>]*>(.*?)</td>", html)
    assert cells[1:] == [
        *("true", "3", "1.209e24", "1e400", "0.5", "1.5", "AA=="),
        *("[1, &quot;&lt;&quot;]", "{&quot;a&quot;: null}"),
    ]


def test_a_row_with_too_few_cells_is_named() -> None:
    with pytest.raises(InputError, match="row 2 of a table has 1 cells, the table 2 columns"):
        table(["a", "b"], [[1, 2], [3]])


def test_a_table_of_many_rows_says_how_many_are_left_out() -> None:
    html = table(["n"], ([number] for number in range(5000)), most=100)
    assert html.count("<tr>") == 101
    assert "and 4,900 more rows" in html
    assert "no rows" in table(["n"], [])


def test_long_text_unfolds_and_endless_text_is_cut() -> None:
    html = table(["text"], [["word " * 100], ["x" * 50_000]])
    assert html.count('<details class="long">') == 2
    assert "and 30,000 more characters" in html
    assert len(preformatted("x" * 300_000)) < 220_000


def test_a_long_page_lists_its_sections_and_a_short_one_does_not() -> None:
    page = Page("x")
    for place in range(3):
        page.section(f"part {place}", "text")
    assert "<nav" not in page.html()
    page.section("part <3>", "text")
    assert '<a href="#section-4">part &lt;3&gt;</a>' in page.html()


def test_a_page_is_saved_whole_and_replaces_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "report.html"
    assert Page("one").save(path) == path
    Page("two \ud800").save(str(path))
    assert "two" in path.read_text("utf-8")
    assert list(path.parent.iterdir()) == [path]


# In a browser ---------------------------------------------------------------------------------


def test_a_hundred_hostile_texts_are_nothing_but_text(browser: Browser, tmp_path: Path) -> None:
    assert len(HOSTILE) >= 100
    page = Page(" ".join(text[:40] for text in HOSTILE), HOSTILE[0])
    page.cards((text[:60], text[:60], text[:60]) for text in HOSTILE)
    rows = [[place, text, text[:30], text] for place, text in enumerate(HOSTILE)]
    page.section(HOSTILE[1], table(["n", *HOSTILE[:3]], rows))
    for text in HOSTILE:
        parts = (text, preformatted(text), details(text, text, preformatted(text)))
        charts = (
            bars([(text, 1)], title=text),
            intervals([(text, 1, 0, 2)], title=text),
            heatmap([text], [text], [[1]], title=text),
            lines({text: [(0, 1), (1, 2)], "other": [(0, 2)]}, title=text, x_label=text),
        )
        page.section(text, *parts, *(figure(chart, text) for chart in charts), badge(text, "bad"))
    path = page.save(tmp_path / "report.html")
    home = path.as_uri()
    with watched(browser, home) as seen:
        seen.page.goto(home)
        expect(seen.page.locator("section")).to_have_count(len(HOSTILE) + 1)
        seen.page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
        for heading in range(4):
            seen.page.locator("th button").nth(heading).click()
        texts = seen.page.locator("section > pre").all_text_contents()
        plain = [place for place, text in enumerate(HOSTILE) if text.isprintable()]
        assert [texts[place] for place in plain] == [HOSTILE[place] for place in plain]
        kinds = set(seen.page.evaluate("[...document.querySelectorAll('*')].map(e => e.localName)"))
        foreign = {"img", "iframe", "object", "embed", "form", "input", "base", "link", "video"}
        assert not kinds & foreign
        assert seen.page.locator("script").count() == 1
        handlers = "[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames())"
        assert not [name for name in seen.page.evaluate(handlers) if name.startswith("on")]
        seen.assert_inert()
        assert seen.asked == [home]


def test_a_table_sorts_by_a_click_and_back(browser: Browser, tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["pear", 10],
        ["apple", 9],
        ["fig", None],
        ["Zebra", -2.5],
        ["nut", math.nan],
    ]
    path = Page("x").section("y", table(["name", "n"], rows)).save(tmp_path / "report.html")
    with watched(browser, path.as_uri()) as seen:
        seen.page.goto(path.as_uri())
        names = seen.page.locator("tbody td:first-child")
        by_number = seen.page.get_by_role("button", name="n", exact=True)
        by_number.click()
        assert names.all_inner_texts() == ["Zebra", "apple", "pear", "fig", "nut"]
        expect(seen.page.locator("th").nth(1)).to_have_attribute("aria-sort", "ascending")
        by_number.click()
        assert names.all_inner_texts() == ["pear", "apple", "Zebra", "fig", "nut"]
        by_number.click()
        assert names.all_inner_texts() == ["pear", "apple", "fig", "Zebra", "nut"]
        seen.page.get_by_role("button", name="name").click()
        assert names.all_inner_texts() == ["apple", "fig", "nut", "pear", "Zebra"]
        seen.assert_inert()


@pytest.mark.parametrize("width", [360, 1100])
def test_the_page_fits_a_phone_and_a_desk(browser: Browser, tmp_path: Path, width: int) -> None:
    path = sample().save(tmp_path / "report.html")
    with watched(browser, path.as_uri(), width=width) as seen:
        seen.page.goto(path.as_uri())
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        # Letters keep their size: nothing is scaled down to fit.
        label = seen.page.get_by_text("river-large", exact=True).locator("visible=true").last
        box = label.bounding_box()
        assert box is not None and box["height"] >= 11
        seen.assert_inert()


def test_labels_and_numbers_of_a_chart_do_not_meet_on_a_phone(
    browser: Browser, tmp_path: Path
) -> None:
    path = sample().save(tmp_path / "report.html")
    with watched(browser, path.as_uri(), width=360) as seen:
        seen.page.goto(path.as_uri())
        meeting = seen.page.evaluate(
            """[...document.querySelectorAll('figure svg:not(svg svg)')].flatMap((svg) => {
                 const boxes = [...svg.querySelectorAll('text:not([transform])')].map((text) =>
                   [text.textContent, text.getBoundingClientRect()]);
                 return boxes.flatMap(([a, one], place) => boxes.slice(place + 1)
                   .filter(([, two]) => one.left < two.right - 1 && two.left < one.right - 1
                     && one.top < two.bottom - 3 && two.top < one.bottom - 3)
                   .map(([b]) => `${a} / ${b}`));
               })"""
        )
        assert meeting == []


def test_dark_and_light_are_both_readable(browser: Browser, tmp_path: Path) -> None:
    path = sample().save(tmp_path / "report.html")
    for scheme in ("light", "dark"):
        with watched(browser, path.as_uri(), scheme=scheme) as seen:
            seen.page.goto(path.as_uri())
            paper, ink, text = seen.page.evaluate(
                """[getComputedStyle(document.body).backgroundColor,
                    getComputedStyle(document.body).color,
                    getComputedStyle(document.querySelector('svg text')).fill]"""
            )
            assert _contrast(paper, ink) > 12
            assert _contrast(paper, text) > 12


def _contrast(one: str, two: str) -> float:
    """As the web's accessibility guidelines reckon it."""
    lights = sorted(map(_light, (one, two)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _light(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
