"""`penstock runs`: what has been run, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from cyclopts import App, Parameter

from penstock.cli import complain
from penstock.cli.show import out, print_json, print_table, safe, since, tokens_line
from penstock.errors import Exit, InputError, NotFoundError

if TYPE_CHECKING:
    from penstock.bench.running import BenchJob
    from penstock.engine.workbench import Workbench
    from penstock.generate.filejob import FileJob
    from penstock.generate.schemajob import SchemaJob
    from penstock.grade.grading import GradeJob
    from penstock.redteam.campaign import CampaignJob
    from penstock.store.batches import BatchRow

    AnyJob: TypeAlias = FileJob | SchemaJob | GradeJob | BenchJob | CampaignJob

__all__ = ["app"]

app = App(name="runs", help="What has been run, and what came of it.")

Json = Annotated[bool, Parameter(name="--json", negative="")]
Online = Annotated[bool, Parameter(negative="")]


@app.command(name="list")
def list_(*, limit: int = 20, as_json: Json = False) -> int:
    """List runs, the newest first."""
    from penstock.engine.workbench import Workbench

    with Workbench() as bench:
        rows = bench.catalog.all_runs(limit) if bench.workspace.exists else []
        for row in rows:
            row["state"] = _state(row, bench.workspace.run(row["id"]))
    if as_json:
        print_json(rows)
    elif not rows:
        complain("nothing has been run in this workspace", "Try: penstock demo")
    else:
        headings = ("run", "state", "rows", "failed", "cost", "begun")
        print_table(headings, [_cells(row) for row in rows])
    return Exit.OK


@app.command
def show(run: str, /, *, as_json: Json = False) -> int:
    """Show one run: its state, rows, tokens, cost, failures by kind and batches.

    Parameters
    ----------
    run
        Its id, or the beginning of it.
    """
    from penstock.cli.batchview import line
    from penstock.engine.batch_keeping import listed
    from penstock.engine.workbench import Workbench

    with Workbench() as bench:
        row = _found(bench, run)
        folder = bench.workspace.run(row["id"])
        row["state"] = _state(row, folder)
        batches = listed(bench, row["id"])
    if as_json:
        ids = [batch.id for batch in batches]
        print_json({**row, "folder": str(folder), "batches": ids})
        return Exit.OK
    counters = row["counters"]
    facts: list[tuple[str, Any]] = [("run", row["id"]), ("kind", row["kind"])]
    facts += [("state", row["state"])]
    waits = row["state"] == "waiting"
    facts += [("why", row["message"])] if row["message"] and not waits else []
    facts += [("begun", since(row["started"])), ("ended", since(row["ended"]))]
    if counters:
        total = "?" if counters["rows_total"] is None else f"{counters['rows_total']:,}"
        done = f"{counters['rows_done']:,} of {total}, {counters['rows_failed']:,} failed"
        asked = f"{counters['asked']:,} asked in {counters['attempts']:,} attempts"
        facts += [("rows", done), ("questions", asked)]
        facts += [("journal", f"{counters['recorded']:,} answers found there")]
        facts += [("spent", tokens_line(counters))]
        facts += [("failures", f"{kind}: {n:,}") for kind, n in counters["failures"].items()]
        if counters.get("limiter", {}).get("most_in_flight"):
            facts += [("speed", _speed(counters["limiter"]))]
        if counters["may_be_paid"]:
            facts += [("perhaps paid", f"{counters['may_be_paid']:,} questions without an answer")]
    if batches:
        facts += [("batches", line(batches))]
    if waits:
        facts += [("go on with", _go_on(row["id"], batches))]
    facts += [("folder", folder)]
    console = out()
    for name, value in facts:
        console.print(f"{name:>12}  {safe(str(value))}", soft_wrap=True)
    return Exit.OK


@app.command
def resume(run: str, /, *, online: Online = False, wait: bool = True, as_json: Json = False) -> int:
    """Go on with a run of the shell: what has an answer is found, the rest is asked.

    A run made by a Python program is resumed by running the program again.

    Parameters
    ----------
    run
        Its id, or the beginning of it.
    online
        Ask what is left online, whichever lane the run took; what lies in a
        batch stays there.
    wait
        --no-wait: what has ended is collected, the next batches are submitted,
        and the rest is left for later, with exit code 8.
    """
    from penstock.cli.jobs import watch
    from penstock.cli.show import say_stopping
    from penstock.engine.workbench import Workbench

    with Workbench() as bench:
        row = _found(bench, run)
        job = _job(row["spec"])
        if online:
            job = _asked_online(job)
        with watch(row["kind"], bench) as view:
            made: Any = job.run(
                bench, run_id=row["id"], waits=wait, watch=view, on_interrupt=say_stopping
            )
        return _end(job, made, bench, as_json=as_json)


@app.command
def retry(run: str, /, *, online: Online = False, wait: bool = True, as_json: Json = False) -> int:
    """Ask the failed rows of a run again, and only those.

    Parameters
    ----------
    run
        Its id, or the beginning of it.
    online
        Ask them online, whichever lane the run took.
    wait
        --no-wait: submit their batches, and collect them later.
    """
    return resume(run, online=online, wait=wait, as_json=as_json)


@app.command
def export(
    run: str, output: Path, /, *, force: Annotated[bool, Parameter(negative="")] = False
) -> int:
    """Write the raw requests and responses of a run as JSON lines.

    Parameters
    ----------
    output
        The file, such as raw.jsonl.
    force
        Replace it if it is there.
    """
    from penstock.engine.exports import export_run
    from penstock.engine.workbench import Workbench

    if output.exists() and not force:
        raise InputError(f"{output} is there already", remedy="Give --force to replace it.")
    with Workbench() as bench:
        row = _found(bench, run)
        count = export_run(bench, row["id"], output)
    out().print(f"{count:,} lines in {safe(str(output))}", soft_wrap=True)
    return Exit.OK


@app.command
def delete(run: str, /) -> int:
    """Forget a run and remove its folder. Its answers stay in the journal."""
    from penstock.engine.batch_keeping import listed
    from penstock.engine.run import remove_run
    from penstock.engine.workbench import Workbench

    with Workbench() as bench:
        row = _found(bench, run)
        if left := listed(bench, row["id"], only_open=True):
            raise InputError(
                f"the run {row['id']} has {len(left)} batches that are not collected",
                remedy="Collect them (penstock batches collect), or cancel them first.",
            )
        remove_run(bench.workspace, bench.catalog, row["id"])
    return Exit.OK


def _found(bench: Workbench, run: str) -> dict[str, Any]:
    if not bench.workspace.exists:
        raise NotFoundError(f"there is no run {run!r}", remedy="See `penstock runs list`.")
    return bench.catalog.run(run)


def _job(spec: Mapping[str, Any]) -> AnyJob:
    """The job that a run of the shell was made of; its one key says which."""
    if "grade" in spec:
        from penstock.grade.grading import GradeJob

        return GradeJob.from_spec(spec)
    if "bench" in spec:
        from penstock.bench.running import BenchJob

        return BenchJob.from_spec(spec)
    if "redteam" in spec:
        from penstock.redteam.campaign import CampaignJob

        return CampaignJob.from_spec(spec)
    if "generate" in spec:
        from penstock.generate.schemajob import SchemaJob

        return SchemaJob.from_spec(spec)
    from penstock.generate.filejob import FileJob

    return FileJob.from_spec(spec)


def _asked_online(job: AnyJob) -> AnyJob:
    """The same job, asked online."""
    from penstock.generate.filejob import FileJob
    from penstock.generate.schemajob import SchemaJob

    if isinstance(job, FileJob | SchemaJob):
        return replace(job, lane="online")
    wishes: Any = replace(job.wishes, lane="online")
    return replace(job, wishes=wishes)


def _end(job: AnyJob, made: Any, bench: Workbench, *, as_json: bool) -> int:
    """Say how it ended."""
    from penstock.bench.running import BenchJob
    from penstock.grade.grading import GradeJob
    from penstock.redteam.campaign import CampaignJob

    if isinstance(job, GradeJob):
        from penstock.cli.grading import end as end_grading

        return end_grading(made, bench, as_json=as_json)
    if isinstance(job, BenchJob):
        from penstock.cli.benchrun import end as end_bench

        return end_bench(made, as_json=as_json)
    if isinstance(job, CampaignJob):
        from penstock.cli.redteam_run import end as end_campaign

        return end_campaign(made, as_json=as_json)
    from penstock.cli.jobs import end

    where = Path(job.out) if job.out else None
    return end(made, where, as_json=as_json, online=job.lane == "online")


def _go_on(run: str, batches: Sequence[BatchRow]) -> str:
    left = sum(batch.state != "downloaded" for batch in batches)
    said = f"penstock runs resume {run}"
    return said if left else f"{said} (its batches are collected)"


def _speed(limiter: dict[str, Any]) -> str:
    """What the limiter did, in a line."""
    said = f"up to {limiter['most_in_flight']:,} at once of {limiter['concurrency']:,} allowed"
    limits = [f"{n:,} {name} a minute" for name, n in limiter["per_minute"].items()]
    said += f"; limits: {', '.join(limits)}" if limits else ""
    said += f"; {limiter['throttled']:,} times told to slow down" if limiter["throttled"] else ""
    return said + (f"; {limiter['outages']:,} outages" if limiter["outages"] else "")


def _state(row: dict[str, Any], folder: Path) -> str:
    """A run that was killed could not say so itself."""
    from penstock.engine.run import is_held

    killed = row["state"] == "running" and not is_held(folder)
    return "killed" if killed else str(row["state"])


def _cells(row: dict[str, Any]) -> tuple[Any, ...]:
    from penstock.cli.show import dollars

    counters = row["counters"]
    if not counters:
        return row["id"], row["state"], "", "", "", since(row["started"])
    cost = "unknown" if counters["unpriced"] else dollars(counters["cost"])
    failed = counters["rows_failed"]
    return row["id"], row["state"], counters["rows_done"], failed, cost, since(row["started"])
