"""The schema of a structured answer: what a model is asked for, and what its text is held to.

Made from a Pydantic model or a JSON schema. The order of properties is kept, because models write
fields in that order. `read` turns an answer's text into a value: JSON first, then a careful repair
of what models do to JSON (fences, trailing commas), and always a validation after it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from penstock.errors import ProcessingError, RequestError

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["AnswerSchema", "InvalidAnswerError"]

_NAME = re.compile(r"[^A-Za-z0-9_-]")
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*\Z", re.S)
_LARGEST_REPAIR = 1_000_000


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
            return cls(source.__name__, source.model_json_schema(), source)
        raise RequestError(
            f"an answer schema is a Pydantic model or a JSON schema, not {type(source).__name__}"
        )

    def read(self, text: str) -> Any:
        """The value in an answer's text: an object of the model, or plain JSON."""
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            value = self._repaired(text, error)
        return self._validated(value)

    def _validated(self, value: Any) -> Any:
        if self.model is not None:
            from pydantic import ValidationError

            try:
                # As JSON, not as Python: only then are dates and enums read from their text.
                return self.model.model_validate_json(orjson.dumps(value))
            except ValidationError as error:
                raise InvalidAnswerError(_pydantic_message(error)) from None
        for problem in self._validator.iter_errors(value):
            where = "/".join(str(step) for step in problem.instance_path)
            raise InvalidAnswerError(f"{where + ': ' if where else ''}{problem.message[:500]}")
        return value

    def _repaired(self, text: str, error: Exception) -> Any:
        fenced = _FENCE.match(text)
        if fenced:
            try:
                return orjson.loads(fenced[1])
            except orjson.JSONDecodeError:
                text = fenced[1]
        if len(text) <= _LARGEST_REPAIR and ("{" in text or "[" in text):
            import json_repair

            try:
                value = json_repair.loads(text, skip_json_loads=True)
            except (ValueError, RecursionError):
                value = ""
            if value not in ("", [], {}):
                return value
        raise InvalidAnswerError(f"the answer is not JSON: {error}")

    @cached_property
    def _validator(self) -> Any:
        import jsonschema_rs

        try:
            return jsonschema_rs.validator_for(self.schema)
        except (ValueError, jsonschema_rs.ValidationError) as error:
            raise RequestError(f"the answer schema is no valid JSON schema: {error}") from None


def _pydantic_message(error: Any) -> str:
    lines = []
    for problem in error.errors(include_url=False, include_context=False)[:5]:
        where = ".".join(str(step) for step in problem["loc"])
        lines.append(f"{where}: {problem['msg']}" if where else problem["msg"])
    return "; ".join(lines)
