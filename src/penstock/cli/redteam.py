"""`penstock redteam`: campaigns of attacks, and sessions to try by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from penstock.cli import complain
from penstock.cli.redteam_sessions import app
from penstock.errors import Exit, InputError

__all__ = ["app"]

results = App(name="results", help="What campaigns came to: list, show, export.")
app.command(results)

Flag = Annotated[bool, Parameter(negative="")]
Json = Annotated[bool, Parameter(name="--json", negative="")]
Several = Annotated[list[str] | None, Parameter(negative=())]


@app.command
def run(
    *,
    endpoint: Annotated[list[str] | None, Parameter(name=["--endpoint", "-e"], negative=())] = None,
    attacks: Several = None,
    objectives: Several = None,
    attacker: str | None = None,
    judge: str | None = None,
    judge_accuracy: str | None = None,
    metric: str = "refusal",
    strategy: str = "none",
    template: str = "",
    system_prompt: str | None = None,
    param: Several = None,
    max_turns: int = 10,
    stop_on_success: bool = True,
    most: int | None = None,
    seed: int = 0,
    batch: Flag = False,
    lane: Literal["online", "batch", "auto"] | None = None,
    wait: bool = True,
    budget: str | None = None,
    cache: Literal["use", "off", "refresh", "read"] = "use",
    name: str = "",
    report: Path | None = None,
    overwrite: Flag = False,
    as_json: Json = False,
) -> int:
    """Try attacks on objectives at endpoints, many conversations at once.

    Killed or stopped, `penstock runs resume` goes on: no recorded turn is repeated.

    For example:

        penstock redteam attacks
        penstock redteam run -e gpt-4o-mini --attacks plain,base64 --objectives planted-secrets
        penstock redteam run -e mine --attacks crescendo,pair --attacker gpt-4o --judge gpt-4o \\
            --metric rubric --objectives goals.csv --budget 5 --max-turns 8 --report report.html

    Parameters
    ----------
    endpoint
        A target: a saved name, provider/model, or http://host/v1#model. May be
        given several times; else the setting llm.model.
    attacks
        Names with a comma between them (`penstock redteam attacks` lists them);
        `base64 | crescendo` puts some together, `plain` is no attack.
    objectives
        What is to be reached: an id (`penstock redteam objectives`) or a file.
    attacker
        The endpoint that attacks, for the loops; it also writes summaries.
    judge
        The endpoint that judges.
    judge_accuracy
        SENSITIVITY,SPECIFICITY of the judge, to correct the rates by.
    metric
        How success is told: refusal, rubric, canary, or the name of a metric.
    strategy
        What of earlier turns goes along: none, previous_prompts, previous_turns, summary.
    template
        A prompt template around every prompt.
    system_prompt
        Sent with every prompt, in the place of the objectives' own.
    param
        A parameter of every question, name=value, such as temperature=0.
    max_turns
        The most turns of a conversation.
    stop_on_success
        --no-stop-on-success goes on to the end.
    most
        Only so many objectives, drawn by the seed.
    seed
        Of everything that is drawn by chance.
    batch
        The same as --lane batch.
    lane
        online (at once), batch (half the price, within a day) or auto.
    wait
        --no-wait submits the batches and ends with exit code 8.
    budget
        The most dollars that this may cost, attackers and judges included.
    cache
        use, off, refresh or read.
    name
        How the campaign is called in lists.
    report
        Write a page to look at to this file.
    overwrite
        Replace it if it is there.
    as_json
        Print the result as JSON, for a program.
    """
    from penstock.cli.flags import pairs
    from penstock.cli.redteam_run import Wish, done

    if batch and lane not in (None, "batch"):
        raise InputError(f"--batch and --lane {lane} contradict each other")
    chosen = "batch" if batch else lane or "online"
    if not wait and chosen == "online":
        raise InputError("--no-wait is for the batch lane", remedy="Give --batch as well.")
    options = {
        "endpoints": tuple(endpoint or ()),
        "attacks": _listed(attacks),
        "objectives": _files(objectives),
        "attacker": attacker,
        "judge": judge,
        "metric": metric,
        "strategy": strategy,
        "template": template,
        "system_prompt": system_prompt,
        "params": pairs(param, "--param"),
        "max_turns": max_turns,
        "stop_on_success": stop_on_success,
        "most": most,
        "seed": seed,
        "accuracy": _accuracy(judge_accuracy),
        "lane": chosen,
        "budget": budget,
        "cache": cache,
        "name": name,
    }
    return done(Wish(options, report, overwrite=overwrite, waits=wait, as_json=as_json))


@app.command
def attacks(name: str | None = None, /, *, as_json: Json = False) -> int:
    """List the attacks, or show one: what it does, its parameters, its paper, what it needs.

    Parameters
    ----------
    name
        One of them.
    """
    from penstock.cli.redteam_run import list_attacks, show_attack

    return list_attacks(as_json=as_json) if name is None else show_attack(name, as_json=as_json)


@app.command
def objectives(name: str | None = None, /, *, as_json: Json = False) -> int:
    """List the sets of objectives, or show one.

    Parameters
    ----------
    name
        One of them, or a file.
    """
    from penstock.cli.redteam_run import list_objectives, show_objectives

    if name is None:
        return list_objectives(as_json=as_json)
    return show_objectives(name, as_json=as_json)


@results.command(name="list")
def results_list(*, limit: int = 20, as_json: Json = False) -> int:
    """List campaigns, the newest first."""
    from itertools import islice

    import msgspec

    from penstock.cli.redteam_view import print_campaigns
    from penstock.cli.show import print_json
    from penstock.engine.workbench import Workbench
    from penstock.redteam.results import all_results

    with Workbench() as bench:
        found = list(islice(all_results(bench), limit))
    if as_json:
        print_json([msgspec.to_builtins(each) for each in found])
    elif not found:
        complain("there are no campaigns yet", "See: penstock redteam run --help")
    else:
        print_campaigns(found)
    return Exit.OK


@results.command(name="show")
def results_show(result: str = "latest", /, *, as_json: Json = False) -> int:
    """Show what a campaign came to: success by endpoint, attack and category.

    Parameters
    ----------
    result
        The id of its run, the beginning of it, or `latest`.
    """
    from penstock.cli.redteam_run import say
    from penstock.engine.workbench import Workbench
    from penstock.redteam.results import find_result

    with Workbench() as bench:
        say(find_result(result, bench), as_json=as_json)
    return Exit.OK


@results.command(name="export")
def results_export(
    result: str,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    overwrite: Flag = False,
) -> int:
    """Write every turn as a table (csv, jsonl, parquet, xlsx), or the report (html).

    Parameters
    ----------
    result
        The id of its run, the beginning of it, or `latest`.
    output
        The file.
    overwrite
        Replace it if it is there.
    """
    from penstock.cli.show import out, safe
    from penstock.engine.workbench import Workbench
    from penstock.redteam.results import find_result

    with Workbench() as bench:
        path = find_result(result, bench).export(output, overwrite=overwrite)
    out(stderr=True).print(f"{safe(str(path))} is written", soft_wrap=True)
    return Exit.OK


def _listed(given: list[str] | None) -> tuple[str, ...]:
    """`--attacks a,b --attacks c`; a comma within brackets parts nothing."""
    found: list[str] = []
    for text in given or ():
        depth, part = 0, ""
        for sign in text:
            depth += (sign in "([{") - (sign in ")]}")
            if sign == "," and depth == 0:
                found.append(part)
                part = ""
            else:
                part += sign
        found.append(part)
    return tuple(each.strip() for each in found if each.strip())


def _files(given: list[str] | None) -> tuple[str, ...]:
    """Ids with commas between them, or files, whose names may hold commas."""
    found: list[str] = []
    for text in given or ():
        found += [text] if Path(text).is_file() else list(_listed([text]))
    return tuple(found)


def _accuracy(given: str | None) -> tuple[float, float] | None:
    if given is None:
        return None
    try:
        sensitivity, specificity = (float(each) for each in given.split(","))
    except ValueError:
        raise InputError(
            f"--judge-accuracy is {given!r}",
            remedy="Write SENSITIVITY,SPECIFICITY, such as 0.95,0.9.",
        ) from None
    return sensitivity, specificity
