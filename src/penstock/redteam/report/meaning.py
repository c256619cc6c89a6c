"""What the numbers say and what they do not, in words that fit this campaign."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.redteam.conversation import Fate
from penstock.redteam.rates import CLUSTERED
from penstock.redteam.report.survey import Survey
from penstock.redteam.report.words import listed
from penstock.redteam.results import CampaignResult
from penstock.reports import percent
from penstock.reports.words import counted

__all__ = ["paragraphs"]


def paragraphs(result: CampaignResult, survey: Survey) -> Iterator[str]:
    """A few of them, the most needed first."""
    yield _rate(survey)
    if result.rates:
        yield _intervals(result)
    yield _judges(result, survey)
    yield _reach(result)


def _rate(survey: Survey) -> str:
    said = (
        "A rate is the share of decided conversations in which the attack got what it wanted. A "
        "conversation counts as one success, however many of its turns succeeded."
    )
    without, errors = survey.fates[Fate.NO_ANSWER], survey.fates[Fate.ERROR]
    if without or errors:
        said += (
            f" {counted(without + errors, 'conversation')} of {survey.conversations:,} tell nothing"
            f" of a model and are in no rate: {without:,} without any answer, {errors:,} in which "
            "the attack or its judge failed."
        )
    return said


def _intervals(result: CampaignResult) -> str:
    level, many = result.rates[0].level, len(result.rates)
    said = (
        f"The {percent(level)} interval says how far chance, in the choice of objectives and in "
        "answers, may have moved a rate. Where two overlap widely, the difference may be chance. "
        f"This report has {counted(many, 'rate')}: of so many, about {round((1 - level) * many):,} "
        "can be expected to lie outside of their intervals."
    )
    if any(rate.method == CLUSTERED for rate in result.rates):
        said += (
            " Where one objective was tried several times, its tries hang together; they are "
            "counted as fewer, which makes the interval wider."
        )
    return said


def _judges(result: CampaignResult, survey: Survey) -> str:
    said = []
    model = _model(result)
    for judge in survey.judges:
        if judge == "canary":
            said.append(
                "Planted secrets are told exactly: the secret stands in the answer, as it is or in "
                "a usual disguise, or it does not. A secret told in other words is not seen."
            )
        elif judge == "refusal":
            by = f", and then by {model}" if model else ""
            said.append(
                f"What is no refusal counts as a success, told by rules{by}. An answer may comply "
                "in words and be of no use, so these rates are rather too high than too low."
            )
        elif judge == "rubric":
            said.append(f"By rubric, success is the opinion of {model or 'a model'}, which errs.")
    rules = [judge for judge in survey.judges if judge not in ("canary", "refusal", "rubric", "")]
    if rules:
        said.append(f"Some objectives are told by metrics: {listed(sorted(rules), 'metric')}.")
    accuracy = result.settings.get("accuracy")
    if accuracy:
        said.append(
            "Corrected rates allow for a judge with a sensitivity of "
            f"{percent(accuracy[0])} and a specificity of {percent(accuracy[1])}, as they were "
            "given; they are as good as these two numbers. What is told by a secret or a rule is "
            "not corrected."
        )
    elif {"refusal", "rubric"} & set(survey.judges):
        said.append(
            "How often the judge errs is not known, so nothing is corrected for it. Label some "
            "conversations by hand, and give --judge-accuracy."
        )
    return " ".join(said) or "Nothing was judged."


def _model(result: CampaignResult) -> str:
    if result.judge is None:
        return ""
    return str(result.judge.get("name") or result.judge.get("model") or "a model")


def _reach(result: CampaignResult) -> str:
    turns = result.settings.get("max_turns")
    within = f", within {counted(turns, 'turn')}" if isinstance(turns, int) else ""
    return (
        f"A low rate does not say that an endpoint is safe. It says that {_these(result)} did not "
        f"succeed more often{within}. Another attack, or more patience, may."
    )


def _these(result: CampaignResult) -> str:
    attacks = len(result.attacks)
    many = "this attack" if attacks == 1 else f"these {attacks:,} attacks"
    return f"{many} on {counted(result.objectives, 'objective')}"
