"""A campaign in a process of its own, to be killed by a test.

python -m tests.redteam.driver '{"url": ..., "goals": ..., "run": ...}'
"""

from __future__ import annotations

import json
import sys
from typing import Any

from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.redteam.campaign import CampaignJob
from penstock.redteam.wishes import Wishes
from tests.redteam.kit import settings

CONCURRENCY = 16
ATTACKS = ("plain", "base64", "rot13 | insist", "insist")


def main() -> None:
    given: dict[str, Any] = json.loads(sys.argv[1])
    targets = tuple(
        Endpoint("openai", model, given["url"], key="env:CAMPAIGN_KEY")
        for model in ("simulated", "simulated-refuse")
    )
    wishes = Wishes(attacks=ATTACKS, objectives=(given["goals"],), max_turns=4)
    with Workbench(settings(llm__concurrency=CONCURRENCY)) as bench:
        done = CampaignJob(wishes, targets).run(bench, run_id=given["run"])
    fates = [[conversation.id, conversation.fate, conversation.turns] for conversation in done]
    print(json.dumps({"state": done.result.state, "fates": fates}))


if __name__ == "__main__":
    main()
