"""The sections on the run: its numbers, what to know of it, what went wrong, cost, settings."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from penstock.redteam.conversation import Fate
from penstock.redteam.report.command import command
from penstock.redteam.report.marks import block, note
from penstock.redteam.report.survey import Survey, Trouble
from penstock.redteam.report.unseen import in_one_line
from penstock.redteam.report.words import listed
from penstock.redteam.results import CampaignResult
from penstock.reports import Markup, badge, compact, details, percent, preformatted, table
from penstock.reports.parts import Tone
from penstock.reports.words import counted, json_block, json_line, money, span, when

__all__ = ["cards", "endpoints", "failures", "problems", "settings", "subtitle"]

_FINE = "completed"
_STATES: dict[str, Tone] = {"completed": "good", "failed": "bad", "cancelled": "bad"}
_TOLD = ("attacks", "objectives", "endpoints", "name", "attacker", "judge")
_MOST_UNDECIDED = 0.1
_LONGEST = 2_000


def subtitle(result: CampaignResult) -> str:
    names = listed(result.endpoints, "endpoint")
    return " · ".join((names, result.state, when(result.ended), f"run {result.id}"))


def cards(result: CampaignResult, survey: Survey) -> Iterator[tuple[str, str, str]]:
    """The numbers that matter; a row of cards has room for four."""
    succeeded, resisted = survey.fates[Fate.SUCCEEDED], survey.fates[Fate.RESISTED]
    decided = succeeded + resisted
    share = percent(succeeded / decided) if decided else None
    yield "succeeded", share or "–", f"{succeeded:,} of {decided:,} decided"
    tried = f"{counted(len(result.attacks), 'attack')}, {counted(result.objectives, 'objective')}"
    yield "conversations", f"{survey.conversations:,}", tried
    without, errors = survey.fates[Fate.NO_ANSWER], survey.fates[Fate.ERROR]
    told = f"{without:,} without answer, {counted(errors, 'error')}"
    note = told if without or errors else "none"
    yield "not decided", f"{without + errors:,}", note
    turns = sum(each.turns for each in survey.spent.values())
    yield "time", span(result.seconds), f"{compact(turns)} turns{_cost(result)}"


def _cost(result: CampaignResult) -> str:
    """What all of it cost, attackers and judges included, where the run tells."""
    cost = result.counters.get("cost")
    if cost is None or result.counters.get("unpriced"):
        return ""
    return f", {money(Decimal(str(cost)))}"


def problems(result: CampaignResult, survey: Survey) -> Iterator[Markup | str]:
    """What should be known before the rates are believed; nothing where all is well."""
    if result.state != _FINE:
        yield note(badge(result.state, _STATES.get(result.state, "warn")), _state(result))
    said = list(result.problems)
    undecided = survey.fates[Fate.NO_ANSWER] + survey.fates[Fate.ERROR]
    if undecided > _MOST_UNDECIDED * survey.conversations:
        share = percent(undecided / survey.conversations)
        said.append(f"{share} of the conversations were not decided; the rates are of the others.")
    said += [
        f"Nothing was decided at {rate.by['endpoint']}: it has no rate."
        for rate in result.rates
        if tuple(rate.by) == ("endpoint",) and not rate.decided
    ]
    yield from (note(badge("note", "warn"), problem) for problem in said)


def _state(result: CampaignResult) -> str:
    if result.state == "completed with failures":
        return "Some conversations were not decided; see what went wrong."
    return f"To go on with what is missing: penstock runs resume {result.id}"


def failures(survey: Survey) -> Iterator[Markup | str]:
    """What was not decided and what failed, by kind; nothing where nothing did."""
    for caption, what, found in (
        ("Conversations that were not decided", "conversations", survey.undecided),
        ("Turns that failed, also where the conversation went on", "turns", survey.failures),
    ):
        if found:
            rows = [(_kind(each), each.count, _whom(each), _said(each)) for each in found]
            heads = ["kind", what, "endpoints", "what was said"]
            yield block("tight", table(heads, rows, numeric=(what,), caption=caption))


def _kind(each: Trouble) -> Markup:
    return badge(in_one_line(each.kind, 60), "warn")


def _whom(each: Trouble) -> str:
    found = each.endpoints.most_common(6)
    return "\n".join(f"{in_one_line(name, 60)}: {count:,}" for name, count in found)


def _said(each: Trouble) -> str | None:
    return "\n".join(in_one_line(message, 400) for message in each.messages) or None


def endpoints(result: CampaignResult, survey: Survey) -> Iterator[Markup | str]:
    """What the conversations with each endpoint took."""
    heads = ["endpoint", "conversations", "turns", "tokens in", "tokens out", "cost"]
    rows = [
        (
            name,
            each.conversations,
            each.turns,
            each.input_tokens,
            each.output_tokens,
            None if each.unpriced else money(each.cost),
        )
        for name, each in survey.spent.items()
    ]
    yield block("tight", table(heads, rows, numeric=heads[1:]))
    helpers = [name for name, each in _helpers(result) if each is not None]
    also = f" What the {' and the '.join(helpers)} used is not in it." if helpers else ""
    yield (
        "Costs are those of the answers, also of those that were paid for before; – where a price "
        f"is unknown.{also}"
    )


def _helpers(result: CampaignResult) -> tuple[tuple[str, dict[str, Any] | None], ...]:
    return (("attacker", result.attacker), ("judge", result.judge))


def settings(result: CampaignResult) -> Iterator[Markup | str]:
    """How to do it again."""
    yield preformatted(command(result))
    wishes = result.settings
    rows = [
        ("run", result.id),
        ("attacks", "\n".join(map(str, wishes.get("attacks", ())))),
        ("objectives", "\n".join(map(str, wishes.get("objectives", ())))),
        ("endpoints", "\n".join(result.endpoints)),
        *((name, _named(each)) for name, each in _helpers(result)),
        *(
            (name.replace("_", " "), _value(value))
            for name, value in wishes.items()
            if name not in _TOLD and value not in (None, "", {}, [], ())
        ),
        ("began", when(result.started)),
        ("ended", when(result.ended)),
        ("Penstock", result.version),
    ]
    yield table(["what", "value"], [row for row in rows if row[1]], numeric=())
    yield details("Everything that was wished", preformatted(json_block(wishes)))
    attacks = [
        (
            each.get("attack"),
            "\n".join(json_line(part) for part in each.get("parts", ())) or None,
        )
        for each in result.attacks
    ]
    yield details("Attacks and their parameters", table(["attack", "made of"], attacks, numeric=()))
    for name, spec in result.endpoints.items():
        yield details(f"Endpoint {name}", preformatted(json_block(spec)))
    for name, helper in _helpers(result):
        if helper is not None:
            yield details(f"The {name}", preformatted(json_block(helper)))


def _named(spec: dict[str, Any] | None) -> str:
    if spec is None:
        return ""
    model = f"{spec.get('provider', '')}/{spec.get('model', '')}"
    return f"{spec['name']} ({model})" if spec.get("name") else model


def _value(value: Any) -> str:
    shown = value if isinstance(value, str) else json_line(value)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
