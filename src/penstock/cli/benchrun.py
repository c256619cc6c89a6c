"""What `penstock bench run` does with what its flags say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.bench.junit import failed_checks, known_checks, parse_check, write_junit
from penstock.bench.listening import Listening
from penstock.bench.naming import sorted_names
from penstock.bench.plan import Plan
from penstock.bench.results import BenchRun
from penstock.bench.running import BenchJob
from penstock.bench.shelves import Shelves
from penstock.bench.wishes import Wishes
from penstock.cli import complain
from penstock.cli.benchresults import say
from penstock.cli.flags import pairs
from penstock.cli.jobs import watch
from penstock.cli.show import out, safe, say_stopping, tokens_line
from penstock.engine.states import RunState, exit_code
from penstock.engine.workbench import Workbench
from penstock.errors import Exit, InputError
from penstock.reports.words import counted

__all__ = ["Wish", "done", "end"]


@dataclass(frozen=True)
class Wish:
    """What the flags say."""

    names: tuple[str, ...]
    endpoints: tuple[str, ...]
    runner: str | None
    options: Mapping[str, Any]
    params: tuple[str, ...]
    accuracy: tuple[str, ...]
    webhooks: tuple[str, ...]
    report: Path | None
    junit: Path | None
    fail_under: tuple[str, ...]
    overwrite: bool
    waits: bool
    as_json: bool

    def job(self, bench: Workbench) -> BenchJob:
        """The run that is meant."""
        shelves = Shelves(bench)
        found = sorted_names(self.names, shelves)
        endpoints = self.endpoints
        if self.runner is not None:
            endpoints = shelves.runners.read(self.runner).value.endpoints
        wishes = Wishes(
            **self.options,
            recipes=found.recipes,
            cookbooks=found.cookbooks,
            endpoints=endpoints,
            params=pairs(self.params, "--param"),
            accuracy=_accuracy(self.accuracy),
            runner=self.runner or "",
        )
        return BenchJob(wishes, listening=Listening(webhooks=self.webhooks))


def done(wish: Wish) -> int:
    """Run it, and say how it went."""
    checks = [parse_check(each) for each in wish.fail_under]
    for path in filter(None, (wish.report, wish.junit)):
        if path.exists() and not wish.overwrite:
            raise InputError(f"{path} is there already", remedy="Give --overwrite to replace it.")
        if path.is_dir():
            raise InputError(f"{path} is a folder; a file is wanted")
        if not path.parent.is_dir():
            raise InputError(f"{path} cannot be written: there is no folder {path.parent}")
    with Workbench() as bench:
        job = wish.job(bench)
        plan = job.plan(bench)
        known_checks(checks, {each.id: list(each.metrics) for each in plan.recipes})
        if not wish.as_json:
            _announce(plan)
        with watch("bench", bench) as view:
            made: BenchRun = job.run(
                bench, plan=plan, waits=wish.waits, watch=view, on_interrupt=say_stopping
            )
        code = end(made, as_json=wish.as_json)
        if made.result.state == RunState.WAITING:
            return code
        if wish.report is not None:
            made.report(wish.report, overwrite=wish.overwrite)
            _wrote(wish.report)
        if wish.junit is not None:
            write_junit(
                made.result, made.items, wish.junit, checks=checks, overwrite=wish.overwrite
            )
            _wrote(wish.junit)
        failed = failed_checks(made.result, checks)
        for said in failed:
            complain(said)
        return Exit.BELOW if failed and code in (Exit.OK, Exit.FAILURES) else code


def end(run: BenchRun, *, as_json: bool) -> int:
    """Say what a run came to, and what to do next."""
    state = RunState(run.result.state)
    say(run, as_json=as_json)
    if not as_json:
        console = out(stderr=True)
        console.print(tokens_line(run.result.counters), soft_wrap=True)
        if state is RunState.WAITING:
            console.print(f"go on with: penstock runs resume {run.id}", soft_wrap=True)
        else:
            console.print(
                f"look at it: penstock bench results export {run.id} -o report.html",
                soft_wrap=True,
            )
            if exit_code(state) and state is not RunState.COMPLETED_WITH_FAILURES:
                console.print(f"go on with: penstock runs resume {run.id}", soft_wrap=True)
    return exit_code(state)


def _announce(plan: Plan) -> None:
    """What will be asked, and who judges, before anything is."""
    size = len(plan.endpoints)
    said = f"{counted(len(plan.recipes), 'recipe')}, {counted(plan.prompts, 'question')}"
    said += f" to each of {size} endpoints" if size > 1 else f" to {next(iter(plan.endpoints))}"
    if plan.judges:
        said += f"; judged by {', '.join(plan.judges)}"
    out(stderr=True).print(safe(said), soft_wrap=True)
    for problem in plan.problems:
        out(stderr=True).print(safe(problem), soft_wrap=True)


def _wrote(path: Path) -> None:
    out(stderr=True).print(f"{safe(str(path))} is written", soft_wrap=True)


def _accuracy(given: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    made: dict[str, tuple[float, float]] = {}
    for text in given:
        name, _, rates = text.partition("=")
        try:
            sensitivity, specificity = (float(each) for each in rates.split(","))
        except ValueError:
            raise InputError(
                f"--judge-accuracy is {text!r}",
                remedy="Write METRIC=SENSITIVITY,SPECIFICITY, such as refusal_judge=0.95,0.9.",
            ) from None
        made[name.strip()] = (sensitivity, specificity)
    return made
