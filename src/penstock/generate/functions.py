"""The functions that people write: prompts from rows, rows from answers.

Signatures are looked at once. What a function returns is checked here and named clearly when it
is nonsense; what it raises stays in its row.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from penstock.engine.users import Raised, is_awaitable
from penstock.errors import InputError, ProcessingError
from penstock.templates import Template

__all__ = [
    "Takes",
    "called",
    "check_parse",
    "described",
    "input_and_answer",
    "prompt_takes",
    "rows_from",
]


class Takes(NamedTuple):
    """Whether a prompt function needs a row, and whether it takes one."""

    needs_row: bool
    takes_row: bool


def prompt_takes(function: Callable[..., Any]) -> Takes:
    """What a prompt function wants: nothing, or the row."""
    signature = _signature(function, "prompt")
    if signature is None:
        return Takes(True, True)
    parameters = signature.parameters.values()
    placed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p.name for p in placed if p.default is p.empty]
    named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if len(needed) > 1 or named:
        wanted = [*needed, *named]
        raise InputError(
            f"the prompt function takes {len(wanted)} arguments ({', '.join(wanted)})",
            remedy="It takes the row, or nothing.",
        )
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return Takes(bool(needed), bool(placed) or takes_any)


def check_parse(function: Callable[..., Any]) -> None:
    """Refuse a parse function that could not be called, before anything is paid for."""
    signature = _signature(function, "parse")
    if signature is None:
        return
    try:
        signature.bind(None, None)
    except TypeError:
        raise InputError(
            f"the parse function takes {signature}",
            remedy="It takes the row and the response: parse(row, response).",
        ) from None


def described(function: Callable[..., Any]) -> str:
    """What a prompt function is called, and a short hash of its text where that can be found."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, Template):
        name, text = "template", owner.text
    else:
        name = str(getattr(function, "__qualname__", type(function).__name__))
        try:
            text = inspect.getsource(function)
        except Exception:  # it may have been made in a shell, or its file be gone
            return name
    return f"{name} (sha256 {sha256(text.encode('utf-8', 'replace')).hexdigest()[:12]})"


def _signature(function: Any, name: str) -> inspect.Signature | None:
    """None where Python cannot tell, as of some functions written in C."""
    if not callable(function):
        raise InputError(f"the {name} function is {_shown(function)}; a function is wanted")
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def called(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns, or what it raised as a value; may be awaitable.

    Also `sys.exit()` and a stray CancelledError: they would end the thread, and with it all runs.
    """
    try:
        result = function(*arguments)
    except BaseException as error:
        return Raised(error)
    return _sheltered(result) if is_awaitable(result) else result


async def _sheltered(result: Awaitable[Any]) -> Any:
    try:
        return await result
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return Raised(error)
    except BaseException as error:
        return Raised(error)


def rows_from(parsed: Any) -> list[dict[str, Any]]:
    """The rows that a parse function returned: a dict, an object, several, or a generator."""
    if isinstance(parsed, list | tuple | Iterator):
        return [_row(item) for item in parsed]
    return [_row(parsed)]


def input_and_answer(row: Mapping[str, Any], value: Any) -> list[dict[str, Any]]:
    """Without a parse function: the input's columns, and those of the answer beside them."""
    if isinstance(value, str):
        return [{**row, "response": value}]
    if isinstance(value, list):
        return [{**row, **_fields(item)} for item in value]
    return [{**row, **_fields(value)}]


def _row(item: Any) -> dict[str, Any]:
    if isinstance(item, Mapping):
        return dict(item)
    dump = getattr(item, "model_dump", None)
    if callable(dump):
        made: dict[str, Any] = dump(mode="json")
        return made
    raise ProcessingError(
        f"the parse function returned {_shown(item)}; a dict, a Pydantic object or a list of "
        "them is wanted"
    )


def _fields(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping) or hasattr(value, "model_dump"):
        return _row(value)
    return {"response": value}


def _shown(item: Any) -> str:
    return "nothing" if item is None else f"a {type(item).__name__}"
