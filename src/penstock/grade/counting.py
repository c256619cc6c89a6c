"""What there is to grade, before anything is sent: rows, texts, tokens and chunks of every file.

Tokens are those of `Grader.tokens`, by which chunks are made and limits are held. Nothing is
written but copies of the files in the given folder, which whoever gave it removes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from penstock.engine.workbench import Workbench
from penstock.grade.carry import Unreadable
from penstock.grade.grading import GradeJob
from penstock.grade.opening import Limits, OpenFile

__all__ = ["Count", "Counts", "counted", "over_limits", "problems", "texts"]


class Count(NamedTuple):
    """What is in a file, or in all of them."""

    rows: int
    texts: int
    """Rows that have one; the others are not asked about."""
    tokens: int
    """Of all questions about them."""
    chunks: int
    over: int
    """Rows over the token limit by themselves: they are in no chunk."""


@dataclass(frozen=True)
class Counts:
    """Every file that can be graded, counted, and those that cannot."""

    files: tuple[tuple[Path, Count], ...]
    refused: tuple[Unreadable, ...]
    over: tuple[str, ...]
    """Which limits would be broken, in words."""

    @property
    def total(self) -> Count:
        """All files together."""
        return Count(*map(sum, zip(*(count for _, count in self.files), strict=True)))

    def to_dict(self) -> dict[str, Any]:
        """For a program."""
        return {
            "files": [{"path": str(path), **count._asdict()} for path, count in self.files],
            "total": self.total._asdict(),
            "refused": problems(self.refused),
            "over": list(self.over),
        }


def counted(job: GradeJob, bench: Workbench, folder: Path) -> Counts:
    """Count every file; nothing is sent, and no key is needed."""
    patient = replace(job, wishes=replace(job.wishes, on_over_limit="skip"))
    opening = patient.opened(bench, folder, counts=True)
    files = []
    for file in opening.files:
        plan, some = file.plan, sum(text is not None for text in texts(file))
        count = Count(plan.rows, some, plan.tokens, len(plan.pieces), len(plan.oversized))
        files.append((file.input.path, count))
    over = over_limits(job.limits(bench), opening.files)
    return Counts(tuple(files), tuple(opening.refused), tuple(over))


def texts(file: OpenFile) -> Iterator[str | None]:
    """The text of every row; None where there is none, or the row cannot be read."""
    rows = islice(file.staged.rows(), file.rows)
    broken = file.staged.is_broken
    return (None if broken(number) else file.text(row) for number, row in enumerate(rows))


def over_limits(limits: Limits, files: Sequence[OpenFile]) -> Iterator[str]:
    """Which limits of files and days would be broken, in words. The tokens must be counted."""
    for file in files:
        path, tokens = file.input.path, file.plan.tokens
        if limits.file is not None and tokens > limits.file:
            yield f"{path} takes {tokens:,} tokens, and a file may take {limits.file:,}"
    total = sum(file.plan.tokens for file in files)
    if limits.left_today is not None and total > limits.left_today:
        yield f"all files take {total:,} tokens, and {limits.left_today:,} are left for today"


def problems(refused: Sequence[Unreadable]) -> list[dict[str, str]]:
    """For a program: the files that cannot be graded."""
    return [{"path": str(f.path), "problem": f.reason, "remedy": f.remedy} for f in refused]
