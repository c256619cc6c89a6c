"""How two runs differ besides their answers, said in words: a difference may come from there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.bench.result import BenchResult, RecipeResult

__all__ = ["metric_notes", "recipe_notes", "run_notes"]

_LONGEST = 60

Names = tuple[str, str]


def run_notes(
    a: BenchResult, b: BenchResult, endpoints: tuple[str, str], names: Names
) -> Iterator[str]:
    """What differs in how the runs were made, and whether one is unfinished."""
    for result, name in zip((a, b), names, strict=True):
        if not result.state.startswith("completed"):
            yield f"the run of {name} is {result.state}: what it has not asked cannot be compared"
    one, other = a.endpoints.get(endpoints[0], {}), b.endpoints.get(endpoints[1], {})
    yield from _differences("the endpoints differ in", _asked_by(one), _asked_by(other), names)
    yield from _differences("the runs differ in", a.settings, b.settings, names)
    if a.version != b.version:
        yield f"the runs were made by Penstock {a.version or '?'} and {b.version or '?'}"


def recipe_notes(a: RecipeResult, b: RecipeResult, names: Names) -> Iterator[str]:
    """What differs in one recipe."""
    kept = ("datasets", "templates", "epochs")
    one, other = ({key: getattr(recipe, key) for key in kept} for recipe in (a, b))
    yield from _differences(f"{a.id} differs in", one, other, names)


def metric_notes(
    recipe: str, label: str, a: Mapping[str, Any], b: Mapping[str, Any], names: Names
) -> Iterator[str]:
    """What differs in the parameters of one metric, such as a judge's rubric."""
    one, other = a.get("parameters") or {}, b.get("parameters") or {}
    yield from _differences(f"{label} of {recipe} differs in", one, other, names)


def _asked_by(spec: Mapping[str, Any]) -> dict[str, Any]:
    """What of an endpoint can change an answer."""
    names = ("provider", "model", "url", "params")
    return {name: spec[name] for name in names if name in spec}


def _differences(
    said: str, a: Mapping[str, Any], b: Mapping[str, Any], names: Names
) -> Iterator[str]:
    for key in dict.fromkeys([*a, *b]):
        one, other = a.get(key), b.get(key)
        if _plain(one) != _plain(other):
            yield f"{said} {key}: {_short(one)} in {names[0]}, {_short(other)} in {names[1]}"


def _plain(value: Any) -> Any:
    """A list read from a file is what a tuple was before."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return value


def _short(value: Any) -> str:
    if value is None or value in ("", (), [], {}):
        return "none"
    said = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
