"""The server's routes: questions go to the service, the rest is looking and steering.

Looking at the ledger or steering the settings is not itself written into the ledger.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from urllib.parse import parse_qs

import orjson

from penstock.errors import InputError
from penstock.simulator.api import Problem
from penstock.simulator.apis import DEFAULT, api_for, lister
from penstock.simulator.desk import Desk
from penstock.simulator.http import Exchange, http_response
from penstock.simulator.service import Service

__all__ = ["Router"]

Answer = tuple[int, bytes]
_MAX_LISTED = 100_000


class Router:
    """Finds who answers a request."""

    def __init__(self, service: Service, desk: Desk) -> None:
        self._service = service
        self._desk = desk
        self._routes: dict[str, dict[str, Callable[[Exchange], Answer]]] = {
            "/ledger": {"GET": self._ledger},
            "/ledger/summary": {"GET": self._summary},
            "/ledger/reset": {"POST": self._reset},
            "/ledger/batches": {"GET": self._batches},
            "/settings": {"GET": self._settings, "POST": self._change},
            "/health": {"GET": self._health},
        }

    def handle(self, exchange: Exchange) -> None:
        """Answer one request."""
        path = exchange.head.path
        method = exchange.head.method
        api = api_for(path)
        if api is not None and method == "POST":
            self._service.ask(exchange, api)
        elif path in self._routes:
            self._control(exchange, self._routes[path])
        elif path == "/advance" and method == "POST":
            self._advance(exchange)
        elif api is None and (errand := self._desk.find(exchange)) is not None:
            self._service.errand(exchange, errand)
        elif api is None and _is_models(path) and method == "GET":
            self._models(exchange)
        else:
            self._service.stray(exchange, api is not None or _is_models(path))

    def _control(
        self, exchange: Exchange, methods: dict[str, Callable[[Exchange], Answer]]
    ) -> None:
        call = methods.get(exchange.head.method)
        if call is None:
            self._service.stray(exchange, known=True)
            return
        status, body = call(exchange)
        kind = b"application/jsonl" if exchange.head.path == "/ledger" else b"application/json"
        exchange.write(http_response(status, body, b"", kind))
        exchange.finish()

    def _models(self, exchange: Exchange) -> None:
        number = self._service.note(exchange)
        head = exchange.head
        api = lister(head.path, head.headers)
        name = head.path.rpartition("/models")[2].lstrip("/")
        found = api.model(name) if name else api.listing()
        body = http_response(200, orjson.dumps(found), api.headers(number, 0.0))
        self._service.ledger.finish(number, 200, exchange.write(body))
        exchange.finish()

    def _ledger(self, exchange: Exchange) -> Answer:
        query = parse_qs(exchange.head.query)
        try:
            since = int(query.get("since", ["0"])[0])
            limit = min(int(query.get("limit", [str(_MAX_LISTED)])[0]), _MAX_LISTED)
        except ValueError:
            return 400, DEFAULT.problem(Problem.invalid("since and limit are whole numbers"))
        entries = self._service.ledger.entries(since, limit)
        return 200, b"".join(orjson.dumps(entry) + b"\n" for entry in entries)

    def _summary(self, exchange: Exchange) -> Answer:
        return 200, orjson.dumps(self._service.ledger.summary())

    def _reset(self, exchange: Exchange) -> Answer:
        self._service.reset()
        self._desk.reset()
        return 200, b"{}"

    def _batches(self, exchange: Exchange) -> Answer:
        return 200, orjson.dumps(self._desk.listing())

    def _advance(self, exchange: Exchange) -> None:
        """Let time pass for the batches; the answer comes when what is then due is done."""
        try:
            told = orjson.loads(exchange.body or b"{}")
        except orjson.JSONDecodeError:
            told = None
        seconds = told.get("seconds") if isinstance(told, dict) else -1
        right = seconds is None or (type(seconds) in (int, float) and seconds >= 0)
        if not right:
            problem = Problem.invalid("seconds is a number from 0, or null to end every batch")
            exchange.write(http_response(400, DEFAULT.problem(problem)))
            exchange.finish()
            return

        def done() -> None:
            exchange.write(http_response(200, b"{}"))
            exchange.finish()

        self._desk.advance(seconds, done)

    def _health(self, exchange: Exchange) -> Answer:
        return 200, b'{"status":"ok"}'

    def _settings(self, exchange: Exchange) -> Answer:
        return 200, orjson.dumps(asdict(self._service.settings) | {"key": None})

    def _change(self, exchange: Exchange) -> Answer:
        try:
            changes = orjson.loads(exchange.body)
            if not isinstance(changes, dict):
                raise InputError("settings must be a JSON object")
            self._service.change(changes)
        except (orjson.JSONDecodeError, InputError) as error:
            return 400, DEFAULT.problem(Problem.invalid(str(error)))
        return self._settings(exchange)


def _is_models(path: str) -> bool:
    return path.endswith("/models") or "/models/" in path
