"""Which files are graded, and what their outputs are called.

A file that is named is taken or is an error; a folder is looked through, and what in it is no
table is skipped and listed. Hidden files, a workspace, the output folder, and what `mark` says was
written by Penstock are no inputs: a second run over the same folder grades what the first did. The
parts of a split are inputs only of who names their folder, not of who names one above it.

The name of an output is the input's own, below a folder with its path in it. Where two would be
the same they get as many of their parents' names as it takes, and a number where that is not
enough (`x.csv` and `x.csv.gz` side by side). Names that differ only in case count as the same.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Literal, NamedTuple

from penstock.errors import InputError
from penstock.tables.atomic import disk_errors
from penstock.tables.files import FORMATS, checked_path, format_of

__all__ = ["Found", "Input", "Skipped", "found", "mark"]

_MARK = ".penstock-output"
_JOURNAL = "journal.db"
_REPORT = ("report.html", "report.json")  # what lies beside the outputs


@dataclass(frozen=True, slots=True)
class Input:
    """A file to grade. `name`: what its output is called, below the output folder."""

    path: Path
    format: str
    name: str


class Skipped(NamedTuple):
    """Something in a folder that is not graded."""

    path: Path
    reason: str


class Found(list[Input]):
    """The files in order; `skipped` tells what in their folders was left alone."""

    def __init__(self) -> None:
        super().__init__()
        self.skipped: list[Skipped] = []


def found(
    inputs: Sequence[Path | str],
    *,
    out: Path | str | None = None,
    format: str | None = None,  # noqa: A002
) -> Found:
    """The files to grade, each once. `out`: the output folder. `format`: of the outputs."""
    if isinstance(inputs, (str, Path)):
        inputs = [inputs]
    search = _Search(None if out is None else Path(os.path.realpath(Path(out).expanduser())))
    for given in inputs:
        path = Path(given).expanduser()
        if path.is_dir():
            search.folder(path)
        else:
            search.file(checked_path(path))
    if not search.files:
        raise _nothing(inputs, search.skipped)
    result = Found()
    result.skipped = search.skipped
    suffix = None if format is None else f".{format.lower().lstrip('.')}"
    named = _kept_apart([_output(file.name, suffix) for file in search.files], search.files)
    for file, name in zip(search.files, named, strict=True):
        result.append(Input(file.path, file.format, name))
    return result


def mark(path: Path, kind: Literal["output", "part"] = "output") -> None:
    """Note beside a file that Penstock wrote it, so that no folder's search takes it for data."""
    with (
        disk_errors(path.parent / _MARK),
        (path.parent / _MARK).open("a", encoding="utf-8", errors="surrogateescape") as file,
    ):
        file.write(f"{kind} {path.name}\n")


def _nothing(inputs: Sequence[Path | str], skipped: list[Skipped]) -> InputError:
    names = ", ".join(map(str, inputs)) or "nothing"
    remedy = f"Known formats: {', '.join(FORMATS)}."
    if skipped:
        path, reason = skipped[0]
        more = f", and {len(skipped) - 1:,} more" if len(skipped) > 1 else ""
        remedy = f"Skipped: {path}, {reason}{more}. A file is always taken when it is named itself."
    return InputError(f"there is no file to grade in {names}", remedy=remedy)


class _File(NamedTuple):
    path: Path
    format: str
    name: PurePath
    real: Path


class _Search:
    def __init__(self, out: Path | None) -> None:
        self.files: list[_File] = []
        self.skipped: list[Skipped] = []
        self._out = out
        self._seen: set[Path] = set()

    def file(self, path: Path) -> None:
        """A file that was named."""
        known = format_of(path, None)
        if known not in FORMATS:
            raise InputError(
                f"{path}: {known!r} is no format that can be graded",
                remedy=f"Known are {', '.join(FORMATS)}.",
            )
        self._take(path, known, PurePath(path.name))

    def folder(self, top: Path) -> None:
        """A folder that was named, with all below it."""
        seen: set[tuple[int, int]] = set()
        there: list[Path] = []
        for name, folders, files in os.walk(top, onerror=self._unreadable, followlinks=True):
            here = Path(name)
            folders[:] = [each for each in folders if self._enters(here / each)]
            # A link may lead back up: each folder is looked into once.
            status = here.stat()
            if (status.st_dev, status.st_ino) in seen:
                folders.clear()
                continue
            seen.add((status.st_dev, status.st_ino))
            written = _marked(here, parts=here != top)
            for each in files:
                if each in written:
                    self.skipped.append(Skipped(here / each, "Penstock wrote it"))
                elif not each.startswith("."):
                    there.append(here / each)
        for path in sorted(there, key=lambda path: path.parts):
            self._candidate(path, path.relative_to(top))

    def _enters(self, folder: Path) -> bool:
        if folder.name.startswith("."):
            return False
        if self._out is not None and Path(os.path.realpath(folder)) == self._out:
            return False
        if (folder / _JOURNAL).exists():
            self.skipped.append(Skipped(folder, "it is a workspace of Penstock"))
            return False
        return True

    def _candidate(self, path: Path, name: PurePath) -> None:
        try:
            known = format_of(path, None)
        except InputError:
            known = ""
        if known not in FORMATS:
            self.skipped.append(Skipped(path, "its name is that of no known format"))
        elif not path.is_file():
            reason = "it is no plain file" if path.exists() else "it is a link to nothing"
            self.skipped.append(Skipped(path, reason))
        else:
            self._take(path, known, name)

    def _take(self, path: Path, known: str, name: PurePath) -> None:
        real = Path(os.path.realpath(path))
        if real not in self._seen:
            self._seen.add(real)
            self.files.append(_File(path, known, name, real))

    def _unreadable(self, error: OSError) -> None:
        self.skipped.append(Skipped(Path(error.filename), error.strerror or str(error)))


def _marked(folder: Path, *, parts: bool) -> frozenset[str]:
    try:
        text = (folder / _MARK).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return frozenset()
    lines = (line.partition(" ") for line in text.split("\n"))
    return frozenset(name for kind, _, name in lines if parts or kind == "output")


def _output(name: PurePath, suffix: str | None) -> PurePath:
    if name.suffix.lower() == ".gz":
        name = name.with_suffix("")
    return name if suffix is None else name.with_suffix(suffix)


def _kept_apart(names: list[PurePath], files: list[_File]) -> list[str]:
    groups: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        groups.setdefault(str(name).casefold(), []).append(place)
    for places in groups.values():
        if len(places) > 1:
            _lengthen(places, names, files)
    wanted = {str(name).casefold() for name in names}
    taken = set(_REPORT)
    return [_numbered(name, taken, wanted) for name in names]


def _lengthen(places: list[int], names: list[PurePath], files: list[_File]) -> None:
    """Give each the names of its parents, as many as tell the folders of all of them apart."""
    parents = [files[place].path.absolute().parent.parts[1:] for place in places]
    different = len(set(parents))
    for depth in range(1, max(map(len, parents)) + 1):
        ends = [parent[-depth:] for parent in parents]
        if len({tuple(map(str.casefold, end)) for end in ends}) == different:
            break
    if different > 1:
        for place, end in zip(places, ends, strict=True):
            names[place] = PurePath(*end, names[place].name)


def _numbered(name: PurePath, taken: set[str], wanted: set[str]) -> str:
    new, count = name, 1
    while (key := str(new).casefold()) in taken or (count > 1 and key in wanted):
        count += 1
        new = name.with_name(f"{name.stem}_{count}{name.suffix}")
    taken.add(key)
    return new.as_posix()
