"""`penstock generate`: a dataset from a schema of columns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from penstock.errors import InputError

__all__ = ["generate"]


def generate(
    spec: str,
    /,
    *,
    n: Annotated[int | None, Parameter(name=["-n", "--rows"])] = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    seed: str | None = None,
    model: Annotated[list[str] | None, Parameter(name=["--model", "-m"], negative="")] = None,
    preview: int | None = None,
    estimate: Annotated[bool, Parameter(negative="")] = False,
    lane: Literal["online", "batch", "auto"] | None = None,
    batch: Annotated[bool, Parameter(negative="")] = False,
    batch_size: int | None = None,
    wait: bool = True,
    budget: str | None = None,
    until: int | None = None,
    cache: Literal["use", "off", "refresh", "read"] | None = None,
    view: Annotated[bool, Parameter(negative="")] = False,
    report: Path | None = None,
    force: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Make a dataset from a schema of columns: values by chance, texts by models, scores.

    Killed or cancelled, run the same command again: what has an answer is
    found in the journal, the rest is asked.

    For example:

        penstock generate dataset.yaml --preview 5
        penstock generate dataset.yaml -n 1000 -o out.parquet
        penstock generate dataset.yaml -n 1000 --estimate
        penstock generate dataset.yaml -n 50000 --batch --no-wait -o out.parquet
        penstock generate dataset.yaml --model simulated --view --report report.html
        penstock generate program.py:ds -n 100 -o out.jsonl

    Parameters
    ----------
    spec
        A YAML file, or a Python program and the name of a dataset in it.
    n
        So many rows; else as many as the file says.
    output
        Where the table goes, the format by its suffix; else it stays in the workspace.
    seed
        The same seed draws the same values.
    model
        Ask this model instead of those of the file; NAME=MODEL: instead of that one.
    preview
        Only so many rows from the beginning, asked now and printed; no file is written.
    estimate
        Only say what it would take; nothing is sent.
    lane
        online (at once), batch (half the price, within a day) or auto.
    batch
        The same as --lane batch.
    batch_size
        The most questions in one batch; else as many as the provider takes.
    wait
        --no-wait submits the batches and ends with exit code 8; the same command, or
        `penstock runs resume`, collects them later.
    budget
        The most dollars that this may cost.
    until
        Go on until so many rows are accepted, whatever falls out.
    cache
        use, off, refresh or read.
    view
        Open a page that fills while rows arrive.
    report
        Write a report on the table: report.html or report.json.
    force
        Replace the files if they are there.
    as_json
        Print the run as JSON, for a program.
    """
    from penstock.cli.generating import Wish, done

    for flag, rows in (("-n", n), ("--until", until), ("--preview", preview)):
        if rows is not None and rows < 1:
            raise InputError(f"{flag} is {rows}; a whole number of 1 or more is wanted")
    if n is not None and until is not None:
        raise InputError("-n and --until contradict each other", remedy="Give one of them.")
    if batch and lane not in (None, "batch"):
        raise InputError(f"--batch and --lane {lane} contradict each other")
    whole = seed is not None and seed.removeprefix("-").isdecimal()
    options = {
        "seed": int(str(seed)) if whole else seed,
        "budget": budget,
        "until": until,
        "cache": cache,
        "batch_size": batch_size,
    }
    wish = Wish(
        n,
        {name: value for name, value in options.items() if value is not None},
        model or [],
        "batch" if batch else lane,
        waits=wait,
        view=view,
        output=output,
        report=report,
        preview=preview,
        estimate=estimate,
        force=force,
        as_json=as_json,
    )
    return done(spec, wish)
