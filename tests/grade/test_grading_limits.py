"""Limits: of chunks, files, runs and days; and each setting that changes what is sent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from penstock.endpoint import Endpoint, Prices
from penstock.engine.workbench import Workbench
from penstock.errors import EndpointError, InputError
from penstock.generate import Prompter
from penstock.grade import grading
from penstock.simulator import Simulator
from tests.grade.grade_kit import (
    Grade,
    bodies,
    essays,
    job,
    read,
    sent,
    settings,
    states,
    statuses,
    write_csv,
)

At = Callable[..., Endpoint]
SHORT = {"max_tokens": 200}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files, of which the second takes three times as much."""
    write_csv(tmp_path / "in" / "a.csv", essays(4, word="a"))
    write_csv(tmp_path / "in" / "b.csv", essays(12, word="b"))
    return tmp_path / "in"


@pytest.fixture
def tokens(folder: Path, tmp_path: Path) -> tuple[int, int]:
    """What each of them takes, as it is counted before."""
    with Workbench(settings(), tmp_path / "counting") as bench:
        made = job(folder, [Endpoint("simulated", "simulated")])
        opening = made.opened(bench, tmp_path / "opened", counts=True)
    first, second = (file.plan.tokens for file in opening.files)
    return first, second


# Of a chunk --------------------------------------------------------------------------------------


def test_a_row_over_the_limit_of_a_chunk_is_skipped_where_that_is_wished(
    grade: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    rows = essays(6)
    rows[2]["text"] = "word " * 3000
    path = write_csv(tmp_path / "in.csv", rows)
    done = grade(path, token_limit=1500, on_over_limit="skip")
    assert statuses(done.files[0].output) == ["ok", "ok", "skipped", "ok", "ok", "ok"]
    row = read(done.files[0].output)[2]
    assert "tokens" in row["error"] and not row["clarity"] and row["text"] == rows[2]["text"]
    assert sent(simulator) == 5 and not done.ok
    assert all(chunk.tokens <= 1500 for chunk in done.files[0].chunks)
    assert done.run.state == "completed with failures"


def test_a_row_over_the_limit_of_a_chunk_is_told_before_anything_of_its_file_is_sent(
    grade: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "in.csv", [*essays(2), {"id": 2, "text": "word " * 3000}])
    with pytest.raises(InputError, match=r"in\.csv"):
        grade(path, token_limit=1500)
    assert simulator.summary()["requests"] == 0


# Of a file ---------------------------------------------------------------------------------------


def test_a_file_over_the_limit_ends_it_before_anything_is_sent(
    grade: Grade, simulator: Simulator, folder: Path, tokens: tuple[int, int], tmp_path: Path
) -> None:
    limit = (tokens[0] + tokens[1]) // 2
    with pytest.raises(InputError, match=r"b\.csv") as told:
        grade(folder, file_token_limit=limit)
    assert f"{limit:,}" in told.value.message and f"{tokens[1]:,}" in told.value.message
    assert simulator.summary()["requests"] == 0 and not (tmp_path / "out").exists()
    assert grade(folder, file_token_limit=tokens[1]).ok, "as much as it may is not too much"


@pytest.mark.parametrize("on_file_error", ["skip", "halt"])
def test_a_file_over_the_limit_is_left_out_where_that_is_wished(
    grade: Grade, simulator: Simulator, folder: Path, tokens: tuple[int, int], on_file_error: str
) -> None:
    done = grade(folder, file_token_limit=tokens[0], on_over_limit="skip",
                 on_file_error=on_file_error)  # fmt: skip
    small, large = done.files
    assert small.ok and sent(simulator) == 4
    assert "tokens" in large.problem and large.output is None
    assert done.run.state == "completed with failures"


def test_the_setting_file_token_limit_holds_and_a_wish_goes_before_it(
    grade: Grade, simulator: Simulator, folder: Path, tokens: tuple[int, int], tmp_path: Path
) -> None:
    limit = settings(token_management__file_token_limit=tokens[0])
    with Workbench(limit, tmp_path / "h") as strict:
        with pytest.raises(InputError, match=r"b\.csv"):
            grade(folder, workbench=strict)
        assert simulator.summary()["requests"] == 0
        assert grade(folder, workbench=strict, file_token_limit=tokens[1]).ok


# Of a day ----------------------------------------------------------------------------------------


def test_files_over_what_is_left_of_the_day_end_it_before_anything_is_sent(
    grade: Grade, simulator: Simulator, folder: Path, tokens: tuple[int, int]
) -> None:
    for run in ("", "an-id-of-its-own"):
        with pytest.raises(InputError, match=r"b\.csv.*today"):
            grade(folder, daily_token_limit=sum(tokens) - 1, run=run)
    assert simulator.summary()["requests"] == 0
    done = grade(folder, daily_token_limit=sum(tokens) - 1, on_over_limit="skip", params=SHORT)
    assert [bool(file.problem) for file in done.files] == [False, True]


def test_what_other_jobs_used_today_counts_and_what_was_used_yesterday_does_not(
    grade: Grade,
    bench: Workbench,
    at: At,
    simulator: Simulator,
    folder: Path,
    tokens: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Prompter(at(), lambda row: row["text"], workbench=bench)(essays(20))
    used = simulator.summary()["tokens"]
    assert grading.used_today(bench) == used > 0, "as the journal says"
    limit = 2 * sum(tokens) + 16 * 200 + used // 2
    with pytest.raises(InputError, match="today"):
        grade(folder, daily_token_limit=sum(tokens) + used // 2, params=SHORT)
    asked = sent(simulator)

    class Tomorrow(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + timedelta(days=1)

    monkeypatch.setattr(grading, "datetime", Tomorrow)
    assert grading.used_today(bench) == 0
    assert grade(folder, daily_token_limit=limit, params=SHORT).ok
    assert sent(simulator) == asked + 16


def test_the_setting_daily_token_limit_holds_while_the_run_goes_on(
    grade: Grade, simulator: Simulator, folder: Path, tokens: tuple[int, int], tmp_path: Path
) -> None:
    """The questions would fit; with their answers they do not."""
    limit = sum(tokens) + 400
    strict = settings(token_management__daily_token_limit=limit)
    with Workbench(strict, tmp_path / "h") as bench:
        done = grade(folder, workbench=bench, params=SHORT, row_limit=3, max_workers=1)
        assert done.run.state == "stopped" and done.counts["pending"] > 0
        assert simulator.summary()["tokens"] <= limit
        [run] = bench.catalog.all_runs()
        assert "tokens" in run["message"]


def test_going_on_counts_the_tokens_of_the_run_once(
    grade: Grade, simulator: Simulator, folder: Path, tokens: tuple[int, int], tmp_path: Path
) -> None:
    with Workbench(settings(), tmp_path / "first") as counting:
        whole = grade(folder, workbench=counting, params=SHORT, out=tmp_path / "whole").run.tokens
    simulator.reset()
    limit = sum(tokens) + 400
    assert limit < whole
    with Workbench(settings(), tmp_path / "h") as bench:
        options: dict[str, Any] = {
            "workbench": bench, "run": "g-1", "params": SHORT, "row_limit": 2, "max_workers": 1,
        }  # fmt: skip
        first = grade(folder, daily_token_limit=limit, **options)
        assert first.run.state == "stopped" and 0 < first.counts["ok"] < 16
        used = simulator.summary()["tokens"]
        stuck = grade(folder, daily_token_limit=limit, **options)
        assert stuck.run.state == "stopped" and simulator.summary()["tokens"] <= limit
        assert stuck.run.tokens == simulator.summary()["tokens"] >= used
        done = grade(folder, daily_token_limit=whole + 1500, **options)
        assert done.ok and done.run.tokens == whole == simulator.summary()["tokens"]
    assert sent(simulator) == 16


def test_a_run_that_is_all_recorded_goes_on_where_the_day_has_nothing_left(
    grade: Grade, simulator: Simulator, folder: Path
) -> None:
    first = grade(folder, run="g-1")
    again = grade(folder, run="g-1", daily_token_limit=1)
    assert again.ok and again.run.tokens == first.run.tokens and sent(simulator) == 16


# Of a run ----------------------------------------------------------------------------------------


def test_the_setting_token_limit_stops_the_run_cleanly_and_more_goes_on(
    grade: Grade, simulator: Simulator, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(30))
    options: dict[str, Any] = {"run": "g-1", "params": SHORT, "row_limit": 4, "max_workers": 2}
    with Workbench(settings(token_management__token_limit=6000), tmp_path / "h") as poor:
        first = grade(path, workbench=poor, **options)
        assert first.run.state == "stopped" and first.run.tokens <= 6000
        assert first.counts["ok"] == sent(simulator) and first.counts["pending"] > 0
        assert set(statuses(first.files[0].output)) == {"ok", "pending"}
        again = grade(path, workbench=poor, **options)
        assert again.run.state == "stopped" and again.run.tokens <= 6000, "across its resumes"
    with Workbench(settings(), tmp_path / "h") as rich:
        done = grade(path, workbench=rich, **options)
        assert done.ok and done.run.tokens == simulator.summary()["tokens"]
    assert sent(simulator) == 30


@pytest.mark.parametrize("how", ["wish", "setting"])
def test_a_budget_stops_the_run_cleanly_and_more_money_goes_on(
    grade: Grade, at: At, simulator: Simulator, tmp_path: Path, how: str
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(30))
    model = at(prices=Prices(Decimal(10), Decimal(10)))
    options: dict[str, Any] = {"run": "g-1", "params": SHORT, "row_limit": 4, "model": model}
    given = {"token_management__budget": 0.06} if how == "setting" else {}
    wish = {"budget": "0.06"} if how == "wish" else {}
    with Workbench(settings(**given), tmp_path / "h") as bench:
        first = grade(path, workbench=bench, **wish, **options)
        [run] = bench.catalog.all_runs()
    assert first.run.state == "stopped" and 0 < first.run.cost <= Decimal("0.06")
    assert first.counts["ok"] == sent(simulator) < 30 and "budget" in run["message"]
    with Workbench(settings(), tmp_path / "h") as rich:
        done = grade(path, workbench=rich, **options)
    assert done.ok and sent(simulator) == 30
    assert done.run.cost == Decimal(simulator.summary()["tokens"]) / 100_000


def test_a_budget_without_a_price_is_told_before_anything_is_sent(
    grade: Grade, simulator: Simulator, bench: Workbench, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(3))
    with pytest.raises(InputError, match="no price is known"):
        grade(path, budget="1")
    assert simulator.summary()["requests"] == 0 and bench.catalog.all_runs() == []


# Settings ----------------------------------------------------------------------------------------


def test_the_settings_of_the_model_are_seen_in_what_is_sent(
    simulator: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model by a saved name, its temperature and its longest answer."""
    monkeypatch.setenv("SAVED_KEY", "a-key-of-no-worth")
    path = write_csv(tmp_path / "in.csv", essays(1))
    saved = Endpoint("openai", "simulated", simulator.url, key="env:SAVED_KEY")
    with Workbench(settings(), tmp_path / "h") as bench:
        bench.catalog.save_endpoint("mine", saved.spec())
        with pytest.raises(EndpointError, match="no model is given"):
            job(path).run(bench)
    for more in ({}, {"llm__temperature": 0.7, "llm__max_tokens": 321}):
        with Workbench(settings(llm__model="mine", **more), tmp_path / "h") as bench:
            done = job(path).run(bench)
            [body] = bodies(bench, done, tmp_path)
        assert done.ok and body["model"] == "simulated"
        assert body.get("temperature") == (0.7 if more else None)
        asked = body.get("max_tokens") or body.get("max_completion_tokens")
        assert asked == (321 if more else None)
    assert sent(simulator) == 2, "other parameters are another question"
    with Workbench(settings(llm__model="mine", llm__max_tokens=3), tmp_path / "h") as bench:
        cut = job(path).run(bench)
    assert cut.files[0].counts == {"failed": 1}
    assert cut.failures is not None and cut.failures["kind"] == ["truncated"]
    assert [entry["completion_tokens"] for entry in simulator.ledger()][-1] == 3


def test_wishes_for_parameters_go_before_those_of_the_settings(
    grade: Grade, tmp_path: Path, simulator: Simulator
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(1))
    with Workbench(settings(llm__temperature=0.7), tmp_path / "h") as bench:
        done = grade(path, workbench=bench, params={"temperature": 0.1})
        [body] = bodies(bench, done, tmp_path)
    assert body["temperature"] == 0.1


@pytest.mark.parametrize("tracked", [True, False])
def test_costs_are_kept_only_where_they_are_tracked(
    grade: Grade, at: At, tmp_path: Path, tracked: bool
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(3))
    model = at(prices=Prices(Decimal(1), Decimal(1)))
    with Workbench(settings(token_management__cost_tracking=tracked), tmp_path / "h") as bench:
        done = grade(path, workbench=bench, model=model)
    assert (done.run.cost > 0) is tracked and done.run.tokens > 0
    assert done.run.counters["unpriced"] == (0 if tracked else 3)


def test_reasks_of_the_settings_is_how_often_a_bad_answer_is_asked_again(
    grade: Grade, at: At, simulator: Simulator, tmp_path: Path
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(2))
    for reasks, counts in ((0, {"failed": 2}), (1, {"ok": 2})):
        with Workbench(settings(llm__reasks=reasks), tmp_path / f"h{reasks}") as bench:
            done = grade(path, workbench=bench, model=at("simulated-invalid"),
                         out=tmp_path / f"o{reasks}")  # fmt: skip
        assert done.files[0].counts == counts


@pytest.mark.parametrize("cache", ["off", "refresh", "read"])
def test_what_is_recorded_is_used_as_it_is_wished(
    grade: Grade, simulator: Simulator, tmp_path: Path, cache: str
) -> None:
    path = write_csv(tmp_path / "in.csv", essays(4))
    grade(path, out=tmp_path / "first", first=2)
    done = grade(path, cache=cache, row_limit=2, max_workers=1)
    if cache == "read":
        assert states(done) == [["success", "failure"]]
        assert statuses(done.files[0].output) == ["ok"] * 2 + ["failed"] * 2
        assert sent(simulator) == 2, "nothing was sent"
    else:
        assert done.ok and simulator.summary()["requests"] == 6
