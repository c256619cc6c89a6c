"""The chunks of files as files of their own; nothing is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.grade.carry import Unreadable
from penstock.grade.counting import problems
from penstock.grade.grading import GradeJob
from penstock.grade.opening import OpenFile
from penstock.grade.split import Parts, write_parts

__all__ = ["Split", "WrittenParts", "written_parts"]


class Split(NamedTuple):
    """A file, and what was made of it."""

    path: Path
    rows: int
    parts: Parts


@dataclass(frozen=True)
class WrittenParts:
    """Every file in its parts, and those that cannot be."""

    files: tuple[Split, ...]
    refused: tuple[Unreadable, ...]
    out: Path

    def to_dict(self) -> dict[str, Any]:
        """For a program."""
        return {
            "files": [
                {
                    "path": str(split.path),
                    "rows": split.rows,
                    "parts": [str(part) for part in split.parts.files],
                    "left_out": _text(split.parts.left_out),
                }
                for split in self.files
            ],
            "refused": problems(self.refused),
            "out": str(self.out),
        }


def written_parts(job: GradeJob, bench: Workbench, folder: Path) -> WrittenParts:
    """Write the chunks of every file into the output folder. `folder`: for copies."""
    wishes = job.wishes
    assert wishes.out is not None
    out = Path(wishes.out).expanduser()
    opening = job.opened(bench, folder)
    places = list(_places(opening.files, out, wishes.output_format))
    for place in places:
        _check(place, overwrite=wishes.overwrite)
    made = []
    for place in places:
        file = place.file
        parts = write_parts(
            file.staged, file.plan, place.folder, place.format, overwrite=wishes.overwrite
        )
        made.append(Split(file.input.path, file.rows, parts))
    return WrittenParts(tuple(made), tuple(opening.refused), out)


class _Place(NamedTuple):
    """Where the parts of a file go."""

    file: OpenFile
    folder: Path
    stem: str
    format: str

    def there(self) -> Iterator[tuple[Path, int]]:
        """The parts that are there, and of how many each is one."""
        name = re.compile(rf"{re.escape(self.stem)}-part-\d+-of-(\d+)\.{self.format}")
        for path in sorted(self.folder.iterdir()) if self.folder.is_dir() else ():
            if (found := name.fullmatch(path.name)) is not None:
                yield path, int(found[1])


def _places(files: list[OpenFile], out: Path, form: str | None) -> Iterator[_Place]:
    """Parts that would be called the same get folders of their own."""
    taken = set()
    for file in files:
        path, name = file.input.path, Path(file.input.name)
        stem = (path.with_suffix("") if path.suffix.lower() == ".gz" else path).stem
        place = _Place(file, out / name.parent, stem, form or file.staged.format)
        if place[1:] in taken:
            place = place._replace(folder=place.folder / name.stem)
        taken.add(place[1:])
        yield place


def _check(place: _Place, *, overwrite: bool) -> None:
    """Parts of an earlier split would be taken for parts of this one."""
    count = len(place.file.plan.pieces)
    for path, parts in place.there():
        if not overwrite:
            raise InputError(
                f"{path} is there already",
                remedy="Give another folder (-o), or --overwrite to replace it.",
            )
        if parts != count:
            raise InputError(
                f"{path} is of an earlier split into {parts}; now there are {count} parts",
                remedy="Remove the earlier parts, or give another folder (-o).",
            )


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
