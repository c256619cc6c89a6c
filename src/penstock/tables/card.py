"""The card of a published table: the README.md that says what the data are and what made them.

A card has two parts. The front matter is YAML for programs: which files belong to which split, the
columns and their types, tags. The text under it is for people. One repository may hold several
splits and subsets, pushed at different times, and somebody's own words: so each push renews its own
section, between two marks, and its own entries, and leaves everything else as it is.

Names of columns may come from a model. They are data: YAML quotes them, and in the text they stand
in code spans, one line each, where nothing in them means anything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.errors import InputError
from penstock.secret import mask
from penstock.tables.features import features
from penstock.tables.origin import Origin
from penstock.yamlfile import parse

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Part", "card"]

_FRONT = re.compile(r"\A\s*---[ \t]*\r?\n(.*?)(?:\r?\n)?^---[ \t]*(?:\r?\n|\Z)", re.S | re.M)
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_LONGEST = 200
_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
    (1_000_000_000, "100M<n<1B"),
)


class Part(NamedTuple):
    """What one push puts into a repository."""

    repo: str
    config: str
    split: str
    folder: str
    """Where its files lie."""
    schema: pa.Schema
    rows: int
    size: int
    """Bytes in memory."""
    version: str
    """Of Penstock."""
    origin: Origin | None


def card(part: Part, *, old: str = "", own: str | None = None) -> str:
    """The whole card, made of the one that is there, a text of one's own, and what is pushed."""
    front, body = _taken_apart(old, f"the card of {part.repo}")
    if own is not None:
        own_front, body = _taken_apart(own, "the card that is given")
        front |= own_front
    else:
        body = _with_section(body or f"# {part.repo.rpartition('/')[2]}", part)
    _renew(front, part)
    return f"---\n{_yaml(front)}---\n\n{body}\n"


def _taken_apart(text: str, name: str) -> tuple[dict[str, Any], str]:
    """The front matter and the rest."""
    found = _FRONT.match(text)
    if found is None:
        return {}, text.strip()
    front = parse(found[1], name).data
    if front is not None and not isinstance(front, dict):
        raise InputError(f"{name} begins with YAML that is no table of names and values")
    return front or {}, text[found.end() :].strip()


def _yaml(front: dict[str, Any]) -> str:
    """One line a value, so that no text in it can look like the end of the front matter."""
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        style = None if value.isprintable() else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return yaml.dump(front, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=2**31)


# For programs -------------------------------------------------------------------------------------


def _renew(front: dict[str, Any], part: Part) -> None:
    """Put the entries of this push into the front matter."""
    infos = _listed(front.get("dataset_info"))
    info = _entry(infos, part.config)
    _check_columns(info, part)
    if (columns := features(part.schema)) is None:
        info.pop("features", None)
    else:
        info["features"] = columns
    splits = info["splits"] = _listed(info.get("splits"))
    split = _entry(splits, part.split, "name")
    split |= {"num_bytes": part.size, "num_examples": part.rows}
    sizes = [each.get("num_bytes") for each in splits]
    info["dataset_size"] = sum(size for size in sizes if isinstance(size, int))
    info.pop("download_size", None)  # of the files that were there before

    configs = _listed(front.get("configs"))
    config = _entry(configs, part.config)
    files = config["data_files"] = _files(config.get("data_files"))
    _entry(files, part.split, "split")["path"] = f"{part.folder}/{part.split}-*"

    tags = front.get("tags")
    tags = tags if isinstance(tags, list) else []
    ours = ["penstock"] if part.origin is None else ["penstock", "synthetic"]
    front["tags"] = [*tags, *(tag for tag in ours if tag not in tags)]
    front["size_categories"] = [_size(infos)]
    front["dataset_info"] = infos
    front["configs"] = configs


def _listed(value: Any) -> list[dict[str, Any]]:
    """Entries as a list; a single one may stand alone."""
    if isinstance(value, dict):
        return [{"config_name": "default", **value}]
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _files(value: Any) -> list[dict[str, Any]]:
    """The files of a subset, by split; written without splits they are those of `train`."""
    if isinstance(value, str) or (isinstance(value, list) and value and isinstance(value[0], str)):
        return [{"split": "train", "path": value}]
    return _listed(value)


def _entry(entries: list[dict[str, Any]], name: str, key: str = "config_name") -> dict[str, Any]:
    """The entry of that name, made where it is not there."""
    for entry in entries:
        if entry.get(key, "default") == name:
            return entry
    entries.append({key: name})
    return entries[-1]


def _check_columns(info: dict[str, Any], part: Part) -> None:
    """All splits of a subset have the same columns, or nobody can load them."""
    others = [each.get("name") for each in _listed(info.get("splits"))]
    known = info.get("features")
    if known is None or not any(other != part.split for other in others):
        return
    if known != features(part.schema):
        raise InputError(
            f"{part.repo} has other columns in {part.config!r} than this table",
            remedy="Give config_name=... to put it beside them.",
        )


def _size(infos: list[dict[str, Any]]) -> str:
    splits = [split for info in infos for split in _listed(info.get("splits"))]
    counts = [split.get("num_examples") for split in splits]
    rows = sum(count for count in counts if isinstance(count, int))
    return next((name for most, name in _SIZES if rows < most), "n>1B")


# For people ---------------------------------------------------------------------------------------


def _with_section(body: str, part: Part) -> str:
    """The text with the section of this push in it, in the place of an earlier one."""
    begin, end = (f"<!-- {word}penstock {part.config}/{part.split} -->" for word in ("", "end of "))
    section = f"{begin}\n{_section(part)}\n{end}"
    # A mark has a line of its own, which no name of a column has.
    earlier = re.search(f"^{re.escape(begin)}$.*?^{re.escape(end)}$", body, re.S | re.M)
    if earlier is not None:
        return body[: earlier.start()] + section + body[earlier.end() :]
    return f"{body}\n\n{section}"


def _section(part: Part) -> str:
    columns = [f"* {_code(field.name)}: {_type(field)}" for field in part.schema]
    arguments = [part.repo, *([part.config] if part.config != "default" else [])]
    names = ", ".join(f'"{each}"' for each in arguments)
    return "\n".join(
        [
            f"## {part.split}" + ("" if part.config == "default" else f" of {part.config}"),
            "",
            *(f"* **{name}:** {value}" for name, value in _facts(part)),
            "",
            "Columns:",
            "",
            *columns,
            "",
            "```python",
            "from datasets import load_dataset",
            "",
            f'dataset = load_dataset({names}, split="{part.split}")',
            "```",
        ]
    )


def _facts(part: Part) -> list[tuple[str, str]]:
    rows, ours = ("Rows", f"{part.rows:,}"), ("Written by", f"Penstock {part.version}")
    origin = part.origin
    if origin is None:
        return [rows, ours]
    facts = [("Made by", "a language model: " + ", ".join(map(_shown, origin.models)))]
    facts += [("Prompt", _shown(origin.prompt))]
    facts += [("Run", f"{_shown(origin.run)}, {origin.ended:%Y-%m-%d}"), rows]
    if origin.failed:
        facts += [("Failed rows", f"{origin.failed:,}, which are not in here")]
    facts += [("Tokens", f"{origin.input_tokens:,} in, {origin.output_tokens:,} out")]
    return [*facts, ("Cost", _cost(origin)), ours]


def _cost(origin: Origin) -> str:
    said = f"${origin.cost.normalize():f}" if origin.cost else "$0"
    if origin.unpriced:
        said = f"{said}, and {origin.unpriced:,} answers of which no price is known"
    if origin.recorded:
        said = f"{said}; {origin.recorded:,} answers had been paid for by earlier runs"
    return said


def _type(field: pa.Field) -> str:
    if field.metadata and field.metadata.get(b"penstock") == b"json":
        return "JSON, as text"
    return _code(str(field.type))


def _shown(text: str) -> str:
    return _code(mask(text))


def _code(text: str) -> str:
    """Text in which nothing means anything: one line, in a code span that it cannot end."""
    line = _OBEYED.sub(lambda m: m[0].encode("unicode_escape").decode(), text)
    line = line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
    if not line.strip():
        return "(no name)"
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    pad = " " if line[0] in "` " or line[-1] in "` " else ""
    return f"{fence}{pad}{line}{pad}{fence}"
