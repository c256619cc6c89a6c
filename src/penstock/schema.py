"""The schema of a structured answer: what a model is asked for, and what its text is held to.

Made from a Pydantic model or a JSON schema. The order of properties is kept, because models write
fields in that order. `read` turns an answer's text into a value: JSON first, then a careful repair
of what models do to JSON (fences, trailing commas, words around it), and always a validation after
it. Prose that holds no JSON never becomes a value, and of two different values none is chosen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import orjson

from penstock.errors import ProcessingError, RequestError

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["AnswerSchema", "InvalidAnswerError"]

_NAME = re.compile(r"[^A-Za-z0-9_-]")
# Where JSON may begin in a text: an object at its first key, a list on a line of its own or after a
# colon. The bounds keep a hostile text from costing more than its length.
_BEGINS = re.compile(
    r"""(?mx)
    \{ (?= \s* (?: "[^"\n]{0,99}" | '[^'\n]{0,99}' | “[^”\n]{0,99}” | [A-Za-z_]\w{0,99} ) \s* : )
    | (?: ^ | : ) [ \t]* ( \[ ) (?= \s* (?: ["'“{\[\d-] | true\b | false\b | null\b ) )
    """
)
_FENCE_HEADS = ("```", "```json")
_LONG_NUMBER = re.compile(r"\d{19}")
_LARGEST_REPAIR = 200_000
_DEEPEST = 200


class InvalidAnswerError(ProcessingError):
    """An answer does not fit its schema; the message is fit to show to the model."""


class AnswerSchema:
    """A named JSON schema, with the Pydantic model behind it where there is one."""

    def __init__(self, name: str, schema: Mapping[str, Any], model: type[BaseModel] | None = None):
        self.name = _NAME.sub("_", name)[:64] or "answer"
        self.schema = dict(schema)
        self.model = model
        try:
            self.canonical = orjson.dumps([self.name, self.schema])
        except TypeError as error:
            raise RequestError(f"the answer schema is not JSON: {error}") from None

    @classmethod
    def of(cls, source: Any) -> AnswerSchema:
        """From an AnswerSchema, a Pydantic model or a JSON schema."""
        if isinstance(source, cls):
            return source
        if isinstance(source, Mapping):
            made = cls(str(source.get("title") or "answer"), source)
            _ = made._validator  # a schema that is none is refused before anything is sent
            return made
        from pydantic import BaseModel

        if isinstance(source, type) and issubclass(source, BaseModel):
            return cls(source.__name__, _schema_of(source), source)
        raise RequestError(
            f"an answer schema is a Pydantic model or a JSON schema, not {type(source).__name__}"
        )

    def read(self, text: str) -> Any:
        """The value in an answer's text: an object of the model, or plain JSON."""
        text = _unfenced(text)
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            value = _repaired(text, error)
            try:
                text = json.dumps(value, allow_nan=False, ensure_ascii=False)
                text.encode()
            except (ValueError, RecursionError) as problem:
                raise InvalidAnswerError(f"the answer is not JSON: {problem}") from None
        if self.model is None and _LONG_NUMBER.search(text):
            value = _exact(text)
        if _too_deep(text, value):
            raise InvalidAnswerError(f"the answer is nested deeper than {_DEEPEST} levels")
        return self._validated(text, value)

    def _validated(self, text: str, value: Any) -> Any:
        if self.model is not None:
            from pydantic import ValidationError

            try:
                # As JSON, not as Python: only then are dates and enums read from their text.
                return self.model.model_validate_json(text)
            except ValidationError as error:
                raise InvalidAnswerError(_pydantic_message(error)) from None
        try:
            problem = next(self._validator.iter_errors(value), None)
        except ValueError as error:
            raise InvalidAnswerError(f"the answer cannot be validated: {error}") from None
        if problem is not None:
            where = "/".join(str(step) for step in problem.instance_path)
            raise InvalidAnswerError(f"{where + ': ' if where else ''}{problem.message[:500]}")
        return value

    @cached_property
    def _validator(self) -> Any:
        import jsonschema_rs

        try:
            return jsonschema_rs.validator_for(self.schema, retriever=_refuse_reference)
        except (ValueError, jsonschema_rs.ValidationError) as error:
            said = str(error).strip().splitlines()[0]
            raise RequestError(f"the answer schema is no valid JSON schema: {said}") from None


def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    from pydantic.errors import PydanticUserError

    try:
        return model.model_json_schema()
    except PydanticUserError as error:
        raise RequestError(f"{model.__name__} cannot be an answer schema: {error}") from None


def _refuse_reference(address: str) -> NoReturn:
    # By default the validator would fetch it, from the network or from this machine's files.
    raise ValueError("a reference must point into the schema itself")


def _unfenced(text: str) -> str:
    body = text.strip()
    head, newline, rest = body.partition("\n")
    if newline and head.strip() in _FENCE_HEADS and rest.endswith("```"):
        return rest[:-3]
    return body


def _repaired(text: str, error: Exception) -> Any:
    """The one value in a text that is not JSON, but holds some."""
    begin = _BEGINS.search(text) if len(text) <= _LARGEST_REPAIR else None
    if begin is None:
        raise InvalidAnswerError(f"the answer is not JSON: {error}")
    values = _whole_values(text)
    if not values:
        values = _mended(text[begin.end() - 1 :])
    if not values:
        raise InvalidAnswerError(f"the answer is not JSON: {error}")
    if any(value != values[0] for value in values):
        raise InvalidAnswerError("the answer holds several different JSON values; give one")
    return values[0]


def _whole_values(text: str) -> list[Any]:
    """Every JSON value among words; none when one of them is broken."""
    values = []
    begin = _BEGINS.search(text)
    while begin is not None:
        try:
            value, end = _DECODER.raw_decode(text, begin.end() - 1)
        except (ValueError, RecursionError):
            return []
        values.append(value)
        begin = _BEGINS.search(text, end)
    return values


def _mended(text: str) -> list[Any]:
    import json_repair

    try:
        value = json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError):
        return []
    wanted = dict if text.startswith("{") else list
    return [value] if value and isinstance(value, wanted) else []


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _exact(text: str) -> Any:
    """With whole numbers of any length, which the fast reader rounds."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        raise InvalidAnswerError("the answer holds a number that is too long") from None


def _too_deep(text: str, value: Any) -> bool:
    if text.count("[") + text.count("{") <= _DEEPEST:
        return False
    level = [value]
    for _ in range(_DEEPEST + 1):
        nested = [item for item in level if isinstance(item, dict | list)]
        level = [i for item in nested for i in (item.values() if isinstance(item, dict) else item)]
    return bool(level)


def _pydantic_message(error: Any) -> str:
    lines = []
    for problem in error.errors(include_url=False, include_context=False)[:5]:
        where = ".".join(str(step) for step in problem["loc"])
        lines.append(f"{where}: {problem['msg']}" if where else problem["msg"])
    return "; ".join(lines)
