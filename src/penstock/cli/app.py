"""The table of commands."""

from __future__ import annotations

from importlib.metadata import version

from cyclopts import App

__all__ = ["app"]

app = App(
    name="penstock",
    help="Bulk work with language models: every answer once, in order, on disk.",
    version=lambda: version("penstock"),
    help_epilogue="Start with: penstock demo. Exit codes: docs/errors.md.",
)

_COMMANDS = (
    ("demo", "penstock.cli.demo:demo", "A small job end to end, offline, with a simulated model."),
    ("ask", "penstock.cli.ask:ask", "Ask a model one question."),
    ("endpoints", "penstock.cli.endpoints:app", "Models at addresses, saved under a name."),
    ("runs", "penstock.cli.runs:app", "What has been run, and what came of it."),
    ("journal", "penstock.cli.journal:app", "The record of every question and its answer."),
    ("config", "penstock.cli.config:app", "The settings that hold here, and a file of them."),
    ("simulate", "penstock.cli.simulate:simulate", "Serve a simulated model, faults on demand."),
)

for _name, _where, _help in _COMMANDS:
    app.command(_where, name=_name, help=_help)
