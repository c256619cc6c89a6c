"""Every setting is a flag of every command: `penstock demo --concurrency 4 --log-level DEBUG`.

The flags of the settings' table are taken out of a command line before the command sees it,
except where the command has a flag of the same name, which then means that command's own.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

from penstock.cli.app import COMMANDS
from penstock.errors import InputError, SettingsError
from penstock.settings import SETTINGS, Setting

__all__ = ["Split", "pairs", "split"]

_BY_FLAG = {setting.flag: setting for setting in SETTINGS}


class Split(NamedTuple):
    """A command line without the flags of settings, and those."""

    arguments: list[str]
    flags: dict[str, str]


def split(arguments: Sequence[str]) -> Split:
    """Take the flags of settings out of a command line."""
    rest: list[str] = []
    flags: dict[str, str] = {}
    tokens = iter(arguments)
    wanted = {token.partition("=")[0] for token in arguments} & _BY_FLAG.keys()
    own = _own_flags(arguments) if wanted else frozenset()
    for token in tokens:
        name, equals, value = token.partition("=")
        setting = _BY_FLAG.get(name)
        if token == "--":  # noqa: S105 - the end of all flags
            rest += [token, *tokens]
        elif setting is None or name in own:
            rest.append(token)
        elif equals:
            flags[setting.key] = value
        else:
            flags[setting.key] = _value(setting, tokens)
    return Split(rest, flags)


def _value(setting: Setting, tokens: object) -> str:
    if setting.kind is bool:
        return "true"
    found = next(tokens, None)  # type: ignore[call-overload]
    if found is None:
        raise SettingsError(f"{setting.flag} wants a value", remedy=f"Allowed: {setting.allowed}.")
    return str(found)


def _own_flags(arguments: Sequence[str]) -> frozenset[str]:
    """The flags that the called command has itself."""
    where = next((c.where for c in COMMANDS if arguments and c.name == arguments[0]), None)
    if where is None:
        return frozenset(_BY_FLAG)
    module, _, name = where.partition(":")
    found = getattr(import_module(module), name)
    if not inspect.isfunction(found):  # a group of commands: the second word says which
        inner = len(arguments) > 1 and arguments[1] in found
        found = (found[arguments[1]] if inner else found).default_command
        if found is None:
            return frozenset(_BY_FLAG)
    parameters = inspect.signature(found).parameters
    return frozenset("--" + parameter.replace("_", "-") for parameter in parameters)


def pairs(given: Sequence[str] | None, flag: str) -> dict[str, Any]:
    """What `--param name=value` says, given any number of times; values are JSON or text."""
    import orjson

    made: dict[str, Any] = {}
    for pair in given or ():
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InputError(f"{flag} {pair!r} is not of the form name=value")
        try:
            made[name] = orjson.loads(value)
        except orjson.JSONDecodeError:
            made[name] = value
    return made
