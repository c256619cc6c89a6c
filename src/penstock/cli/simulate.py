"""`penstock simulate`: a simulated model behind a real port, with faults on demand."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from penstock.cli.show import out
from penstock.simulator.settings import SimulatorSettings

__all__ = ["simulate"]


def simulate(
    *,
    port: int = 8377,
    host: str = "127.0.0.1",
    key: str | None = None,
    latency: str = "0",
    fixed: Annotated[bool, Parameter(negative="")] = False,
    rpm: int | None = None,
    tpm: int | None = None,
    burst: float = 60.0,
    max_concurrency: int | None = None,
    errors: str = "",
    drip: int = 100,
    outages: str = "",
    quota: int | None = None,
    batch_seconds: float = 0.2,
    batch_faults: str = "",
    batch_tokens: int | None = None,
    max_batches: int | None = None,
    seed: int = 0,
    ledger: str | None = None,
) -> int:
    """Serve a simulated model. Nothing leaves this machine; nothing costs.

    It speaks the APIs of OpenAI, Anthropic and Gemini; clients of the last two want the address
    without /v1. Every model name is answered, the same question always in the same way.
    `GET /ledger` shows every request it saw, `GET /ledger/summary` the counts, `POST /settings`
    changes any of the flags below while it runs. Ctrl-C ends it.

    Examples
    --------
        penstock simulate
        penstock simulate --latency lognormal:400:0.5 --rpm 500 --tpm 200000
        penstock simulate --errors 500:0.01,429:0.02,timeout:0.001,wrong_schema:0.05
        penstock simulate --outages 10-70 --ledger seen.jsonl
        penstock simulate --fixed --port 9000

    Parameters
    ----------
    port
        Port to listen on; 0 takes a free one.
    host
        Address to listen on.
    key
        Accept only this API key; without it, any or none.
    latency
        Milliseconds an answer takes: 50, 50-200, normal:100:20 or lognormal:100:0.5.
    fixed
        Give every question one fixed answer; the fastest.
    rpm
        Requests per minute before 429.
    tpm
        Tokens per minute before 429.
    burst
        Seconds' worth of rpm and tpm that may be used at once.
    max_concurrency
        How many are served at once; more wait in line, without 429.
    errors
        Faults by their share of requests, such as 500:0.01,reset:0.02. Kinds: 400 401 403 404 408
        409 413 429 500 502 503 504 529 timeout reset cut malformed wrong_schema empty_choices
        error_in_200 slow_body.
    drip
        Milliseconds between the ten pieces of a slow_body fault.
    outages
        Seconds since the start in which every request gets 503, such as 10-70,100-110.
    quota
        Requests until every further one gets 429 insufficient_quota.
    batch_seconds
        Seconds that a batch takes; 0 ends it at the next look.
    batch_faults
        Faults of batches by their share, such as error:0.1,cut:1. Kinds: failed expired shuffled
        error wrong_schema missing duplicate unknown poll lost cut.
    batch_tokens
        Tokens of a model in open batches before a further batch fails.
    max_batches
        Open batches of an API before 429.
    seed
        Seed of faults and latencies.
    ledger
        Also append the ledger to this file, as JSON lines.
    """
    from penstock.simulator.server import run

    settings = SimulatorSettings(
        port=port,
        host=host,
        key=key,
        latency=latency,
        fixed=fixed,
        rpm=rpm,
        tpm=tpm,
        burst=burst,
        max_concurrency=max_concurrency,
        errors=errors,
        drip=drip,
        outages=outages,
        quota=quota,
        batch_seconds=batch_seconds,
        batch_faults=batch_faults,
        batch_tokens=batch_tokens,
        max_batches=max_batches,
        seed=seed,
        ledger=ledger,
    )
    run(settings, _tell)
    return 0


def _tell(host: str, port: int) -> None:
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{port}/v1"
    console = out()
    console.print(f"A simulated model listens on {url} (Ctrl-C ends it). Try:")
    console.print(f'  penstock ask "Hello" --model {url}#simulated')
