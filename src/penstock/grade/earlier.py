"""The run that a command goes on with: the newest that graded the same into the same folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from penstock.engine.workbench import Workbench
from penstock.errors import InputError, NotFoundError
from penstock.grade.grading import GradeJob
from penstock.grade.rubric import Rubric

__all__ = ["earlier"]

# What makes the questions and the outputs: where one of these differs it is another run.
_SAME = {
    "inputs": "the inputs",
    "out": "the output folder",
    "rubric": "the rubric",
    "models": "the model",
    "column": "the column",
    "template": "the template",
    "graders": "the number of graders",
    "combine": "how grades are combined",
    "params": "temperature or max_tokens",
    "output_format": "the output format",
}
_AGAIN = "Run it without --retry-failed{}: what has an answer is found, the rest is asked."


def earlier(job: GradeJob, bench: Workbench) -> tuple[str, GradeJob]:
    """The run to go on with, and the job that does it: as it is asked for now."""
    if job.wishes.cache == "refresh":
        raise InputError(
            "--retry-failed and --cache refresh contradict each other",
            remedy="Leave one of them out: refresh asks everything again.",
        )
    wanted = _sameness(job.wishes.spec()["grade"])
    nearest: list[str] | None = None
    for row in bench.catalog.all_runs() if bench.workspace.exists else ():
        spec = row["spec"].get("grade") if row["kind"] == "grade" else None
        if spec is None or "endpoints" in row["spec"] or spec.get("first") is not None:
            continue
        found = _sameness(spec)
        different = [name for name in _SAME if found[name] != wanted[name]]
        if not different:
            return row["id"], _taken_up(job, spec)
        if nearest is None and not {"inputs", "out"} & set(different):
            nearest = [row["id"], *different]
    raise _none(job, nearest)


def _taken_up(job: GradeJob, spec: Mapping[str, Any]) -> GradeJob:
    """The answers of a run that shared none are found only by looking where it looked."""
    cache = "off" if spec.get("cache") == "off" else job.wishes.cache
    return replace(job, wishes=replace(job.wishes, cache=cache))


def _sameness(spec: Mapping[str, Any]) -> dict[str, Any]:
    found = orjson.loads(orjson.dumps({name: spec.get(name) for name in _SAME}))
    found["inputs"] = sorted(found["inputs"])
    found["rubric"] = Rubric.of(found["rubric"]).fingerprint
    return dict(found)


def _none(job: GradeJob, nearest: list[str] | None) -> NotFoundError:
    out = Path(job.wishes.out or "")
    if nearest is None:
        return NotFoundError(
            f"no run of this workspace has graded these files into {out}",
            remedy=_AGAIN.format(""),
        )
    run, *different = nearest
    said = " and ".join(_SAME[name] for name in different)
    return NotFoundError(
        f"the run that graded these files into {out}, {run}, was another: {said} differs",
        remedy=f"{_AGAIN.format(' and with --overwrite')} "
        f"To go on with it as it was: penstock runs resume {run}",
    )
