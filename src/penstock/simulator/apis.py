"""The table of wire protocols the simulated server speaks. A new one is a file and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.simulator.anthropic import Anthropic
from penstock.simulator.api import Api
from penstock.simulator.gemini import Gemini
from penstock.simulator.openai import OpenAI

__all__ = ["APIS", "DEFAULT", "api_for", "lister"]

DEFAULT: Api = OpenAI()
APIS: tuple[Api, ...] = (DEFAULT, Anthropic(), Gemini())


def api_for(path: str) -> Api | None:
    """The protocol that answers a path."""
    for api in APIS:
        if api.matches(path):
            return api
    return None


def lister(path: str, headers: Mapping[bytes, bytes]) -> Api:
    """The protocol in which a look at the models is answered."""
    return next((api for api in reversed(APIS) if api.lists(path, headers)), DEFAULT)
