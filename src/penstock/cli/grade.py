"""`penstock grade`: files of texts and a rubric in, the same files with grades out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from penstock.errors import Exit, InputError

__all__ = ["app"]

app = App(name="grade")

Flag = Annotated[bool, Parameter(negative="")]


@app.default
def grade(
    *inputs: str,
    rubric: Annotated[Path | None, Parameter(name=["--rubric", "-r"])] = None,
    model: Annotated[list[str] | None, Parameter(name=["--model", "-m"], negative="")] = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    column: str | None = None,
    template: Annotated[str | None, Parameter(name=["--template", "-t"])] = None,
    graders: int = 1,
    combine: Literal["mean", "median", "majority"] = "mean",
    count_tokens: Flag = False,
    split: Flag = False,
    estimate: Flag = False,
    preview: int | None = None,
    retry_failed: Flag = False,
    batch: Flag = False,
    lane: Literal["online", "batch", "auto"] | None = None,
    wait: bool = True,
    max_workers: int | None = None,
    row_limit: int | None = None,
    token_limit: int | None = None,
    chunks: int | None = None,
    file_token_limit: int | None = None,
    daily_token_limit: int | None = None,
    budget: str | None = None,
    on_over_limit: Literal["abort", "skip"] = "abort",
    on_file_error: Literal["skip", "halt"] = "skip",
    halt_on_chunk_failure: bool = True,
    output_format: str | None = None,
    overwrite: Flag = False,
    temperature: float | None = None,
    max_tokens: int | None = None,
    cache: Literal["use", "off", "refresh", "read"] = "use",
    name: str = "",
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Grade the texts in files by a rubric: the same files come back with scores and reasons.

    Every row comes back once, in order, with your columns as they were, and a
    report beside them. Killed or stopped, run the same command with
    --retry-failed: what has an answer is found, the rest is asked.

    For example:

        penstock grade init rubric.yaml
        penstock grade essays.csv -r rubric.yaml -m gpt-4o-mini --preview 5
        penstock grade essays/ -r rubric.yaml -m gpt-4o-mini --estimate
        penstock grade essays/ -r rubric.yaml -m gpt-4o-mini --batch -o graded
        penstock grade essays/ -r rubric.yaml -m gpt-4o-mini -o graded --retry-failed

    Parameters
    ----------
    inputs
        Files or folders: csv, tsv, json, jsonl, parquet, arrow, xlsx.
    rubric
        What texts are graded by; `penstock grade init` writes one to start from.
    model
        The grader: a name, provider/model, http://host/v1#model, or a saved
        endpoint. Given several times, each of them grades every text.
    output
        The folder for the graded files; else `graded` (`parts` with --split).
    column
        The column that holds the text.
    template
        Several columns as one text: "Q: {question} A: {answer}".
    graders
        How often each model grades a text.
    combine
        How several grades become one: mean, median or majority.
    count_tokens
        Only count: rows, texts, tokens and chunks of each file. Nothing is sent.
    split
        Only write the chunks of each file as files of their own. Nothing is sent.
    estimate
        Only say what it would cost, online and by batch. Nothing is sent.
    preview
        Grade so many rows from the beginning of each file now, and print them;
        no file is written, and they are not paid for again.
    retry_failed
        Go on with the run that wrote these outputs: only what has no grade is asked.
    batch
        The same as --lane batch.
    lane
        online (at once), batch (half the price, within a day) or auto.
    wait
        --no-wait submits the batches and ends with exit code 8; --retry-failed or
        `penstock runs resume` collects them later.
    max_workers
        Chunks that are worked on at once.
    row_limit
        The most rows in a chunk.
    token_limit
        The most tokens in a chunk.
    chunks
        Each file in so many chunks.
    file_token_limit
        The most tokens that a file may take.
    daily_token_limit
        The most tokens that may be used in a day.
    budget
        The most dollars that this may cost.
    on_over_limit
        What is over a limit ends it before anything is sent (abort), or is left out (skip).
    on_file_error
        A file that cannot be read is left out (skip), or ends it before anything is sent (halt).
    halt_on_chunk_failure
        Begin nothing more when no row of a chunk can be graded.
    output_format
        Write csv, tsv, json, jsonl, parquet, arrow or xlsx; else each file stays what it was.
    overwrite
        Replace files that are there.
    temperature
        How freely the grader chooses its words, 0 to 2.
    max_tokens
        The most tokens of an answer.
    cache
        use, off, refresh or read.
    name
        How the run is called in the list of runs.
    as_json
        Print the result as JSON, for a program.
    """
    from penstock.cli.grading import Wish, done

    whole = {
        "--graders": graders,
        "--preview": preview,
        "--max-workers": max_workers,
        "--row-limit": row_limit,
        "--token-limit": token_limit,
        "--chunks": chunks,
        "--file-token-limit": file_token_limit,
        "--daily-token-limit": daily_token_limit,
        "--max-tokens": max_tokens,
    }
    for flag, number in whole.items():
        if number is not None and number < 1:
            raise InputError(f"{flag} is {number}; a whole number of 1 or more is wanted")
    if temperature is not None and not 0 <= temperature <= 2:
        raise InputError(f"--temperature is {temperature}; a number from 0 to 2 is wanted")
    if batch and lane not in (None, "batch"):
        raise InputError(f"--batch and --lane {lane} contradict each other")
    if chunks is not None and row_limit is not None:
        raise InputError("--chunks and --row-limit contradict each other")
    if column is not None and template is not None:
        raise InputError("--column and --template contradict each other")
    modes = {
        "--count-tokens": count_tokens,
        "--split": split,
        "--estimate": estimate,
        "--preview": preview is not None,
        "--retry-failed": retry_failed,
    }
    asked = [flag for flag, given in modes.items() if given]
    if len(asked) > 1:
        raise InputError(f"{' and '.join(asked)} contradict each other", remedy="Give one of them.")
    params = {"temperature": temperature, "max_tokens": max_tokens}
    options = {
        "models": tuple(model or ()),
        "graders": graders,
        "combine": combine,
        "column": column,
        "template": template,
        "params": {key: value for key, value in params.items() if value is not None},
        "lane": "batch" if batch else lane or "online",
        "max_workers": max_workers,
        "row_limit": row_limit,
        "token_limit": token_limit,
        "chunks": chunks,
        "file_token_limit": file_token_limit,
        "daily_token_limit": daily_token_limit,
        "on_over_limit": on_over_limit,
        "on_file_error": on_file_error,
        "halt_on_chunk_failure": halt_on_chunk_failure,
        "budget": budget,
        "cache": cache,
        "first": preview,
        "output_format": None if output_format is None else output_format.lower().lstrip("."),
        "overwrite": overwrite,
        "name": name,
    }
    mode = asked[0] if asked else ""
    return done(Wish(inputs, rubric, output, mode, options, waits=wait, as_json=as_json))


@app.command
def init(path: Path = Path("rubric.yaml"), /, *, force: Flag = False) -> int:
    """Write a rubric to start from, with a note on every key.

    Parameters
    ----------
    path
        Where it goes.
    force
        Replace it if it is there.
    """
    from penstock.cli.show import out, safe
    from penstock.grade.starter import write_starter

    if path.exists() and not force:
        raise InputError(f"{path} is there already", remedy="Give --force to replace it.")
    write_starter(path, overwrite=force)
    console = out()
    console.print(f"{safe(str(path))} is written: change it to what you grade. Then look first:")
    console.print(
        f"\n    penstock grade FILES --rubric {safe(str(path))} --model gpt-4o-mini --preview 5\n",
        soft_wrap=True,
    )
    return Exit.OK
