"""Parameters as Anthropic takes them.

People write parameters as OpenAI spells them, or as Anthropic does. The first are translated; those
that Anthropic has no counterpart for are a RequestError, never dropped: an answer drawn without the
seed or the penalty that was asked for is not what was asked for. Everything else goes out as it is,
and the API itself refuses what it does not know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.errors import RequestError

__all__ = [
    "DEFAULT_MAX_TOKENS",
    "SAMPLING",
    "check_params",
    "inside",
    "max_tokens_of",
    "wire_params",
    "wire_tools",
]

DEFAULT_MAX_TOKENS = 16_384
"""Anthropic wants a cap on every answer. This one is within what every current model takes, and
what it can write within the usual time-out of ten minutes."""

SAMPLING = frozenset({"temperature", "top_p", "top_k"})

_UNKNOWN = {
    "audio": "",
    "best_of": "",
    "frequency_penalty": "",
    "function_call": "give tools=... and tool_choice=... instead",
    "functions": "give tools=... instead",
    "logit_bias": "",
    "logprobs": "",
    "min_p": "",
    "modalities": "",
    "n": "several draws of one prompt are samples",
    "prediction": "",
    "presence_penalty": "",
    "prompt_cache_key": "give cache_control={'type': 'ephemeral'} instead",
    "repetition_penalty": "",
    "response_format": "give schema=... instead",
    "seed": "its draws cannot be repeated; the journal keeps what was answered",
    "store": "",
    "top_logprobs": "",
    "verbosity": "",
    "web_search_options": "give one of Anthropic's own tools in tools=... instead",
}
_CHOICES = {"auto": "auto", "required": "any", "none": "none"}


def check_params(params: Mapping[str, Any]) -> None:
    """Refuse what Anthropic has no counterpart for."""
    for name in params:
        if name in _UNKNOWN:
            remedy = _UNKNOWN[name] or f"take it back with {name}=None"
            raise RequestError(f"Anthropic has no parameter {name!r}", remedy=remedy)


def wire_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a Request in Anthropic's spelling, with a cap on the answer."""
    check_params(params)
    made = dict(params)
    made["max_tokens"] = max_tokens_of(params)
    made.pop("max_completion_tokens", None)
    if "stop" in made:
        stop = made.pop("stop")
        made["stop_sequences"] = [stop] if isinstance(stop, str) else stop
    if "user" in made:
        made["metadata"] = {"user_id": made.pop("user"), **inside(made, "metadata")}
    _effort(made)
    _tool_choice(made)
    return made


def max_tokens_of(params: Mapping[str, Any]) -> Any:
    """The cap on the answer: the one given, or ours, with room for the thinking asked for."""
    for name in ("max_completion_tokens", "max_tokens"):
        if name in params:
            return params[name]
    thinking = params.get("thinking")
    budget = thinking.get("budget_tokens") if isinstance(thinking, Mapping) else None
    return DEFAULT_MAX_TOKENS + (budget if isinstance(budget, int) else 0)


def _effort(made: dict[str, Any]) -> None:
    effort = made.pop("reasoning_effort", None)
    if effort == "none":
        made.setdefault("thinking", {"type": "disabled"})
    elif effort is not None:
        least = "low" if effort == "minimal" else effort
        made["output_config"] = {"effort": least, **inside(made, "output_config")}


def _tool_choice(made: dict[str, Any]) -> None:
    parallel = made.pop("parallel_tool_calls", True)
    choice = made.get("tool_choice")
    if isinstance(choice, str):
        if choice not in _CHOICES:
            raise RequestError(f"tool_choice is {choice!r}; one of {', '.join(_CHOICES)} is wanted")
        made["tool_choice"] = {"type": _CHOICES[choice]}
    elif choice is not None and inside(made, "tool_choice").get("type") == "function":
        made["tool_choice"] = {"type": "tool", "name": _function(choice)["name"]}
    if parallel is False:
        choice = inside(made, "tool_choice") or {"type": "auto"}
        if choice != {"type": "none"}:
            made["tool_choice"] = {**choice, "disable_parallel_tool_use": True}


def inside(made: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A parameter that holds others, or none."""
    found = made.get(name, {})
    if not isinstance(found, Mapping):
        raise RequestError(f"{name} is a {type(found).__name__}; a mapping is wanted")
    return found


def wire_tools(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Tools in Anthropic's form; those that are in it already stay as they are."""
    return [_tool(tool) for tool in tools]


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    if tool.get("type") != "function":
        return dict(tool)
    function = _function(tool)
    made: dict[str, Any] = {"name": function["name"]}
    if function.get("description"):
        made["description"] = function["description"]
    made["input_schema"] = function.get("parameters") or {"type": "object", "properties": {}}
    if function.get("strict") is not None:
        made["strict"] = function["strict"]
    return made


def _function(of: Mapping[str, Any]) -> Mapping[str, Any]:
    """The function that a tool or a choice names; the newer spelling has it on the same level."""
    function = of.get("function", of)
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise RequestError("a function among the tools, or chosen of them, has no name")
    return function
