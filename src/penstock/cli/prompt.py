"""`penstock prompt`: a template over the rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from penstock.cli.ask import read_schema
from penstock.cli.jobs import end, watch
from penstock.cli.show import out, print_json, safe, say_stopping
from penstock.errors import Exit, InputError

if TYPE_CHECKING:
    from penstock.engine.lanes import LaneWish

__all__ = ["prompt"]


def prompt(
    file: Path,
    /,
    *,
    template: Annotated[str, Parameter(name=["--template", "-t"])],
    model: Annotated[str | None, Parameter(name=["--model", "-m"])] = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    system: str | None = None,
    schema: Path | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    sample: int | None = None,
    draws: int = 1,
    budget: str | None = None,
    lane: Literal["online", "batch", "auto"] | None = None,
    batch: Annotated[bool, Parameter(negative="")] = False,
    batch_size: int | None = None,
    wait: bool = True,
    cache: Literal["use", "off", "refresh", "read"] = "use",
    estimate: Annotated[bool, Parameter(negative="")] = False,
    force: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Ask a question for every row of a file; columns stand in braces.

    Killed or cancelled, run the same command again: what has an answer is
    found in the journal, the rest is asked.

    For example:

        penstock prompt topics.csv -t "A poem about {topic}" -m simulated -o poems.csv
        penstock prompt qa.jsonl -t "{question}" -m gpt-4o-mini --estimate
        penstock prompt in.parquet -t "{text}" --schema facts.json --budget 5 -o out.parquet
        penstock prompt big.jsonl -t "{text}" -m gpt-4o-mini --batch --no-wait -o out.jsonl

    Parameters
    ----------
    file
        csv, json, jsonl, parquet, arrow or xlsx.
    template
        The prompt; {column} stands for a column's value, {{ and }} for braces.
    model
        The model: a name, provider/model, http://host/v1#model, or a saved endpoint.
    output
        Where the table goes, the format by its suffix; else it stays in the workspace.
    system
        A system prompt.
    schema
        A file with the JSON schema that every answer must fit; its fields become columns.
    temperature
        How freely it chooses its words, 0 to 2.
    max_tokens
        The most tokens of an answer.
    sample
        Only so many rows from the beginning.
    draws
        So many answers for every row.
    budget
        The most dollars that this may cost.
    lane
        online (at once), batch (half the price, within a day) or auto: batch for more than
        5,000 questions, or where it saves more than a dollar.
    batch
        The same as --lane batch.
    batch_size
        The most questions in one batch; else as many as the provider takes.
    wait
        --no-wait submits the batches and ends with exit code 8; the same command, or
        `penstock runs resume`, collects them later.
    cache
        use, off, refresh or read.
    estimate
        Only say what it would take; nothing is sent.
    force
        Replace the output file if it is there.
    as_json
        Print the run as JSON, for a program.
    """
    from penstock.engine.workbench import Workbench
    from penstock.generate.filejob import FileJob

    if output is not None and output.exists() and not force and not estimate:
        raise InputError(f"{output} is there already", remedy="Give --force to replace it.")
    chosen = _lane(lane, batch=batch)
    if chosen == "online" and (batch_size is not None or not wait):
        raise InputError(
            "--batch-size and --no-wait are for the batch lane", remedy="Give --batch as well."
        )
    params = {"temperature": temperature, "max_tokens": max_tokens}
    job = FileJob(
        file=str(file),
        template=template,
        model=model,
        system=system,
        schema=None if schema is None else read_schema(schema),
        params={name: value for name, value in params.items() if value is not None},
        first=sample,
        samples=draws,
        budget=budget,
        cache=cache,
        out=None if output is None else str(output),
        lane=chosen,
        batch_size=batch_size,
    )
    with Workbench() as bench:
        if estimate:
            found = job.estimate(bench)
            if as_json:
                print_json(found._asdict())
            else:
                out().print(safe(str(found)))
            return Exit.OK
        with watch("prompt", bench) as view:
            table = job.run(bench, waits=wait, watch=view, on_interrupt=say_stopping)
        return end(table, output, as_json=as_json, online=chosen == "online")


def _lane(lane: LaneWish | None, *, batch: bool) -> LaneWish:
    if batch and lane not in (None, "batch"):
        raise InputError(f"--batch and --lane {lane} contradict each other")
    return "batch" if batch else lane or "online"
