"""What a Messages body must be beside its turns: version, options, tools, thinking, format.

Bad bodies are refused in the words of the real server, as far as they are known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from penstock.simulator.anthropic_schema import check_schema
from penstock.simulator.api import Problem
from penstock.simulator.question import Tool

__all__ = ["LATEST", "check_options", "check_version", "read_tools"]

LATEST = "2026-10-21"
_VERSIONS = (LATEST, "2023-06-01")
_LARGEST = 32 * 1024 * 1024
_MOST_TOKENS = 128_000
_LEAST_BUDGET = 1024
_SAMPLING = {"temperature": 1.0, "top_p": 1.0, "top_k": None}
_COUNTED = {
    *("cache_control", "messages", "model", "output_config", "speed", "system", "thinking"),
    *("tool_choice", "tools"),
}
_TAKEN = {
    *_COUNTED,
    *("container", "diagnostics", "inference_geo", "max_tokens", "metadata", "service_tier"),
    *("stop_sequences", "stream"),
}
# Models that take no sampling, and models that cannot be made to call a tool.
_NO_SAMPLING = re.compile(r"claude-(opus-4-[7-9]|[a-z]+-5(\b|-))")
_NO_FORCING = re.compile(r"claude-(opus|sonnet)-5-5")
_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_TOOL_KEYS = {
    *("name", "description", "input_schema", "strict", "type", "cache_control", "defer_loading"),
    *("allowed_callers", "eager_input_streaming", "input_examples"),
}


def check_version(headers: Mapping[bytes, bytes]) -> str:
    """The version of the API that a request asks for."""
    if int(headers.get(b"content-length", b"0")) > _LARGEST:
        raise Problem(413, "request_too_large", "Request exceeds the maximum size")
    version = headers.get(b"anthropic-version", b"").decode("latin-1")
    if not version:
        raise Problem.invalid("anthropic-version: header is required")
    if version not in _VERSIONS:
        raise Problem.invalid(f'anthropic-version: "{version}" is not a valid version')
    return version


def check_options(body: Mapping[str, Any], latest: bool, counting: bool) -> str:
    """The model's name, or a Problem that says what is wrong with the body."""
    allowed = _COUNTED if counting else _TAKEN
    for name in body:
        if name not in allowed and (latest or name not in _SAMPLING):
            raise Problem.invalid(f"{name}: Extra inputs are not permitted")
    for name in ("model", "messages") if counting else ("model", "max_tokens", "messages"):
        if name not in body:
            raise Problem.invalid(f"{name}: Field required")
    model = body["model"]
    if not isinstance(model, str) or not model:
        raise Problem.invalid("model: String should have at least 1 character")
    if not counting:
        _check_length(body, model)
    _check_sampling(body, model)
    _check_small(body)
    _check_thinking(body)
    _check_config(body.get("output_config"))
    return model


def _check_length(body: Mapping[str, Any], model: str) -> None:
    most = body["max_tokens"]
    if not isinstance(most, int) or isinstance(most, bool):
        raise Problem.invalid("max_tokens: Input should be a valid integer")
    if most < 0:
        raise Problem.invalid("max_tokens: Input should be greater than or equal to 0")
    if most > _MOST_TOKENS:
        raise Problem.invalid(
            f"max_tokens: {most} > {_MOST_TOKENS}, which is the maximum allowed number of output "
            f"tokens for {model}"
        )


def _check_sampling(body: Mapping[str, Any], model: str) -> None:
    for name, usual in _SAMPLING.items():
        value = body.get(name)
        if value is None:
            continue
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise Problem.invalid(f"{name}: Input should be a valid number")
        if value < 0 or (name != "top_k" and value > 1):
            raise Problem.invalid(f"{name}: Input should be between 0 and 1")
        if value != usual and _NO_SAMPLING.match(model):
            raise Problem.invalid(f"`{name}` is not supported by this model.")


def _check_small(body: Mapping[str, Any]) -> None:
    stops = body.get("stop_sequences")
    if stops is not None:
        if not isinstance(stops, list) or not all(isinstance(stop, str) for stop in stops):
            raise Problem.invalid("stop_sequences: Input should be a valid list of strings")
        if not all(stop.strip() for stop in stops):
            raise Problem.invalid("stop_sequences: each stop sequence must contain non-whitespace")
    if not isinstance(body.get("stream", False), bool):
        raise Problem.invalid("stream: Input should be a valid boolean")
    _check_keys(body.get("metadata"), {"user_id"}, "metadata")
    if body.get("service_tier", "auto") not in ("auto", "standard_only"):
        raise Problem.invalid("service_tier: Input should be 'auto' or 'standard_only'")
    cache = body.get("cache_control")
    _check_keys(cache, {"type", "ttl"}, "cache_control")
    if cache is not None and cache.get("type") != "ephemeral":
        raise Problem.invalid("cache_control.type: Input should be 'ephemeral'")


def _check_keys(value: Any, allowed: set[str], where: str) -> None:
    if value is None:
        return
    if not isinstance(value, dict):
        raise Problem.invalid(f"{where}: Input should be a valid dictionary")
    for name in value:
        if name not in allowed:
            raise Problem.invalid(f"{where}.{name}: Extra inputs are not permitted")


def _check_thinking(body: Mapping[str, Any]) -> None:
    thinking = body.get("thinking")
    _check_keys(thinking, {"type", "budget_tokens", "display"}, "thinking")
    if thinking is None:
        return
    kind = thinking.get("type")
    if kind not in ("adaptive", "enabled", "disabled", "between_tools"):
        raise Problem.invalid(f"thinking: Input tag '{kind}' does not match any expected tag")
    if kind != "enabled":
        return
    budget = thinking.get("budget_tokens")
    if not isinstance(budget, int) or budget < _LEAST_BUDGET:
        message = f"thinking.budget_tokens: Input should be at least {_LEAST_BUDGET}"
        raise Problem.invalid(message)
    if budget >= body.get("max_tokens", budget + 1):
        raise Problem.invalid("`max_tokens` must be greater than `thinking.budget_tokens`.")
    if body.get("temperature", 1) != 1:
        raise Problem.invalid("`temperature` may only be set to 1 when thinking is enabled.")


def _check_config(config: Any) -> None:
    _check_keys(config, {"effort", "format"}, "output_config")
    if config is None:
        return
    if config.get("effort") is not None and config["effort"] not in _EFFORTS:
        names = ", ".join(f"'{name}'" for name in _EFFORTS)
        raise Problem.invalid(f"output_config.effort: Input should be {names}")
    wanted = config.get("format")
    _check_keys(wanted, {"type", "schema"}, "output_config.format")
    if wanted is None:
        return
    if wanted.get("type") != "json_schema":
        raise Problem.invalid("output_config.format.type: Input should be 'json_schema'")
    check_schema(wanted.get("schema"))


# Tools ----------------------------------------------------------------------------------------


def read_tools(body: Mapping[str, Any], model: str) -> tuple[tuple[Tool, ...], str]:
    """The tools on offer, and which must be called: auto, none, required or a name."""
    offered = body.get("tools") or []
    if not isinstance(offered, list):
        raise Problem.invalid("tools: Input should be a valid list")
    found = [_tool(tool, f"tools.{at}") for at, tool in enumerate(offered)]
    tools = tuple(tool for tool in found if tool is not None)
    if len({tool.name for tool in tools}) < len(tools):
        raise Problem.invalid("tools: Tool names must be unique.")
    choice = _choice(body.get("tool_choice"), tools, bool(offered))
    forces = choice not in ("auto", "none")
    if forces and (body.get("thinking") or {}).get("type") == "enabled":
        raise Problem.invalid("Thinking may not be enabled when tool_choice forces tool use.")
    if forces and _NO_FORCING.match(model):
        raise Problem.invalid("tool_choice: this model does not support forced tool use.")
    return tools, choice


def _tool(tool: Any, where: str) -> Tool | None:
    """A tool of the user's own; None for one that the server itself brings."""
    if not isinstance(tool, dict):
        raise Problem.invalid(f"{where}: Input should be a valid dictionary")
    if tool.get("type") not in (None, "custom"):
        if "function" in tool or not re.search(r"_\d{8}$", str(tool["type"])):
            raise Problem.invalid(f"{where}: Input tag '{tool['type']}' is not a known tool")
        return None
    for name in ("name", "input_schema"):
        if name not in tool:
            raise Problem.invalid(f"{where}.custom.{name}: Field required")
    _check_keys(tool, _TOOL_KEYS, f"{where}.custom")
    if not isinstance(tool["name"], str) or not _TOOL_NAME.fullmatch(tool["name"]):
        pattern = _TOOL_NAME.pattern
        raise Problem.invalid(f"{where}.custom.name: String should match pattern '^{pattern}$'")
    schema = tool["input_schema"]
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise Problem.invalid(f"{where}.custom.input_schema.type: Field required")
    if tool.get("strict"):
        check_schema(schema, f"{where}.custom.input_schema")
    about = tool.get("description")
    return Tool(tool["name"], about if isinstance(about, str) else "", schema)


def _choice(choice: Any, tools: tuple[Tool, ...], offered: bool) -> str:
    _check_keys(choice, {"type", "name", "disable_parallel_tool_use"}, "tool_choice")
    if choice is None:
        return "auto" if offered else "none"
    if not offered:
        raise Problem.invalid("tool_choice may only be specified while providing `tools`.")
    kind = choice.get("type")
    if kind == "tool":
        if choice.get("name") not in [tool.name for tool in tools]:
            raise Problem.invalid(f"Tool '{choice.get('name')}' not found in provided tools")
        return str(choice["name"])
    if kind not in ("auto", "any", "none"):
        raise Problem.invalid(f"tool_choice: Input tag '{kind}' does not match any expected tag")
    return "required" if kind == "any" else str(kind)
