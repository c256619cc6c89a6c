"""One prompt to one endpoint: at its rate, tried again where that can help, on disk before seen."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from penstock.engine.asking import ask
from penstock.engine.bridge import Handle
from penstock.engine.workbench import default_workbench
from penstock.errors import ApiError, ProcessingError
from penstock.moonshot.calling import api
from penstock.moonshot.endpoints import endpoint_of
from penstock.outcome import Answer, Failure, Outcome

__all__ = ["Prediction", "PredictionHandle", "PromptCallback", "get_prediction"]


@dataclass(frozen=True)
class Prediction:
    """A prompt and what the model said."""

    prompt: str
    predicted_result: str
    duration: float
    """Seconds, of the attempt that succeeded."""
    answer: Answer
    """All that is known: tokens, cost, attempts, whether it had been recorded before."""


PromptCallback = Callable[[Prediction, str], object]


@api
def get_prediction(
    prompt: str, endpoint_id: str, prompt_callback: PromptCallback | None = None
) -> Any:
    """Ask an endpoint: a Prediction, or inside a running event loop a handle to `await`.

    `prompt_callback` is called with the Prediction and the id of the endpoint, in the caller's
    thread; what it raises comes out here, and the answer is recorded all the same. A prompt that
    was asked before is answered from the record. Raises where there is no answer in the end:
    ApiError where the endpoint serves nobody, else ProcessingError.
    """
    bench = default_workbench()
    outcome = ask(prompt, model=endpoint_of(bench, endpoint_id), workbench=bench)

    def told(outcome: Outcome) -> Prediction:
        made = _prediction(prompt, endpoint_id, outcome)
        if prompt_callback is not None:
            prompt_callback(made, endpoint_id)
        return made

    return PredictionHandle(outcome, told) if isinstance(outcome, Handle) else told(outcome)


class PredictionHandle:
    """A question that is being asked: `await` it, or ask for its `result()`."""

    def __init__(self, handle: Handle[Outcome], then: Callable[[Outcome], Prediction]) -> None:
        self._handle = handle
        self._then = then
        self._made: Prediction | None = None

    def __await__(self) -> Generator[Any, None, Prediction]:
        outcome = yield from self._handle.__await__()
        return self._told(outcome)

    @property
    def done(self) -> bool:
        """Whether there is an outcome."""
        return self._handle.done

    def cancel(self) -> None:
        """Do not send it; what is sent already is recorded."""
        self._handle.cancel()

    def result(self, timeout: float | None = None) -> Prediction:
        """The Prediction; waits for it. Never call it in a loop that must go on."""
        return self._told(self._handle.result(timeout))

    def _told(self, outcome: Outcome) -> Prediction:
        if self._made is None:
            self._made = self._then(outcome)
        return self._made


def _prediction(prompt: str, endpoint_id: str, outcome: Outcome) -> Prediction:
    if isinstance(outcome, Failure):
        error = ApiError if outcome.kind.stops else ProcessingError
        raise error(f"{endpoint_id}: {outcome.kind}: {outcome.message}")
    return Prediction(prompt, outcome.text, outcome.latency, outcome)
