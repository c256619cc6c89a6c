"""Redteam: sessions, attacks and strategies against endpoints of one's own.

    from penstock import redteam

    campaign = redteam.run(attacks="base64", objectives="planted-secrets", endpoints="simulated")
    print(campaign)

Everything is loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.redteam.attack import Attack, Rewrite
    from penstock.redteam.chain import Chain, parse_chain, piped
    from penstock.redteam.conversation import Conversation, Fate
    from penstock.redteam.driver import Driver
    from penstock.redteam.finding import attack_names, find_attack
    from penstock.redteam.objective import Objective, ObjectiveSet
    from penstock.redteam.rates import Rate
    from penstock.redteam.results import Campaign, CampaignResult, all_results, find_result
    from penstock.redteam.running import run
    from penstock.redteam.session import Session
    from penstock.redteam.strategies import Strategy
    from penstock.redteam.target import AttackerError, Chat, Target
    from penstock.redteam.turn import Setup, Turn, Verdict

__all__ = [
    "Attack",
    "AttackerError",
    "Campaign",
    "CampaignResult",
    "Chain",
    "Chat",
    "Conversation",
    "Driver",
    "Fate",
    "Objective",
    "ObjectiveSet",
    "Rate",
    "Rewrite",
    "Session",
    "Setup",
    "Strategy",
    "Target",
    "Turn",
    "Verdict",
    "all_results",
    "attack_names",
    "find_attack",
    "find_result",
    "parse_chain",
    "piped",
    "run",
]

_ROOMS = {
    "Attack": "attack",
    "AttackerError": "target",
    "Campaign": "results",
    "CampaignResult": "results",
    "Chain": "chain",
    "Chat": "target",
    "Conversation": "conversation",
    "Driver": "driver",
    "Fate": "conversation",
    "Objective": "objective",
    "ObjectiveSet": "objective",
    "Rate": "rates",
    "Rewrite": "attack",
    "Session": "session",
    "Setup": "turn",
    "Strategy": "strategies",
    "Target": "target",
    "Turn": "turn",
    "Verdict": "turn",
    "all_results": "results",
    "attack_names": "finding",
    "find_attack": "finding",
    "find_result": "results",
    "parse_chain": "chain",
    "piped": "chain",
    "run": "running",
}


def __getattr__(name: str) -> Any:
    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{room}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
