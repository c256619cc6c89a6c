"""Every provider is held to the one contract, which is public: `penstock.testing`.

The contract itself is held to something too: a provider with one fault fails the test of it. That
provider is the one of the docs, so what people are told to write is what is judged.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import orjson
import pytest
from tests.docs.pages import ROOT, blocks

from penstock import plugins
from penstock.endpoint import Endpoint
from penstock.outcome import Answer, FailureKind
from penstock.providers.provider import Refusal
from penstock.testing import ABILITIES, ProviderContract, Stage, check
from penstock.testing.abilities import ASKED, FAULTS
from penstock.testing.stage import SCENARIOS, SimulatorStage

NO_SERVER = "it has no server"


class TestOpenAI(ProviderContract):
    def endpoint(self) -> Endpoint:
        return Endpoint("openai", "simulated", url=self.stage.url)


class TestGroq(ProviderContract):
    def endpoint(self) -> Endpoint:
        return Endpoint("groq", "simulated", url=self.stage.url)


class TestAnthropic(ProviderContract):
    def endpoint(self) -> Endpoint:
        return Endpoint("anthropic", "simulated", url=self.stage.url)


class TestGemini(ProviderContract):
    lacks: ClassVar[Mapping[str, str]] = {
        "limits": "Gemini tells them only when they are met, in the refusal"
    }

    def endpoint(self) -> Endpoint:
        return Endpoint("gemini", "simulated", url=self.stage.url)


class NoStage(Stage):
    """The simulated model is in this process."""

    def play(self, scenario: str) -> None:
        return

    def requests(self) -> int:
        return 0


class TestSimulated(ProviderContract):
    lacks: ClassVar[Mapping[str, str]] = {
        "key": "it needs none",
        "limits": NO_SERVER,
        "retry_after": NO_SERVER,
        **{str(kind): NO_SERVER for kind in FAULTS},
    }

    @classmethod
    def make_stage(cls) -> Stage:
        return NoStage()

    def endpoint(self) -> Endpoint:
        return Endpoint("simulated", "simulated")


# The contract ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """The names of the page that shows how to write a provider, without its runs."""
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks(ROOT / "docs" / "own-provider.md"):
        if block.language == "python" and "check(" not in block.text:
            exec(block.text.partition("stage.start()")[0], names)
    return names


@pytest.fixture(autouse=True)
def brook(page: dict[str, Any]) -> Iterator[None]:
    plugins.register("provider", "brook", page["Brook"])
    yield
    plugins.unregister("provider", "brook")


def failing(page: dict[str, Any], *only: str, **changes: Any) -> set[str]:
    """Which tests of the contract a changed Brook fails, of those whose names hold a word."""
    plugins.register("provider", "brook", type("Brook", (page["Brook"],), changes))
    contract: type[ProviderContract] = type("TestChanged", (page["TestBrook"],), {})
    words = only or ("",)
    for name in contract.held_to():
        if not any(word in name for word in words):
            setattr(contract, name, None)
    done = check(contract)
    assert done
    return {each.test for each in done if not each.ok}


def test_the_provider_of_the_docs_passes(page: dict[str, Any]) -> None:
    assert failing(page) == set()


def _reads_all(cls: Any, body: bytes) -> Answer:
    try:
        return Answer(orjson.loads(body)["said"])
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return Answer("?")


def _drops(self: Any, request: Any, *, stream: bool) -> dict[str, Any]:
    turns = [[turn["role"], str(turn["content"])] for turn in request.messages]
    return {"model": "m", "turns": turns, "most": 1000, "live": stream}


def _only_last(self: Any, request: Any, *, stream: bool) -> dict[str, Any]:
    turns = [["user", request.messages[-1]["content"]]]
    return {"model": "m", "turns": turns, "most": 1000, "live": stream}


def _no_wait(self: Any, reply: Any) -> Refusal:
    return Refusal(FailureKind.RATE_LIMITED, "slow down")


def _wordless(self: Any, reply: Any) -> Refusal:
    return Refusal(FailureKind.SERVER, "")


def _tells_key(self: Any, reply: Any) -> Refusal:
    return Refusal(FailureKind.AUTHENTICATION, f"no: {list(self._headers.values())[-1][7:]}")


def _asks_twice(kind: type[Any]) -> Any:
    async def send(self: Any, request: Any, on_text: Any = None) -> Any:
        await kind.send(self, request, None)
        return await kind.send(self, request, on_text)

    return send


def _asks_at_once(kind: type[Any]) -> Any:
    def open_(self: Any) -> None:
        kind.open(self)
        import urllib.request

        key = self._key.reveal()
        call = urllib.request.Request(self.address(None, stream=False), b"{}")
        call.add_header("authorization", f"Bearer {key}x")
        with pytest.raises(OSError):
            urllib.request.urlopen(call)

    return open_


class _Silent:
    """Shows nothing of what comes."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.body = inner.body

    def feed(self, piece: bytes) -> None:
        self._inner.on_text = lambda _: None
        self._inner.feed(piece)


FAULTY: list[tuple[str, Any, str]] = [
    ("read", lambda kind: classmethod(_reads_all), "what_is_no_answer_is_never_read"),
    ("read", lambda kind: classmethod(_reads_all), "reply_that_cannot_be_read"),
    ("read", lambda kind: classmethod(_reads_all), "refusal_is_told_from_an_answer"),
    ("read", lambda kind: classmethod(_reads_all), "answer_that_is_cut"),
    ("read", lambda kind: classmethod(_reads_all), "tokens_are_counted"),
    ("body", lambda kind: _drops, "what_it_lacks_is_refused"),
    ("body", lambda kind: _drops, "answer_that_is_cut"),
    ("body", lambda kind: _only_last, "system_prompt_goes_along"),
    ("body", lambda kind: _only_last, "earlier_turns"),
    ("refusal", lambda kind: _no_wait, "when_to_come_back"),
    ("refusal", lambda kind: _no_wait, "empty_account"),
    ("refusal", lambda kind: _no_wait, "missing_right"),
    ("refusal", lambda kind: _wordless, "fault_of_the_server"),
    ("refusal", lambda kind: _wordless, "unknown_model"),
    ("refusal", lambda kind: _wordless, "overload"),
    ("refusal", lambda kind: _wordless, "too_large"),
    ("refusal", lambda kind: _wordless, "server_refuses"),
    ("refusal", lambda kind: _wordless, "rate_limit_is_told"),
    ("refusal", lambda kind: _wordless, "wrong_key"),
    ("send", _asks_twice, "one_request"),
    ("send", _asks_twice, "broken_connection"),
    ("send", _asks_twice, "silent_server"),
    ("open", _asks_at_once, "makes_no_request"),
    ("stream", lambda kind: lambda self, show: _Silent(kind.stream(self, show)), "in_pieces"),
    ("stream", lambda kind: lambda self, show: _Silent(kind.stream(self, show)), "do_not_mix"),
    ("__repr__", lambda kind: lambda self: str(self._key.reveal()), "key_shows_nowhere"),
    ("wire", lambda kind: lambda self, request: b"{}", "as_it_was_sent"),
    ("_find_key", lambda kind: lambda self: None, "reads_no_key"),
]


@pytest.mark.parametrize(
    ("name", "change", "test"), FAULTY, ids=[f"{name}-{test}" for name, _, test in FAULTY]
)
def test_a_provider_with_a_fault_fails_the_test_of_it(
    name: str, change: Any, test: str, page: dict[str, Any]
) -> None:
    found = failing(page, test, **{name: change(page["Brook"])})
    assert [each for each in found if test in each]


def test_a_body_that_is_not_kept_fails(page: dict[str, Any]) -> None:
    import msgspec

    async def send(self: Any, request: Any, on_text: Any = None) -> Any:
        sent = await page["Brook"].send(self, request, on_text)
        return msgspec.structs.replace(sent, body=b"")

    assert "test_the_recorded_body_gives_the_same_answer_again" in failing(page, send=send)


def test_what_is_lacking_needs_a_name_and_a_reason() -> None:
    with pytest.raises(TypeError, match="'pictures', which is no ability: images, "):
        type("TestX", (ProviderContract,), {"lacks": {"pictures": "why not"}})
    with pytest.raises(TypeError, match="no reason for 'images'"):
        type("TestX", (ProviderContract,), {"lacks": {"images": " "}})


def test_only_what_is_lacking_is_left_out() -> None:
    whole = {name for name in vars(ProviderContract) if name.startswith("test_")}
    assert set(TestOpenAI.held_to()) == whole
    assert whole - set(TestGemini.held_to()) == {"test_limits_come_with_an_answer"}
    richer: type[ProviderContract] = type("TestRicher", (TestGemini,), {"lacks": {}})
    assert set(richer.held_to()) == whole


def test_every_ability_has_a_test_and_every_scenario_is_played() -> None:
    tested = {getattr(each, "ability", "") for each in vars(ProviderContract).values()}
    assert tested - {""} == set(ABILITIES)
    assert {*ASKED, *map(str, FAULTS)} < set(ABILITIES)
    with SimulatorStage().simulator as simulator:
        stage = SimulatorStage()
        stage.simulator = simulator
        for scenario in SCENARIOS:
            stage.play(scenario)
            assert stage.requests() == 0


def test_an_endpoint_must_be_said() -> None:
    with pytest.raises(NotImplementedError, match="say which endpoint"):
        ProviderContract().endpoint()


def test_the_suite_loads_no_pytest_and_nothing_of_the_engine() -> None:
    code = (
        "import sys, penstock.testing as t; [getattr(t, name) for name in t.__all__];"
        "print(sorted(n for n in sys.modules if n.split('.')[0] in ('pytest', '_pytest')"
        " or n.startswith(('penstock.engine', 'penstock.store', 'penstock.generate'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    bare = "import sys, penstock; print('penstock.testing' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", bare], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_names_of_the_room_are_those_it_lists() -> None:
    import penstock.testing as room

    assert dir(room) == sorted(room.__all__) == sorted(room._ROOMS)
    with pytest.raises(AttributeError, match="no attribute 'Contract'"):
        _ = room.Contract
