"""Grading: files in, graded files out.

The room is called like its function, and so it can be called: `penstock.grade("essays/", ...)`
works whether or not a module of the room has been imported before.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

__all__: list[str] = []


class _Room(ModuleType):
    def __call__(self, *arguments: Any, **wishes: Any) -> Any:
        from penstock.grade.grading import grade

        return grade(*arguments, **wishes)


sys.modules[__name__].__class__ = _Room
