"""What a Gemini request may hold, field by field.

Google's servers read JSON into messages with a fixed set of fields. Every field has two spellings
(`topP`, `top_p`), nothing that is not a field may stand in a body, and a null is as good as
nothing. `shaped` does the same and gives the body back in one spelling. All that is wrong is told
at once, in the real server's words.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson

from penstock.simulator.api import Problem

__all__ = ["BATCH", "COUNT", "REQUEST", "Wrong", "shaped"]

_HUMP = re.compile(r"[A-Z]")


class Wrong(Problem):
    """Fields that are wrong, each with what is wrong about it."""

    def __init__(self, violations: list[tuple[str, str]]) -> None:
        message = "\n".join(description for _, description in violations)
        super().__init__(400, "invalid_request_error", message)
        self.violations = violations


class _Reading(NamedTuple):
    """A value and its place while it is read, and what was found to be wrong."""

    value: Any
    where: str
    wrong: list[tuple[str, str]]

    def of(self, value: Any, step: str) -> _Reading:
        where = f"{self.where}.{step}" if self.where and not step.startswith("[") else step
        if step.startswith("["):
            where = f"{self.where}{step}"
        return _Reading(value, where, self.wrong)

    def refuse(self, kind: str) -> None:
        shown = orjson.dumps(self.value).decode()
        self.wrong.append((self.where, f"Invalid value at '{self.where}' ({kind}), {shown}"))


Field = Callable[[_Reading], Any]


def _text(reading: _Reading) -> Any:
    if not isinstance(reading.value, str):
        reading.refuse("TYPE_STRING")
    return reading.value


def _flag(reading: _Reading) -> Any:
    if not isinstance(reading.value, bool):
        reading.refuse("TYPE_BOOL")
    return reading.value


def _whole(reading: _Reading) -> Any:
    value = reading.value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        reading.refuse("TYPE_INT32")
    return value


def _number(reading: _Reading) -> Any:
    if not isinstance(reading.value, int | float) or isinstance(reading.value, bool):
        reading.refuse("TYPE_FLOAT")
    return reading.value


def _bytes(reading: _Reading) -> Any:
    """Base64, in either of its alphabets."""
    try:
        base64.b64decode(reading.value.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError, AttributeError):
        reading.wrong.append(
            (
                reading.where,
                f"Invalid value at '{reading.where}' (TYPE_BYTES), Base64 decoding failed",
            )
        )
    return reading.value


def _any(reading: _Reading) -> Any:
    return reading.value


def _object(reading: _Reading) -> Any:
    if not isinstance(reading.value, dict):
        reading.refuse("type.googleapis.com/google.protobuf.Struct")
    return reading.value


def _one_of(*names: str) -> Field:
    def read(reading: _Reading) -> Any:
        if reading.value not in names:
            reading.refuse("TYPE_ENUM")
        return reading.value

    return read


def _each(field: Field) -> Field:
    def read(reading: _Reading) -> Any:
        # One thing that is no list is read as a list of it, as the real parser does.
        values = reading.value if isinstance(reading.value, list) else [reading.value]
        return [field(reading.of(value, f"[{index}]")) for index, value in enumerate(values)]

    return read


def _named(field: Field) -> Field:
    def read(reading: _Reading) -> Any:
        if not isinstance(reading.value, dict):
            reading.refuse("Map")
            return {}
        return {
            name: field(reading.of(value, f"[{index}].value"))
            for index, (name, value) in enumerate(reading.value.items())
        }

    return read


class Message:
    """A set of fields; `fields` may be filled later, for messages that hold themselves."""

    def __init__(self, **fields: Field) -> None:
        self.fields = fields
        self._names: dict[str, str] = {}

    def __call__(self, reading: _Reading) -> Any:
        if not isinstance(reading.value, dict):
            reading.refuse("Message")
            return {}
        if not self._names:
            self._names = {n: name for name in self.fields for n in (name, _snake(name))}
        made: dict[str, Any] = {}
        for spelt, value in reading.value.items():
            name = self._names.get(spelt)
            if name is None:
                at = f" at '{reading.where}'" if reading.where else ""
                said = f'Invalid JSON payload received. Unknown name "{spelt}"{at}: '
                reading.wrong.append((reading.where, said + "Cannot find field."))
            elif value is not None:
                made[name] = self.fields[name](reading.of(value, _snake(name)))
        return made


def _snake(name: str) -> str:
    return _HUMP.sub(lambda hump: "_" + hump[0].lower(), name)


def shaped(body: Mapping[str, Any], message: Message) -> dict[str, Any]:
    """The body in one spelling, or a Problem that names all that is wrong with it."""
    wrong: list[tuple[str, str]] = []
    made: dict[str, Any] = message(_Reading(body, "", wrong))
    if wrong:
        raise Wrong(wrong)
    return made


# The messages ---------------------------------------------------------------------------------

_BLOB = Message(mimeType=_text, data=_bytes, displayName=_text)
_FILE = Message(mimeType=_text, fileUri=_text, displayName=_text)
_RESULT = Message(
    id=_text,
    name=_text,
    response=_object,
    parts=_each(Message(inlineData=_BLOB, fileData=_FILE)),
    willContinue=_flag,
    scheduling=_text,
)
_PART = Message(
    text=_text,
    inlineData=_BLOB,
    fileData=_FILE,
    functionCall=Message(id=_text, name=_text, args=_object),
    functionResponse=_RESULT,
    executableCode=_object,
    codeExecutionResult=_object,
    toolCall=_object,
    toolResponse=_object,
    thought=_flag,
    thoughtSignature=_bytes,
    videoMetadata=_object,
    mediaResolution=Message(level=_text, numTokens=_whole),
    partMetadata=_object,
    mediaProcessing=_object,
    speechMetadata=_object,
)
_CONTENT = Message(role=_text, parts=_each(_PART))

_SCHEMA = Message()
_SCHEMA.fields = {
    "type": _one_of(*("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")),
    **dict.fromkeys(("format", "title", "description", "pattern", "ref"), _text),
    **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength"), _whole),
    **dict.fromkeys(("minProperties", "maxProperties"), _whole),
    **dict.fromkeys(("minimum", "maximum"), _number),
    **dict.fromkeys(("enum", "required", "propertyOrdering"), _each(_text)),
    **dict.fromkeys(("default", "example", "additionalProperties"), _any),
    **dict.fromkeys(("properties", "defs"), _named(_SCHEMA)),
    "anyOf": _each(_SCHEMA),
    "items": _SCHEMA,
    "nullable": _flag,
}

_HARMS = ("HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT", "CIVIC_INTEGRITY")
_SAFETY = Message(
    category=_one_of(*(f"HARM_CATEGORY_{harm}" for harm in _HARMS)),
    threshold=_one_of(
        *("BLOCK_LOW_AND_ABOVE", "BLOCK_MEDIUM_AND_ABOVE", "BLOCK_ONLY_HIGH", "BLOCK_NONE", "OFF")
    ),
)
_CONFIG = Message(
    temperature=_number,
    topP=_number,
    topK=_number,
    candidateCount=_whole,
    maxOutputTokens=_whole,
    stopSequences=_each(_text),
    seed=_whole,
    presencePenalty=_number,
    frequencyPenalty=_number,
    responseLogprobs=_flag,
    logprobs=_whole,
    responseMimeType=_text,
    responseSchema=_SCHEMA,
    responseJsonSchema=_any,
    responseModalities=_each(_text),
    mediaResolution=_text,
    speechConfig=_object,
    thinkingConfig=Message(
        includeThoughts=_flag,
        thinkingBudget=_whole,
        thinkingLevel=_one_of("MINIMAL", "LOW", "MEDIUM", "HIGH", "THINKING_LEVEL_UNSPECIFIED"),
    ),
    imageConfig=_object,
    audioTranscriptionConfig=_object,
    enableEnhancedCivicAnswers=_flag,
)
_FUNCTION = Message(
    name=_text,
    description=_text,
    parameters=_SCHEMA,
    parametersJsonSchema=_any,
    response=_SCHEMA,
    responseJsonSchema=_any,
    behavior=_text,
)
_TOOL = Message(
    functionDeclarations=_each(_FUNCTION),
    googleSearch=_object,
    googleSearchRetrieval=_object,
    googleMaps=_object,
    codeExecution=_object,
    urlContext=_object,
    computerUse=_object,
    fileSearch=_object,
    mcpServers=_any,
)
_CALLING = Message(
    mode=_one_of("AUTO", "ANY", "NONE", "VALIDATED"), allowedFunctionNames=_each(_text)
)
REQUEST = Message(
    model=_text,
    contents=_each(_CONTENT),
    systemInstruction=_CONTENT,
    generationConfig=_CONFIG,
    safetySettings=_each(_SAFETY),
    tools=_each(_TOOL),
    toolConfig=Message(
        functionCallingConfig=_CALLING,
        retrievalConfig=_object,
        includeServerSideToolInvocations=_flag,
    ),
    cachedContent=_text,
    labels=_object,
    serviceTier=_text,
    store=_flag,
    continuationToken=_text,
)
COUNT = Message(contents=_each(_CONTENT), generateContentRequest=REQUEST)
# The requests of a batch are judged one by one, when their turn comes.
_INLINED = Message(request=_object, metadata=_object)
BATCH = Message(
    batch=Message(
        name=_text,
        model=_text,
        displayName=_text,
        priority=_any,
        webhookConfig=_object,
        inputConfig=Message(fileName=_text, requests=Message(requests=_each(_INLINED))),
    )
)
