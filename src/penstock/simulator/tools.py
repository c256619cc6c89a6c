"""Whether to call a tool, which one, and with what arguments."""

from __future__ import annotations

from typing import Any

from penstock.simulator.asked import Wish
from penstock.simulator.dice import Dice
from penstock.simulator.question import Question, Tool
from penstock.simulator.schema import compiled, encode

__all__ = ["chosen_tool", "tool_call"]

_WILLING = 0.8
_ID_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def chosen_tool(question: Question, dice: Dice) -> Tool | None:
    """The tool to call, or None to answer in words.

    A required or named tool is called. Left to itself the model calls one, most of the time,
    when the last turn is a user's and speaks of a tool or names one.
    """
    tools, choice = question.tools, question.tool_choice
    if not tools or choice == "none":
        return None
    if choice == "required":
        return dice.pick(tools)
    if choice != "auto":
        return next((tool for tool in tools if tool.name == choice), None)
    if not question.turns or question.turns[-1].role != "user":
        return None
    text = question.turns[-1].text.lower()
    named = [tool for tool in tools if tool.name.lower() in text or _spaced(tool.name) in text]
    if not named and "tool" not in text and "function" not in text:
        return None
    return dice.pick(named or tools) if dice.chance(_WILLING) else None


def tool_call(tool: Tool, wish: Wish, dice: Dice) -> dict[str, Any]:
    """A call with arguments that fit the tool's parameters, in OpenAI's form."""
    parameters = tool.parameters or {"type": "object", "properties": {}}
    arguments = compiled(parameters).make(wish, dice)
    name = "".join([dice.pick(_ID_LETTERS) for _ in range(24)])
    function = {"name": tool.name, "arguments": encode(arguments)}
    return {"id": f"call_{name}", "type": "function", "function": function}


def _spaced(name: str) -> str:
    return name.replace("_", " ").lower()
