"""The files of a run, opened: read once, their texts found, their tokens counted, in chunks.

All of it before anything is sent. What is wrong with one file is told of that file; the others go
on, unless it was asked otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple

from penstock.errors import InputError, NotFoundError
from penstock.grade.carry import Staged, Unreadable, restored, stage
from penstock.grade.files import Found, Input, found
from penstock.grade.grader import Grader
from penstock.grade.split import Plan, split
from penstock.grade.texts import Text, text_of
from penstock.grade.wishes import Wishes
from penstock.settings import Settings

__all__ = ["Limits", "OpenFile", "Opening", "opened"]

_NAMED = 20


class Limits(NamedTuple):
    """How large chunks, files and days may be; None: any."""

    rows: int | None
    tokens: int | None
    chunks: int | None
    file: int | None
    left_today: int | None
    """Tokens that may still be used today."""

    @classmethod
    def of(cls, wishes: Wishes, settings: Settings, used_today: int) -> Limits:
        """By the flags, else by the settings."""
        tokens = settings.token_management
        daily = wishes.daily_token_limit or tokens.daily_token_limit
        by_size = wishes.chunks is None and wishes.token_limit is None
        return cls(
            wishes.row_limit or (settings.batch_processing.chunk_size if by_size else None),
            wishes.token_limit,
            wishes.chunks,
            wishes.file_token_limit or tokens.file_token_limit,
            None if daily is None else max(0, daily - used_today),
        )

    @property
    def counts(self) -> bool:
        """Whether tokens must be counted."""
        return any(each is not None for each in (*self[1:3], self.file, self.left_today))


@dataclass(frozen=True)
class OpenFile:
    """A file that will be graded."""

    input: Input
    staged: Staged
    text: Text
    plan: Plan
    first_row: int
    """The place of its first row among all rows of the run."""
    counted: bool

    @property
    def rows(self) -> int:
        return self.plan.rows


class Opening(NamedTuple):
    """What there is to grade, and what cannot be."""

    files: list[OpenFile]
    refused: list[Unreadable]
    found: Found


def opened(
    wishes: Wishes, grader: Grader, folder: Path, limits: Limits, *, counts: bool = False
) -> Opening:
    """Open every file. `counts`: tokens, also where no limit needs them."""
    out = None if wishes.out is None else Path(wishes.out)
    inputs = found(wishes.inputs, out=out, format=wishes.output_format)
    opener = _Opener(wishes, grader, folder, limits, counts or limits.counts)
    made = Opening([], [], inputs)
    for source in inputs:
        file = opener.open(source)
        if isinstance(file, OpenFile):
            made.files.append(file)
        elif wishes.on_file_error == "halt" and not isinstance(file, _LeftOut):
            raise InputError(_told(file), remedy=file.remedy)
        else:
            made.refused.append(file)
    if not made.files:
        raise _nothing(made.refused)
    return made


class _LeftOut(Unreadable):
    """A file over a limit, where such files are to be left out: that is no error."""


class _Opener:
    def __init__(
        self, wishes: Wishes, grader: Grader, folder: Path, limits: Limits, counts: bool
    ) -> None:
        self._wishes = wishes
        self._grader = grader
        self._folder = folder
        self._limits = limits
        self._counts = counts
        self._rows = 0
        self._tokens = 0
        self._stages = _stages(folder)
        self._taken = frozenset(self._stages.values())
        self._numbers = count()

    def open(self, source: Input) -> OpenFile | Unreadable:
        staged = self._staged(source)
        if isinstance(staged, Unreadable):
            return staged
        wishes = self._wishes
        try:
            text = text_of(staged.columns, wishes.column, wishes.template)
            plan = self._plan(staged, text)
        except InputError as error:
            staged.remove()  # it may be put right, and is then read again
            return Unreadable(source.path, error.message, error.remedy)
        over = self._over(plan)
        if over is not None:
            staged.remove()
            return self._too_much(source, over)
        self._tokens += plan.tokens
        first = self._rows
        self._rows += plan.rows
        return OpenFile(source, staged, text, plan, first, self._counts)

    def _staged(self, source: Input) -> Staged | Unreadable:
        """What an earlier process of this run read is read no more: the file may have changed.

        But where rows of it could not be read and it has changed, they may have been put right.
        """
        path = str(source.path.expanduser().absolute())
        folder = self._stages.get(path) or self._free()
        self._stages[path] = folder
        try:
            found = restored(folder)
        except NotFoundError:
            return stage(source, folder)
        if found.problems.total and _changed(source.path, folder):
            return stage(source, folder)
        return found

    def _free(self) -> Path:
        """A folder that holds no file yet. Files may have come or gone since the run began, so
        their number says nothing."""
        names = (self._folder / f"file-{number:04d}" for number in self._numbers)
        return next(folder for folder in names if folder not in self._taken)

    def _plan(self, staged: Staged, text: Text) -> Plan:
        limits = self._limits
        return split(
            self._tokens_of(staged, text),
            token_limit=limits.tokens,
            row_limit=limits.rows,
            chunks=limits.chunks,
            on_over_limit=self._wishes.on_over_limit,
        )

    def _tokens_of(self, staged: Staged, text: Text) -> Iterator[int]:
        rows = islice(staged.rows(), self._wishes.first)
        if not self._counts:
            return (0 for _ in rows)
        return (
            0 if staged.is_broken(number) else self._grader.tokens(text(row))
            for number, row in enumerate(rows)
        )

    def _over(self, plan: Plan) -> str | None:
        """Which limit a file breaks."""
        limits = self._limits
        if limits.file is not None and plan.tokens > limits.file:
            return f"it takes {plan.tokens:,} tokens, and a file may take {limits.file:,}"
        left = limits.left_today
        if left is not None and self._tokens + plan.tokens > left:
            return (
                f"it takes {plan.tokens:,} tokens, and {left - self._tokens:,} are left for today"
            )
        return None

    def _too_much(self, source: Input, over: str) -> Unreadable:
        remedy = "Raise the limit, or split the file (--split)."
        if self._wishes.on_over_limit == "abort":
            raise InputError(
                f"{source.path}: {over}",
                remedy=f"{remedy} --on-over-limit skip leaves such files out.",
            )
        return _LeftOut(source.path, over, remedy)


def _stages(folder: Path) -> dict[str, Path]:
    """What an earlier process of this run has read: where each file lies, by its path."""
    found = {}
    for each in sorted(folder.glob("file-*")):
        with suppress(NotFoundError):  # it was left while it was read
            found[str(restored(each).path)] = each
    return found


def _changed(path: Path, folder: Path) -> bool:
    try:
        return path.expanduser().stat().st_mtime > (folder / "stage.json").stat().st_mtime
    except OSError:
        return False


def _told(file: Unreadable) -> str:
    """What is wrong with a file, with its name."""
    named = str(file.path) in file.reason
    return file.reason if named else f"{file.path}: {file.reason}"


def _nothing(refused: list[Unreadable]) -> InputError:
    if len(refused) == 1:
        return InputError(_told(refused[0]), remedy=refused[0].remedy)
    lines = [f"{_told(file)}. {file.remedy}".rstrip(". ") for file in refused[:_NAMED]]
    lines += [f"and {len(refused) - _NAMED:,} more"] if len(refused) > _NAMED else []
    return InputError(f"none of the {len(refused)} files can be graded:\n" + "\n".join(lines))
