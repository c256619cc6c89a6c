"""Tools as Gemini takes them: all functions in one tool, Gemini's own beside it.

`strict`, which OpenAI knows for each function, is for Gemini a way to choose among all of them: the
mode VALIDATED, unless another choice was made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.errors import RequestError
from penstock.providers.gemini_schema import wire_schema

__all__ = ["is_strict", "wire_tools"]


def wire_tools(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Functions in OpenAI's form as declarations; what is in Gemini's form stays as it is."""
    declared = [_declaration(tool) for tool in tools if tool.get("type") == "function"]
    own = [dict(tool) for tool in tools if tool.get("type") != "function"]
    for tool in own:
        if "type" in tool:
            raise RequestError(f"Gemini has no tool of the type {tool['type']!r}")
    return [{"functionDeclarations": declared}, *own] if declared else own


def is_strict(tools: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the arguments of some function must fit its schema."""
    return any(tool.get("type") == "function" and _function(tool).get("strict") for tool in tools)


def _declaration(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = _function(tool)
    made: dict[str, Any] = {"name": function["name"]}
    if function.get("description"):
        made["description"] = function["description"]
    if function.get("parameters"):
        made["parametersJsonSchema"] = wire_schema(function["parameters"], ordered=False)
    return made


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """The function of a tool; the newer spelling has it on the same level."""
    function = tool.get("function", tool)
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise RequestError("a function among the tools has no name")
    return function
