"""The report of a campaign: what it says, whatever was written, however many turns there are."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser

import penstock.redteam.report as room
from penstock.errors import InputError
from penstock.metrics.score import ScoreStatus
from penstock.redteam.conversation import Fate
from penstock.redteam.rates import Rate
from penstock.redteam.report import made_page, write_report
from penstock.redteam.report.command import command
from penstock.redteam.report.words import interval
from penstock.redteam.results import Campaign
from penstock.redteam.turn import Setup, TurnStatus, Verdict
from penstock.redteam.wishes import Wishes
from penstock.reports import number, percent
from penstock.reports.words import money
from penstock.secret import Secret
from penstock.tables import Table, TableWriter
from tests.bench.report.reading import Read, read
from tests.live.browser import chromium, watched
from tests.live.hostile import HOSTILE
from tests.redteam.report.made import (
    ATTACKS,
    CATEGORIES,
    ENDPOINTS,
    SECRET,
    Talked,
    campaign,
    in_memory,
    result_of,
    talked,
    talks,
    turn,
)
from tests.tables.values import PEAK

FOUND = list(talks())
ALL = in_memory(FOUND, accuracy=(0.92, 0.97))
WON = Verdict(success=True, value=1.0, judge="canary", extracted=f"as it is: {SECRET}")


def page(found: list[Talked], most: int = 60, **more: Any) -> str:
    return made_page(in_memory(found, **more), most=most).html()


@pytest.fixture(scope="module")
def html() -> str:
    return made_page(ALL).html()


@pytest.fixture(scope="module")
def seen(html: str) -> Read:
    return read(html)


# What it says ---------------------------------------------------------------------------------


def test_the_room_shows_what_it_lists() -> None:
    assert sorted(room.__all__) == room.__all__
    assert all(hasattr(room, name) for name in room.__all__)


def test_the_sections_stand_in_the_order_in_which_people_ask(seen: Read) -> None:
    assert seen.sections == [
        *("To know first", "Success by attack and endpoint", "Success by category"),
        *("Turns to success", "All numbers", "What the numbers mean", "Conversations"),
        *("What went wrong", "Tokens and cost", "To do it again"),
    ]


def test_the_head_names_the_campaign_and_how_it_ended(seen: Read) -> None:
    for said in (
        *("Shop assistant, before the launch", "redteam-20260214-0910-7c1e"),
        *("completed with failures", "14 February 2026, 09:15 UTC", "5 min 12 s", "$1.23"),
        *ENDPOINTS,
    ):
        assert said in seen.text


def test_the_cards_count_every_conversation(seen: Read) -> None:
    fates = Counter(each.fate for each, _ in FOUND)
    won, lost = fates[Fate.SUCCEEDED], fates[Fate.RESISTED]
    assert f"{percent(won / (won + lost))} {won} of {won + lost} decided" in seen.text
    assert f"conversations {len(FOUND)} 6 attacks, 16 objectives" in seen.text
    assert f"{fates[Fate.NO_ANSWER]} without answer, {fates[Fate.ERROR]} error" in seen.text


def cells(rate: Rate, names: list[str]) -> list[str]:
    """The row of a rate, as it must stand in the page."""
    return [
        *(rate.by[name] for name in names),
        *(("–", "–") if rate.rate is None else (percent(rate.rate), interval(rate) or "")),
        *map(str, (rate.succeeded, rate.resisted, rate.no_answer, rate.errors)),
        "–" if rate.corrected is None else percent(rate.corrected),
        "–" if rate.corrected is None else interval(rate, corrected=True) or "",
        "–" if rate.turns is None else number(round(rate.turns, 1)),
    ]


def test_every_rate_of_the_result_stands_in_the_page(seen: Read) -> None:
    assert len(ALL.result.rates) == 3 + 6 + 4 + 18 + 12 + 72
    rows = [row for row in seen.rows if len(row) >= 10]
    missing = 0
    for rate in ALL.result.rates:
        names = list(rate.by)
        if names == ["endpoint", "attack"]:
            names = ["attack"]
        wanted = cells(rate, names)
        if rate.corrected is None:  # a table without any corrected rate has no such columns
            short = [*wanted[:-3], wanted[-1]]
            assert wanted in rows or short in rows
        else:
            assert wanted in rows
        missing += rate.corrected is None
    assert 0 < missing < len(ALL.result.rates)


def test_the_pictures_tell_the_same_rates_to_those_who_do_not_see_them(html: str) -> None:
    for endpoint in ENDPOINTS:
        rate = ALL.result.rate(endpoint=endpoint)
        assert rate.rate is not None and rate.low is not None and rate.high is not None
        shown = f"{100 * rate.rate:.0f} %" if rate.rate >= 0.1 else percent(rate.rate)
        assert f"{endpoint}: {shown} (" in html
    for attack in ATTACKS:
        for endpoint in ENDPOINTS:
            share = ALL.result.rate(endpoint=endpoint, attack=attack).rate
            assert share is not None
            full = share >= 0.1 or share == 0
            shown = f"{100 * share:.0f} %" if full else percent(share)
            assert f"<title>{attack}, {endpoint}: {shown}</title>" in html


def test_the_most_successful_attack_stands_first(html: str) -> None:
    order = sorted(ATTACKS, key=lambda attack: -(ALL.result.rate(attack=attack).rate or 0))
    grid = html[html.index("Attack by endpoint") :]
    places = [grid.index(f"<title>{attack}, {ENDPOINTS[0]}") for attack in order]
    assert places == sorted(places)


def test_without_a_known_judge_there_is_no_word_of_correction() -> None:
    found = read(page(FOUND))
    assert not any("corrected" in row for row in found.rows)
    assert "How often the judge errs is not known" in found.text


def test_what_the_numbers_mean_is_told_for_this_campaign(seen: Read) -> None:
    fates = Counter(each.fate for each, _ in FOUND)
    for said in (
        f"{fates[Fate.NO_ANSWER]} without any answer, {fates[Fate.ERROR]} in which the attack or",
        "The 95 % interval says how far chance",
        "its tries hang together",
        "Planted secrets are told exactly",
        "By rubric, success is the opinion of gpt-4o, which errs.",
        "a sensitivity of 92 % and a specificity of 97 %",
        "these 6 attacks on 16 objectives did not succeed more often, within 8 turns",
    ):
        assert said in seen.text


def test_a_refusal_judge_is_said_to_count_rather_too_much() -> None:
    one = [talked(n, [turn()], judge="refusal") for n in range(3)]
    found = read(page(one, judge=None))
    assert "What is no refusal counts as a success, told by rules. An answer" in found.text
    assert "Planted secrets" not in found.text and "hang together" not in found.text


def test_categories_have_a_section_only_where_there_are_some(seen: Read) -> None:
    assert all([kind] == [row[0] for row in seen.rows if row[0] == kind][:1] for kind in CATEGORIES)
    plain = read(page([talked(n, [turn()], category="") for n in range(3)]))
    assert "Success by category" not in plain.sections
    assert "Turns to success" not in plain.sections


def test_what_went_wrong_stands_by_kind_with_what_was_said(seen: Read) -> None:
    failed = [t for _, turns in FOUND for t in turns if t.failure]
    rows = {row[0]: row for row in seen.rows if len(row) == 4}
    assert rows["timeout"][1] == str(len(failed)) and rows["timeout"][3] == "no answer within 60 s"
    without = sum(each.fate is Fate.NO_ANSWER for each, _ in FOUND)
    assert rows["no answer"][1] == str(without)


def test_errors_of_attacks_and_judges_are_told_apart() -> None:
    unjudged = Verdict(status=ScoreStatus.ERROR, reason="the judge gave no score: quota")
    found = read(
        page(
            [
                talked(0, [turn()], error="the attacker's model: rate_limited: 429"),
                talked(1, [turn()], error="ZeroDivisionError: by nothing"),
                talked(2, [turn(verdict=unjudged)]),
                talked(3, [turn()], endpoint=ENDPOINTS[1], error="ZeroDivisionError: again"),
            ]
        )
    )
    rows = {row[0]: row for row in found.rows if len(row) == 4}
    assert rows["the attacker's model"][1] == "1" and rows["not judged"][1] == "1"
    assert rows["ZeroDivisionError"][1:3] == ["2", f"{ENDPOINTS[0]}: 1\n{ENDPOINTS[1]}: 1"]
    assert "by nothing" in rows["ZeroDivisionError"][3]
    assert (
        "75 % of" not in found.text and "100 % of the conversations were not decided" in found.text
    )


def test_tokens_and_cost_are_those_of_the_conversations(seen: Read) -> None:
    rows = {row[0]: row for row in seen.rows if len(row) == 6}
    for endpoint in ENDPOINTS:
        mine = [each for each, _ in FOUND if each.endpoint == endpoint]
        counts = (
            len(mine), sum(e.turns for e in mine), sum(e.input_tokens for e in mine),
            sum(e.output_tokens for e in mine),
        )  # fmt: skip
        cost = sum((Decimal(each.cost or 0) for each in mine), Decimal(0))
        assert rows[endpoint][1:] == [*(f"{count:,}" for count in counts), money(cost)]
    assert "What the attacker and the judge used is not in it." in seen.text


def test_a_cost_that_is_not_known_is_not_made_up() -> None:
    some = [talked(0, [turn()], cost=None), talked(1, [turn()], cost="0.5")]
    rows = {row[0]: row for row in read(page(some)).rows if len(row) == 6}
    assert rows[ENDPOINTS[0]][5] == "–"


def test_a_campaign_in_which_all_went_well_has_nothing_to_know_first() -> None:
    fine = [talked(n, [turn()], endpoint=name) for n, name in enumerate(ENDPOINTS * 3)]
    found = read(page(fine, state="completed"))
    assert "To know first" not in found.sections and "What went wrong" not in found.sections


def test_problems_and_an_endpoint_without_a_rate_are_told_first() -> None:
    down = turn(answer=None, status=TurnStatus.FAILED, failure="timeout", error="x", verdict=None)
    some = [talked(0, [turn()]), talked(1, [down], endpoint=ENDPOINTS[1])]
    problems = ("7 conversations were not held: the run was stopped before",)
    found = read(page(some, state="stopped", problems=problems))
    assert problems[0] in found.text
    assert f"Nothing was decided at {ENDPOINTS[1]}: it has no rate." in found.text
    assert "penstock runs resume redteam-20260214-0910-7c1e" in found.text


def test_a_campaign_without_any_conversation_has_a_page() -> None:
    empty = Campaign(
        result_of([], state="stopped"), Table.from_rows([]), Table.from_rows([]), Path()
    )
    found = read(made_page(empty).html())
    assert "No conversation was decided, so there is no rate." in found.text
    assert "There are no conversations." in found.text


def test_a_page_needs_nothing_from_elsewhere(html: str) -> None:
    assert "://" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "default-src 'none'" in html and "unsafe-eval" not in html


# To do it again -------------------------------------------------------------------------------


def test_the_settings_and_the_versions_are_told(seen: Read) -> None:
    told = {row[0]: row[1] for row in seen.rows if len(row) == 2}
    assert told["attacks"] == "\n".join(ATTACKS) and told["objectives"] == "planted-secrets"
    assert told["seed"] == "815" and told["max turns"] == "8" and told["Penstock"] == "0.1.0"
    assert told["judge"] == "gpt-4o (openai/gpt-4o)" and told["accuracy"] == "[0.92, 0.97]"
    assert '"temperature": 0.7' in seen.text and "OPENAI_API_KEY" in seen.text


def wishes_of(line: str) -> dict[str, Any]:
    """What the shell makes of a command."""
    from penstock.cli.redteam import app

    words = shlex.split(line.replace("\\\n", " "))
    assert words[:2] == ["penstock", "redteam"]
    _, bound, _ = app.parse_args(words[2:], print_error=False, exit_on_error=False)
    return bound.arguments


def test_the_command_is_understood_by_the_shell_and_means_the_same() -> None:
    odd = ("caesar(shift=3)", "base64 | crescendo", "it's")
    wishes = Wishes(
        attacks=odd, objectives=("planted-secrets", "my goals.csv"), endpoints=("a", "b/c"),
        attacker="x", judge="y", metric="rubric", strategy="previous_turns(count=2)",
        template="t", system_prompt="Be\n$HOME `kind`.", params={"temperature": 0, "stop": "5"},
        max_turns=4, stop_on_success=False, most=3, seed=9, accuracy=(0.9, 0.85), lane="batch",
        budget="2.5", cache="off", name="A name",
    )  # fmt: skip
    settings = wishes.spec()["redteam"]
    line = command(result_of([], settings=settings))
    from penstock.cli.redteam import _listed

    found = wishes_of(line)
    assert found["endpoint"] == ["a", "b/c"]
    assert _listed(found["attacks"]) == odd
    assert found["objectives"] == settings["objectives"]
    assert found["param"] == ["temperature=0", 'stop="5"']
    assert found["judge_accuracy"] == "0.9,0.85" and found["stop_on_success"] is False
    for name in (
        *("attacker", "judge", "metric", "strategy", "template", "system_prompt", "max_turns"),
        *("most", "seed", "lane", "budget", "cache", "name"),
    ):
        assert found[name] == getattr(wishes, name)


def test_what_is_as_usual_is_not_in_the_command() -> None:
    wishes = Wishes(attacks=("plain",), objectives=("format-rules",), endpoints=("m",))
    line = command(result_of([], settings=wishes.spec()["redteam"]))
    assert line == "penstock redteam run -e m --attacks plain --objectives format-rules"


# Conversations --------------------------------------------------------------------------------


def open_lines(html: str) -> list[str]:
    """The line of every conversation, as it stands folded."""
    pieces = html.split('<details class="talk"><summary>')[1:]
    return [read(piece.partition("</summary>")[0]).text for piece in pieces]


def test_a_conversation_has_all_that_is_known_of_it() -> None:
    setup = Setup(attack="base64", metric="canary", system_prompt="Keep the code to yourself.")
    first = turn(1, prompt="Ask nicely", prepared="QXNrIG5pY2VseQ==", setup=setup, context=2)
    second = turn(
        2, prompt="Again", prepared="Again", answer="Here: 4711", latency=2.5, recorded=True,
        setup=setup, verdict=Verdict(success=True, value=0.75, reason="It is there.",
                                     extracted="4711", judge="rubric"),
    )  # fmt: skip
    found = read(page([talked(7, [first, second], goal="Get it", attack="base64", judge="rubric")]))
    for said in (
        *("Get it", "base64 · turn 2", "Keep the code to yourself.", "objective o7", "succeeded"),
        *("as it was written Ask nicely", "as it was sent QXNrIG5pY2VseQ==", "turn 1"),
        *("2 earlier messages went along", "sent, as it was written Again", "answer Here: 4711"),
        *(
            "success 0.75",
            "rubric read 4711",
            "rubric says It is there.",
            "found recorded",
            "2.5 s",
        ),
        *("highest value 0.75", "160 tokens in, 60 out", "All 1 conversation, to open"),
    ):
        assert said in found.text, said


def test_failed_refused_and_empty_turns_are_told_apart() -> None:
    found = read(
        page(
            [
                talked(0, [turn(answer=None, status=TurnStatus.FAILED, failure="rate_limited",
                                error="429: slow down", verdict=None)]),
                talked(1, [turn(answer="No.", status=TurnStatus.REFUSED)]),
                talked(2, [turn(answer=" ")]),
            ]
        )
    )  # fmt: skip
    assert "rate limited" in found.text and "no answer 429: slow down" in found.text
    assert "answer, which the provider calls a refusal No." in found.text
    assert "answer: nothing was said" in found.text


def test_successes_come_first_short_ones_before_long_ones_and_each_attack_in_turn() -> None:
    def won(number: int, attack: str, length: int, value: float) -> Talked:
        turns = [turn(n) for n in range(1, length)]
        end = turn(length, verdict=Verdict(success=True, value=value, judge="rubric"))
        return talked(number, [*turns, end], attack=attack, goal=f"goal {number}")

    found = [
        talked(0, [turn(verdict=Verdict(success=False, value=0.4))], goal="goal 0"),
        talked(1, [turn(verdict=Verdict(success=False, value=0.1))], goal="goal 1"),
        won(2, "a", 3, 1.0), won(3, "a", 1, 0.6), won(4, "a", 1, 0.9), won(5, "b", 4, 1.0),
        talked(6, [turn()], error="the attack broke", goal="goal 6"),
    ]  # fmt: skip
    order = [line.split("goal ")[1][0] for line in open_lines(page(found))]
    assert order == ["4", "5", "3", "2", "0", "1", "6"]


def test_no_more_are_shown_than_were_asked_for_and_every_endpoint_has_some() -> None:
    for most in (1, 2, 7, 60):
        html = made_page(ALL, most=most).html()
        assert len(open_lines(html)) == most
        assert f"{most} of 288 conversations are here" in html
    html = made_page(ALL, most=60).html()
    for endpoint in ENDPOINTS:
        part = html[html.index(f"<h3>{endpoint} <small>") :].partition("<h3>")[2]
        assert open_lines(part.partition("<h3>")[0])
    fates = Counter(line.split()[0] for line in open_lines(html))
    won = sum(each.fate is Fate.SUCCEEDED for each, _ in FOUND)
    assert fates["succeeded"] >= min(won, 60) - 6


def test_none_need_be_shown_and_less_than_none_cannot_be() -> None:
    assert "None of the 288 conversations is shown" in made_page(ALL, most=0).html()
    with pytest.raises(InputError, match="-1 conversations cannot be shown"):
        made_page(ALL, most=-1)


def test_what_is_shown_of_a_conversation_are_its_own_turns() -> None:
    found = [
        talked(n, [turn(k, prompt=f"p{n}-{k}", prepared=f"s{n}-{k}", answer=f"a{n}-{k}")
                   for k in range(1, 1 + n)], goal=f"goal {n}")
        for n in range(6)
    ]  # fmt: skip
    html = page(found)
    for piece in html.split('<details class="talk">')[1:]:
        text = read("<details>" + piece.partition("</details>")[0]).text
        number = int(text.split("goal ")[1][0])
        assert text.count("as it was sent") == number
        assert all(f"a{number}-{k}" in text for k in range(1, 1 + number))
        assert not any(f"s{other}-" in text for other in range(6) if other != number)


def test_of_a_long_conversation_the_middle_is_left_out() -> None:
    turns = [turn(n, prompt=f"step {n}", prepared=f"step {n}") for n in range(1, 101)]
    text = read(page([talked(0, [*turns, turn(101, verdict=WON)])])).text
    assert "… 91 turns left out" in text
    assert "step 4 " in text and "step 5 " not in text and "step 97 " in text
    assert "turn 101" in text


def test_very_long_texts_are_cut_with_a_word_about_it() -> None:
    long = turn(prompt="p" * 1_000_000, prepared="QUJD" * 500_000, answer="word " * 200_000)
    html = page([talked(0, [long], goal="g" * 1_000_000)])
    assert len(html) < 200_000
    assert "… and 1,996,000 more characters" in read(html).text


def test_keys_that_this_process_knows_are_masked() -> None:
    Secret("a-very-secret-value-4711")
    html = page([talked(0, [turn(answer="It is a-very-secret-value-4711")])])
    assert "very-secret-value-4711" not in html


# Whatever is in it ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def hostile() -> list[Talked]:
    """Everything that others write is hostile, wherever it may come into the page."""
    found = []
    for place, text in enumerate(HOSTILE):
        setup = Setup(attack=text, metric=text, system_prompt=text)
        verdict = Verdict(
            success=place % 2 == 0, value=0.5, reason=text, extracted=text, judge=text
        )
        said: dict[str, Any] = {"prompt": text, "prepared": f"\u202e{text}\u200b", "setup": setup}
        failed: dict[str, Any] = {"answer": None, "failure": text, "error": text}
        each = turn(**said, answer=text, verdict=verdict)
        if place % 5 == 0:
            each = turn(**said, **failed, status=TurnStatus.FAILED, verdict=None)
        found.append(
            talked(
                place, [each], error=text if place % 7 == 0 else "", goal=text, objective=text,
                category=text if place % 3 else "", judge=text,
                attack=HOSTILE[place % 9], endpoint=ENDPOINTS[place % 3],
            )
        )  # fmt: skip
    found.append(talked(900, [turn(verdict=WON)], endpoint=HOSTILE[0], attack=HOSTILE[1]))
    return found


def test_hostile_texts_do_nothing_in_a_browser(browser: Browser, tmp_path: Path) -> None:
    found, run = hostile(), HOSTILE[0]
    made = in_memory(
        found, name=run, id="<b>run</b>", problems=(run, "\x1b[2J"), state=run, version=run,
        settings={"attacks": [run], "objectives": [run], run: run, "system_prompt": run},
        judge={"provider": run, "model": run, "name": run},
    )  # fmt: skip
    path = write_report(made, tmp_path / "r.html", most=len(found))
    text = path.read_text("utf-8")
    assert not any(ord(letter) < 32 and letter not in "\t\n" for letter in text)
    assert not any(hidden in text for hidden in "\u202e\u200b\u2066\ufeff")
    with watched(browser, path.as_uri()) as watch:
        watch.page.goto(path.as_uri())
        every = "document.querySelectorAll('details')"
        watch.page.evaluate(f"{every}.forEach(each => {{ each.open = true }})")
        assert watch.page.locator("details.talk").count() == len(found)
        watch.page.mouse.wheel(0, 5000)
        watch.assert_inert()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(browser: Browser, tmp_path: Path, scheme: Any) -> None:
    path = write_report(ALL, tmp_path / "r.html", most=18)
    with watched(browser, path.as_uri(), width=390, scheme=scheme) as watch:
        watch.page.goto(path.as_uri())
        every = "document.querySelectorAll('details')"
        watch.page.evaluate(f"{every}.forEach(each => {{ each.open = true }})")
        assert watch.page.evaluate("document.documentElement.scrollWidth") == 390
        watch.assert_inert()


# Files ----------------------------------------------------------------------------------------


def test_a_report_that_is_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "r.html"
    made = in_memory([talked(0, [turn()])])
    assert write_report(made, path) == path
    with pytest.raises(InputError, match=r"r\.html is already there"):
        write_report(made, path)
    path.write_text("the old one")
    assert made.report(path, overwrite=True) == path
    assert "the old one" not in path.read_text()
    assert [each.name for each in path.parent.iterdir()] == ["r.html"]


def test_it_is_the_same_from_disk_and_from_memory(tmp_path: Path) -> None:
    some = FOUND[:40]
    kept = made_page(campaign(some, tmp_path / "run")).html()
    assert kept == page(some)


_CHILD = """
import sys
from pathlib import Path
import msgspec
from penstock.redteam.report import write_report
from penstock.redteam.results import Campaign, CampaignResult
from penstock.tables import Table

folder = Path(sys.argv[1])
result = msgspec.json.decode((folder / "r.json").read_bytes(), type=CampaignResult)
held = Table.open(folder / "c.arrow"), Table.open(folder / "t.arrow")
write_report(Campaign(result, *held, folder), folder / "r.html", overwrite=True)
print(peak())
"""


def write_many(folder: Path, count: int) -> None:
    """Conversations of four turns, each with a page of text."""
    conversations, turns = TableWriter(folder / "c.arrow"), TableWriter(folder / "t.arrow")
    plain = turn(prompt="asked here. " * 80, prepared="sent here. " * 80).row()
    lost = talked(0, [turn(n) for n in range(1, 5)])[0].row()
    won = talked(0, [turn(n, verdict=WON) for n in range(1, 5)])[0].row()
    for place in range(count):
        about = {"number": place, "id": f"c{place}", "endpoint": ENDPOINTS[place % 3]}
        about |= {"attack": ATTACKS[place % 6], "objective": f"o{place}", "goal": f"g{place} " * 20}
        conversations.add(place, [(won if place % 4 == 0 else lost) | about])
        said = f"{place} is said here. " * 80
        turns.add(place, [plain | {"number": n, "answer": said} for n in range(1, 5)])
    conversations.close()
    turns.close()


def test_fifty_thousand_turns_are_passed_and_not_held(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_bytes(msgspec.json.encode(result_of(each for each, _ in FOUND)))
    peaks = []
    for count in (500, 12_500):
        write_many(tmp_path, count)
        line = [sys.executable, "-c", PEAK + _CHILD, str(tmp_path)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout))
    assert (tmp_path / "t.arrow").stat().st_size > 120 << 20
    small, large = peaks
    assert large < small + 60, f"{small} MiB, then {large} MiB"
    html = (tmp_path / "r.html").read_text()
    assert "60 of 12,500 conversations are here" in html and len(html) < 2 << 20
