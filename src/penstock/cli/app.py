"""The table of commands."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import NamedTuple

from cyclopts import App

__all__ = ["COMMANDS", "Command", "app_for"]


class Command(NamedTuple):
    """A command: its name, where its code is, and one line about it."""

    name: str
    where: str
    help: str


COMMANDS = (
    Command("demo", "penstock.cli.demo:demo", "A small job end to end, offline, simulated."),
    Command("ask", "penstock.cli.ask:ask", "Ask a model one question."),
    Command("prompt", "penstock.cli.prompt:prompt", "A question for every row of a file."),
    Command("generate", "penstock.cli.generate:generate", "A dataset from a schema of columns."),
    Command("grade", "penstock.cli.grade:app", "Files of texts in, the same files with grades."),
    Command("bench", "penstock.cli.bench:app", "Recipes and cookbooks over endpoints."),
    Command("redteam", "penstock.cli.redteam:app", "Attacks and sessions against endpoints."),
    Command("endpoints", "penstock.cli.endpoints:app", "Models at addresses, under a name."),
    Command("runs", "penstock.cli.runs:app", "What has been run, and what came of it."),
    Command("batches", "penstock.cli.batches:app", "What lies in batches at providers."),
    Command("journal", "penstock.cli.journal:app", "The record of every question and answer."),
    Command("usage", "penstock.cli.usage:usage", "What was used and paid, by day, model or run."),
    Command("config", "penstock.cli.config:app", "The settings that hold here, and their file."),
    Command("simulate", "penstock.cli.simulate:simulate", "Serve a simulated model over HTTP."),
)


def app_for(arguments: Sequence[str]) -> App:
    """The app for a command line. Only the command that is called is loaded; it then speaks for
    itself, while the others are known by their one line."""
    app = App(
        name="penstock",
        help="Bulk work with language models: every answer once, in order, on disk.",
        version=lambda: version("penstock"),
        help_format="plaintext",
        suppress_keyboard_interrupt=False,
        help_epilogue="Start with: penstock demo",
    )
    called = arguments[0] if arguments else ""
    for command in COMMANDS:
        if command.name == called:
            app.command(command.where, name=command.name)
        else:
            app.command(command.where, name=command.name, help=command.help)
    return app
