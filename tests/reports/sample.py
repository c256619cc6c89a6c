"""A report with one of everything, as a benchmark might write it."""

from __future__ import annotations

import math

from penstock.reports import (
    Bin,
    Interval,
    Page,
    badge,
    bars,
    details,
    figure,
    heatmap,
    histogram,
    intervals,
    lines,
    percent,
    preformatted,
    prose,
    table,
)

MODELS = ("river-large", "river-small", "delta-2 (instruct, 8 bit)", "estuary-mini")
RECIPES = ("arithmetic", "reading", "refusal", "facts", "translation", "code")


def sample() -> Page:
    page = Page("Four models on six recipes", "bench-20260301-101500-4f2a · 1 March 2026")
    page.cards(
        [
            ("prompts", 24_000, "6 recipes × 4 models × 1,000"),
            ("best", "river-large", "86.4 % overall"),
            ("failed", 37, "0.15 %, counted apart"),
            ("cost", "$12.41", "of a budget of $20.00"),
        ]
    )
    page.section("Overall", *_overall())
    page.section("By recipe", *_by_recipe())
    page.section(
        "How the scores are spread",
        figure(
            histogram([Bin(0.1 * place, 0.1 * place + 0.1, _COUNTS[place]) for place in range(10)]),
            "Score of each answer of river-large",
        ),
        figure(histogram([Bin(2**k, 2 ** (k + 1), _LENGTHS[k]) for k in range(14)]), "Characters"),
    )
    page.section(
        "Along the run",
        figure(lines(_curves(), x_label="minutes", title="Rows a second"), "Rows a second"),
    )
    page.section(
        "What went wrong",
        figure(bars([("timeout", 21), ("rate limited", 9), ("invalid answer", 7)])),
        details("The longest message", preformatted(_MESSAGE)),
    )
    return page


def _overall() -> list[str]:
    rates = [0.864, 0.793, 0.748, 0.612]
    items = [Interval(m, r, r - 0.011, r + 0.011) for m, r in zip(MODELS, rates, strict=True)]
    states = [badge("A", "good"), badge("B", "good"), badge("C", "warn"), badge("D", "bad")]
    rows = [
        [model, rate, 6000, failed, state, "" if failed else None]
        for model, rate, failed, state in zip(MODELS, rates, (0, 4, 33, 0), states, strict=True)
    ]
    rows[2][5] = "The endpoint answered slowly between 10:21 and 10:34. " * 6
    return [
        prose("Share of correct answers with 95 % intervals (Wilson)."),
        figure(intervals(items, show=percent, title="Share of correct answers by model")),
        table(["model", "correct", "answers", "failed", "grade", "note"], rows),
    ]


def _by_recipe() -> list[str]:
    values = [
        [None if (r, m) == (2, 3) else 0.5 + 0.48 * math.sin(r * 1.3 + m) ** 2 for m in range(4)]
        for r in range(6)
    ]
    differences = [
        Interval(recipe, 0.02 * (place - 2), 0.02 * (place - 2) - 0.03, 0.02 * (place - 2) + 0.03)
        for place, recipe in enumerate(RECIPES)
    ]
    return [
        figure(heatmap(RECIPES, MODELS, values, show=percent, limits=(0, 1)), "Share correct"),
        figure(intervals(differences, mark=0), "river-large less river-small, paired"),
    ]


def _curves() -> dict[str, list[tuple[float, float]]]:
    def speed(place: int, minute: int) -> float:
        if place == 2 and 20 <= minute < 26:
            return math.nan
        return 60 - 12 * place + 6 * math.sin(minute / (3 + place)) * (1 + place / 3)

    return {m: [(t, speed(p, t)) for t in range(60)] for p, m in enumerate(MODELS)}


_COUNTS = (12, 8, 21, 40, 88, 170, 260, 221, 120, 60)
_LENGTHS = (1, 0, 3, 8, 40, 160, 512, 1800, 9000, 14_200, 8200, 1400, 120, 4)
_MESSAGE = """HTTP 503 from the endpoint after 4 attempts
  retry-after: 12
  body: {"error": {"message": "the model is overloaded", "type": "overloaded"}}
"""
