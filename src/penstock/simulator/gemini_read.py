"""What a generateContent body must be beyond its shape, and how it becomes a Question.

Bad bodies are refused in the words of the real server, as far as they are known.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import orjson

from penstock.simulator.api import Problem
from penstock.simulator.gemini_schemas import from_json_schema, from_openapi
from penstock.simulator.question import Question, Tool, Turn

__all__ = ["check_body", "filters_off", "read_question"]

MAX_CANDIDATES = 8
MAX_STOPS = 5
_THINKS = re.compile(r"(?:.*/)?gemini-(?:2\.5|[3-9])")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_DATA = (
    *("text", "inlineData", "fileData", "functionCall", "functionResponse"),
    *("executableCode", "codeExecutionResult", "toolCall", "toolResponse"),
)
_BOUNDS = {
    "temperature": (0, 2),
    "topP": (0, 1),
    "topK": (1, 1000),
    "candidateCount": (1, MAX_CANDIDATES),
    "maxOutputTokens": (1, 2**31),
    "presencePenalty": (-2, 2),
    "frequencyPenalty": (-2, 2),
    "logprobs": (0, 20),
}
_MIMES = ("text/plain", "application/json")
# The effort whose thoughts fit into a budget of so many tokens.
_EFFORTS = ((4096, "max"), (2048, "xhigh"), (1024, "high"), (384, "medium"), (128, "low"))


def check_body(body: Mapping[str, Any]) -> None:
    """Raise a Problem for what the real server would refuse."""
    contents = body.get("contents")
    if not contents:
        _refuse("GenerateContentRequest.contents", "contents is not specified")
    for index, content in enumerate(contents or ()):
        where = f"GenerateContentRequest.contents[{index}]"
        if content.get("role", "user") not in ("user", "model"):
            _refuse(where, "Please use a valid role: user, model.")
        _check_parts(content, where)
    if "systemInstruction" in body:
        _check_parts(body["systemInstruction"], "GenerateContentRequest.system_instruction")
    _check_calls(contents or [])
    _check_config(body.get("generationConfig") or {})
    _check_tools(body)


def _refuse(where: str, what: str) -> None:
    raise Problem.invalid(f"* {where}: {what}\n", where)


def _check_parts(content: Mapping[str, Any], where: str) -> None:
    parts = content.get("parts")
    if not parts:
        _refuse(f"{where}.parts", "contents.parts must not be empty.")
    for index, part in enumerate(parts or ()):
        if sum(name in part for name in _DATA) != 1:
            what = "required oneof field 'data' must have one initialized field"
            _refuse(f"{where}.parts[{index}].data", what)


def _check_calls(contents: list[dict[str, Any]]) -> None:
    """Every call is answered, and nothing else is."""
    called = 0
    for content in contents:
        results = sum("functionResponse" in part for part in content["parts"])
        if results != called and (results or content.get("role", "user") == "user"):
            raise Problem.invalid(
                "Please ensure that the number of function response parts is equal to the number "
                "of function call parts of the function call turn."
            )
        called = sum("functionCall" in part for part in content["parts"])
        for part in content["parts"]:
            for name in ("functionCall", "functionResponse"):
                if name in part and not part[name].get("name"):
                    _refuse("GenerateContentRequest.contents", "Name cannot be empty.")


def _check_config(config: Mapping[str, Any]) -> None:
    for name, (least, most) in _BOUNDS.items():
        if name in config and not least <= config[name] <= most:
            _refuse(
                f"GenerateContentRequest.generation_config.{name}",
                f"must be in the range [{least}, {most}]",
            )
    if len(config.get("stopSequences", ())) > MAX_STOPS:
        _refuse("GenerateContentRequest.generation_config.stop_sequences", "at most 5 are allowed")
    if "responseSchema" in config and "responseJsonSchema" in config:
        raise Problem.invalid("Only one of response_schema and response_json_schema can be set.")
    mime = config.get("responseMimeType", "text/plain")
    if mime not in _MIMES:
        what = f"allowed mimetypes are {', '.join(_MIMES)}"
        _refuse("GenerateContentRequest.generation_config.response_mime_type", what)
    if mime == "text/plain" and ("responseSchema" in config or "responseJsonSchema" in config):
        raise Problem.invalid("A response schema wants response_mime_type 'application/json'.")
    thinking = config.get("thinkingConfig") or {}
    if "thinkingBudget" in thinking and "thinkingLevel" in thinking:
        raise Problem.invalid("You can only set only one of thinking budget and thinking level.")


def _functions(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        function
        for tool in body.get("tools") or ()
        for function in tool.get("functionDeclarations") or ()
    ]


def _calling(body: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = (body.get("toolConfig") or {}).get("functionCallingConfig") or {}
    return found


def _check_tools(body: Mapping[str, Any]) -> None:
    functions = _functions(body)
    for function in functions:
        if not _NAME.fullmatch(function.get("name") or ""):
            _refuse("GenerateContentRequest.tools[0].function_declarations[0].name", "Invalid name")
        if "parameters" in function and "parametersJsonSchema" in function:
            raise Problem.invalid("Only one of parameters and parameters_json_schema can be set.")
    names = {function["name"] for function in functions}
    calling = _calling(body)
    if calling.get("mode") in ("ANY", "VALIDATED") and not names:
        raise Problem.invalid("Function calling config is set without function_declarations.")
    for name in calling.get("allowedFunctionNames") or ():
        if calling.get("mode") not in ("ANY", "VALIDATED") or name not in names:
            what = "only known functions, and only with mode ANY or VALIDATED"
            _refuse("GenerateContentRequest.tool_config.allowed_function_names", what)


def filters_off(body: Mapping[str, Any]) -> bool:
    """Whether the filters that may be turned off are."""
    settings = body.get("safetySettings") or []
    return bool(settings) and all(s.get("threshold") in ("OFF", "BLOCK_NONE") for s in settings)


# Questions ------------------------------------------------------------------------------------


def read_question(body: Mapping[str, Any], model: str, sample: int, draw: int = 0) -> Question:
    """The Question in a body that was found to be right."""
    config = body.get("generationConfig") or {}
    turns = (
        [Turn("system", _text(body["systemInstruction"]))] if "systemInstruction" in body else []
    )
    images = files = 0
    media = hashlib.blake2b(digest_size=16)
    for content in body["contents"]:
        turns.append(Turn(_role(content), _text(content)))
        for part in content["parts"]:
            data = part.get("inlineData") or part.get("fileData")
            if data is not None:
                is_image = data.get("mimeType", "").startswith("image/")
                images += is_image
                files += not is_image
                media.update(orjson.dumps(data, option=orjson.OPT_SORT_KEYS))
    tools, choice = _tools(body)
    return Question(
        model=model,
        turns=turns,
        images=images,
        files=files,
        media=media.hexdigest() if images or files else "",
        schema=_schema(config),
        tools=tools,
        tool_choice=choice,
        max_tokens=config.get("maxOutputTokens"),
        stop=tuple(config.get("stopSequences") or ()),
        reasoning=_reasoning(config.get("thinkingConfig") or {}, model),
        sample=sample,
        draw=draw,
        seed=config.get("seed"),
    )


def _role(content: Mapping[str, Any]) -> str:
    if any("functionResponse" in part for part in content["parts"]):
        return "tool"
    return "assistant" if content.get("role") == "model" else "user"


def _text(content: Mapping[str, Any]) -> str:
    """The text of a turn; what it calls and what came of a call count as text."""
    texts = []
    for part in content["parts"]:
        told = part.get("functionCall") or part.get("functionResponse")
        if told is not None:
            texts.append(orjson.dumps(told, option=orjson.OPT_SORT_KEYS).decode())
        elif not part.get("thought"):
            texts.append(part.get("text", ""))
    return "\n".join(filter(None, texts))


def _schema(config: Mapping[str, Any]) -> Any:
    if config.get("responseMimeType") != "application/json":
        return None
    if "responseSchema" in config:
        return from_openapi(config["responseSchema"])
    if "responseJsonSchema" in config:
        return from_json_schema(config["responseJsonSchema"])
    return True


def _tools(body: Mapping[str, Any]) -> tuple[tuple[Tool, ...], str]:
    """The functions on offer, and which must be called."""
    calling = _calling(body)
    allowed = calling.get("allowedFunctionNames")
    tools = tuple(
        Tool(function["name"], function.get("description", ""), _parameters(function))
        for function in _functions(body)
        if not allowed or function["name"] in allowed
    )
    modes = {"ANY": "required", "NONE": "none"}
    return tools, modes.get(calling.get("mode", "AUTO"), "auto") if tools else "none"


def _parameters(function: Mapping[str, Any]) -> Any:
    if "parameters" in function:
        return from_openapi(function["parameters"])
    return from_json_schema(function.get("parametersJsonSchema"))


def _reasoning(thinking: Mapping[str, Any], model: str) -> str:
    if "thinkingLevel" in thinking:
        return str(thinking["thinkingLevel"]).lower()
    budget = thinking.get("thinkingBudget")
    if budget is None:
        return "medium" if _THINKS.match(model) or thinking.get("includeThoughts") else ""
    if budget <= 0:
        return "" if budget == 0 else "medium"
    return next((effort for least, effort in _EFFORTS if budget >= least), "minimal")
