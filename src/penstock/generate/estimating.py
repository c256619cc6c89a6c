"""`penstock.estimate`: what questions would take, before there is a job, a key or a workspace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.errors import InputError
from penstock.generate.estimate import Projection, Rates, project_all
from penstock.generate.prompter import Prompter
from penstock.tables import RowSource, rows
from penstock.templates import Template

__all__ = ["estimate"]


def estimate(
    dataset: Any,
    template: str | None = None,
    *,
    model: str | Endpoint | None = None,
    system: str | None = None,
    schema: Any = None,
    n: int = 1,
    dedupe: bool = False,
    sample: int | None = None,
    workbench: Workbench | None = None,
    **params: Any,
) -> Projection:
    """What it would take to ask: questions, tokens and dollars. Sends nothing, writes nothing.

    `dataset` is prompts (texts or messages), or with a `template` rows of any kind, whose columns
    stand in its braces. `n` counts several draws of each, `sample` only so many from the beginning;
    `params` are those of the model, such as `max_tokens`. Nothing is looked up in the journal.
    """
    prompter = Prompter(
        model,
        _asked if template is None else Template(template).fill,
        response_format=schema,
        system_prompt=system,
        generation_params=params,
        n=n,
        dedupe=dedupe,
        workbench=workbench,
    )
    launch = prompter.launch(_source(dataset, template, sample))
    rates = Rates.of(launch.bench.prices(), launch.plan)
    return project_all(launch.plan, launch.source, rates)


def _asked(row: Mapping[str, Any]) -> Any:
    return row["prompt"]


def _source(dataset: Any, template: str | None, sample: int | None) -> RowSource:
    if template is None:
        return rows(_first(_prompts(dataset), sample), key="prompt")
    source = rows(dataset)
    if source.column_names is not None:
        Template(template).check(source.column_names)
    return source if sample is None else rows(_first(source, sample))


def _first(items: Iterable[Any], sample: int | None) -> Iterable[Any]:
    if sample is None:
        return items
    if isinstance(sample, bool) or not isinstance(sample, int) or sample < 0:
        raise InputError(f"sample is {sample!r}; a whole number of 0 or more is wanted")
    return islice(items, sample)


def _prompts(dataset: Any) -> Iterator[Any]:
    """Prompts, each as it is; rows are no prompts."""
    of = type(dataset)
    is_table = hasattr(of, "columns") or hasattr(of, "column_names")
    if is_table or issubclass(of, str | bytes | Mapping) or not issubclass(of, Iterable):
        raise InputError(
            f"a {of.__name__} holds no prompts",
            remedy="Give a list of prompts, or rows and a template: 'Describe {name}.'",
        )
    for number, prompt in enumerate(dataset):
        if isinstance(prompt, Mapping) and "user" not in prompt:
            raise InputError(
                f"item {number + 1} of the dataset is a row, not a prompt",
                remedy="Give a template, in which columns stand in braces: 'Describe {name}.'",
            )
        yield prompt
