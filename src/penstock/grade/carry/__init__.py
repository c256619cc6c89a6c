"""Files in, the same files with columns added: every row once, in order, as it was.

    stage(file, folder)      read a file once; its rows can then be read from any place
    restored(folder)         what was staged there, in another process or on another day
    write(staged, added...)  the file with new columns, whole or not at all

A file is staged by copying: what the user does to it meanwhile does not reach the output. What is
wrong with a file as a whole is a value, `Unreadable`, so that the other files go on; what is wrong
with a row is told by `Staged.problem`, and the row is kept.

In its own format a file passes through untouched (see the modules of this room); in another one,
its values do, through the types of tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from penstock.errors import InputError, PenstockError
from penstock.grade.carry import arrow as carry_arrow
from penstock.grade.carry import table as carry_table
from penstock.grade.carry.store import Carrier, Filling, Manifest, Staged, read_manifest
from penstock.grade.files import Input
from penstock.tables.atomic import draft
from penstock.tables.files import FORMATS, ReadOptions, checked_path, format_of
from penstock.tables.jsonlines import BAD_LINE
from penstock.tables.source import check_columns

__all__ = ["Staged", "Unreadable", "Written", "free_names", "restored", "stage", "write"]
__all__ += ["write_part"]

_CARRIERS = {
    "csv": "csv",
    "tsv": "csv",
    "json": "json",
    "jsonl": "json",
    "parquet": "arrow",
    "arrow": "arrow",
    "feather": "arrow",
    "xlsx": "xlsx",
}
_Stager = Callable[[Path, ReadOptions, Filling], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that cannot be graded: why, and what to do about it."""

    path: Path
    reason: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """An output. `names`: what each added column is called in it. `notes`: for people."""

    path: Path
    names: Mapping[str, str]
    notes: tuple[str, ...] = ()


def stage(
    source: Input | Path | str,
    folder: Path | str,
    *,
    format: str | None = None,  # noqa: A002
    encoding: str | None = None,
    delimiter: str | None = None,
    sheet: str | int | None = None,
    needs: Sequence[str] = (),
) -> Staged | Unreadable:
    """Read a file once, into a folder of its own. `needs`: columns that it must have.

    `encoding`, `delimiter` and `sheet` are found where they are not given; the first sheet is
    taken. They matter only to the formats that have them.
    """
    given = source.path if isinstance(source, Input) else Path(source)
    folder = Path(folder)
    filling: Filling | None = None
    manifest: Manifest | None = None
    try:
        path = checked_path(given)
        form = format_of(path, source.format if isinstance(source, Input) else format)
        if form not in _CARRIERS:
            raise InputError(
                f"{path}: {form!r} is no format that can be graded",
                remedy=f"Known are {', '.join(FORMATS)}.",
            )
        options = ReadOptions(form, encoding=encoding, delimiter=delimiter, sheet=sheet)
        filling = Filling(folder, _CARRIERS[form])
        begin = cast(_Stager, import_module(f"penstock.grade.carry.{filling.carrier}").stage)
        facts = begin(path, options, filling)
        check_columns(list(needs), list(filling.columns), str(path))
        manifest = filling.finish(path.absolute(), form, facts)
    except InputError as error:
        return Unreadable(given, error.message, error.remedy)
    finally:
        if filling is not None and manifest is None:
            filling.discard()
    return Staged(folder, manifest, _carrier(manifest.carrier))


def restored(folder: Path | str) -> Staged:
    """What was staged in a folder. Raises NotFoundError where there is nothing."""
    folder = Path(folder)
    manifest = read_manifest(folder)
    return Staged(folder, manifest, _carrier(manifest.carrier))


def write(
    staged: Staged,
    added: Iterable[Mapping[str, Any]],
    names: Sequence[str],
    path: Path | str,
    format: str | None = None,  # noqa: A002
    *,
    overwrite: bool = False,
) -> Written:
    """The staged file with new columns `names`, whole or not at all.

    `added`: for each row, in order, the values by name; a missing one is empty. A name that the
    file has already gets a number: score_2. `format`: else by the suffix, else the file's own.
    """
    path = Path(path).expanduser()
    form = _format_for(path, format, staged)
    titles = free_names([*staged.columns, BAD_LINE], names)
    more = _More(added, list(names), titles, len(staged))
    notes: list[str] = []
    if form == staged.format:
        with draft(path, overwrite=overwrite) as new:
            notes = staged.carrier.write(staged, more, new)
            more.check()
    elif form in carry_arrow.FORMS and staged.format in carry_arrow.FORMS:
        with draft(path, overwrite=overwrite) as new:
            notes = carry_arrow.convert(staged, more, new, form)
            more.check()
    else:
        carry_table.save_whole(staged, more, path, form, overwrite=overwrite, check=more.check)
    return Written(path, dict(zip(names, titles, strict=True)), tuple(notes))


def write_part(
    staged: Staged,
    ranges: Sequence[range],
    path: Path,
    format: str | None = None,  # noqa: A002
    *,
    overwrite: bool = False,
) -> Path:
    """Some rows of the staged file as a file like it, whole or not at all."""
    form = _format_for(path, format, staged)
    if form == staged.format:
        with draft(path, overwrite=overwrite) as new:
            staged.carrier.part(staged, ranges, new)
    else:
        carry_table.save_part(staged, ranges, path, form, overwrite=overwrite)
    return path


def free_names(taken: Iterable[str], wanted: Sequence[str]) -> list[str]:
    """The wanted names; one that is taken gets a number: score_2."""
    if len(set(wanted)) < len(wanted):
        raise PenstockError(f"a name is given twice: {', '.join(wanted)}")
    there = set(taken)
    kept = {name for name in wanted if name not in there}
    result = []
    for name in wanted:
        new, count = name, 1
        while new in there or (count > 1 and new in kept):
            count += 1
            new = f"{name}_{count}"
        there.add(new)
        result.append(new)
    return result


class _More:
    """What is added, as lists in the order of the names, exactly as many as there are rows."""

    def __init__(
        self, added: Iterable[Mapping[str, Any]], names: list[str], titles: list[str], count: int
    ) -> None:
        self._added = iter(added)
        self._names = names
        self._known = frozenset(names)
        self._count = count
        self._given = 0
        self.titles = titles

    def __iter__(self) -> Iterator[list[Any]]:
        for values in self._added:
            self._given += 1
            if self._given > self._count:
                raise PenstockError(f"more than {self._count:,} rows were added to")
            if not values.keys() <= self._known:
                unknown = sorted(values.keys() - self._known)
                raise PenstockError(f"no column was announced for {', '.join(unknown)}")
            yield [values.get(name) for name in self._names]
        if self._given < self._count:
            raise PenstockError(f"{self._given:,} of {self._count:,} rows were added to")

    def check(self) -> None:
        """Raise unless there was one for each row."""
        for _ in self:
            pass


def _format_for(path: Path, given: str | None, staged: Staged) -> str:
    if path.suffix.lower() == ".gz":
        raise InputError(f"{path}: packing with gzip is not done here", remedy="Leave out .gz.")
    form = given.lower().lstrip(".") if given else staged.format
    if given is None and path.suffix:
        named = format_of(path, None)
        form = named if named in FORMATS else form
    if form not in FORMATS:
        raise InputError(
            f"{path}: {form!r} is no format that can be written",
            remedy=f"Known are {', '.join(FORMATS)}.",
        )
    return form


def _carrier(name: str) -> Carrier:
    return cast(Carrier, import_module(f"penstock.grade.carry.{name}"))
