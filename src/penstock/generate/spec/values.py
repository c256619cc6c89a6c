"""What single values of a file must be; each gives the value, or an InputError that says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from penstock.errors import InputError
from penstock.generate.rules import Check, Condition
from penstock.request import merged_params
from penstock.secret import Secret

__all__ = [
    "a_check",
    "a_condition",
    "a_flag",
    "a_key",
    "a_kind",
    "a_list_of_texts",
    "a_mapping",
    "a_pair",
    "a_params",
    "a_text",
    "refuse_key",
]


def a_text(value: Any) -> str:
    """A text, and not an empty one."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{_said(value)}; a text is wanted", remedy=_quoted(value))
    return value


def a_flag(value: Any) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise InputError(f"{_said(value)}; true or false is wanted")
    return value


def a_mapping(value: Any) -> Mapping[str, Any]:
    """Names and values."""
    if not isinstance(value, Mapping):
        raise InputError(f"{_said(value)}; names and values are wanted, indented")
    return value


def a_params(value: Any) -> Mapping[str, Any]:
    """Parameters of a model."""
    found = a_mapping(value)
    for name in found:
        if name.lower().replace("-", "_") in ("api_key", "apikey", "key", "authorization"):
            refuse_key(found[name])
    merged_params({}, found)
    return found


def a_key(value: Any) -> str:
    """Where a key is found."""
    if not isinstance(value, str) or not value.startswith(("env:", "file:")):
        refuse_key(value)
    return value


def refuse_key(value: Any) -> NoReturn:
    """A key itself was given."""
    if isinstance(value, str):
        Secret(value)  # so that it is shown nowhere
    raise InputError(
        "a key does not belong into this file, only where it is to be found",
        remedy="Put it into an environment variable, and write key: env:NAME beside the model.",
    )


def a_condition(given: Any) -> Condition | None:
    """Which rows have a column."""
    if not isinstance(given, str | Mapping) or not given:
        raise InputError(
            "a column, or columns with their values, are wanted", remedy="Such as {level: hard}."
        )
    return Condition.of(given)


def a_check(given: Any) -> Check | None:
    """Rules for a value."""
    if not isinstance(given, Mapping) or not given:
        raise InputError("rules are wanted", remedy="Such as {min_length: 20, contains: word}.")
    for rule in ("contains", "not_contains"):
        words = given.get(rule, "")
        several = words if isinstance(words, list) else [words]
        if not all(isinstance(word, str) for word in several):
            raise InputError(f"{rule} wants texts", remedy=f'Such as {rule}: ["42"].')
    return Check.of(given)


def a_kind(given: Any) -> Any:
    """A kind of template."""
    if given not in ("bare", "jinja"):
        raise InputError(f"it is {given!r}", remedy="Allowed are bare and jinja.")
    return given


def a_pair(given: Any) -> tuple[Any, Any]:
    """Two values."""
    if not isinstance(given, list) or len(given) != 2:
        raise InputError("the worst and the best score are wanted", remedy="Such as [1, 5].")
    return given[0], given[1]


def a_list_of_texts(given: Any) -> Any:
    """Texts, with names or without."""
    texts = given.values() if isinstance(given, Mapping) else given
    if not isinstance(given, Mapping | list) or not all(isinstance(each, str) for each in texts):
        raise InputError("a list of texts is wanted, or names with texts")
    return given


def _said(value: Any) -> str:
    if isinstance(value, Mapping | list):
        return f"it is a {'mapping' if isinstance(value, Mapping) else 'list'}"
    if value is None:
        return "it is empty"
    shown = repr(value)
    return f"it is {shown if len(shown) <= 60 else shown[:60] + '…'}"


def _quoted(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f'For the text write "{value}".' if is_number and len(str(value)) < 60 else ""
