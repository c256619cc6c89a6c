"""The report of a grading run: what it says, whatever the data holds, in flat memory."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from penstock.engine.info import RunInfo
from penstock.engine.states import RunState
from penstock.grade.chunks import Chunk, ChunkState
from penstock.grade.marking import as_columns, read
from penstock.grade.results import FileResult, Grading
from penstock.grade.rubric import Rubric
from penstock.tables import Table

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
    files, failures = [], []
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
