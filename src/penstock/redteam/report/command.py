"""The command that would repeat a campaign, made of what was wished."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from penstock.redteam.results import CampaignResult
from penstock.redteam.wishes import Wishes

__all__ = ["command"]

_USUAL = {field.name: field.default for field in fields(Wishes)}
_FLAGS = (
    *("attacker", "judge", "metric", "strategy", "template", "system_prompt", "max_turns", "most"),
    *("seed", "lane", "budget", "cache", "name"),
)
_WIDE = 100


def command(result: CampaignResult) -> str:
    """On a line, or with a flag a line where that would be long."""
    said = [shlex.join(piece) for piece in _pieces(result)]
    whole = " ".join(said)
    return whole if len(whole) <= _WIDE else " \\\n    ".join(said)


def _pieces(result: CampaignResult) -> Iterator[tuple[str, ...]]:
    wishes = result.settings
    yield ("penstock", "redteam", "run")
    for endpoint in wishes.get("endpoints") or result.endpoints:
        yield "-e", str(endpoint)
    if attacks := wishes.get("attacks"):
        yield "--attacks", ",".join(map(str, attacks))
    for each in wishes.get("objectives", ()):
        yield "--objectives", str(each)
    for name in _FLAGS:
        value = wishes.get(name)
        if value is not None and value not in ("", _USUAL[name]):
            yield f"--{name.replace('_', '-')}", str(value)
    for name, value in (wishes.get("params") or {}).items():
        yield "--param", f"{name}={_parameter(value)}"
    if wishes.get("accuracy"):
        yield "--judge-accuracy", ",".join(f"{each:g}" for each in wishes["accuracy"])
    if wishes.get("stop_on_success") is False:
        yield ("--no-stop-on-success",)


def _parameter(value: Any) -> str:
    """As it is read again: a text stands as it is, unless it would be taken for something else."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    try:
        json.loads(value)
    except ValueError:
        return value
    return json.dumps(value, ensure_ascii=False)
