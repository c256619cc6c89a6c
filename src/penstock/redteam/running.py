"""`redteam.run`: a campaign from Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import InputError
from penstock.redteam.campaign import CampaignJob
from penstock.redteam.conversation import Conversation
from penstock.redteam.wishes import Wishes

__all__ = ["run"]


def run(
    *,
    attacks: str | Sequence[str],
    objectives: str | Sequence[str],
    endpoints: str | Endpoint | Sequence[str | Endpoint] | None = None,
    on_conversation: Callable[[Conversation], object] | None = None,
    batch: bool = False,
    wait: bool = True,
    workbench: Workbench | None = None,
    **wishes: Any,
) -> Any:
    """Try attacks on objectives; a Campaign, to be awaited inside a running loop.

    `wishes` are those of `Wishes`: `attacker`, `judge`, `metric`, `strategy`, `template`,
    `system_prompt`, `max_turns`, `most`, `seed`, `budget`, `cache`, `name`, ...
    """
    unknown = wishes.keys() - Wishes.__dataclass_fields__.keys()
    if unknown:
        known = ", ".join(Wishes.__dataclass_fields__)
        raise InputError(f"there is no option {sorted(unknown)[0]!r}", remedy=f"There are {known}.")
    named = [endpoints] if isinstance(endpoints, str | Endpoint) else list(endpoints or ())
    texts = tuple(each for each in named if isinstance(each, str))
    given = tuple(each for each in named if isinstance(each, Endpoint))
    if texts and given:
        raise InputError("name all endpoints, or give all as objects")
    if wishes.get("budget") is not None:
        wishes["budget"] = str(wishes["budget"])
    if batch:
        wishes["lane"] = "batch"
    made = Wishes(
        attacks=_several(attacks), objectives=_several(objectives), endpoints=texts, **wishes
    )
    job = CampaignJob(made, given)
    return job.run(workbench or default_workbench(), waits=wait, on_conversation=on_conversation)


def _several(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
