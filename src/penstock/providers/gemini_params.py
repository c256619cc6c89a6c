"""Parameters as Gemini takes them.

People write parameters as OpenAI spells them, or as Gemini does, in either of its two spellings.
Most belong into `generationConfig`, some stand beside it. One that Gemini has no place for is a
RequestError, never dropped: an answer drawn without the bias that was asked for is not what was
asked for. What Gemini may learn later can be given inside `generation_config`, which is passed on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from penstock.errors import RequestError
from penstock.providers.gemini_schema import wire_schema

__all__ = ["Params", "put", "wire_params"]

_CONFIG = (
    *("temperature", "topP", "topK", "maxOutputTokens", "stopSequences", "seed"),
    *("presencePenalty", "frequencyPenalty", "responseLogprobs", "logprobs"),
    *("responseMimeType", "responseSchema", "responseJsonSchema", "responseModalities"),
    *("thinkingConfig", "mediaResolution", "speechConfig", "imageConfig"),
    *("audioTranscriptionConfig", "enableEnhancedCivicAnswers"),
)
_BESIDE = (
    *("safetySettings", "toolConfig", "cachedContent", "labels", "serviceTier", "store"),
    "continuationToken",
)
_OPENAI = {
    "max_tokens": "maxOutputTokens",
    "max_completion_tokens": "maxOutputTokens",
    "stop": "stopSequences",
    "top_logprobs": "logprobs",
}
_INSTEAD = {
    "candidateCount": "several draws of one prompt are samples: sample=0, 1, 2, ...",
    "candidate_count": "several draws of one prompt are samples: sample=0, 1, 2, ...",
    "functions": "give tools=... instead",
    "systemInstruction": "give system=... or a system message instead",
    "system_instruction": "give system=... or a system message instead",
}
_HUMP = re.compile(r"[A-Z]")
_THIN = re.compile(r"_([a-z])")

# What Google's own OpenAI-like door makes of an effort, for models that count tokens of thought.
_BUDGETS = {"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}
_LEVELS = ("minimal", "low", "medium", "high")
_COUNTS_THOUGHT = re.compile(r"(?:.*/)?gemini-[12](?:\.\d)?-")


class Params(NamedTuple):
    """Parameters in their places."""

    config: dict[str, Any]
    beside: dict[str, Any]


def _snake(name: str) -> str:
    return _HUMP.sub(lambda hump: "_" + hump[0].lower(), name)


def _camel(name: str) -> str:
    return _THIN.sub(lambda thin: thin[1].upper(), name)


_NAMES = {spelt: name for name in (*_CONFIG, *_BESIDE) for spelt in (name, _snake(name))} | _OPENAI


def wire_params(params: Mapping[str, Any], model: str) -> Params:
    """The parameters of a Request in Gemini's words and places."""
    made = Params({}, {})
    for name, value in params.items():
        if name in _SPECIAL:
            _SPECIAL[name](made, value, model)
        elif name in _NAMES:
            wire = _NAMES[name]
            put(made.beside if wire in _BESIDE else made.config, wire, _value(wire, value))
        else:
            remedy = _INSTEAD.get(name, f"take it back with {name}=None")
            raise RequestError(f"Gemini has no parameter {name!r}", remedy=remedy)
    return made


def put(place: dict[str, Any], name: str, value: Any) -> None:
    """Set a parameter that may have been given under another name."""
    if name == "thinkingConfig" and name in place:
        value = _joined(place[name], value)
    elif name in place and place[name] != value:
        raise RequestError(f"{name} is given twice: {place[name]!r} and {value!r}")
    place[name] = value


def _joined(one: Any, other: Any) -> dict[str, Any]:
    if any(one[key] != other[key] for key in one.keys() & other.keys()):
        raise RequestError(f"thinkingConfig is given twice: {one!r} and {other!r}")
    return {**one, **other}


def _value(name: str, value: Any) -> Any:
    if name == "stopSequences" and isinstance(value, str):
        return [value]
    if name == "thinkingConfig":
        return {_camel(key): inner for key, inner in _mapping(name, value).items()}
    return value


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise RequestError(f"{name} is a {type(value).__name__}; a mapping is wanted")
    return value


# What is more than another name -------------------------------------------------------------


def _effort(made: Params, effort: Any, model: str) -> None:
    """How much to think, in the words that the model understands: tokens, or a level."""
    if effort == "none" or (effort in _BUDGETS and _COUNTS_THOUGHT.match(model)):
        put(made.config, "thinkingConfig", {"thinkingBudget": _BUDGETS[effort]})
    elif effort in _LEVELS:
        put(made.config, "thinkingConfig", {"thinkingLevel": effort.upper()})
    else:
        wanted = ", ".join(("none", *_LEVELS))
        raise RequestError(f"reasoning_effort is {effort!r}; Gemini takes {wanted}")


def _logprobs(made: Params, value: Any, model: str) -> None:
    """Whether, as OpenAI has it, or how many, as Gemini has it."""
    put(made.config, "responseLogprobs" if isinstance(value, bool) else "logprobs", value)


def _format(made: Params, wanted: Any, model: str) -> None:
    kind = _mapping("response_format", wanted).get("type")
    if kind not in ("text", "json_object", "json_schema"):
        raise RequestError(f"response_format is {wanted!r}; Gemini has no such format")
    if kind != "text":
        put(made.config, "responseMimeType", "application/json")
    if kind == "json_schema":
        schema = _mapping("response_format.json_schema", wanted.get("json_schema")).get("schema")
        put(made.config, "responseJsonSchema", wire_schema(_mapping("schema", schema)))


def _choice(made: Params, choice: Any, model: str) -> None:
    put(made.beside, "toolConfig", {"functionCallingConfig": _calling(choice)})


def _calling(choice: Any) -> dict[str, Any]:
    modes = {"none": "NONE", "auto": "AUTO", "required": "ANY", "validated": "VALIDATED"}
    if isinstance(choice, str) and choice in modes:
        return {"mode": modes[choice]}
    if isinstance(choice, Mapping) and choice.get("type") == "function":
        function = choice.get("function", choice)
        if isinstance(function, Mapping) and isinstance(function.get("name"), str):
            return {"mode": "ANY", "allowedFunctionNames": [function["name"]]}
    raise RequestError(f"tool_choice is {choice!r}; none, auto, required or a function is wanted")


def _parallel(made: Params, value: Any, model: str) -> None:
    if value is not True:  # it is what Gemini does
        raise RequestError(
            "Gemini cannot be held to one tool at a time", remedy="leave out parallel_tool_calls"
        )


def _inside(made: Params, config: Any, model: str) -> None:
    for name, value in _mapping("generation_config", config).items():
        wire = _NAMES.get(name, _camel(name))
        put(made.config, wire, _value(wire, value))


_SPECIAL = {
    "generationConfig": _inside,
    "generation_config": _inside,
    "logprobs": _logprobs,
    "parallel_tool_calls": _parallel,
    "reasoning_effort": _effort,
    "response_format": _format,
    "tool_choice": _choice,
}
