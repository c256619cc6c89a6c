"""`penstock demo`: a small job end to end, offline, on the simulated model.

It goes the straight way of every job: rows become questions, questions become recorded answers,
answers become rows on disk. Run it twice: the second time nothing is asked.
"""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from penstock.cli.progress import ProgressView
from penstock.cli.show import out, print_table, safe, say_stopping, short, tokens_line
from penstock.engine.jobs import Job, run_job
from penstock.engine.states import exit_code
from penstock.engine.workbench import Workbench
from penstock.outcome import Answer

__all__ = ["demo"]

_TOPICS = (
    ("river", "haiku"),
    ("turbine", "riddle"),
    ("reservoir", "haiku"),
    ("valve", "proverb"),
    ("flood", "headline"),
    ("drought", "haiku"),
    ("dam", "riddle"),
    ("pipe", "proverb"),
    ("pressure", "headline"),
    ("spring", "haiku"),
    ("canal", "riddle"),
    ("lock", "proverb"),
)


def demo(*, model: Annotated[str, Parameter(name=["--model", "-m"])] = "simulated") -> int:
    """Run a small job end to end: a short text on each of twelve topics.

    Nothing leaves this machine unless you name a real model.

    For example:

        penstock demo
        penstock demo --model gpt-4o-mini

    Parameters
    ----------
    model
        The model to ask; the simulated one needs no key and costs nothing.
    """
    console = out()
    with Workbench() as bench:
        endpoint = bench.endpoint(model)
        simulated = endpoint.provider == "simulated"
        if simulated:
            endpoint = endpoint.with_(params={**endpoint.params, "latency": 300})
            console.print(
                "These answers are SIMULATED: made up on this machine, no network, no key, no "
                "cost.\nWith a real model it is one word that changes:\n\n"
                "    penstock demo --model gpt-4o-mini      (and OPENAI_API_KEY set)\n"
            )
        rows = [{"topic": topic, "form": form} for topic, form in _TOPICS]
        job = Job(
            kind="demo",
            rows=rows,
            endpoint=endpoint,
            prompt=lambda row: f"Write a {row['form']} about a {row['topic']}, in 12 words.",
            concurrency=4,
        )
        with ProgressView(job.progress, "demo") as view:
            done = run_job(bench, job, tick=view.tick, on_interrupt=say_stopping)
        print_table(
            ("topic", "form", "answer"),
            [(row["topic"], row["form"], _cell(outcome)) for row, outcome in done.rows],
        )
        counters = done.run.progress.counters()
        console.print(f"\n{counters['rows_done']} of {len(rows)} rows, {tokens_line(counters)}")
        if counters["recorded"]:
            console.print(_recorded_line(counters))
        console.print(f"answers    {safe(str(done.run.folder / 'answers.jsonl'))}", soft_wrap=True)
        console.print(f"journal    {safe(str(bench.workspace.journal))}", soft_wrap=True)
        console.print(f"see also   penstock runs show {done.run.id}", soft_wrap=True)
        return exit_code(done.run.state)


def _recorded_line(counters: dict[str, Any]) -> str:
    found = f"{counters['recorded']} answers were in the journal"
    asked = counters["asked"]
    return f"{found}; {asked} were asked." if asked else f"{found}: nothing was sent."


def _cell(outcome: Any) -> str:
    if isinstance(outcome, Answer):
        return short(outcome.text, 58)
    return f"({outcome.kind}) {short(outcome.message, 40)}"
