"""What is kept on disk: the workspace, the journal of answers, the catalog of runs."""

from __future__ import annotations

from penstock.store.journal import Journal
from penstock.store.record import Record, RecordKind
from penstock.store.workspace import Workspace

__all__ = ["Journal", "Record", "RecordKind", "Workspace"]
