"""`penstock endpoints`: models at addresses, saved under a name."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import App, Parameter

from penstock.cli import complain
from penstock.cli.show import dollars, print_json, print_table, short, since
from penstock.errors import Exit, InputError, NotFoundError

__all__ = ["app"]

app = App(name="endpoints", help="Models at addresses, saved under a name.")

Pairs = Annotated[list[str] | None, Parameter(negative=())]
Json = Annotated[bool, Parameter(name="--json", negative="")]


@app.command
def add(
    name: str,
    endpoint: str,
    /,
    *,
    key: str | None = None,
    param: Pairs = None,
    header: Pairs = None,
    concurrency: int | None = None,
    requests_per_minute: int | None = None,
    tokens_per_minute: int | None = None,
    input_price: str | None = None,
    output_price: str | None = None,
    batch_input_price: str | None = None,
    batch_output_price: str | None = None,
    timeout: float | None = None,
    force: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Save an endpoint under a name.

    For example:

        penstock endpoints add mini gpt-4o-mini --param temperature=0
        penstock endpoints add lab http://gpu:8000/v1#llama --key env:LAB_KEY
        penstock endpoints add own https://llm.example/v1#big --concurrency 128

    Parameters
    ----------
    name
        The name: a-z, 0-9, '.', '_' and '-'.
    endpoint
        The model: a name, provider/model, or http://host/v1#model.
    key
        Where its key is: env:NAME, file:PATH or command:... (never the key itself).
    param
        A default parameter, name=value; may be given several times.
    header
        A header to send along, name=value; never a secret.
    concurrency
        The most questions in flight at once.
    requests_per_minute
        The most requests a minute that it bears.
    tokens_per_minute
        The most tokens a minute that it bears.
    input_price
        Dollars per million input tokens, over the packaged price.
    output_price
        Dollars per million output tokens.
    batch_input_price
        The same in the batch lane; else half is assumed.
    batch_output_price
        Dollars per million output tokens in the batch lane.
    timeout
        Seconds to wait for a whole answer.
    force
        Replace one of the same name.
    """
    from penstock.cli.flags import pairs
    from penstock.endpoint import Limits, Prices
    from penstock.engine.workbench import Workbench
    from penstock.files import checked_id
    from penstock.providers import resolve
    from penstock.secret import is_reference

    if key is not None and not is_reference(key):
        raise InputError(
            "--key takes a reference, never the key itself",
            remedy="Put the key into an environment variable and give --key env:NAME.",
        )
    if (input_price is None) != (output_price is None):
        raise InputError("--input-price and --output-price are given together or not at all")
    batch = {"batch_input": batch_input_price, "batch_output": batch_output_price}
    if input_price is None and any(batch.values()):
        raise InputError("the prices of batches stand beside --input-price and --output-price")
    prices = None
    if input_price is not None:
        prices = Prices(input_price, output_price, **batch)  # type: ignore[arg-type]
    made = resolve(endpoint).with_(
        key=key,
        params=pairs(param, "--param"),
        headers={k: str(v) for k, v in pairs(header, "--header").items()},
        limits=Limits(concurrency, requests_per_minute, tokens_per_minute),
        prices=prices,
        timeout=timeout,
    )
    with Workbench() as bench:
        if bench.catalog.endpoint(checked_id(name)) is not None and not force:
            raise InputError(f"there is an endpoint {name!r} already", remedy="Give --force.")
        bench.catalog.save_endpoint(name, made.spec())
    print_json({name: made.spec()})
    return Exit.OK


@app.command(name="list")
def list_(*, as_json: Json = False) -> int:
    """List the saved endpoints."""
    from penstock.engine.workbench import Workbench

    with Workbench() as bench:
        rows = bench.catalog.all_endpoints() if bench.workspace.exists else []
    if as_json:
        print_json({row["name"]: row["spec"] for row in rows})
    elif not rows:
        complain("no endpoints are saved", "Save one: penstock endpoints add mini gpt-4o-mini")
    else:
        cells = [
            (r["name"], r["spec"]["provider"], r["spec"]["model"], r["spec"].get("url", ""),
             r["spec"].get("key", ""), since(r["created"]))
            for r in rows
        ]  # fmt: skip
        print_table(("name", "provider", "model", "address", "key", "saved"), cells)
    return Exit.OK


@app.command
def show(name: str, /) -> int:
    """Show one endpoint, saved or written out, as it would be used."""
    from penstock.engine.workbench import Workbench

    with Workbench() as bench:
        endpoint = bench.endpoint(name)
        price = bench.prices().price(endpoint)
    per_million: dict[str, Any] | None = None
    if price is not None:
        per_million = {"input": price.input, "output": price.output, "source": price.source}
    print_json({**endpoint.spec(), "dollars_per_million_tokens": per_million})
    return Exit.OK


@app.command
def test(name: str, /) -> int:
    """Ask an endpoint one small question, to see that address, key and model are right."""
    from penstock.engine.asking import ask
    from penstock.engine.workbench import Workbench
    from penstock.outcome import Failure

    with Workbench() as bench:
        bench.endpoint(name)
        prompt = "Answer with the one word: ready"
        outcome = ask(prompt, model=name, cache="refresh", workbench=bench)
    if isinstance(outcome, Failure):
        complain(f"{name}: {outcome.kind}: {outcome.message}")
        return Exit.API
    spent = dollars(outcome.cost)
    print_table(
        ("endpoint", "model", "seconds", "tokens", "cost", "answer"),
        [(name, outcome.model, f"{outcome.latency:.2f}", outcome.usage.total_tokens, spent,
          short(outcome.text))],
    )  # fmt: skip
    return Exit.OK


@app.command
def remove(name: str, /) -> int:
    """Forget a saved endpoint. Its recorded answers stay."""
    from penstock.engine.workbench import Workbench

    with Workbench() as bench:
        if not (bench.workspace.exists and bench.catalog.remove_endpoint(name)):
            raise NotFoundError(
                f"there is no endpoint {name!r}", remedy="See `penstock endpoints list`."
            )
    return Exit.OK
