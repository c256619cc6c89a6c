"""What is wrong with the file of a dataset, as `documents.problems` tells it, and two differences.

Most of such a file is columns, so a column is called by its name alone; and a key with nothing
behind it is a mistake, for what was to stand there is mostly at the wrong depth.
"""

from __future__ import annotations

from penstock.documents import problems
from penstock.documents.problems import Path, Problems
from penstock.errors import InputError

__all__ = ["Mistakes", "Part"]


class Mistakes(Problems):
    """Mistakes by the names of columns."""

    def add(self, path: Path, error: InputError) -> None:
        said = error.message
        if path[:1] == ("columns",) and len(path) > 1:  # the message may name it once more
            said = said.removeprefix(f"column {path[1]!r}: ")
        super().add(path, InputError(said, remedy=error.remedy))

    def shown(self, path: Path) -> str:
        return super().shown(path).removeprefix("columns.")


class Part(problems.Part):
    """A mapping of the file."""

    def __contains__(self, key: str) -> bool:
        return key in self.data
