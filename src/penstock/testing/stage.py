"""Where a provider performs: a server that plays one scenario at a time.

Penstock's simulator is the usual one. A provider of another protocol brings its own, most easily as
a `StubStage`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from penstock.outcome import FailureKind
from penstock.simulator import Simulator
from penstock.testing.abilities import FAULTS

__all__ = ["CALM", "LIMITS", "REFUSAL", "SCENARIOS", "SimulatorStage", "Stage"]

CALM = "calm"
REFUSAL = "refusal"
LIMITS = "limits"
SCENARIOS = (CALM, REFUSAL, LIMITS, *map(str, FAULTS))


class Stage(ABC):
    """A server for tests. It takes no key but `key`, and plays what it is told to."""

    key: ClassVar[str] = "sk-of-the-stage-0123456789abcdef"
    requests_per_minute: ClassVar[int] = 600
    """What it tells of its limits in the scenario `limits`."""
    url: str = ""
    """The address for the endpoint; known once it is started."""

    def start(self) -> None:
        """Open the port."""
        return

    def stop(self) -> None:
        """Close it."""
        return

    @abstractmethod
    def play(self, scenario: str) -> None:
        """From now on every request meets this scenario; the count of requests starts anew.

        `calm` answers, `refusal` refuses in the model's words, `limits` answers and tells its
        limits, and the others, named as the kinds of failure are, fail so.
        """

    @abstractmethod
    def requests(self) -> int:
        """How many have arrived since `play`."""


class SimulatorStage(Stage):
    """Penstock's simulator, which speaks the APIs of OpenAI, Anthropic and Gemini."""

    def __init__(self) -> None:
        self.simulator = Simulator(key=self.key)

    def start(self) -> None:
        self.simulator.start()
        self.url = self.simulator.url

    def stop(self) -> None:
        self.simulator.stop()

    def play(self, scenario: str) -> None:
        rpm = self.requests_per_minute if scenario == LIMITS else None
        quota = 0 if scenario == FailureKind.QUOTA else None
        self.simulator.set(errors=_ERRORS.get(scenario, ""), rpm=rpm, quota=quota)
        self.simulator.reset()

    def requests(self) -> int:
        return int(self.simulator.summary()["requests"])


_ERRORS: dict[str, str] = {
    FailureKind.PERMISSION: "403:1",
    FailureKind.NOT_FOUND: "404:1",
    FailureKind.RATE_LIMITED: "429:1",
    FailureKind.SERVER: "500:1",
    FailureKind.OVERLOADED: "503:1",
    FailureKind.TIMEOUT: "timeout:1",
    FailureKind.CONNECTION: "reset:1",
    FailureKind.MALFORMED: "malformed:1",
    FailureKind.INVALID_REQUEST: "400:1",
    FailureKind.TOO_LARGE: "413:1",
}
