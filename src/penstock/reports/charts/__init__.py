"""Charts as inline SVG, without any library.

They are drawn in percent of the width they get, so that letters keep their size on a phone and on
paper. Colours are CSS custom properties with fallbacks (`--ink`, `--muted`, `--line`, `--track`,
`--surface`, `--accent`, `--series-1` to `--series-6`), so a page may be light or
dark; there is no style attribute, so that a strict content security policy bears them. Each has a
title and a description for those who do not see it.
"""

from __future__ import annotations

from penstock.reports.charts.bars import bars
from penstock.reports.charts.heatmap import heatmap
from penstock.reports.charts.histogram import Bin, histogram
from penstock.reports.charts.intervals import Interval, intervals
from penstock.reports.charts.lines import lines

__all__ = ["Bin", "Interval", "bars", "heatmap", "histogram", "intervals", "lines"]
