"""A document as a typed object: read by its model, with every mistake at its line.

The models are Pydantic's, so each has a JSON schema; the messages are ours.
"""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from penstock.documents import files
from penstock.documents.problems import Path, Problems, unknown
from penstock.errors import InputError
from penstock.yamlfile import Document

__all__ = ["Model", "wrong"]

_NAMES = "names and values"
_WANTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": _NAMES,
    "mapping_type": _NAMES,
    "model_type": _NAMES,
    "model_attributes_type": _NAMES,
    "none_required": "nothing",
}


class Model(BaseModel):
    """The base of every kind of document: frozen, and nothing in it that means nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hints: ClassVar[Mapping[str, str]] = {}
    """For keys that people write instead: the ones that are meant."""

    @classmethod
    def load(cls, path: pathlib.Path, name: str | None = None) -> Self:
        """From a file. Raises InputError that names the lines."""
        document = files.read(path, name)
        return cls.made(document.data, document.name, document)

    @classmethod
    def made(cls, data: Any, name: str, document: Document | None = None) -> Self:
        """From plain data; `name` is how messages call it."""
        problems = Problems(name, document)
        if not isinstance(data, Mapping):
            shown = "it is empty" if data is None else "names and values are wanted"
            problems.add((), InputError(shown))
            problems.check()
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            _note_all(problems, error, cls, data)
        problems.check()
        raise AssertionError("a mistake was found")

    def companions(self) -> tuple[str, ...]:
        """The files beside it that hold a part of it."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """As plain data, without what is as usual."""
        return self.model_dump(mode="json", exclude_defaults=True)


def wrong(message: str, remedy: str = "") -> PydanticCustomError:
    """What a validator raises."""
    # Its own placeholders are not ours: a brace in a message is a brace.
    return PydanticCustomError("penstock", "{message}", {"message": message, "remedy": remedy})


def _note_all(problems: Problems, error: ValidationError, model: type[Model], data: Any) -> None:
    """Note every mistake, once each however many forms the model allows."""
    wanted: dict[Path, list[ErrorDetails]] = {}
    others: list[Path] = []
    for each in error.errors(include_url=False):
        path = _path(each["loc"], data)
        if each["type"] in _WANTED:
            wanted.setdefault(path, []).append(each)
        else:
            others.append(path)
            _note(problems, path, each, model)
    for path, same in wanted.items():
        # Where one of several forms was understood, that it is none of the others says nothing.
        inside = (other for other in wanted if other != path and other[: len(path)] == path)
        if path not in others and not any(inside):
            said = " or ".join(dict.fromkeys(_WANTED[each["type"]] for each in same))
            verb = "are" if said == _NAMES else "is"
            shown = _shown(same[0]["input"])
            problems.add(path, InputError(f"it is {shown}; {said} {verb} wanted"))


def _note(problems: Problems, path: Path, error: ErrorDetails, model: type[Model]) -> None:
    kind, last = error["type"], error["loc"][-1] if error["loc"] else ""
    if kind == "missing":
        problems.add(path, InputError(f"{last} is missing"))
    elif kind == "extra_forbidden":
        owner = _owner(model, error["loc"][:-1])
        problems.add(path, unknown(str(last), list(owner.model_fields), owner.hints))
    elif kind == "invalid_key":
        problems.add(path[:-1], InputError(f"the key {last!r} is no text"))
    elif kind == "literal_error":
        allowed = f"Allowed are {error['ctx']['expected']}."
        problems.add(path, InputError(f"it is {_shown(error['input'])}", remedy=allowed))
    elif kind == "penstock":
        said = error["ctx"]
        problems.add(path, InputError(said["message"], remedy=said["remedy"]))
    else:
        problems.add(path, InputError(f"it is {_shown(error['input'])}: {error['msg']}"))


def _path(loc: Path, data: Any) -> Path:
    """Where in the data a mistake is; whatever else `loc` holds names one of several forms."""
    path: list[str | int] = []
    for step in loc:
        is_key = isinstance(data, Mapping) and step in data
        if is_key or (isinstance(data, list | tuple) and step in range(len(data))):
            data = data[step]
            path.append(step)
    return tuple(path)


def _owner(model: type[Model], path: Path) -> type[Model]:
    """The model of the part at a path, as far as it is one of ours."""
    for step in path:
        found = model.model_fields.get(str(step)) or next(
            (each for each in model.model_fields.values() if step in _aliases(each)), None
        )
        inner = _types(found.annotation) if found else []
        model = inner[0] if inner else model
    return model


def _aliases(field: FieldInfo) -> Sequence[Any]:
    alias = field.validation_alias
    return alias.choices if isinstance(alias, AliasChoices) else (alias,)


def _types(annotation: Any) -> list[type[Model]]:
    """The models in an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return [annotation]
    return [each for part in getattr(annotation, "__args__", ()) for each in _types(part)]


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    return "empty" if value is None else f"{value!r:.80}"
