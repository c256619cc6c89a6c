"""`penstock.ask`: one question from Python, durable like all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.endpoint import Endpoint
from penstock.engine.batch_keeping import parked
from penstock.engine.bridge import Handle, run
from penstock.engine.engine import Cache
from penstock.engine.rows import SetAside, in_a_batch
from penstock.engine.station import Station
from penstock.engine.structured import Structured, ask_structured
from penstock.engine.workbench import Workbench, default_workbench
from penstock.outcome import Failure, Outcome
from penstock.providers.provider import OnText
from penstock.request import Request

__all__ = ["ask"]


def ask(
    prompt: Any,
    *,
    model: Endpoint | str | None = None,
    system: str | None = None,
    schema: Any = None,
    tools: Sequence[Mapping[str, Any]] | None = None,
    sample: int = 0,
    cache: Cache = "use",
    on_text: OnText | None = None,
    on_interrupt: Callable[[], None] | None = None,
    workbench: Workbench | None = None,
    **params: Any,
) -> Any:
    """Ask one question; an Answer or a Failure comes back, and is on disk before you see it.

    With `schema` (a Pydantic model or a JSON schema) the result is a `Structured` with `.value`,
    or a Failure. Inside a running event loop, a Handle to `await` comes back instead.
    """
    bench = workbench or default_workbench()
    request = Request.of(
        bench.endpoint(model), prompt, system=system, schema=schema, tools=tools, sample=sample,
        **params,
    )  # fmt: skip
    thread = bench.thread
    engine = bench.engine(thread.station, cache=cache)

    async def work(station: Station) -> Outcome | Structured | Failure:
        station.reopen(request.endpoint)  # a person may have put the key right meanwhile
        with parked(bench, engine):
            try:
                if request.schema is None:
                    return await engine.ask(request, on_text=on_text)
                reasks = bench.settings.llm.reasks
                return await ask_structured(engine, request, reasks=reasks, on_text=on_text)
            except SetAside:
                return in_a_batch()

    result: Outcome | Structured | Handle[Any] = run(
        thread, work, cancel=engine.stop.throw, on_interrupt=on_interrupt
    )
    return result
