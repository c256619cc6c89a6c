"""Pictures and pages: reports as one self-contained HTML file, charts as inline SVG.

page = Page("Grading", "essays.csv, 1,200 rows")
page.cards([("mean score", 3.8, "of 5")])
page.section("Scores", figure(histogram(bins), "How the scores are spread"))
page.save("report.html")
"""

from __future__ import annotations

from penstock.reports.charts import Bin, Interval, bars, heatmap, histogram, intervals, lines
from penstock.reports.numbers import compact, number, percent
from penstock.reports.page import Page
from penstock.reports.parts import badge, details, figure, preformatted, prose, table
from penstock.reports.text import Markup, escaped

__all__ = [
    "Bin",
    "Interval",
    "Markup",
    "Page",
    "badge",
    "bars",
    "compact",
    "details",
    "escaped",
    "figure",
    "heatmap",
    "histogram",
    "intervals",
    "lines",
    "number",
    "percent",
    "preformatted",
    "prose",
    "table",
]
