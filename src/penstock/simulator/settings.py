"""The one table of the simulator's settings.

Each field is a flag of `penstock simulate`, a keyword of `Simulator(...)` and a key of
`POST /settings`. Text forms (`latency`, `errors`, `outages`, `batch_faults`) stay text here and
are read by the rooms that use them; `checked` makes those rooms judge a value before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from penstock.errors import InputError
from penstock.simulator.batch_faults import BatchFaults
from penstock.simulator.faults import Faults, Outages
from penstock.simulator.latency import Latency

__all__ = ["FIXED_AT_START", "SimulatorSettings", "changed", "checked"]

FIXED_AT_START = frozenset({"port", "host", "ledger"})
DEFAULT_PORT = 8377


def _help(text: str, default: Any) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True, slots=True)
class SimulatorSettings:
    """How the simulated server behaves. The defaults are a fast, faultless server."""

    port: int = _help("Port to listen on; 0 takes a free one.", DEFAULT_PORT)
    host: str = _help("Address to listen on.", "127.0.0.1")
    key: str | None = _help("Accept only this API key; without it, any or none.", None)
    latency: str = _help("Milliseconds: 50, 50-200, normal:100:20 or lognormal:100:0.5.", "0")
    fixed: bool = _help("Give every question one fixed answer; the fastest.", False)
    rpm: int | None = _help("Requests per minute before 429.", None)
    tpm: int | None = _help("Tokens per minute before 429.", None)
    burst: float = _help("Seconds' worth of rpm and tpm that may be used at once.", 60.0)
    max_concurrency: int | None = _help("Served at once; more wait in line, without 429.", None)
    errors: str = _help("Faults by share of requests, such as 500:0.01,reset:0.02.", "")
    drip: int = _help("Milliseconds between the ten pieces of a slow_body fault.", 100)
    outages: str = _help("Seconds since the start answered with 503, such as 10-70,100-110.", "")
    quota: int | None = _help("Requests until 429 insufficient_quota.", None)
    batch_seconds: float = _help("Seconds a batch takes; 0 ends it at the next look.", 0.2)
    batch_faults: str = _help("Faults of batches by share, such as error:0.1,cut:1.", "")
    batch_tokens: int | None = _help("Tokens of a model in open batches before one fails.", None)
    max_batches: int | None = _help("Open batches of an API before 429.", None)
    seed: int = _help("Seed of faults and latencies.", 0)
    ledger: str | None = _help("Also append the ledger to this file, as JSON lines.", None)


_POSITIVE = ("rpm", "tpm", "burst", "max_concurrency", "batch_tokens", "max_batches")
_COUNTS = ("port", "drip", "quota", "batch_seconds")
_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "int | None": (int, type(None)),
    "str": (str,),
    "str | None": (str, type(None)),
    "bool": (bool,),
    "float": (int, float),
}


def checked(settings: SimulatorSettings) -> SimulatorSettings:
    """The same settings, or an InputError that says what is allowed."""
    for each in fields(settings):
        value = getattr(settings, each.name)
        allowed = _TYPES[str(each.type)]
        if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
            raise InputError(f"{each.name} is {value!r}, but must be {each.type}")
    for name in _POSITIVE:
        value = getattr(settings, name)
        if value is not None and value <= 0:
            raise InputError(f"{name} is {value}, but must be more than 0")
    for name in _COUNTS:
        value = getattr(settings, name)
        if value is not None and value < 0:
            raise InputError(f"{name} is {value}, but must be 0 or more")
    if settings.port > 65535:
        raise InputError(f"port is {settings.port}, but must be at most 65535")
    Latency.read(settings.latency)
    Faults.read(settings.errors)
    Outages.read(settings.outages)
    BatchFaults.read(settings.batch_faults)
    return settings


def changed(settings: SimulatorSettings, changes: Mapping[str, Any]) -> SimulatorSettings:
    """The settings with some values replaced while the server runs."""
    names = {each.name for each in fields(settings)}
    for name in changes:
        if name not in names:
            raise InputError(f"{name!r} is no setting", remedy=f"There are {sorted(names)}.")
        if name in FIXED_AT_START:
            raise InputError(f"{name} cannot change while the server runs")
    return checked(replace(settings, **changes))
