"""Limits are kept like the real ones: buckets, headers, 429 with a hint, lines, latencies."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock.errors import InputError
from penstock.simulator import Simulator
from penstock.simulator.latency import Latency
from penstock.simulator.limits import Limits, go_duration
from tests.simulator.raw import CHAT, Response, chat, connect, post, read_response, request_bytes


def test_headers_tell_the_limits_on_every_response(simulator: Simulator) -> None:
    simulator.set(rpm=60, tpm=600)
    first, bad = post(simulator, chat("x" * 400)), post(simulator, {"model": "m"})
    assert first.headers["x-ratelimit-limit-requests"] == "60"
    assert first.headers["x-ratelimit-remaining-requests"] == "59"
    assert first.headers["x-ratelimit-reset-requests"] in (
        "1s",
        *(f"{n}ms" for n in range(900, 1000)),
    )
    used = first.json["usage"]["total_tokens"]
    assert int(first.headers["x-ratelimit-remaining-tokens"]) in (600 - used, 601 - used)
    assert float(first.headers["x-ratelimit-reset-tokens"][:-1]) == pytest.approx(
        used / 10, abs=0.1
    )
    assert bad.status == 400
    assert bad.headers["x-ratelimit-limit-tokens"] == "600"
    simulator.set(rpm=None, tpm=None)
    assert "x-ratelimit-limit-requests" not in post(simulator, chat()).headers


def test_too_many_requests_are_told_when_to_come_again(simulator: Simulator) -> None:
    simulator.set(rpm=120, burst=2.5)
    responses = [post(simulator, chat()) for _ in range(20)]
    refused = [each for each in responses if each.status == 429]
    assert 5 <= sum(each.status == 200 for each in responses) < 20
    assert refused
    assert refused[0].error["code"] == "rate_limit_exceeded"
    assert refused[0].error["type"] == "requests"
    wait = int(refused[-1].headers["retry-after-ms"])
    assert 0 < wait <= 500
    assert refused[-1].headers["retry-after"] == "1"
    assert simulator.summary()["rejected"] == len(refused)
    time.sleep(wait / 1000 + 0.005)
    assert post(simulator, chat()).status == 200


def test_tokens_are_limited_too(simulator: Simulator) -> None:
    simulator.set(tpm=6000, burst=10, fixed=True)
    statuses = [post(simulator, chat()) for _ in range(8)]
    refused = next(each for each in statuses if each.status == 429)
    assert refused.error["type"] == "tokens"
    assert refused.headers["x-ratelimit-remaining-tokens"].isdigit()


def test_a_request_above_the_whole_limit_never_passes(simulator: Simulator) -> None:
    simulator.set(tpm=100, fixed=True)
    refused = post(simulator, chat())
    assert refused.status == 429
    assert refused.error["message"].startswith("Request too large")
    assert "retry-after" not in refused.headers


def test_a_bucket_lets_through_its_rate_and_no_more() -> None:
    limits = Limits(60, None, 1.0, 0.0)
    passed = [now for now in (at / 10 for at in range(601)) if limits.admit(5, now).passed]
    assert len(passed) == 61
    refused = limits.admit(5, 60.3)
    assert refused.wait == pytest.approx(0.7, abs=0.01)
    assert limits.admit(5, 60.3 + refused.wait).passed


def test_what_exceeds_a_small_bucket_passes_when_it_is_full() -> None:
    limits = Limits(None, 6000, 1.0, 0.0)
    assert limits.admit(500, 0.0).passed
    assert not limits.admit(500, 1.0).passed
    assert limits.admit(500, 5.01).passed


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.012, "12ms"),
        (1, "1s"),
        (1.5, "1.5s"),
        (360, "6m0s"),
        (59.999, "59.999s"),
        (179.56, "2m59.56s"),
        (3600, "1h0m0s"),
    ],
)
def test_durations_are_written_as_go_writes_them(seconds: float, text: str) -> None:
    assert go_duration(seconds) == text


def _timed(simulator: Simulator) -> tuple[Response, float]:
    start = time.monotonic()
    return post(simulator, chat()), time.monotonic() - start


def test_beyond_the_concurrency_requests_wait_in_line(simulator: Simulator) -> None:
    simulator.set(latency="200", max_concurrency=2)  # long enough for all six to come
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda _: _timed(simulator), range(6)))
    assert {response.status for response, _ in found} == {200}
    times = sorted(seconds for _, seconds in found)
    assert times[0] >= 0.18
    assert times[-1] >= 0.45
    assert simulator.summary()["max_in_flight"] == 6


def test_one_who_leaves_the_line_is_not_served(simulator: Simulator) -> None:
    simulator.set(latency="150", max_concurrency=1)
    with connect(simulator) as first:
        first.sendall(request_bytes(CHAT, chat("first")))
        with connect(simulator) as second:
            second.sendall(request_bytes(CHAT, chat("second")))
            time.sleep(0.05)
        assert read_response(first).status == 200
    assert _timed(simulator)[1] < 0.29
    assert [entry["status"] for entry in simulator.ledger()] == [200, 0, 200]


def test_latency_holds_an_answer_back(simulator: Simulator) -> None:
    simulator.set(latency="80")
    response, seconds = _timed(simulator)
    assert seconds >= 0.075
    assert response.headers["openai-processing-ms"] == "80"


def test_latencies_have_the_distribution_they_name() -> None:
    def drawn(text: str) -> list[float]:
        return sorted(Latency.read(text).seconds(3, n) * 1000 for n in range(4000))

    assert drawn("50")[0] == drawn("50")[-1] == 50
    uniform = drawn("50-200")
    assert 50 <= uniform[0] < 52
    assert 198 < uniform[-1] <= 200
    normal = drawn("normal:100:20")
    assert normal[2000] == pytest.approx(100, abs=3)
    assert normal[640] == pytest.approx(80, abs=3)
    lognormal = drawn("lognormal:100:0.5")
    assert lognormal[2000] == pytest.approx(100, abs=5)
    assert lognormal[3364] == pytest.approx(165, abs=12)


@pytest.mark.parametrize(
    "text", ["abc", "", "5-", "9-5", "-5", "normal:1", "gamma:1:2", "nan", "inf"]
)
def test_latencies_that_cannot_be_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="latency"):
        Latency.read(text)
