"""What `penstock generate` does with what its flags say."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.cli.jobs import end, watch
from penstock.cli.rowview import print_rows
from penstock.cli.show import out, print_json, safe, say_stopping, tokens_line
from penstock.engine.lanes import LaneWish
from penstock.engine.states import RunState, exit_code
from penstock.engine.workbench import Workbench
from penstock.errors import Exit, InputError
from penstock.generate.made import status_name
from penstock.generate.options import checked_options
from penstock.generate.prospect import projected
from penstock.generate.schemajob import BATCH, SchemaJob, lane_in, made
from penstock.generate.spec import Spec, load
from penstock.generate.spec.program import dataset_of, names_program
from penstock.tables.files import FORMATS, format_of

if TYPE_CHECKING:
    from penstock.engine.job import Job
    from penstock.generate.making import Making
    from penstock.tables import Table

__all__ = ["Wish", "done"]

_ONLY_WHOLE = ("until", "batch_size")


class Wish(NamedTuple):
    """What the flags say."""

    n: int | None
    options: dict[str, Any]
    models: list[str]
    lane: LaneWish | None
    waits: bool
    view: bool
    output: Path | None
    report: Path | None
    preview: int | None
    estimate: bool
    force: bool
    as_json: bool

    def for_preview(self) -> Wish:
        """The same for the first rows: asked now, and no file is written."""
        options = {name: v for name, v in self.options.items() if name not in _ONLY_WHOLE}
        first = self._replace(n=self.preview, options=options, lane="online", waits=True)
        return first._replace(output=None, report=None)

    def check_files(self) -> None:
        """What cannot be written in the end is said before anything is paid for."""
        for path in (self.output, self.report):
            if path is not None and path.exists() and not (self.force or self.estimate):
                raise InputError(f"{path} is there already", remedy="Give --force to replace it.")
        if self.output is not None and format_of(self.output, None) not in FORMATS:
            raise InputError(
                f"{self.output}: no such format can be written",
                remedy=f"Known are {', '.join(FORMATS)}.",
            )
        if self.report is not None and self.report.suffix.lower() not in (".html", ".htm", ".json"):
            raise InputError(
                f"{self.report}: a report is written as HTML or JSON",
                remedy="End the name with .html or .json.",
            )

    def check_lane(self, making: Making) -> None:
        """Refuse flags of the batch lane where it is not taken."""
        online = not making.options.get("batch", False)
        if online and ("batch_size" in self.options or not self.waits):
            raise InputError(
                "--batch-size and --no-wait are for the batch lane", remedy="Give --batch as well."
            )


def done(text: str, wish: Wish) -> int:
    """Make the dataset that a file or a program says, and say how it went."""
    if wish.preview is not None:
        wish = wish.for_preview()
    wish.check_files()
    with ExitStack() as stack:
        making = _making(text, wish, stack)
        if wish.estimate:
            return _estimate(making, as_json=wish.as_json)
        page = _Page(making, stack) if wish.view else None
        with watch("generate", making.bench) as show:
            table = made(
                making,
                _text(wish.output),
                _text(wish.report),
                begin=page,
                watch=show,
                on_interrupt=say_stopping,
            )
        code = _end(table, making, wish)
        if page is not None and code != Exit.CANCELLED:
            page.stay()
        return code


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _making(text: str, wish: Wish, stack: ExitStack) -> Making:
    """Everything that the run needs, at a workbench that is closed with the stack."""
    making = _of_program(text, wish) if names_program(text) else _of_file(text, wish, stack)
    if making.spec is None:
        stack.enter_context(making.bench)
    wish.check_lane(making)
    return making


def _of_file(text: str, wish: Wish, stack: ExitStack) -> Making:
    spec = load(text)
    bench = stack.enter_context(Workbench())
    models = _models(wish.models, spec)
    for instead in models.values():
        bench.endpoint(instead)  # a flag that is wrong is none of the file's mistakes
    options: Any = wish.options
    job = SchemaJob(
        spec,
        wish.n,
        checked_options(options),
        models,
        wish.lane or lane_in(spec.data),
        _text(wish.output),
        _text(wish.report),
    )
    return job.making(bench, waits=wish.waits, view=wish.view)


def _of_program(text: str, wish: Wish) -> Making:
    if wish.models:
        raise InputError(
            "--model is for YAML files; a program names its models itself",
            remedy="Leave it out, and name the model in the program.",
        )
    options: Any = {**wish.options, "wait": wish.waits, "view": wish.view}
    if wish.lane is not None:
        options["batch"] = BATCH[wish.lane]
    return dataset_of(text).making(wish.n, **options)


def _models(given: Sequence[str], spec: Spec) -> dict[str, str]:
    """Whom to ask instead of which model; "": instead of all."""
    named = spec.data.get("models") if isinstance(spec.data, Mapping) else None
    found: dict[str, str] = {}
    for text in given:
        name, equals, model = text.partition("=")
        if not (equals and isinstance(named, Mapping) and name in named):
            name, model = "", text
        if name in found:
            raise InputError(f"--model is given twice: {found[name]} and {model}")
        found[name] = model
    return found


def _estimate(making: Making, *, as_json: bool) -> int:
    found = projected(making)
    if as_json:
        print_json(asdict(found))
    else:
        out().print(safe(str(found)), soft_wrap=True)
    return Exit.OK


class _Page:
    """The page that fills while rows arrive; called with the run when it begins."""

    def __init__(self, making: Making, stack: ExitStack) -> None:
        self._making = making
        self._stack = stack

    def __call__(self, job: Job) -> None:
        from penstock.live import Viewer

        making = self._making
        title = making.options.get("name") or ", ".join(making.schema.makes[:4])
        viewer = Viewer(making.bench.workspace, job.run.id, title=title)
        self._stack.enter_context(viewer)
        sys.stderr.write(f"live view: {viewer.url}\n")
        if sys.stderr.isatty():
            viewer.open()

    def stay(self) -> None:
        """Keep the page until the person has seen enough of it."""
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return
        sys.stderr.write("the page stays open; Enter or Ctrl-C closes it\n")
        with suppress(KeyboardInterrupt):
            sys.stdin.readline()


def _end_preview(table: Table, making: Making, *, as_json: bool) -> int:
    """Show the rows, and say what they cost."""
    run = table.run
    code = exit_code(RunState(run.state))
    status = status_name(making.schema.makes)
    if as_json:
        rows = table.to_list()
        print_json({"run": run.id, "state": run.state, **run.counters, "rows": rows})
        return code
    print_rows(table, status)
    console = out(stderr=True)
    console.print(f"{len(table):,} rows; {tokens_line(run.counters)}", soft_wrap=True)
    if run.counters["asked"]:
        console.print("the answers are kept: the whole run will not pay for them again")
    elif run.counters["recorded"]:
        console.print("nothing was asked: every answer was there already")
    return code


def _end(table: Table, making: Making, wish: Wish) -> int:
    """Say how it ended."""
    if wish.preview is not None:
        return _end_preview(table, making, as_json=wish.as_json)
    run = table.run
    code = exit_code(RunState(run.state))
    if making.spec is not None or wish.as_json or not code:
        online = not making.options.get("batch", False)
        end(table, wish.output, as_json=wish.as_json, online=online)
    else:
        _end_program(table, wish.output)
    if wish.report is not None and not wish.as_json and run.state != RunState.WAITING:
        out(stderr=True).print(f"the report is {safe(str(wish.report))}", soft_wrap=True)
    return code


def _end_program(table: Table, output: Path | None) -> None:
    """Such a run is gone on with by the same command, not by `runs resume`."""
    run, console = table.run, out(stderr=True)
    console.print(f"{len(table):,} rows; {tokens_line(run.counters)}", soft_wrap=True)
    for failure in table.failures.head(3):
        line = f"row {failure['row']}: {failure['kind']}: {failure['message']}"
        console.print(safe(line), soft_wrap=True)
    where = output if output is not None else f"{run.folder}/dataset.arrow"
    waits = run.state == RunState.WAITING
    said = "its questions lie in batches" if waits else f"the table is {safe(str(where))}"
    console.print(f"{run.state}; {said}", soft_wrap=True)
    console.print("go on with: the same command again")
