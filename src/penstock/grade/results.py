"""What a grading run gives back: a result for each file, and what all of them come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.engine.info import RunInfo
from penstock.grade.chunks import Chunk
from penstock.grade.rubric import Rubric
from penstock.tables import Table

__all__ = ["STATUSES", "FileResult", "Grading"]

STATUSES = {
    "ok": "graded",
    "failed": "no grader gave a mark; it is asked again by the next run",
    "empty": "there is no text to grade",
    "error": "the row cannot be read; it is kept as it was",
    "skipped": "longer than the token limit",
    "pending": "not graded yet: the run was stopped, or its answer lies in a batch",
}
"""What the column `status` says of a row."""


@dataclass(frozen=True)
class FileResult:
    """What became of one file."""

    path: Path
    output: Path | None
    """None where nothing was written."""
    rows: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    """Rows by status."""
    tokens: int | None = None
    """Of the questions, as counted before; None where nobody counted."""
    chunks: tuple[Chunk, ...] = ()
    problem: str = ""
    """Why the file was not graded, or not written."""
    remedy: str = ""
    notes: tuple[str, ...] = ()
    """What else there is to say."""
    scores: Table | None = None
    """A row for each of its rows: the columns of the rubric, `status`, `error`."""

    @property
    def ok(self) -> bool:
        """Whether every row that has a text was graded."""
        bad = ("failed", "error", "skipped", "pending")
        return not self.problem and not any(self.counts.get(status) for status in bad)


@dataclass(frozen=True)
class Grading:
    """A whole run. Iterate over `files`; `report` is the page for people."""

    rubric: Rubric
    files: tuple[FileResult, ...]
    run: RunInfo
    agreement: Mapping[str, float | None] | None = None
    """Krippendorff's alpha by criterion, where several graders were asked."""
    graders: int = 1
    skipped: tuple[tuple[Path, str], ...] = ()
    """Files in the given folders that are no tables, and why."""
    failures: Table | None = None
    """Every row that failed, or that only some of its graders graded: file, row, kind, message."""
    report: Path | None = None
    problem: str = ""
    """Why there is no report, where there should be one."""

    @property
    def ok(self) -> bool:
        return not self.problem and all(file.ok for file in self.files)

    @property
    def counts(self) -> dict[str, int]:
        """Rows by status, of all files."""
        found = dict.fromkeys(STATUSES, 0)
        for file in self.files:
            for status, count in file.counts.items():
                found[status] += count
        return found

    def to_dict(self) -> dict[str, Any]:
        """For a program: report.json."""
        return {
            "run": self.run.id,
            "state": str(self.run.state),
            "models": list(self.run.models),
            "rubric": self.rubric.to_dict(),
            "graders": self.graders,
            "agreement": None if self.agreement is None else dict(self.agreement),
            "rows": self.counts,
            "usage": {
                name: self.run.counters[name]
                for name in ("asked", "recorded", "input_tokens", "output_tokens", "cost")
            },
            "seconds": self.run.seconds,
            "files": [_file(file) for file in self.files],
            "skipped": [{"path": str(path), "reason": why} for path, why in self.skipped],
        }


def _file(file: FileResult) -> dict[str, Any]:
    return {
        "path": str(file.path),
        "output": None if file.output is None else str(file.output),
        "rows": file.rows,
        "counts": dict(file.counts),
        "tokens": file.tokens,
        "problem": file.problem,
        "remedy": file.remedy,
        "notes": list(file.notes),
        "chunks": [chunk.to_dict() for chunk in file.chunks],
    }
