"""The Prompter: a prompt for every row of a dataset, a table of answers back.

    poets = Prompter("gpt-4o-mini", lambda row: f"A poem about {row['topic']}")
    poems = poets(topics)

By functions, or by subclassing with `prompt` and `parse`. Making one sends nothing. Called where
no event loop runs it blocks and returns a Table; inside a running loop it returns a handle to
await, which also behaves like the Table once its data are touched.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Literal

from penstock.endpoint import Endpoint
from penstock.engine.batch import BatchWish
from penstock.engine.budget import Budget
from penstock.engine.engine import Cache
from penstock.engine.job import TableHandle
from penstock.engine.wishes import dollars, lane_of, one_of
from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import EndpointError, InputError
from penstock.generate.backend import checked, understood
from penstock.generate.functions import check_parse, prompt_takes
from penstock.generate.launch import Launch, estimated, launched, streamed
from penstock.generate.plan import Failing, Plan
from penstock.request import merged_params
from penstock.schema import AnswerSchema
from penstock.tables import RowSource, rows

__all__ = ["LLM", "Prompter"]


class Prompter:
    """Asks a model one question for every row.

    `prompt_func(row)` gives a text, `{"system": ..., "user": ...}` or messages; `parse_func(row,
    response)` gives a dict, a Pydantic object or a list of them. Either may be async. With
    `response_format` (a Pydantic model or a JSON schema) the response is an object that fits it.
    `batch=True` sends the questions through the provider's batch API, at about half the price and
    within a day, `batch="auto"` where that pays; with `wait=False` it comes back when they are
    submitted, and the same call again collects.
    """

    def __init__(
        self,
        model_name: str | Endpoint | None = None,
        prompt_func: Callable[..., Any] | None = None,
        parse_func: Callable[[Any, Any], Any] | None = None,
        response_format: Any = None,
        system_prompt: str | None = None,
        batch: bool | Literal["auto"] = False,
        batch_size: int | None = None,
        generation_params: Mapping[str, Any] | Callable[[Any], Mapping[str, Any]] | None = None,
        backend: str | None = None,
        backend_params: Mapping[str, Any] | None = None,
        *,
        n: int = 1,
        dedupe: bool = False,
        cache: Cache = "use",
        failures: Failing = "keep",
        budget: float | str | Decimal | None = None,
        concurrency: int | None = None,
        wait: bool = True,
        name: str = "",
        workbench: Workbench | None = None,
    ) -> None:
        if batch_size is not None and (type(batch_size) is not int or batch_size < 1):
            raise InputError(f"batch_size is {batch_size!r}; a whole number of 1 or more is wanted")
        self._lane = lane_of(batch, cache)
        self._batch_size = batch_size
        self._wait = wait
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise InputError(f"n is {n!r}; a whole number of 1 or more is wanted")
        one_of("cache", cache, Cache)
        one_of("failures", failures, Failing)
        self._model = _own(self, "model_name", model_name)
        self._backend = backend
        self._backend_params = checked(backend_params)
        self._prompt = _own(self, "prompt", prompt_func)
        self._parse = _own(self, "parse", parse_func)
        if self._prompt is None:
            raise InputError(
                "a Prompter needs a prompt function",
                remedy="Give prompt_func=..., or subclass Prompter with prompt(self, row).",
            )
        self._takes = prompt_takes(self._prompt)
        if self._parse is not None:
            check_parse(self._parse)
        schema = _own(self, "response_format", response_format)
        self._schema = None if schema is None else AnswerSchema.of(schema)
        self._system = _own(self, "system_prompt", system_prompt)
        self._params = _params(_own(self, "generation_params", generation_params))
        self._samples = n
        self._dedupe = dedupe
        self._cache = cache
        self._failures = failures
        self._budget = dollars(budget)
        self._concurrency = concurrency
        self._name = name
        self._workbench = workbench

    def __call__(self, dataset: Any = None) -> Any:
        """The table of answers; see the class. Without a dataset: one question.

        Ctrl-C stops it; what was done is kept, and KeyboardInterrupt goes on to the caller.
        """
        interrupts: list[bool] = []
        made = launched(self.launch(dataset), on_interrupt=lambda: interrupts.append(True))
        if interrupts:
            raise KeyboardInterrupt
        return made

    def stream(self, dataset: Any = None) -> Iterator[dict[str, Any]]:
        """The rows as they finish, in no order; everything is recorded all the same."""
        return streamed(self.launch(dataset))

    def estimate(self, dataset: Any = None) -> Any:
        """What it would take: questions, tokens and dollars. Sends nothing."""
        return estimated(self.launch(dataset))

    def launch(self, dataset: Any) -> Launch:
        """Everything that a run needs, checked; for the doors. Sends nothing."""
        bench = self._workbench or default_workbench()
        wanted = dict(self._backend_params)
        if self._concurrency is not None:
            wanted["max_concurrent_requests"] = self._concurrency
        backend = understood(self._endpoint(bench), wanted)
        source = self._source(dataset)
        plan = Plan(
            endpoint=backend.endpoint,
            prompt=self._prompt,
            takes_row=dataset is not None,
            parse=self._parse,
            schema=self._schema,
            system=self._system,
            params=self._params,
            samples=self._samples,
            dedupe=self._dedupe,
            cache=self._cache,
            failures="raise" if backend.require_all else self._failures,
            reasks=bench.settings.llm.reasks,
        )
        self._warn_of_equal_draws(plan)
        budget = None if self._budget is None else Budget(self._budget, bench.budget().tokens)
        interval = backend.batch_interval or bench.settings.batch_processing.check_interval
        return Launch(
            bench,
            plan,
            source,
            self._name,
            budget,
            backend.max_retries,
            lane=self._lane,
            batch=BatchWish(self._batch_size, self._wait, interval),
        )

    def _endpoint(self, bench: Workbench) -> Endpoint:
        model = self._model
        if not isinstance(model, str) or model.startswith(("http://", "https://")):
            return bench.endpoint(model)
        if self._backend:
            return bench.endpoint(f"{self._backend}/{model.removeprefix(self._backend + '/')}")
        try:
            return bench.endpoint(model)
        except EndpointError:
            # At an address of one's own a model may have any name.
            if not self._backend_params.get("base_url"):
                raise
            return bench.endpoint(f"openai/{model}")

    def _warn_of_equal_draws(self, plan: Plan) -> None:
        params = {} if callable(plan.params) else plan.params
        temperature = {**plan.endpoint.params, **params}.get("temperature")
        if plan.samples > 1 and temperature == 0:
            warnings.warn(
                f"n={plan.samples} at temperature 0: the draws will hardly differ, and each is "
                "paid for",
                stacklevel=4,
            )

    def _source(self, dataset: Any) -> RowSource:
        if dataset is None:
            if self._takes.needs_row:
                raise InputError(
                    "the prompt function takes a row, but no dataset is given",
                    remedy="Call the Prompter with rows: a list of dicts, a table, a file.",
                )
            return rows([{}])
        if not self._takes.takes_row:
            raise InputError(
                "a dataset is given, but the prompt function takes no row",
                remedy="Write prompt_func=lambda row: ..., or call the Prompter without a dataset.",
            )
        return rows(dataset.result() if isinstance(dataset, TableHandle) else dataset)


LLM = Prompter


def _own(prompter: Prompter, name: str, given: Any) -> Any:
    """What was given, else what a subclass wrote under that name."""
    return getattr(prompter, name, None) if given is None else given


def _params(given: Any) -> Any:
    if given is None:
        return {}
    if inspect.iscoroutinefunction(given):
        raise InputError("generation_params is an async function; a plain one is wanted")
    if not callable(given):
        if not isinstance(given, Mapping):
            kind = type(given).__name__
            raise InputError(f"generation_params is a {kind}; a dictionary or a function is wanted")
        merged_params({}, given)  # a name that cannot be a parameter is said here
    return given
