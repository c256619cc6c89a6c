"""The rubric that people start from: an example with a note on every key.

It is kept as the file that it is, `starter.yaml`, so that what is written is what is tested.
"""

from __future__ import annotations

from pathlib import Path

from penstock.tables.atomic import draft

__all__ = ["starter_text", "write_starter"]


def starter_text() -> str:
    """The starter as YAML."""
    return Path(__file__).with_name("starter.yaml").read_text(encoding="utf-8")


def write_starter(path: Path | str, *, overwrite: bool = False) -> Path:
    """Write the starter, whole or not at all; where it is now."""
    path = Path(path).expanduser()
    with draft(path, overwrite=overwrite) as new:
        new.write_text(starter_text(), encoding="utf-8")
    return path
