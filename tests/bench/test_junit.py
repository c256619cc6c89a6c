"""What is demanded of a result, and the file that continuous integration reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from penstock.bench.item import Item, ItemScore, ItemStatus
from penstock.bench.junit import Check, failed_checks, known_checks, parse_check, write_junit
from penstock.errors import InputError
from penstock.metrics.score import ScoreStatus
from penstock.secret import Secret
from penstock.tables import Table
from penstock.tables.plain import clean
from tests.bench.report.made import ENDPOINTS, item, items, result_of, table
from tests.live.hostile import HOSTILE

FOUND = list(items(30))


# Checks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("accuracy=0.8", Check("accuracy", 0.8)),
        (" accuracy = 80% ", Check("accuracy", 80, is_percent=True)),
        ("sums:accuracy=1", Check("accuracy", 1, "sums")),
        ("sums:a=b=12.5%", Check("a=b", 12.5, "sums", is_percent=True)),
        ("loss=-1e-3", Check("loss", -0.001)),
    ],
)
def test_a_check_is_read_as_it_was_meant(text: str, check: Check) -> None:
    assert parse_check(text) == check
    assert parse_check(str(check)) == check


@pytest.mark.parametrize(
    "text", ["", "accuracy", "accuracy=", "=0.8", ":a=1", "a:=1", "a=high", "a=nan", "a=inf%"]
)
def test_what_is_no_check_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match="is no check") as caught:
        parse_check(text)
    assert "accuracy=0.8" in caught.value.remedy


def test_an_unknown_name_is_refused_before_a_run_with_what_there_is() -> None:
    there = {"sums": ["number_match", "tokens"], "jailbreaks": ["attack_success"]}
    known_checks([parse_check("tokens=9"), parse_check("sums:number_match=0.5")], there)
    with pytest.raises(InputError, match="have no metric 'acuracy'") as caught:
        known_checks([parse_check("acuracy=0.8")], there)
    assert "sums: number_match, tokens; jailbreaks: attack_success" in caught.value.remedy
    with pytest.raises(InputError, match="there is no recipe 'suns'"):
        known_checks([parse_check("suns:tokens=1")], there)
    with pytest.raises(InputError, match="jailbreaks has no metric 'tokens'"):
        known_checks([parse_check("jailbreaks:tokens=1")], there)


def scored(label: str, *values: float | None, endpoint: str = ENDPOINTS[0]) -> list[Item]:
    return [
        item(
            n, endpoint=endpoint,
            scores=(ItemScore(label, v, *(() if v is not None else (ScoreStatus.ERROR,))),),
        )
        for n, v in enumerate(values)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("label", "values", "check", "fails"),
    [
        ("number_match", (1, 1, 1, 1, 0), "number_match=0.8", False),
        ("number_match", (1, 1, 1, 0, 0), "number_match=0.8", True),
        ("number_match", (1, 1, 1, 0, 0), "number_match=60%", False),
        ("number_match", (1, 1, 1, 0, 0), "number_match=61%", True),
        ("number_match", (0.1, 0.2, 0.3, 0.3, 0.6), "number_match=0.3", False),
        # Lower is better: the value is the most that is allowed.
        ("attack_success", (0, 0, 0, 1), "attack_success=0.25", False),
        ("attack_success", (0, 0, 1, 1), "attack_success=0.25", True),
        ("attack_success", (0, 0, 1, 1), "attack_success=30%", True),
        ("bleu", (40, 60), "bleu=50%", False),
        ("bleu", (40, 60), "bleu=0.5", False),
        ("bleu", (40, 60), "bleu=51", True),
        ("tokens", (40, 60), "tokens=50", False),
        ("tokens", (40, 60), "tokens=49", True),
        # Nothing can be said of it, so it fails.
        ("number_match", (None, None), "number_match=0", True),
        ("tokens", (40, 60), "tokens=50%", True),
        ("tokens", (40, 60), "sums:other=1", True),
    ],
)
def test_a_check_fails_where_it_should(
    label: str, values: tuple[float | None, ...], check: str, fails: bool
) -> None:
    result = result_of(scored(label, *values), grading={})
    assert bool(failed_checks(result, [parse_check(check)])) is fails


def test_a_failed_check_says_of_what_and_by_how_much() -> None:
    found = [
        *scored("number_match", 1, 0),
        *scored("number_match", 1, 1, endpoint=ENDPOINTS[1]),
    ]
    assert failed_checks(result_of(found), [parse_check("sums:number_match=80%")]) == [
        "number_match of sums by gpt-4o-mini is 50%; at least 80% is demanded"
    ]
    lower = result_of(scored("attack_success", 1, 0), grading={})
    assert failed_checks(lower, [parse_check("attack_success=0.1")]) == [
        "attack_success of sums by gpt-4o-mini is 0.5; at most 0.1 is allowed"
    ]
    nothing = result_of(scored("number_match", None), grading={})
    assert failed_checks(nothing, [parse_check("number_match=0.1")]) == [
        "number_match of sums by gpt-4o-mini: nothing was scored"
    ]


# The file --------------------------------------------------------------------------------------


def written(tmp_path: Path, found: list[Item], **more: Any) -> ElementTree.Element:
    grading = more.pop("grading", None)
    result = result_of(found, grading=grading)
    path = write_junit(result, table(found), tmp_path / "r.xml", overwrite=True, **more)
    return ElementTree.parse(path).getroot()


def counts(element: ElementTree.Element) -> dict[str, int]:
    """What the element says of itself, which must be what is in it."""
    said = {name: int(element.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
    assert said == {
        "tests": len(element.findall(".//testcase")),
        "failures": len(element.findall(".//failure")),
        "errors": len(element.findall(".//error")),
        "skipped": len(element.findall(".//skipped")),
    }
    return said


def test_there_is_a_suite_for_each_recipe_and_endpoint(tmp_path: Path) -> None:
    root = written(tmp_path, FOUND)
    assert root.tag == "testsuites"
    assert [suite.attrib["name"] for suite in root] == [
        f"{recipe} · {endpoint}"
        for recipe in ("sums", "summaries", "jailbreaks")
        for endpoint in ENDPOINTS
    ]
    failed = [each for each in FOUND if each.status is ItemStatus.FAILED]
    said = counts(root)
    assert (said["tests"], said["errors"]) == (18 + len(failed), len(failed))
    assert said["failures"] == said["skipped"] == 0
    for suite in root:
        counts(suite)
    first = root[0]
    cases = first.findall("testcase")
    assert [case.attrib["name"] for case in cases[:2]] == ["number_match", "tokens"]
    assert cases[0].attrib["classname"] == "sums.gpt-4o-mini"
    told = cases[0].findtext("system-out") or ""
    assert " to " in told and "30 scored" in told
    facts = {each.attrib["name"]: each.attrib["value"] for each in first.iter("property")}
    mean = result_of(FOUND).recipes[0].endpoints[0].metrics[0].mean.value
    assert float(facts["metric.number_match"]) == mean and facts["items"] == "30"
    assert first.attrib["timestamp"] == "2026-02-14T09:10:00"


def test_an_item_that_failed_is_an_error_with_what_was_said(tmp_path: Path) -> None:
    down = item(
        7, status=ItemStatus.FAILED, answer=None, failure="timeout", error="no answer", scores=()
    )
    root = written(tmp_path, [item(0), down])
    [error] = root.iter("error")
    assert error.attrib == {"message": "no answer", "type": "timeout"}
    assert "What is 7 and 7?" in (error.text or "")


def test_wrong_answers_are_failures_only_when_asked(tmp_path: Path) -> None:
    found = [
        item(0, answer="yes", target=("no",), scores=(ItemScore("number_match", 0.0),)),
        item(1, scores=(ItemScore("number_match", 0.4),)),
        item(2),
        item(3, recipe="jailbreaks", scores=(ItemScore("attack_success", 1.0),)),
        item(4, recipe="jailbreaks", scores=(ItemScore("attack_success", 0.0),)),
        item(5, recipe="long", scores=(ItemScore("bleu", 0.0),)),  # not of 0 and 1
    ]
    assert counts(written(tmp_path, found))["failures"] == 0
    root = written(tmp_path, found, wrong=True)
    assert counts(root)["failures"] == 2
    failed = [case for case in root.iter("testcase") if case.find("failure") is not None]
    names = [case.attrib["name"] for case in failed]
    assert names == ["item 0: q0", "item 3: q3"]
    assert "expected: no" in (next(root.iter("failure")).text or "")


def test_checks_are_cases_and_those_of_nothing_fail(tmp_path: Path) -> None:
    found = scored("number_match", 1, 0)
    checks = [parse_check(each) for each in ("number_match=0.5", "number_match=0.6", "other=1")]
    root = written(tmp_path, found, checks=checks)
    cases = {case.attrib["name"]: case for case in root.iter("testcase")}
    assert cases["check number_match=0.5"].find("failure") is None
    failure = cases["check number_match=0.6"].find("failure")
    assert failure is not None and "at least 0.6 is demanded" in failure.attrib["message"]
    assert cases["check other=1"].find("failure") is not None
    assert counts(root)["failures"] == 2


def test_a_metric_that_scored_nothing_is_skipped(tmp_path: Path) -> None:
    root = written(tmp_path, scored("number_match", None), grading={})
    assert counts(root)["skipped"] == 1


def test_so_many_items_and_the_rest_is_counted(tmp_path: Path) -> None:
    down = {"status": ItemStatus.FAILED, "answer": None, "failure": "timeout", "scores": ()}
    root = written(tmp_path, [item(n, **down) for n in range(50)], most=10, grading={})
    assert counts(root)["errors"] == 10
    assert "and 40 more items" in (root[0].findtext("system-out") or "")


def test_hostile_texts_make_a_file_that_can_be_read(tmp_path: Path) -> None:
    Secret("a-very-secret-value-1234")
    texts = [
        *HOSTILE, "]]>", "<![CDATA[", "&amp;", "\ufffe\uffff", "\x00\x1b[2J", "\ud800",
        "a-very-secret-value-1234",
    ]  # fmt: skip
    found = [
        item(
            n,
            status=ItemStatus.FAILED,
            answer=None,
            scores=(),
            prompt=text,
            error=text,
            failure=text,
            id=text,
            endpoint=clean(text[:50]),
        )
        for n, text in enumerate(texts)
    ]
    result = result_of(found, grading={}, name=HOSTILE[0], state="\x1b[2J", version="]]>")
    path = write_junit(result, table(found), tmp_path / "r.xml", checks=[Check("\x00", 1.0)])
    root = ElementTree.parse(path).getroot()
    assert len(list(root.iter("error"))) == len(texts)
    assert any(error.attrib["message"] == "]]>" for error in root.iter("error"))
    text = path.read_text("utf-8")
    assert "very-secret" not in text
    assert not any(ord(letter) < 32 and letter not in "\t\n" for letter in text)


def test_a_file_that_is_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    path = tmp_path / "r.xml"
    path.write_text("mine")
    with pytest.raises(InputError, match="is already there"):
        write_junit(result_of(FOUND), Table.from_rows([]), path)
    assert path.read_text() == "mine"
