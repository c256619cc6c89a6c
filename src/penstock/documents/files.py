"""A file that a person wrote: YAML, or JSON by its suffix, as plain data with lines; and back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock import yamlfile
from penstock.errors import InputError
from penstock.files import private_file, private_folder, storage_errors
from penstock.yamlfile import Document

__all__ = ["SUFFIXES", "as_yaml", "read", "write"]

SUFFIXES = (".yaml", ".yml", ".json")
# What stands in a JSON string as itself, but not in YAML, or there ends a line.
_RAW = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_BREAKS = re.compile("[\x85\u2028\u2029]")
_HALF = re.compile("[\ud800-\udfff]")
_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB]\w\w)\\u([dD][c-fC-F]\w\w)")


def read(path: Path, name: str | None = None) -> Document:
    """What a file says and where; `name` is how messages call it."""
    shown = str(path) if name is None else name
    return _read_json(path, shown) if path.suffix.lower() == ".json" else yamlfile.read(path, shown)


def write(path: Path, data: Mapping[str, Any]) -> None:
    """Write YAML, for the owner alone, whole or not at all."""
    body = as_yaml(data).encode("utf-8")
    if len(body) > yamlfile.LARGEST:
        raise InputError(
            f"{path.name} would be larger than {yamlfile.LARGEST >> 20} MiB, the most that is read",
            remedy="Keep large lists in a file of their own.",
        )
    with storage_errors(path):
        private_folder(path.parent)
        private_file(path, body)


def as_yaml(data: Mapping[str, Any]) -> str:
    """Plain data as YAML that `read` gives back unchanged."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Texts that YAML 1.2 would take for something else stand in quotes."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:
            return super().increase_indent(flow, False)

    def text(dumper: yaml.SafeDumper, value: str) -> Any:
        if _HALF.search(value):
            raise InputError(f"half a character (a surrogate) cannot be written: {value!r:.100}")
        style = None
        if not isinstance(yamlfile.resolved(value), str) or _BREAKS.search(value):
            style = '"'
        elif "\n" in value.strip("\n"):
            style = "|"
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    made: str = yaml.dump(dict(data), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100)
    return made


def _read_json(path: Path, shown: str) -> Document:
    """As YAML, which knows no escape in two halves and fewer characters without one."""
    try:
        with path.open("rb") as file:
            body = file.read(yamlfile.LARGEST + 1)
        text = body.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        return yamlfile.parse(body, shown)  # which says where
    if len(body) > yamlfile.LARGEST:
        return yamlfile.parse(body, shown)
    text = _RAW.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return yamlfile.parse(_PAIR.sub(_one_character, text), shown)


def _one_character(match: re.Match[str]) -> str:
    pair = int(match[2], 16) << 16 | int(match[3], 16)
    return match[1] + pair.to_bytes(4, "big").decode("utf-16-be")
