"""The endpoints of a run, each looked up once, with what the run asks of all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench

__all__ = ["Models"]


class Named(Protocol):
    """Something that names an endpoint."""

    def endpoint(self, bench: Workbench) -> Endpoint: ...


class Models:
    """Endpoints by whoever names them."""

    def __init__(self, bench: Workbench, concurrency: int | None = None) -> None:
        self.bench = bench
        self._concurrency = concurrency
        self._found: dict[int, tuple[Named, Endpoint]] = {}

    @property
    def reasks(self) -> int:
        return self.bench.settings.llm.reasks

    def of(self, named: Named) -> Endpoint:
        """The endpoint that is meant."""
        known = self._found.get(id(named))
        if known is None:
            endpoint = named.endpoint(self.bench)
            if self._concurrency is not None:
                limits = replace(endpoint.limits, concurrency=self._concurrency)
                endpoint = replace(endpoint, limits=limits)
            known = self._found[id(named)] = (named, endpoint)
        return known[1]
