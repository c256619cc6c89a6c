"""Settings: one table, four layers, and for every value the place it came from.

    defaults  <  penstock.yaml  <  environment  <  flags

The sections below are the table: a setting is one line with its type, its default, its limits
and its help, and everything else is made from it: the YAML key (`llm: {model: ...}`), the
environment name (`PENSTOCK_LLM_MODEL`), the flag (`--model`), `penstock config`, the docs.
Plain dataclasses instead of pydantic-settings: start-up time, and errors with file and line.

The file is the one named by `PENSTOCK_SETTINGS`, else the nearest `penstock.yaml` upward from
the current folder. One that lies further up and belongs to somebody else is refused unless it is
named: a proxy set there would see every key. All that is wrong is reported at once.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from penstock.errors import InputError, SettingsError
from penstock.logs import inert
from penstock.secret import Secret
from penstock.yamlfile import Document, read

__all__ = [
    "FILE_NAME",
    "SETTINGS",
    "BatchProcessing",
    "Llm",
    "Logging",
    "Resolved",
    "Setting",
    "Settings",
    "Storage",
    "TokenManagement",
    "Value",
    "find_file",
    "give_flags",
]

FILE_NAME = "penstock.yaml"
Value = str | int | float | bool | None
_T = TypeVar("_T")

_DAY = 86_400
_LARGEST = 2**53  # what JSON, SQLite and floats hold exactly
_TRUTH = {"true": True, "1": True, "yes": True, "on": True}
_TRUTH |= {"false": False, "0": False, "no": False, "off": False}
_PASSWORD = re.compile(r"://[^/:@\s]*:([^/@\s]+)@")


@dataclass(frozen=True)
class Setting:
    """One row of the table.

    `path`: a relative one in the file is meant from the file's folder. `private`: a URL that may
    hold a password.
    """

    section: str
    name: str
    kind: type[str] | type[int] | type[float] | type[bool]
    optional: bool
    default: Value
    choices: tuple[str, ...]
    help: str
    flag: str
    minimum: float | None = None
    maximum: float | None = None
    example: Value = None
    path: bool = False
    private: bool = False

    @property
    def key(self) -> str:
        """As messages and `config show` name it: `llm.model`."""
        return f"{self.section}.{self.name}"

    @property
    def env(self) -> str:
        """The environment variable: `PENSTOCK_LLM_MODEL`."""
        return f"PENSTOCK_{self.section}_{self.name}".upper()

    @property
    def allowed(self) -> str:
        """What may be set, in words."""
        low, high = self.minimum, self.maximum
        if self.choices:
            words = " or ".join(self.choices) if len(self.choices) < 3 else ", ".join(self.choices)
        elif self.kind is bool:
            words = "true or false"
        elif self.kind is str:
            words = "text"
        else:
            words = "a whole number" if self.kind is int else "a number"
            if low is not None and high is not None:
                words += f" from {low:.15g} to {high:.15g}"
            elif low is not None:
                words += f", {low:.15g} or more"
        return words + (", or null" if self.optional else "")

    def accept(self, value: object) -> Value:
        """The value as this setting holds it. Raises ValueError with what is allowed."""
        try:
            if value is None and self.optional:
                return None
            return self._accepted(value)
        except (TypeError, ValueError, LookupError, OverflowError):
            shown = inert(repr(value))
            shown = shown if len(shown) <= 80 else shown[:80] + "…"
            raise ValueError(f"{shown} is not allowed; it takes {self.allowed}") from None

    def parse(self, text: str) -> Value:
        """The same for a text from the environment or a flag."""
        word = text.strip()
        if word.casefold() == "null" and self.optional:
            return None
        if self.kind in (int, float):
            try:
                return self.accept(int(word))
            except ValueError:
                pass
            try:
                return self.accept(float(word))
            except ValueError:
                return self.accept(text)
        return self.accept(text)

    def _accepted(self, value: object) -> Value:
        if self.kind is bool:
            return value if isinstance(value, bool) else _TRUTH[_text(value).strip().casefold()]
        if self.choices:
            word = _text(value).strip().casefold()
            return {choice.casefold(): choice for choice in self.choices}[word]
        if self.kind is str:
            if not (text := _text(value)).strip():
                raise ValueError
            return text
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError
        return self._within(value)

    def _within(self, value: float) -> Value:
        number = self.kind(value)
        if number != value or not math.isfinite(value) or abs(value) > _LARGEST:
            raise ValueError
        low, high = self.minimum, self.maximum
        if (low is not None and value < low) or (high is not None and value > high):
            raise ValueError
        return number


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _row(default: _T, help: str, **facts: Any) -> _T:  # noqa: A002
    """A setting; the facts are the optional fields of `Setting`."""
    shown = not facts.get("private")
    made: _T = field(default=default, metadata={"help": help, **facts}, repr=shown)
    return made


@dataclass(frozen=True)
class BatchProcessing:
    """How much is worked on at once, and how often it is tried."""

    max_workers: int = _row(4, "Files or chunks worked on at once.", minimum=1)
    chunk_size: int = _row(1000, "Rows in one chunk.", minimum=1)
    max_retries: int = _row(3, "Retries of a question after an error that can heal.", minimum=0)
    check_interval: float = _row(
        60.0,
        "The most seconds between two looks at a batch that lies at a provider.",
        minimum=0.05,
        maximum=_DAY,
    )


@dataclass(frozen=True)
class Llm:
    """Which model is asked, with what parameters, and how it is reached."""

    model: str | None = _row(None, "The model asked when a job names none.", example="gpt-4o-mini")
    temperature: float | None = _row(
        None,
        "How freely words are drawn; null: the provider's own.",
        minimum=0,
        maximum=2,
        example=0.7,
    )
    max_tokens: int | None = _row(
        None, "The longest answer, in tokens; null: the provider's own.", minimum=1, example=2048
    )
    timeout: float = _row(
        600.0, "Seconds until an answer must be there.", minimum=0.1, maximum=_DAY
    )
    connect_timeout: float = _row(
        10.0, "Seconds until a connection must stand.", minimum=0.1, maximum=_DAY
    )
    concurrency: int = _row(
        256,
        "The most questions in flight at once, per endpoint; what it bears is found out.",
        minimum=1,
    )
    outage_patience: float = _row(
        900.0,
        "Seconds that an endpoint may be down as a whole before its rows fail.",
        minimum=0.0,
        maximum=86_400.0,
    )
    proxy: str | None = _row(
        None,
        "The proxy that endpoints are reached through.",
        example="http://proxy.example:3128",
        private=True,
    )
    ca_bundle: str | None = _row(
        None, "A PEM file of the certificate authorities to trust.", example="ca.pem", path=True
    )
    http2: bool = _row(False, "Speak HTTP/2 with endpoints that offer it.")
    transport: Literal["auto", "pyreqwest", "aiohttp"] = _row(
        "auto", "The HTTP client; auto takes the fastest that is installed."
    )
    reasks: int = _row(
        2, "How often an answer that does not fit its schema is asked again.", minimum=0
    )


@dataclass(frozen=True)
class TokenManagement:
    """What may be spent."""

    token_limit: int | None = _row(
        None, "The most tokens one run may use; null: no limit.", minimum=1, example=1_000_000
    )
    file_token_limit: int | None = _row(
        None, "The most tokens one file may take when it is graded; null: no limit.", minimum=1,
        example=200_000,
    )  # fmt: skip
    daily_token_limit: int | None = _row(
        None, "The most tokens grading may use in a day, by the journal; null: no limit.",
        minimum=1, example=5_000_000,
    )  # fmt: skip
    cost_tracking: bool = _row(True, "Compute costs and keep them beside the tokens.")
    budget: float | None = _row(
        None, "The most one run may cost, in dollars; null: no limit.", minimum=0, example=25.0
    )
    prices: str | None = _row(
        None, "A YAML table of your own prices.", example="prices.yaml", path=True
    )


@dataclass(frozen=True)
class Storage:
    """How the workspace is kept."""

    durability: Literal["full", "fast"] = _row(
        "full", "full outlives a power cut; fast may lose the last answers in one, not in a crash."
    )
    drain: float = _row(
        30.0, "Seconds a cancelled run waits for the answers in flight.", minimum=0, maximum=_DAY
    )
    min_free_mb: int = _row(64, "Free megabytes below which no question is sent.", minimum=0)


@dataclass(frozen=True)
class Logging:
    """What is written about the work, and where."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = _row(
        "INFO", "The least important events that are written.", flag="--log-level"
    )
    file: str | None = _row(
        "penstock.log", "The log file, if relative in the workspace; null: none.", flag="--log-file"
    )
    console: bool = _row(False, "Write events to stderr as well.", flag="--log-console")
    max_size: int = _row(10_485_760, "Bytes of one log file.", minimum=1024, flag="--log-max-size")
    backup_count: int = _row(
        5, "Older log files that are kept.", minimum=0, maximum=100, flag="--log-backup-count"
    )


# The flags of the command line that this process was started with.
_given: Mapping[str, Value] = {}


def give_flags(flags: Mapping[str, Value]) -> None:
    """What `Settings.load` takes for flags from now on, where it is told of none."""
    global _given
    _given = dict(flags)


class Resolved(NamedTuple):
    """A setting, its value and where that came from."""

    setting: Setting
    value: Value
    origin: str


@dataclass(frozen=True)
class Settings:
    """All settings of one process: `settings.llm.model`. `Settings()` is the defaults."""

    batch_processing: BatchProcessing = field(default_factory=BatchProcessing)
    llm: Llm = field(default_factory=Llm)
    token_management: TokenManagement = field(default_factory=TokenManagement)
    storage: Storage = field(default_factory=Storage)
    logging: Logging = field(default_factory=Logging)
    file: Path | None = field(default=None, compare=False)
    origins: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def load(
        cls,
        flags: Mapping[str, Value] | None = None,
        cwd: Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Settings:
        """The settings that hold here and now.

        `flags` maps `"section.name"` to a value, a text being read as in the environment; None
        is a flag that was not given (`"null"` sets none). Raises SettingsError, which lists
        everything that is wrong.
        """
        layers = _Layers()
        environ = os.environ if environ is None else environ
        file = find_file(cwd or Path.cwd(), environ)
        if file is not None:
            layers.add_file(file, _shown_path(file, cwd or Path.cwd(), environ))
        layers.add_environment(environ)
        layers.add_flags(_given if flags is None else flags)
        return cls(**layers.sections(), file=file, origins=layers.origins)

    def __getitem__(self, key: str) -> Value:
        """The value of `"section.name"`."""
        setting = _named(key)
        value: Value = getattr(getattr(self, setting.section), setting.name)
        return value

    def origin(self, key: str) -> str:
        """`default`, `penstock.yaml:12`, `PENSTOCK_LLM_MODEL` or `--model`."""
        return self.origins.get(_named(key).key, "default")

    def rows(self) -> Iterator[Resolved]:
        """Every setting in the order of the table."""
        for setting in SETTINGS:
            yield Resolved(setting, self[setting.key], self.origin(setting.key))


def _table() -> Iterator[Setting]:
    for section, part in get_type_hints(Settings).items():
        if part in _PARTS:
            hints = get_type_hints(part)
            for row in fields(part):
                yield _setting(section, row, hints[row.name])


def _setting(section: str, row: Field[Any], hint: Any) -> Setting:
    options = get_args(hint)
    choices = options if get_origin(hint) is Literal else ()
    optional = type(None) in options
    facts = {"flag": "--" + row.name.replace("_", "-"), **row.metadata}
    default: Any = row.default
    return Setting(
        section=section,
        name=row.name,
        kind=str if choices else options[0] if optional else hint,
        optional=optional,
        default=default,
        choices=choices,
        **facts,
    )


_PARTS = (BatchProcessing, Llm, TokenManagement, Storage, Logging)
SETTINGS: tuple[Setting, ...] = tuple(_table())
_BY_KEY = {setting.key: setting for setting in SETTINGS}
_BY_ENV = {setting.env: setting for setting in SETTINGS}
_NAMES = {
    section: [setting.name for setting in SETTINGS if setting.section == section]
    for section in dict.fromkeys(setting.section for setting in SETTINGS)
}


def find_file(cwd: Path, environ: Mapping[str, str]) -> Path | None:
    """The settings file that holds in this folder, if there is one."""
    if named := environ.get("PENSTOCK_SETTINGS"):
        return cwd.absolute() / _expanded(named)
    for folder in (here := cwd.absolute(), *here.parents):
        file = folder / FILE_NAME
        try:
            if not file.is_file():
                continue
            owner = file.stat().st_uid
        except OSError:
            continue
        if folder != here and owner not in (0, os.getuid()):
            raise SettingsError(
                f"{inert(str(file))} belongs to another user and is not read unasked",
                remedy=f"To use it, name it: export PENSTOCK_SETTINGS={inert(str(file))}",
            )
        return file
    return None


def _expanded(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:  # a user who is not there; the message of the reader names the path
        return Path(path)


def _shown_path(file: Path, cwd: Path, environ: Mapping[str, str]) -> str:
    return environ.get("PENSTOCK_SETTINGS") or os.path.relpath(file, cwd)


class _Layers:
    """The layers laid over one another, and what was wrong with them."""

    def __init__(self) -> None:
        self.origins: dict[str, str] = {}
        self._values: dict[str, Value] = {}
        self._problems: list[str] = []

    def add_file(self, file: Path, shown: str) -> None:
        try:
            document = read(file, shown)
        except InputError as error:
            self._problems += map(inert, error.message.split("\n"))
            return
        if document.data is None:
            return
        if not isinstance(document.data, dict):
            self._wrong(document.where(), f"sections are wanted, such as {' or '.join(_NAMES)}")
            return
        for section, names in document.data.items():
            if section not in _NAMES:
                self._wrong(document.where(section), _unknown(section, "section", _NAMES))
            elif isinstance(names, dict):
                self._add_section(document, section, names, file.parent)
            elif names is not None:
                self._wrong(
                    document.where(section), f"{section}: names and values are wanted, indented"
                )

    def _add_section(
        self, document: Document, section: str, names: Mapping[str, object], folder: Path
    ) -> None:
        for name, value in names.items():
            where = document.where(section, name)
            setting = _BY_KEY.get(f"{section}.{name}")
            if setting is None:
                keys = [f"{section}.{known}" for known in _NAMES[section]]
                self._wrong(where, _unknown(f"{section}.{name}", "setting", keys))
                continue
            self._set(setting, where, value, setting.accept, folder)

    def add_environment(self, environ: Mapping[str, str]) -> None:
        for name, text in sorted(environ.items()):
            if setting := _BY_ENV.get(name):
                # Set but empty is how a shell or a compose file says "not set".
                if text:
                    self._set(setting, name, text, setting.parse)
            elif name.startswith(tuple(f"PENSTOCK_{section}_".upper() for section in _NAMES)):
                self._wrong("environment", _unknown(name, "setting", _BY_ENV))

    def add_flags(self, flags: Mapping[str, Value]) -> None:
        for key, value in flags.items():
            if value is None:
                continue
            if setting := _BY_KEY.get(key):
                accept = setting.parse if isinstance(value, str) else setting.accept
                self._set(setting, setting.flag, value, accept)
            else:
                self._wrong("flags", _unknown(key, "setting", _BY_KEY))

    def sections(self) -> dict[str, Any]:
        """The sections as they are to be, or SettingsError with all that is wrong."""
        if self._problems:
            found = self._problems
            title = "" if len(found) == 1 else f"{len(found)} settings are wrong:\n"
            raise SettingsError(
                title + "\n".join(found),
                remedy="docs/settings.md lists them all; `penstock config init` writes them down.",
            )
        hints = get_type_hints(Settings)
        return {
            section: hints[section](
                **{
                    name: self._values[key]
                    for name in names
                    if (key := f"{section}.{name}") in self._values
                }
            )
            for section, names in _NAMES.items()
        }

    def _set(
        self,
        setting: Setting,
        origin: str,
        given: Any,
        accept: Callable[[Any], Value],
        folder: Path = Path(),
    ) -> None:
        if setting.private and isinstance(given, str):
            _remember_password(given)
        try:
            value = accept(given)
        except ValueError as error:
            self._wrong(origin, f"{setting.key}: {error}")
            return
        if setting.path and isinstance(value, str):
            value = str(folder / _expanded(value))
        self._values[setting.key] = value
        self.origins[setting.key] = origin

    def _wrong(self, where: str, what: str) -> None:
        self._problems.append(inert(f"{where}: {what}"))


def _remember_password(url: str) -> None:
    """Have it masked wherever a transport repeats the URL."""
    if found := _PASSWORD.search(url):
        Secret(found[1])


def _named(key: str) -> Setting:
    if setting := _BY_KEY.get(key):
        return setting
    raise SettingsError(inert(_unknown(key, "setting", _BY_KEY)))


def _unknown(name: str, what: str, known: Iterable[str]) -> str:
    import difflib

    known = list(known)
    if close := difflib.get_close_matches(name, known, n=1, cutoff=0.6):
        return f"{name} is not a {what}; did you mean {close[0]}?"
    return f"{name} is not a {what}; there are {', '.join(known)}"
