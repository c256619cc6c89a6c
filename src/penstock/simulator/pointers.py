"""References inside one schema: `#`, `#/$defs/Name`, `#anchor`."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from penstock.errors import InputError

__all__ = ["resolve"]


def resolve(root: Any, reference: str) -> Any:
    """What a reference points to, or an InputError that names it."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        raise InputError(
            f"the schema refers to {reference!r}, which is outside of it",
            remedy="References must begin with '#'.",
        )
    if reference == "#":
        return root
    if not reference.startswith("#/"):
        return _anchored(root, reference)
    found = root
    for raw in reference[2:].split("/"):
        step = unquote(raw).replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif isinstance(found, list) and step.isdigit() and int(step) < len(found):
            found = found[int(step)]
        else:
            raise InputError(f"the schema refers to {reference!r}, which is not in it")
    return found


def _anchored(root: Any, reference: str) -> Any:
    waiting = [root]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if part.get("$anchor") == reference[1:]:
                return part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    raise InputError(f"the schema refers to {reference!r}, which is not in it")
