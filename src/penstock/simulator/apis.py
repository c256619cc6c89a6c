"""The table of wire protocols the simulated server speaks. A new one is a file and a line here."""

from __future__ import annotations

from penstock.simulator.api import Api
from penstock.simulator.openai import OpenAI

__all__ = ["APIS", "DEFAULT", "api_for"]

DEFAULT: Api = OpenAI()
APIS: tuple[Api, ...] = (DEFAULT,)


def api_for(path: str) -> Api | None:
    """The protocol that answers a path."""
    for api in APIS:
        if api.matches(path):
            return api
    return None
