"""The generated tables of the docs: `python -m tests.docs.tables` writes them anew.

A table stands between `<!-- table: NAME -->` and `<!-- end of table -->`. It is made from the code
that it describes, and a test fails when it is out of date.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path

from penstock import errors, outcome
from penstock.providers.anthropic_batch import AnthropicBatches
from penstock.providers.batch import Batches
from penstock.providers.gemini_batch import GeminiBatches
from penstock.providers.openai_batch import AzureBatches, GroqBatches, OpenAIBatches
from penstock.simulator.batch_faults import BATCH_KINDS
from penstock.simulator.faults import KINDS
from penstock.simulator.scripts import SCRIPTS
from penstock.simulator.settings import FIXED_AT_START, SimulatorSettings
from penstock.testing import ABILITIES
from tests.docs import metric_tables, provider_tables
from tests.docs.pages import PAGES

__all__ = ["TABLES", "renewed"]

_REGION = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end of table -->)", re.S)


def _table(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    heads = list(headings)
    lines = [heads, ["---"] * len(heads), *([str(cell) for cell in row] for row in rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def exit_codes() -> str:
    """Every way in which a command can end."""
    rows = ((int(code), f"`{code.name}`", code.meaning) for code in errors.Exit)
    return _table(("code", "name", "meaning"), rows)


def exceptions() -> str:
    """The tree of exceptions, indented."""
    headings = ("exception", "exit code", "HTTP status", "meaning")
    return _table(headings, _branch(errors.PenstockError, 0))


def _branch(kind: type[errors.PenstockError], depth: int) -> Iterator[tuple[object, ...]]:
    indent = "&nbsp;&nbsp;&nbsp;&nbsp;" * depth
    meaning = (kind.__doc__ or "").strip().split("\n")[0]
    yield f"{indent}`{kind.__name__}`", int(kind.exit_code), kind.http_status, meaning
    for child in kind.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from _branch(child, depth + 1)


def failures() -> str:
    """Every kind of Failure."""
    rows = (
        (f"`{kind}`", "yes" if kind.heals else "", "yes" if kind.stops else "", kind.meaning)
        for kind in outcome.FailureKind
    )
    return _table(("kind", "heals", "stops", "meaning"), rows)


def simulator_flags() -> str:
    """Every setting of the simulated server."""
    rows = (
        (
            f"`--{each.name.replace('_', '-')}`",
            "" if each.default in (None, "") else f"`{each.default}`",
            "" if each.name in FIXED_AT_START else "yes",
            each.metadata["help"],
        )
        for each in fields(SimulatorSettings)
    )
    return _table(("flag", "default", "may change while it runs", "what it does"), rows)


def simulator_faults() -> str:
    """Every kind of fault that `--errors` takes."""
    rows = ((f"`{kind}`", what) for kind, what in KINDS.items())
    return _table(("kind", "what the server does"), rows)


def simulator_batch_faults() -> str:
    """Every kind of fault that `--batch-faults` takes."""
    rows = ((f"`{kind}`", share, what) for kind, (share, what) in BATCH_KINDS.items())
    return _table(("kind", "share of", "what happens"), rows)


def scripted_models() -> str:
    """The models that follow a script."""
    rows = ((f"`{name}`", script.description) for name, script in SCRIPTS.items())
    return _table(("model", "what it does"), rows)


def abilities() -> str:
    """What the contract expects of a provider."""
    return _table(("ability", "a provider that has it"), _coded(ABILITIES.items()))


def _coded(pairs: Iterable[tuple[str, object]]) -> Iterator[tuple[str, object]]:
    return ((f"`{name}`", said) for name, said in pairs)


_NAMES = ("OpenAI", "Anthropic", "Gemini")


def provider_access() -> str:
    """Keys and addresses of the providers."""
    headings = ("provider", "key", "address", "else", "the key travels as")
    return _table(headings, provider_tables.access())


def compatible_servers() -> str:
    """The names of servers that speak OpenAI's protocol."""
    headings = ("provider", "address", "another address", "key", "what is particular there")
    return _table(headings, provider_tables.compatible())


def provider_parameters() -> str:
    """What becomes of parameters."""
    return _table(("given", *_NAMES), provider_tables.parameters())


def schema_keywords() -> str:
    """What becomes of the keywords of a schema."""
    return _table(("keyword", *_NAMES), provider_tables.keywords())


def provider_finishes() -> str:
    """Why a model stopped, in each provider's words."""
    return _table(("`Answer.finish`", *_NAMES), provider_tables.finishes())


def provider_usage() -> str:
    """What is counted, in each provider's words."""
    return _table(("`Usage`", *_NAMES), provider_tables.usage())


def batch_limits() -> str:
    """What one batch may hold, by provider."""
    rows = (
        (
            name,
            f"{limits.requests:,}",
            f"{round(limits.bytes / 1e6):,} MB",
            limits.open_batches or "",
            f"{limits.hours} h" if limits.hours < _NEVER else "never",
            limits.source,
        )
        for name, limits in ((name, lane.limits) for name, lane in _LANES.items())
    )
    headings = ("provider", "questions", "size", "open at once", "given up after", "by")
    return _table(headings, rows)


_NEVER = 30 * 24
_LANES: dict[str, type[Batches]] = {
    "OpenAI": OpenAIBatches,
    "Azure": AzureBatches,
    "Anthropic": AnthropicBatches,
    "Gemini": GeminiBatches,
    "Groq": GroqBatches,
}

TABLES: dict[str, Callable[[], str]] = {
    "batch-limits": batch_limits,
    "provider-access": provider_access,
    "compatible-servers": compatible_servers,
    "provider-parameters": provider_parameters,
    "schema-keywords": schema_keywords,
    "provider-finishes": provider_finishes,
    "provider-usage": provider_usage,
    "abilities": abilities,
    "exit-codes": exit_codes,
    "exceptions": exceptions,
    "failures": failures,
    "simulator-flags": simulator_flags,
    "simulator-batch-faults": simulator_batch_faults,
    "simulator-faults": simulator_faults,
    "scripted-models": scripted_models,
    **{name: partial(metric_tables.family, name) for name in metric_tables.FAMILIES},
}


def renewed(text: str) -> str:
    """A page's text with every table in it made anew."""
    return _REGION.sub(lambda found: found[1] + TABLES[found[2]]() + found[3], text)


def main(pages: Iterable[Path] = PAGES) -> None:
    """Rewrite what is out of date, and say so."""
    for page in pages:
        text = page.read_text("utf-8")
        made = renewed(text)
        if made != text:
            page.write_text(made, "utf-8")
            sys.stdout.write(f"rewrote {page}\n")


if __name__ == "__main__":
    main()
