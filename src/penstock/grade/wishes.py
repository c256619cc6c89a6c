"""What a person asks of a grading run, as plain data: stored with the run, and so resumable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from penstock.engine.engine import Cache
from penstock.engine.lanes import LaneWish
from penstock.engine.wishes import chosen, dollars, restored
from penstock.errors import InputError
from penstock.tables.files import FORMATS

__all__ = ["Combine", "OnFileError", "OnOverLimit", "Wishes"]

OnOverLimit = Literal["abort", "skip"]
OnFileError = Literal["skip", "halt"]
Combine = Literal["mean", "median", "majority"]


@dataclass(frozen=True)
class Wishes:
    """Everything about a grading run; None: as the settings say."""

    inputs: tuple[str, ...]
    rubric: Mapping[str, Any]
    out: str | None = None
    models: tuple[str, ...] = ()
    """The graders; none: the setting `llm.model`."""
    graders: int = 1
    """How often each of them grades a row."""
    combine: Combine = "mean"
    column: str | None = None
    template: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    lane: LaneWish = "online"
    max_workers: int | None = None
    row_limit: int | None = None
    """Rows in a chunk."""
    token_limit: int | None = None
    """Tokens in a chunk."""
    chunks: int | None = None
    file_token_limit: int | None = None
    daily_token_limit: int | None = None
    on_over_limit: OnOverLimit = "abort"
    on_file_error: OnFileError = "skip"
    halt_on_chunk_failure: bool = True
    budget: str | None = None
    cache: Cache = "use"
    first: int | None = None
    """Only so many rows of each file."""
    output_format: str | None = None
    overwrite: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        if not self.inputs:
            raise InputError("there is nothing to grade", remedy="Give files or folders.")
        for name in _COUNTS:
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise InputError(f"{name} is {value!r}; a whole number of 1 or more is wanted")
        chosen(self, _CHOICES)
        dollars(self.budget)
        if self.output_format is not None and self.output_format not in FORMATS:
            raise InputError(
                f"output_format is {self.output_format!r}", remedy=f"Allowed: {', '.join(FORMATS)}."
            )
        if self.column is not None and self.template is not None:
            raise InputError("column and template are both given", remedy="Give one of them.")
        if self.chunks is not None and self.row_limit is not None:
            raise InputError("chunks and row_limit are both given", remedy="Give one of them.")

    def spec(self) -> dict[str, Any]:
        """For the catalog; every path in full."""
        made = asdict(self)
        made["inputs"] = [_full(path) for path in self.inputs]
        made["out"] = None if self.out is None else _full(self.out)
        return {"grade": made}

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> Wishes:
        """What a run was asked."""
        return restored(cls, spec["grade"], ("inputs", "models"))


_COUNTS = (
    "graders",
    "max_workers",
    "row_limit",
    "token_limit",
    "chunks",
    "file_token_limit",
    "daily_token_limit",
    "first",
)
_CHOICES: Mapping[str, Sequence[str]] = {
    "combine": ("mean", "median", "majority"),
    "on_over_limit": ("abort", "skip"),
    "on_file_error": ("skip", "halt"),
    "lane": ("online", "batch", "auto"),
    "cache": ("use", "off", "refresh", "read"),
}


def _full(path: str) -> str:
    return str(Path(path).expanduser().absolute())
