"""`penstock bench import`: what others have, brought into the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from penstock.errors import Exit, InputError

if TYPE_CHECKING:
    from penstock.bench.importing import Backwards, Imported, Trouble
    from penstock.bench.importing.tabular import Taken

__all__ = ["app"]

app = App(name="import")

Flag = Annotated[bool, Parameter(negative="")]


@app.default
def import_(
    source: str | None = None,
    /,
    *,
    hf: str | None = None,
    config: str | None = None,
    split: str = "test",
    input: Annotated[list[str] | None, Parameter(negative="")] = None,  # noqa: A002
    target: str | None = None,
    cluster: str | None = None,
    name: str | None = None,
    id: str | None = None,  # noqa: A002
    description: str | None = None,
    license: str | None = None,  # noqa: A002
    reference: str | None = None,
    skip_empty: Flag = False,
    fix_grading: Flag = False,
    overwrite: Flag = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Bring in a data folder of Moonshot's, or a table or a dataset of Hugging Face as a dataset.

    Of a folder, the endpoints, datasets, prompt templates, recipes and cookbooks
    are taken; nothing in it is executed, and no token is kept. What could not be
    taken is listed with its reason, and the rest goes in.

    For example:

        penstock bench import moonshot-data
        penstock bench import moonshot-data --fix-grading
        penstock bench import questions.csv --input question --target answer
        penstock bench import trivia.parquet --input "Q: {question} Hint: {hint}" --target answer
        penstock bench import --hf openai/gsm8k --config main --input question --target answer

    Parameters
    ----------
    source
        A data folder of Moonshot's; or a file: csv, tsv, json, jsonl, parquet, arrow, xlsx.
    hf
        A dataset of the Hugging Face hub, or a folder that holds one.
    config
        Which of its configurations.
    split
        Which of its splits.
    input
        The column that is asked; given several times they are joined by a newline.
        A template such as "Q: {question}" may stand for it. Else `input`.
    target
        The column with what would be right; else `target`. "" for none.
    cluster
        A column that says which rows belong together, such as a passage.
    name
        How the dataset is called; else as its source.
    id
        Its id; else made of its name.
    description
        What it is for.
    license
        Under what terms it may be used.
    reference
        Where it comes from.
    skip_empty
        Leave out rows with nothing to ask, which otherwise are an error.
    fix_grading
        Turn gradings round that run against their metric; else they are only reported.
    overwrite
        Replace what is there and differs.
    as_json
        Print what came of it as JSON, for a program.
    """
    if (source is None) == (hf is None):
        raise InputError(
            "give a folder, a file, or --hf NAME"
            if source is None
            else "a folder or a file, and --hf, contradict each other"
        )
    described = {"--input": input, "--target": target, "--cluster": cluster, "--name": name,
                 "--id": id, "--description": description, "--license": license,
                 "--reference": reference, "--skip-empty": skip_empty or None}  # fmt: skip
    if source is not None and config is not None:
        raise InputError("--config is for --hf")
    if source is not None and Path(source).expanduser().is_dir():
        _refuse(described, "is for a file or --hf, not for a folder of Moonshot's")
        return _folder(Path(source), fix_grading, overwrite, as_json)
    if fix_grading:
        raise InputError("--fix-grading is for a folder of Moonshot's")
    texts = {"description": description, "license": license, "reference": reference}
    wish = {
        "input": input or "input",
        "target": "target" if target is None else target or None,
        "cluster": cluster,
        "name": name or "",
        "id": id,
        **{key: text or "" for key, text in texts.items()},
        "missing": "skip" if skip_empty else "error",
        "overwrite": overwrite,
    }
    return _dataset(_taken(source, hf, config, split, wish), as_json)


def _refuse(flags: dict[str, Any], why: str) -> None:
    for flag, given in flags.items():
        if given is not None:
            raise InputError(f"{flag} {why}")


def _folder(folder: Path, fix_grading: bool, overwrite: bool, as_json: bool) -> int:
    from penstock.bench.importing import import_folder
    from penstock.cli.show import print_json
    from penstock.engine.workbench import Workbench

    with Workbench() as bench:
        done = import_folder(folder, bench, fix_grading=fix_grading, overwrite=overwrite)
    if as_json:
        print_json(done.to_dict())
    else:
        _print_imported(done)
    return Exit.OK if done.complete else Exit.FAILURES


def _taken(
    source: str | None, hf: str | None, config: str | None, split: str, wish: dict[str, Any]
) -> Taken:
    from penstock.bench.importing.hub import take_hub
    from penstock.bench.importing.tabular import Wanted, name_of, take
    from penstock.engine.workbench import Workbench
    from penstock.tables import rows

    with Workbench() as bench:
        if hf is not None:
            return take_hub(hf, bench, Wanted(**wish), config=config, split=split)
        assert source is not None
        wish["name"] = wish["name"] or name_of(Path(source))
        return take(rows(source), bench, Wanted(**wish))


def _dataset(taken: Taken, as_json: bool) -> int:
    from penstock.bench.importing.report import named
    from penstock.cli.show import out, print_json, safe

    entry = taken.entry
    if as_json:
        print_json(
            {
                "id": entry.id,
                "name": entry.value.name,
                "file": str(entry.path),
                "examples": taken.examples,
                "left_out": list(taken.left_out),
                "new": taken.new,
            }
        )
    else:
        said = "was there already" if not taken.new else f"has {taken.examples:,} examples"
        out().print(safe(f"the dataset {entry.id} {said}"), soft_wrap=True)
        if taken.left_out:
            rows = f"{len(taken.left_out):,} rows with nothing to ask were left out"
            out().print(safe(f"{rows}: {named(taken.left_out)}"), soft_wrap=True)
    return Exit.FAILURES if taken.left_out else Exit.OK


def _print_imported(done: Imported) -> None:
    """What is there now, and below it what a person should look at."""
    from penstock.cli.show import print_table

    counts = [
        (f"{kind}s", len(ids), len(done.unchanged[kind])) for kind, ids in done.imported.items()
    ]
    print_table(("", "imported", "there already"), counts)
    _print_part("not imported", [_line(each) for each in done.not_imported])
    _print_part("named, but not here", [_line(each) for each in done.missing])
    _print_part(
        "metrics without a counterpart",
        [f"{each.metric}: {each.reason} ({_named(each.recipes)})" for each in done.unmapped],
    )
    wrong = "gradings that run backwards"
    if not all(each.fixed for each in done.backwards):
        wrong += " (--fix-grading turns those that are imported round)"
    _print_part(wrong, [_wrong_way(each) for each in done.backwards])
    _print_part("notes", done.notes)


def _print_part(title: str, lines: Sequence[str]) -> None:
    from rich.text import Text

    from penstock.cli.show import out, safe

    if not lines:
        return
    console = out()
    console.print(Text(f"\n{title}", style="bold"))
    for line in lines:
        console.print(Text(safe(f"  {line}")), soft_wrap=True)


def _line(trouble: Trouble) -> str:
    name = f"{trouble.kind} {trouble.id}".strip()
    return f"{trouble.where}: {name}: {trouble.reason}"


def _wrong_way(each: Backwards) -> str:
    said = f"{each.recipe}: of {each.metric} {each.direction} is better, its scale has {each.scale}"
    return f"{said}; turned round" if each.fixed else said


def _named(names: Sequence[str]) -> str:
    from penstock.bench.importing.report import named

    return named(names)
