"""The workspace: the folder in which everything lies.

`PENSTOCK_HOME`, else the nearest `.penstock/` upward from here, else `.penstock/` here. Folders
are 0700 and files 0600 whatever the umask: prompts and answers are nobody else's business.
Finding a workspace writes nothing; `prepare` makes it.
"""

from __future__ import annotations

import os
from pathlib import Path

import orjson

from penstock.errors import NewerWorkspaceError, StorageFullError, StoreError
from penstock.files import checked_id, private_file, private_folder, storage_errors

__all__ = ["FORMAT", "Workspace"]

FORMAT = 1


class Workspace:
    """Where the journal, the catalog and the runs lie."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path).expanduser().absolute()

    @classmethod
    def find(cls, start: Path | None = None) -> Workspace:
        """The workspace for work done in a folder."""
        home = os.environ.get("PENSTOCK_HOME")
        if home:
            return cls(home)
        here = (start or Path.cwd()).absolute()
        for folder in (here, *here.parents):
            if _is_ours(folder / ".penstock"):
                return cls(folder / ".penstock")
        return cls(here / ".penstock")

    @property
    def journal(self) -> Path:
        return self.path / "journal.db"

    @property
    def catalog(self) -> Path:
        return self.path / "catalog.db"

    @property
    def batches(self) -> Path:
        return self.path / "batches.db"

    @property
    def runs(self) -> Path:
        return self.path / "runs"

    @property
    def library(self) -> Path:
        """Recipes, datasets and the like, as people made or imported them."""
        return self.path / "library"

    @property
    def exists(self) -> bool:
        return (self.path / "workspace.json").is_file()

    def run(self, run_id: str) -> Path:
        """The folder of one run."""
        return self.runs / checked_id(run_id)

    def check(self) -> Workspace:
        """Refuse a workspace that this version cannot read; writes nothing."""
        marker = self.path / "workspace.json"
        with storage_errors(self.path):
            if marker.exists():
                self._check_format(marker)
        return self

    def prepare(self) -> Workspace:
        """Make the folder if it is not there; refuse it if it is not ours to write."""
        marker = self.path / "workspace.json"
        with storage_errors(self.path):
            if marker.exists():
                self._check_format(marker)
            else:
                private_folder(self.path)
                private_file(self.path / ".gitignore", b"*\n")
                private_file(marker, orjson.dumps({"format": FORMAT}) + b"\n")
            private_folder(self.runs)
            if not os.access(self.path, os.W_OK):
                raise StorageFullError(
                    f"the workspace {self.path} is read-only",
                    remedy="Make it writable, or set PENSTOCK_HOME to a folder that is.",
                )
        return self

    def _check_format(self, marker: Path) -> None:
        try:
            found = orjson.loads(marker.read_bytes())["format"]
            newer = found > FORMAT
        except (orjson.JSONDecodeError, KeyError, TypeError):
            raise StoreError(
                f"{marker} is damaged",
                remedy=f'Restore it: it holds the line {{"format":{FORMAT}}}.',
            ) from None
        if newer:
            raise NewerWorkspaceError(
                f"the workspace {self.path} has format {found}; this version knows {FORMAT}",
                remedy="Upgrade Penstock (pip install -U penstock), or use another workspace.",
            )


def _is_ours(folder: Path) -> bool:
    """Whether it may be found: a folder that somebody else planted upward is passed by."""
    try:
        return folder.is_dir() and os.getuid() in (0, folder.stat().st_uid)
    except OSError:
        return False
