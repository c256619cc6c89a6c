"""Runners by Moonshot's names: made, loaded, run over recipes and cookbooks, cancelled.

A run gives a `BenchRun`; `api_read_result` shows it in Moonshot's form. Where no event loop runs
the calls wait; inside one they give a handle to `await`.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Literal, TypedDict, Unpack

from penstock.bench import runner as bench_runner
from penstock.bench.progress import Status
from penstock.bench.shelves import Shelves
from penstock.documents.shelf import Entry
from penstock.engine.workbench import Workbench, default_workbench
from penstock.errors import InputError
from penstock.moonshot.calling import api, check_names
from penstock.moonshot.endpoints import endpoint_of, has_token
from penstock.moonshot.progress import Book, ProgressCallback, Telling

__all__ = [
    "RunOptions",
    "Runner",
    "api_create_runner",
    "api_delete_runner",
    "api_get_all_runner",
    "api_get_all_runner_name",
    "api_load_runner",
    "api_read_runner",
    "run_cookbooks",
    "run_recipes",
]

_MODULES = {
    "runner_processing_module": "benchmarking",
    "result_processing_module": "benchmarking-result",
}
_FIRST = ("prompt_selection_percentage", "random_seed", "system_prompt")


class RunOptions(TypedDict, total=False):
    """What may be said of a run beside Moonshot's first three; the later ones are Penstock's."""

    progress_callback_func: ProgressCallback
    runner_processing_module: Literal["benchmarking"]
    result_processing_module: Literal["benchmarking-result"]
    epochs: int
    reducer: str
    params: Mapping[str, Any]
    judge: str
    budget: float | str
    cache: Literal["use", "off", "refresh", "read"]
    batch: bool
    name: str
    webhooks: Sequence[str]


class Runner:
    """A name with endpoints, remembered; it runs recipes and cookbooks, and can be cancelled."""

    def __init__(
        self, runner: bench_runner.Runner, progress_callback_func: ProgressCallback | None = None
    ) -> None:
        self.id = runner.id
        self.name = runner.name
        self.description = runner.description
        self.endpoints = list(runner.endpoints)
        self.progress_callback_func = progress_callback_func
        self._runner = runner

    def run_recipes(
        self,
        recipes: str | Sequence[str],
        prompt_selection_percentage: float = 100,
        random_seed: int = 0,
        system_prompt: str = "",
        **options: Unpack[RunOptions],
    ) -> Any:
        """Run recipes over all endpoints: a BenchRun, to be awaited inside a running loop.

        So many per cent of each dataset are asked, at least one, drawn by the seed. A system prompt
        replaces the recipes' own. `progress_callback_func` is called in a thread of its own; what
        it raises is logged, and the run goes on.
        """
        first = _first(prompt_selection_percentage, random_seed, system_prompt)
        given = self._given("run_recipes", options, ())
        return self._asked().run_recipes(recipes, **first, **given)

    def run_cookbooks(
        self,
        cookbooks: str | Sequence[str],
        prompt_selection_percentage: float = 100,
        random_seed: int = 0,
        system_prompt: str = "",
        **options: Unpack[RunOptions],
    ) -> Any:
        """Run cookbooks over all endpoints, as `run_recipes` does recipes."""
        first = _first(prompt_selection_percentage, random_seed, system_prompt)
        shelf = Shelves(default_workbench()).cookbooks
        names = [cookbooks] if isinstance(cookbooks, str) else list(cookbooks)
        books = [Book.of(shelf.read(name).value) for name in names]
        given = self._given("run_cookbooks", options, books)
        return self._asked().run_cookbooks(names, **first, **given)

    def cancel(self) -> Done:
        """Stop what this object runs: nothing more is asked, what is in flight is kept."""
        self._runner.cancel()
        return Done()

    def close(self) -> Done:
        """Nothing is held open; for programs that close their runners."""
        return Done()

    @property
    def status(self) -> Status:
        """What its latest run is doing, in one of Moonshot's six words."""
        return self._runner.status

    def __repr__(self) -> str:
        return f"Runner({self.id!r}, endpoints={self.endpoints!r})"

    def _asked(self) -> bench_runner.Runner:
        """With its endpoints named, so that the shell can resume a run; a token that only this
        process holds has to go along, and then they are objects."""
        bench = default_workbench()
        if any(has_token(bench, name) for name in self.endpoints):
            objects = tuple(endpoint_of(bench, name) for name in self.endpoints)
            self._runner.endpoints = objects  # type: ignore[assignment]
        else:
            self._runner.endpoints = tuple(self.endpoints)
        return self._runner

    def _given(self, function: str, options: RunOptions, books: Sequence[Book]) -> dict[str, Any]:
        """What the bench is given."""
        check_names(function, options, [*_FIRST, *RunOptions.__annotations__])
        given: dict[str, Any] = dict(options)
        for module, usual in _MODULES.items():
            if given.pop(module, usual) != usual:
                raise InputError(
                    f"{module} is {options[module]!r}",  # type: ignore[literal-required]
                    remedy=f"Only {usual!r} is there: a file in a data folder is never executed.",
                )
        callback = given.pop("progress_callback_func", None) or self.progress_callback_func
        if callback is not None:
            given["on_progress"] = Telling(self.id, callback, books)
        return given


class Done:
    """It was done already; may be awaited, as Moonshot's programs do."""

    def __await__(self) -> Generator[Any, None, None]:
        yield from ()


@api
def api_create_runner(
    name: str,
    endpoints: str | Sequence[str],
    description: str = "",
    progress_callback_func: ProgressCallback | None = None,
) -> Runner:
    """Remember a runner; its `.id` is made of its name. The endpoints must be known."""
    bench = default_workbench()
    bench.workspace.prepare()
    names = [endpoints] if isinstance(endpoints, str) else list(endpoints)
    made = bench_runner.Runner.create(name, names, description)
    return Runner(made, progress_callback_func)


@api
def api_load_runner(
    runner_id: str, progress_callback_func: ProgressCallback | None = None
) -> Runner:
    """A runner that was created before."""
    return Runner(bench_runner.Runner.load(runner_id), progress_callback_func)


@api
def api_read_runner(runner_id: str) -> dict[str, Any]:
    """A runner as data. `database_file` is where answers are recorded, its own and all others."""
    bench = default_workbench()
    return _shape(bench, Shelves(bench).runners.read(runner_id))


@api
def api_delete_runner(runner_id: str) -> bool:
    """Forget a runner. Its results stay."""
    Shelves(default_workbench()).runners.delete(runner_id)
    return True


@api
def api_get_all_runner() -> list[dict[str, Any]]:
    """Every runner, as `api_read_runner` gives it."""
    return [api_read_runner(name) for name in api_get_all_runner_name()]


@api
def api_get_all_runner_name() -> list[str]:
    """The ids of all runners."""
    return Shelves(default_workbench()).runners.ids()


def run_recipes(
    runner_id: str | Runner,
    recipes: str | Sequence[str],
    prompt_selection_percentage: float = 100,
    random_seed: int = 0,
    system_prompt: str = "",
    **options: Unpack[RunOptions],
) -> Any:
    """Load a runner and run recipes, as `Runner.run_recipes` says."""
    return _loaded(runner_id).run_recipes(
        recipes, prompt_selection_percentage, random_seed, system_prompt, **options
    )


def run_cookbooks(
    runner_id: str | Runner,
    cookbooks: str | Sequence[str],
    prompt_selection_percentage: float = 100,
    random_seed: int = 0,
    system_prompt: str = "",
    **options: Unpack[RunOptions],
) -> Any:
    """Load a runner and run cookbooks, as `Runner.run_cookbooks` says."""
    return _loaded(runner_id).run_cookbooks(
        cookbooks, prompt_selection_percentage, random_seed, system_prompt, **options
    )


def _loaded(runner: str | Runner) -> Runner:
    return runner if isinstance(runner, Runner) else api_load_runner(runner)


def _first(percentage: float, seed: int, system_prompt: str) -> dict[str, Any]:
    is_number = isinstance(percentage, int | float) and not isinstance(percentage, bool)
    if not is_number or not 0 < percentage <= 100:
        raise InputError(
            f"prompt_selection_percentage is {percentage!r}",
            remedy="A number above 0 and up to 100 is wanted.",
        )
    return {
        "sample": None if percentage == 100 else f"{percentage}%",
        "seed": seed,
        "system_prompt": system_prompt or None,
    }


def _shape(bench: Workbench, entry: Entry[Any]) -> dict[str, Any]:
    runner = entry.value
    return {
        "id": entry.id,
        "name": runner.name,
        "database_file": str(bench.workspace.journal),
        "endpoints": list(runner.endpoints),
        "description": runner.description,
    }
