"""What the tests of sessions share: what a question looks like in the server's ledger."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

from penstock.simulator import Simulator

Messages = list[dict[str, str]]


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def system(text: str) -> dict[str, str]:
    return {"role": "system", "content": text}


def digest(messages: Messages, model: str = "simulated", **more: Any) -> str:
    """How the ledger writes a question down."""
    body = {"model": model, "messages": messages, **more}
    return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()


def asked(simulator: Simulator) -> list[str]:
    """Every question that the server has seen, in order; none may come twice."""
    assert simulator.summary()["repeated"] == 0, "a question was asked twice"
    return [entry["digest"] for entry in simulator.ledger()]
