"""Charts are well-formed whatever they are given, and say what they show."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.reports import Bin, Markup, bars, heatmap, histogram, intervals, lines, percent
from penstock.reports.charts.scale import Scale
from tests.live.hostile import HOSTILE

_SVG = "{http://www.w3.org/2000/svg}"
_NUMBERS = st.floats() | st.sampled_from(
    [0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, math.nan, math.inf, -math.inf, 1e17, 1e17 + 32]
)
_LABELS = st.text(max_size=20)


def _read(svg: Markup) -> ET.Element:
    """The chart as XML; every place in it is a finite number."""
    assert isinstance(svg, Markup)
    root = ET.fromstring(svg)
    assert root.get("role") == "img"
    assert root[0].tag == f"{_SVG}title" and root[0].text
    for element in root.iter():
        assert not {"style", "href", "class", "id"} & set(element.keys())
        for name in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height", "r"):
            value = element.get(name)
            if value is not None:
                assert math.isfinite(float(value.removesuffix("%"))), (element.tag, name, value)
        for name in ("width", "height"):
            assert float((element.get(name) or "0").removesuffix("%")) >= 0
        points = re.findall(r"[^ ,]+", element.get("points") or "")
        assert all(0 <= float(point) <= 1000 for point in points)
    return root


def _texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{_SVG}text")]


def _rects(root: ET.Element, fill: str = "accent") -> list[ET.Element]:
    return [rect for rect in root.iter(f"{_SVG}rect") if f"--{fill}" in (rect.get("fill") or "")]


# Any numbers ----------------------------------------------------------------------------------


@given(st.lists(st.tuples(_LABELS, _NUMBERS), max_size=50))
def test_bars_of_anything_are_drawn(items: list[tuple[str, float]]) -> None:
    root = _read(bars(items, title="anything"))
    finite = [value for _, value in items[:40] if math.isfinite(value)]
    assert len(_rects(root)) == len(finite)


@given(st.lists(st.tuples(_NUMBERS, _NUMBERS, _NUMBERS), max_size=30))
def test_histograms_of_anything_are_drawn(bins: list[tuple[float, float, float]]) -> None:
    assert len(_rects(_read(histogram(bins)))) == len(bins)


@given(st.lists(st.tuples(_LABELS, _NUMBERS, _NUMBERS, _NUMBERS), max_size=50), _NUMBERS)
def test_intervals_of_anything_are_drawn(
    items: list[tuple[str, float, float, float]], mark: float
) -> None:
    root = _read(intervals(items, mark=mark))
    dots = [each for each in items[:40] if math.isfinite(each[1])]
    assert len(list(root.iter(f"{_SVG}circle"))) == len(dots)


@given(st.data())
def test_heat_maps_of_anything_are_drawn(data: st.DataObject) -> None:
    rows = data.draw(st.lists(_LABELS, max_size=5))
    columns = data.draw(st.lists(_LABELS, max_size=5))
    line = st.lists(st.none() | _NUMBERS, min_size=len(columns), max_size=len(columns))
    values = data.draw(st.lists(line, min_size=len(rows), max_size=len(rows)))
    _read(heatmap(rows, columns, values))


@given(st.dictionaries(_LABELS, st.lists(st.tuples(_NUMBERS, _NUMBERS), max_size=30), max_size=8))
def test_lines_of_anything_are_drawn(series: dict[str, list[tuple[float, float]]]) -> None:
    _read(lines(series))


@given(st.lists(_NUMBERS), st.booleans())
def test_a_scale_holds_every_number_it_was_made_of(values: list[float], zero: bool) -> None:
    scale = Scale.over(values, zero=zero)
    assert scale.low < scale.high
    assert all(0 <= scale.at(value) <= 1 for value in values if math.isfinite(value))
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 12
    assert ticks == sorted(ticks)
    assert all(scale.low <= tick <= scale.high for tick in ticks)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: f"{HOSTILE.index(text)}")
def test_labels_are_text_whatever_they_say(text: str) -> None:
    charts: list[Markup] = [
        bars([(text, 1)], title=text),
        intervals([(text, 1, 0, 2)], title=text),
        heatmap([text], [text], [[1]], title=text),
        lines({text: [(0, 1)], f"{text}2": [(1, 2)]}, title=text, x_label=text),
        histogram([(0, 1, 2)], title=text),
    ]
    for chart in charts:
        root = _read(chart)
        ours = {"svg", "title", "desc", "text", "rect", "line", "circle", "polyline"}
        assert {element.tag.removeprefix(_SVG) for element in root.iter()} <= ours
        assert len(chart) < 12_000


# What is drawn --------------------------------------------------------------------------------


def test_a_bar_is_as_long_as_its_value() -> None:
    root = _read(bars([("one", 10), ("two", 5), ("three", 0), ("four", math.nan)]))
    assert [rect.get("width") for rect in _rects(root)] == ["100%", "50%", "0%"]
    assert _texts(root) == ["one", "10", "two", "5", "three", "0", "four", "n/a"]


def test_bars_on_both_sides_of_zero_begin_at_zero() -> None:
    root = _read(bars([("loss", -5), ("gain", 15)]))
    found = [(rect.get("x"), rect.get("width")) for rect in _rects(root)]
    assert found == [("0%", "25%"), ("25%", "75%")]


def test_limits_fix_the_scale() -> None:
    root = _read(bars([("half", 0.5)], limits=(0, 1), show=percent))
    assert _rects(root)[0].get("width") == "50%"
    assert _texts(root) == ["half", "50 %"]


def test_more_bars_than_fit_are_counted() -> None:
    root = _read(bars([(str(place), place) for place in range(1000)]))
    assert len(_rects(root)) == 40
    assert _texts(root)[-1] == "and 960 more"


@pytest.mark.parametrize(
    "empty",
    [
        lambda: bars([]),
        lambda: histogram([]),
        lambda: intervals([]),
        lambda: heatmap([], [], []),
        lambda: heatmap(["a"], [], [[]]),
        lambda: lines({}),
        lambda: lines({"a": []}),
        lambda: lines({"a": [(0, math.nan)]}),
    ],
)
def test_nothing_is_said_to_be_nothing(empty: Callable[[], Markup]) -> None:
    assert _texts(_read(empty())) == ["nothing to show"]


def test_long_labels_are_cut_and_whole_in_the_hint() -> None:
    label = "a label that goes on and on " * 5
    root = _read(bars([(label, 1)]))
    shown = _texts(root)[0]
    assert shown.endswith("…") and len(shown) <= 48
    hint = next(_rects(root)[0].iter(f"{_SVG}title")).text or ""
    assert hint.startswith(label[:100])


def test_letters_of_wide_scripts_count_twice() -> None:
    label = _texts(_read(bars([("水" * 100, 1)])))[0]
    assert 20 <= len(label) <= 24


def test_a_histogram_has_counts_over_bars_and_edges_under_them() -> None:
    root = _read(histogram([Bin(0, 1, 4), Bin(1, 2, 8), Bin(2, 3, 0)]))
    heights = [float(rect.get("height") or 0) for rect in _rects(root)]
    assert heights == [75, 150, 0]
    assert _texts(root) == ["4", "8", "0", "0", "1", "2", "3"]


def test_many_edges_are_thinned_and_both_ends_stay() -> None:
    root = _read(histogram([Bin(place, place + 1, 1) for place in range(100)]))
    edges = _texts(root)
    assert len(edges) <= 8
    assert (edges[0], edges[-1]) == ("0", "100")


def test_an_interval_says_its_ends() -> None:
    root = _read(intervals([("model", 0.5, 0.4, 0.6)]))
    assert "0.5 (0.4 to 0.6)" in _texts(root)


def test_an_interval_without_ends_is_a_dot_alone() -> None:
    root = _read(intervals([("model", 0.5, math.nan, math.nan)]))
    assert "0.5" in _texts(root)
    assert len(list(root.iter(f"{_SVG}circle"))) == 1
    # The track and the axis; no interval.
    assert len(list(root.iter(f"{_SVG}line"))) == 2


def test_labels_and_numbers_that_would_meet_have_a_line_each() -> None:
    near = _read(intervals([("short", 1, 0, 2)]))
    far = _read(intervals([("a label of quite some length, really", 1, 0.25, 2.125)]))
    assert float(far.get("height") or 0) == float(near.get("height") or 0) + 16


def test_a_heat_map_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(InputError, match="2 rows and 1 columns"):
        heatmap(["a", "b"], ["c"], [[1]])
    with pytest.raises(InputError, match="1 rows and 2 columns"):
        heatmap(["a"], ["b", "c"], [[1]])


def test_higher_is_darker_and_a_missing_value_has_no_shade() -> None:
    root = _read(heatmap(["a"], ["x", "y", "z"], [[0, 10, None]]))
    shades = [float(rect.get("fill-opacity") or 1) for rect in _rects(root)]
    assert len(shades) == 2 and shades[0] < shades[1] <= 0.6
    assert _texts(root)[-1] == "–"


def test_a_value_that_is_missing_leaves_a_gap_in_its_line() -> None:
    points = [(0, 1), (1, 2), (2, math.nan), (3, 2), (4, 1)]
    root = _read(lines({"a": points}))
    found = [line.get("points") or "" for line in root.iter(f"{_SVG}polyline")]
    assert [len(points.split()) for points in found] == [2, 2]


def test_a_point_alone_is_a_dot() -> None:
    root = _read(lines({"a": [(5, 5)]}))
    assert len(list(root.iter(f"{_SVG}circle"))) == 1


def test_a_long_line_is_thinned_and_keeps_its_peak() -> None:
    points = [(place, 1000.0 if place == 54_321 else place % 7) for place in range(100_000)]
    root = _read(lines({"a": points}))
    (line,) = root.iter(f"{_SVG}polyline")
    places = (line.get("points") or "").split()
    assert len(places) <= 800
    assert "543.2,0.0" in places


def test_more_lines_than_can_be_told_apart_are_counted() -> None:
    root = _read(lines({f"line {place}": [(0, 1), (1, place)] for place in range(9)}))
    assert len(list(root.iter(f"{_SVG}polyline"))) == 6
    assert _texts(root)[-1] == "3 more lines are not drawn"


def test_a_chart_says_what_it_shows_to_those_who_do_not_see_it() -> None:
    root = _read(bars([("timeout", 21), ("server", 3)], title="Failures by kind"))
    assert root[0].text == "Failures by kind"
    assert root[1].tag == f"{_SVG}desc"
    assert root[1].text == "timeout: 21; server: 3"
