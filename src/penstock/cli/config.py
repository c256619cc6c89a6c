"""`penstock config`: what holds here and why, and a settings file to begin with.

All of it, and `docs/settings.md`, is made from the table in `settings.py`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from penstock.errors import HostError, InputError
from penstock.logs import inert, scrub
from penstock.settings import FILE_NAME, SETTINGS, Setting, Settings, Value

__all__ = ["app", "settings_markdown", "settings_yaml"]

app = App(name="config", help="Show the settings that hold here, or write a file to begin with.")

Json = Annotated[bool, Parameter(name="--json", negative="")]
Force = Annotated[bool, Parameter(negative="")]


@app.command
def show(*, as_json: Json = False) -> None:
    """Show every setting, its value, and where it came from.

    Parameters
    ----------
    as_json
        Write JSON instead of a table.
    """
    settings = Settings.load()
    if as_json:
        rows = {
            setting.key: {"value": scrub(value) if isinstance(value, str) else value, "origin": why}
            for setting, value, why in settings.rows()
        }
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("setting", "value", "origin", box=None, pad_edge=False, header_style="bold")
    for setting, value, why in settings.rows():
        style = "dim" if why == "default" else ""
        shown = inert(_yaml(value))
        table.add_row(*(Text(cell, style, overflow="fold") for cell in (setting.key, shown, why)))
    file = inert(str(settings.file)) if settings.file else f"none; no {FILE_NAME} here or above"
    # Rich takes a pipe for a terminal of 80 columns.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 1000)
    console.print(Text(f"settings file: {file}\n"))
    console.print(table)


@app.command
def init(path: Path = Path(FILE_NAME), /, *, force: Force = False) -> None:
    """Write a settings file in which every setting stands, commented out, with its help.

    Parameters
    ----------
    path
        The file, or a folder for it.
    force
        Replace a file that is there.
    """
    file = path / FILE_NAME if path.is_dir() else path
    try:
        with file.open("w" if force else "x", encoding="utf-8") as stream:
            stream.write(settings_yaml())
    except FileExistsError:
        raise InputError(
            f"{inert(str(file))} is already there", remedy="Use --force to replace it."
        ) from None
    except FileNotFoundError:
        raise InputError(f"the folder of {inert(str(file))} does not exist") from None
    except OSError as error:
        raise HostError(f"{inert(str(file))} cannot be written: {error.strerror}") from None
    sys.stdout.write(f"wrote {inert(str(file))}\n")


@app.command(show=False)
def docs() -> None:
    """Write docs/settings.md to the standard output."""
    sys.stdout.write(settings_markdown())


def settings_yaml() -> str:
    """A commented settings file that changes nothing until a line of it is uncommented."""
    parts = [
        "# Settings of Penstock, for this folder and those below it.\n"
        "# A line that is commented out shows the default; take its `# ` away to change it.\n"
        "# Environment variables go before this file, flags before both.\n"
        "# `penstock config show` says which value holds and where it came from.\n"
    ]
    for section, rows in _sections():
        parts.append(f"\n# {_about(section)}\n{section}:\n")
        for row in rows:
            example = "" if row.example is None else f" For example {_yaml(row.example)}."
            parts.append(
                f"  #: {row.help}\n"
                f"  #: Allowed: {row.allowed}.{example} Environment: {row.env}\n"
                f"  # {row.name}: {_yaml(row.default)}\n"
            )
    return "".join(parts)


def settings_markdown() -> str:
    """The page `docs/settings.md`."""
    parts = [_INTRODUCTION]
    for section, rows in _sections():
        parts.append(
            f"\n## {section}\n\n{_about(section)}\n\n"
            "| name | default | allowed | what it does | environment, flag |\n"
            "|---|---|---|---|---|\n"
        )
        for row in rows:
            example = "" if row.example is None else f" Example: `{_yaml(row.example)}`."
            parts.append(
                f"| `{row.name}` | `{_yaml(row.default)}` | {row.allowed} | {row.help}{example} "
                f"| `{row.env}`<br>`{row.flag}` |\n"
            )
    return "".join(parts)


_INTRODUCTION = """\
# Settings

<!-- Made from the table in src/penstock/settings.py: penstock config docs > docs/settings.md -->

A setting is looked for in four places; the later one wins:

1. the default, in the tables below;
2. the file `penstock.yaml`: the one named by `PENSTOCK_SETTINGS`, else the nearest one upward
   from the current folder;
3. an environment variable, `PENSTOCK_<SECTION>_<NAME>`;
4. a flag of the command, where the command has it.

`penstock config show` says which value holds here and where it came from. `penstock config init`
writes a `penstock.yaml` in which every setting stands, commented out.

```yaml
llm:
  model: gpt-4o-mini
  temperature: 0.7
token_management:
  budget: 25        # dollars a run
logging:
  level: WARNING
```

A misspelt name or a value that is not allowed is an error that names the file, the line and what
is allowed; all errors are told at once. In the environment, booleans are `true`, `false`, `1`,
`0`, `yes` or `no`, `null` unsets a value, and an empty variable counts as not set. Durations are
seconds. Relative paths in the file are meant from the file's folder. A `penstock.yaml` above the
current folder that belongs to another user is refused unless `PENSTOCK_SETTINGS` names it. The
workspace is not a setting: `PENSTOCK_HOME` names its folder.
"""


def _sections() -> Iterator[tuple[str, list[Setting]]]:
    for section, rows in groupby(SETTINGS, key=lambda row: row.section):
        yield section, list(rows)


def _about(section: str) -> str:
    return (type(getattr(Settings(), section)).__doc__ or "").strip()


def _yaml(value: Value) -> str:
    """The value as it is written in YAML; a text that could be taken for something else quoted."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _TAKEN:
        return value
    return json.dumps(value)


_PLAIN = re.compile(r"[A-Za-z/](?:[\w./:-]*\w)?", re.ASCII)
_TAKEN = {"true", "false", "null", "yes", "no", "on", "off"}
