"""A dataset of a Python program that the user names: `penstock generate script.py:ds`.

It is the user's own program and is run as such, except that it is not `__main__`: what it does only
when it is started itself is not done. Its stdout goes to stderr, so that what the command prints
stays readable for programs.
"""

from __future__ import annotations

import runpy
import sys
import traceback
from contextlib import redirect_stdout
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from penstock.errors import InputError, PenstockError
from penstock.generate.dataset import Dataset

__all__ = ["dataset_of", "names_program"]

_NAME = "penstock_program"


def names_program(text: str) -> bool:
    """Whether a person means a program: `script.py` or `script.py:ds`."""
    return _split(text)[0].endswith(".py")


def dataset_of(text: str) -> Dataset:
    """The Dataset that a program makes: the one of that name, or the only one."""
    file, name = _split(text)
    path = Path(file).expanduser()
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    made = _run(path)
    found = {key: value for key, value in made.items() if isinstance(value, Dataset)}
    if name in found:
        return found[name]
    if name:
        close = get_close_matches(name, found, n=1)
        hint = f"Did you mean {path}:{close[0]}? " if close else ""
        there = f"It has: {', '.join(found)}." if found else _MAKE
        is_what = f"is a {type(made[name]).__name__}" if name in made else "is not there"
        raise InputError(f"{path}: the dataset {name!r} {is_what}", remedy=f"{hint}{there}")
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        example = next(iter(found))
        raise InputError(
            f"{path} makes {len(found)} datasets: {', '.join(found)}",
            remedy=f"Say which: {path}:{example}.",
        )
    raise InputError(f"{path} makes no dataset", remedy=_MAKE)


_MAKE = "Make one: ds = penstock.dataset({...})."


def _split(text: str) -> tuple[str, str]:
    """The file and the name, which stands behind the last colon of a program."""
    file, colon, name = text.rpartition(":")
    return (file, name) if colon and file.endswith(".py") else (text, "")


def _run(path: Path) -> dict[str, Any]:
    sys.path.insert(0, str(path.parent.absolute()))  # its neighbours, as Python itself would
    try:
        with redirect_stdout(sys.stderr):
            made = runpy.run_path(str(path), run_name=_NAME)
    except PenstockError as error:
        error.message = f"{_line(path, error)}: {error.message}"
        raise
    except (Exception, SystemExit) as error:
        said = traceback.format_exception_only(error)[-1].strip()
        raise InputError(f"{_line(path, error)}: the program ended with {said}") from error
    # Its classes look for their module by name.
    module = sys.modules[_NAME] = ModuleType(_NAME)
    module.__dict__.update(made)
    return made


def _line(path: Path, error: BaseException) -> str:
    """The line of the program that an error came from."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"{path}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return f"{path}:{lines[-1]}" if lines else str(path)
