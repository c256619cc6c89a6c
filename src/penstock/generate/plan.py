"""What a Prompter is to do, settled before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from penstock.endpoint import Endpoint
from penstock.engine.engine import Cache
from penstock.errors import InputError
from penstock.generate.functions import input_and_answer, rows_from
from penstock.generate.occurrences import Occurrences
from penstock.messages import normalise
from penstock.request import Request, merged_params
from penstock.schema import AnswerSchema

__all__ = ["Failing", "Plan"]

Failing = Literal["keep", "raise"]


@dataclass(frozen=True)
class Plan:
    """How rows become questions and answers become rows."""

    endpoint: Endpoint
    prompt: Callable[..., Any]
    takes_row: bool
    parse: Callable[[Any, Any], Any] | None
    schema: AnswerSchema | None
    system: str | None
    params: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]]
    samples: int
    dedupe: bool
    cache: Cache
    failures: Failing
    reasks: int

    def ask(self, row: Mapping[str, Any]) -> Any:
        """The user's prompt for a row; may be awaitable."""
        return self.prompt(row) if self.takes_row else self.prompt()

    def requests(
        self, row: Mapping[str, Any], prompt: Any, seen: Occurrences | None
    ) -> list[Request]:
        """The questions of a row. Equal questions draw anew, counted in the order of the rows."""
        messages = normalise(prompt)
        if self.system and messages[0]["role"] not in ("system", "developer"):
            messages.insert(0, {"role": "system", "content": self.system})
        base = Request(self.endpoint, messages, self._params(row), self.schema)
        if seen is None:
            return [self._draw(base, number) for number in range(self.samples)]
        return [self._draw(base, seen.next(base.key)) for _ in range(self.samples)]

    @cached_property
    def _same(self) -> dict[str, Any] | None:
        """The parameters, where they are the same for every row."""
        return None if callable(self.params) else merged_params(self.endpoint.params, self.params)

    def _params(self, row: Mapping[str, Any]) -> dict[str, Any]:
        if self._same is not None:
            return self._same
        return merged_params(self.endpoint.params, self._given(row))

    def _given(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        assert callable(self.params)
        try:
            given: Any = self.params(row)
        except BaseException as error:
            said = f"the generation_params function raised {type(error).__name__}: {error}"
            raise InputError(said) from error
        if not isinstance(given, Mapping):
            kind = type(given).__name__
            raise InputError(f"the generation_params function returned a {kind}, not a dictionary")
        return given

    def _draw(self, base: Request, number: int) -> Request:
        if number == 0:
            return base
        return Request(base.endpoint, base.messages, base.params, base.schema, None, number)

    def rows(self, row: Mapping[str, Any], parsed: Any) -> list[dict[str, Any]]:
        """The rows of an answer, from what the parse function made of it."""
        if self.parse is not None:
            return rows_from(parsed)
        return input_and_answer(row if self.takes_row else {}, parsed)
