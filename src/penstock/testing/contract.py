"""The one suite that every provider passes.

    class TestMine(ProviderContract):
        lacks = {"limits": "the server tells none"}

        def endpoint(self) -> Endpoint:
            return Endpoint("mine", "some-model", url=self.stage.url)

Everything is expected of a provider unless `lacks` names it with a reason; what belongs to a
question (images, a schema, tools) must then be refused, never dropped. The tests are plain methods
without a plugin of pytest's, and the suite itself imports no pytest.
"""

from __future__ import annotations

import asyncio
import base64
import json
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from typing import Any, ClassVar
from urllib.parse import urlsplit, urlunsplit

from penstock.endpoint import Endpoint
from penstock.errors import KeyMissingError
from penstock.messages import image
from penstock.outcome import Answer, Failure, FailureKind, Finish
from penstock.providers import provider_of
from penstock.providers.provider import MalformedReplyError, OnText, Provider, Sent
from penstock.providers.transport import TransportSettings, open_transport
from penstock.request import Request
from penstock.schema import AnswerSchema
from penstock.secret import Secret
from penstock.testing.abilities import ABILITIES, ASKED, needs, without
from penstock.testing.stage import CALM, LIMITS, REFUSAL, SimulatorStage, Stage

__all__ = ["ProviderContract"]

WRONG_KEY = "sk-wrong-9f8e7d6c5b4a39281706f5e4"
_PATIENCE = 10.0
_IMPATIENCE = 0.3
_PICTURE = b"\x89PNG\r\n\x1a\n of the contract"
_LAKE: dict[str, Any] = {
    "title": "Lake",
    "type": "object",
    "properties": {"name": {"type": "string"}, "metres": {"type": "integer"}},
    "required": ["name", "metres"],
    "additionalProperties": False,
}
_WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather at a place",
        "parameters": {
            "type": "object",
            "properties": {"place": {"type": "string"}},
            "required": ["place"],
        },
    },
}
_ASKED: Mapping[str, Mapping[str, Any]] = {
    "images": {"prompt": [{"role": "user", "content": ["What is this?", image(_PICTURE)]}]},
    "schema": {"prompt": "A lake, please.", "schema": _LAKE},
    "tools": {"prompt": "Do I need an umbrella?", "tools": [_WEATHER], "tool_choice": "required"},
}


class ProviderContract:
    """Subclass it under a name that begins with `Test`; say `endpoint` and `lacks`."""

    lacks: ClassVar[Mapping[str, str]] = {}
    """The abilities that this provider has not, each with the reason."""
    models: ClassVar[Mapping[str, str]] = {REFUSAL: "simulated-refuse"}
    """The model to ask in a scenario, where it is another than the endpoint's."""
    stage: ClassVar[Stage]

    # What a subclass says -----------------------------------------------------------------------

    def endpoint(self) -> Endpoint:
        """The endpoint to ask: the provider's name, a model, the address of `self.stage`."""
        raise NotImplementedError("say which endpoint is meant: def endpoint(self) -> Endpoint")

    @classmethod
    def make_stage(cls) -> Stage:
        """The server to ask; Penstock's simulator unless overridden."""
        return SimulatorStage()

    # Around the tests ---------------------------------------------------------------------------

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        for name, reason in cls.lacks.items():
            if name not in ABILITIES:
                known = ", ".join(ABILITIES)
                raise TypeError(f"{cls.__name__}.lacks has {name!r}, which is no ability: {known}")
            if not isinstance(reason, str) or not reason.strip():
                raise TypeError(f"{cls.__name__}.lacks gives no reason for {name!r}")
        excused = without(_tests(), cls.lacks)
        for name in _tests():
            if name in excused:
                setattr(cls, name, None)  # pytest collects what can be called
            elif getattr(cls, name) is None:  # of a parent that lacks more
                setattr(cls, name, getattr(ProviderContract, name))

    @classmethod
    def held_to(cls) -> list[str]:
        """The names of the tests that this provider is held to."""
        names = dict.fromkeys([*_tests(), *(name for name in dir(cls) if name.startswith("test_"))])
        return [name for name in names if callable(getattr(cls, name, None))]

    @classmethod
    def setup_class(cls) -> None:
        cls.stage = cls.make_stage()
        cls.stage.start()

    @classmethod
    def teardown_class(cls) -> None:
        cls.stage.stop()

    def setup_method(self) -> None:
        self.stage.play(CALM)

    # Answers ------------------------------------------------------------------------------------

    def test_making_and_opening_it_makes_no_request(self) -> None:
        provider = self._provider(self._endpoint())
        provider.open()
        asyncio.run(provider.close())
        _equal(self.stage.requests(), 0, "requests that making a provider made")

    def test_a_text_is_answered(self) -> None:
        for on_text in self._ways():
            sent = self._ask("Name a river.", on_text)
            answer = self._answered(sent)
            assert answer.text.strip(), f"no text: {answer}"
            _equal(answer.finish, Finish.STOP, "finish")

    def test_an_answer_takes_one_request(self) -> None:
        self._answered(self._ask("Name a river."))
        if self._uses_network():
            _equal(self.stage.requests(), 1, "requests for one answer")

    def test_the_recorded_body_gives_the_same_answer_again(self) -> None:
        for on_text in self._ways():
            sent = self._ask("Name a river.", on_text)
            answer = self._answered(sent)
            assert sent.body, "no body is kept, so the journal could not answer again"
            _equal(self._kind().read(sent.body), answer, "the answer read from the recorded body")

    def test_the_question_is_shown_as_it_was_sent(self) -> None:
        endpoint = self._endpoint()
        request = Request.of(endpoint, "Name a river.")
        provider = self._provider(endpoint)
        provider.open()
        shown = provider.wire(request)
        assert b"Name a river." in shown, f"the question is not in its own wire form: {shown!r}"
        sent = self._ask("Name a river.")
        if sent.wire:
            _equal(sent.wire, shown, "the question as sent, and as `wire` shows it")

    def test_the_system_prompt_goes_along(self) -> None:
        sent = self._ask("Name a lake.", system="Speak of water-4711 only.")
        self._answered(sent)
        _found(sent.wire, "water-4711", "Name a lake.")

    def test_earlier_turns_go_along_in_their_order(self) -> None:
        turns = [
            {"role": "user", "content": "first-4711"},
            {"role": "assistant", "content": "second-4711"},
            {"role": "user", "content": "third-4711"},
        ]
        sent = self._ask(turns)
        self._answered(sent)
        _found(sent.wire, "first-4711", "second-4711", "third-4711")

    def test_questions_asked_at_once_do_not_mix(self) -> None:
        prompts = [f"Describe lake number {number}." for number in range(8)]
        pieces: list[list[str]] = [[] for _ in prompts]
        all_sent = self._ask_all(prompts, [each.append for each in pieces])
        for shown, sent in zip(pieces, all_sent, strict=True):
            _equal("".join(shown), self._answered(sent).text, "what was shown of an answer")

    def test_a_display_that_fails_costs_no_answer(self) -> None:
        def fails(_: str) -> None:
            raise RuntimeError("the terminal is gone")

        answer = self._answered(self._ask("Name a river.", fails))
        assert answer.text.strip(), f"no text: {answer}"

    @needs("streaming")
    def test_a_stream_is_shown_in_pieces_that_make_up_the_answer(self) -> None:
        pieces: list[str] = []
        whole = self._answered(self._ask("Tell me of rivers."))
        live = self._answered(self._ask("Tell me of rivers.", pieces.append))
        assert len(pieces) > 1, f"the answer came in {len(pieces)} piece(s)"
        _equal("".join(pieces), live.text, "the pieces put together")
        _equal(
            (live.finish, live.usage), (whole.finish, whole.usage), "a stream's finish and usage"
        )

    @needs("usage")
    def test_tokens_are_counted(self) -> None:
        short = self._answered(self._ask("Name a river.")).usage
        assert short.input_tokens > 0 and short.output_tokens > 0, f"nothing is counted: {short}"
        long = self._answered(self._ask("Name a river. " * 50)).usage
        assert long.input_tokens > short.input_tokens, f"a longer question counts no more: {long}"

    @needs("images")
    def test_a_picture_goes_along(self) -> None:
        sent = self._ask(**_ASKED["images"])
        self._answered(sent)
        _found(sent.wire, base64.b64encode(_PICTURE).decode())

    @needs("schema")
    def test_a_schema_is_answered_by_what_fits_it(self) -> None:
        for on_text in self._ways():
            sent = self._ask(on_text=on_text, **_ASKED["schema"])
            _found(sent.wire, "metres")
            value = AnswerSchema.of(_LAKE).read(self._answered(sent).text)
            _equal(list(value), ["name", "metres"], "the fields of a structured answer")

    @needs("tools")
    def test_a_tool_is_called_and_its_result_is_taken(self) -> None:
        question = {"role": "user", "content": "Do I need an umbrella?"}
        for on_text in self._ways():
            sent = self._ask(on_text=on_text, **_ASKED["tools"])
            _found(sent.wire, "weather")
            answer = self._answered(sent)
            _equal(answer.finish, Finish.TOOL, "finish")
            [call] = answer.tool_calls
            _equal((call["type"], call["function"]["name"]), ("function", "weather"), "the call")
            assert isinstance(json.loads(call["function"]["arguments"]), dict), call
            asked = {"role": "assistant", "content": answer.text or None, "tool_calls": [call]}
            told = {"role": "tool", "tool_call_id": call["id"], "content": "It rains-4711."}
            heard = self._ask([question, asked, told], on_text, tools=[_WEATHER])
            _found(heard.wire, "rains-4711")
            _equal(self._answered(heard).finish, Finish.STOP, "finish after the result")

    @needs("max_tokens")
    def test_an_answer_that_is_cut_says_so(self) -> None:
        for on_text in self._ways():
            answer = self._answered(self._ask("Tell me all.", on_text, max_tokens=3))
            _equal(answer.finish, Finish.LENGTH, "finish")

    @needs("refusal")
    def test_a_refusal_is_told_from_an_answer(self) -> None:
        self.stage.play(REFUSAL)
        for on_text in self._ways():
            outcome = self._ask("Hello", on_text, model=self.models.get(REFUSAL, "")).outcome
            if isinstance(outcome, Failure):
                _equal(outcome.kind, FailureKind.BLOCKED, "kind")
            else:
                assert outcome.refused, f"a refusal reads as an answer: {outcome}"

    def test_what_it_lacks_is_refused_and_never_dropped(self) -> None:
        for name in ASKED:
            if name in self.lacks:
                sent = self._ask(**_ASKED[name])
                _equal(self._failed(sent).kind, FailureKind.INVALID_REQUEST, f"kind for {name}")

    @needs("limits")
    def test_limits_come_with_an_answer(self) -> None:
        self.stage.play(LIMITS)
        sent = self._ask("Name a river.")
        self._answered(sent)
        assert sent.limits is not None, "no limits were read"
        quota = sent.limits.requests
        _equal(quota and quota.limit, self.stage.requests_per_minute, "requests a minute")

    # The key ------------------------------------------------------------------------------------

    @needs("key")
    def test_making_it_reads_no_key_and_opening_it_names_the_missing_one(self) -> None:
        provider = self._provider(self._endpoint(key="env:NO_SUCH_KEY_4711"))
        try:
            provider.open()
        except KeyMissingError as error:
            assert "NO_SUCH_KEY_4711" in error.message, error.message
        else:
            raise AssertionError("a key that is not there is not missed")

    @needs("key")
    def test_a_key_shows_nowhere(self) -> None:
        endpoint = self._endpoint()
        provider = self._provider(endpoint)
        provider.open()
        request = Request.of(endpoint, "Name a river.")
        for what in (endpoint, request, provider, provider.wire(request)):
            _hidden(repr(what), self.stage.key)

    # Bad days -----------------------------------------------------------------------------------

    @needs("authentication")
    def test_a_wrong_key_is_told_and_not_shown(self) -> None:
        for on_text in self._ways():
            sent = self._ask("Hello", on_text, key=Secret(WRONG_KEY))
            self._failure(sent, FailureKind.AUTHENTICATION, paid=False)
            _hidden(repr(sent), WRONG_KEY)

    @needs("permission")
    def test_a_missing_right_is_told(self) -> None:
        self._fails(FailureKind.PERMISSION, paid=False)

    @needs("not_found")
    def test_an_unknown_model_is_told(self) -> None:
        self._fails(FailureKind.NOT_FOUND, paid=False)

    @needs("quota")
    def test_an_empty_account_is_told_from_a_rate_limit(self) -> None:
        self._fails(FailureKind.QUOTA, paid=False)

    @needs("rate_limited")
    def test_a_rate_limit_is_told(self) -> None:
        self._fails(FailureKind.RATE_LIMITED, paid=False)

    @needs("retry_after")
    def test_a_rate_limit_tells_when_to_come_back(self) -> None:
        self.stage.play(FailureKind.RATE_LIMITED)
        for on_text in self._ways():
            wait = self._ask("Hello", on_text).retry_after
            assert wait is not None and 0 < wait < 3600, f"come back after {wait} seconds?"

    @needs("server")
    def test_a_fault_of_the_server_is_told(self) -> None:
        self._fails(FailureKind.SERVER, paid=False)

    @needs("overloaded")
    def test_an_overload_is_told(self) -> None:
        self._fails(FailureKind.OVERLOADED, paid=False)

    @needs("timeout")
    def test_a_silent_server_is_left_in_time(self) -> None:
        self._fails(FailureKind.TIMEOUT, paid=True, timeout=_IMPATIENCE)

    @needs("connection")
    def test_a_broken_connection_is_told(self) -> None:
        self._fails(FailureKind.CONNECTION, paid=True)

    @needs("connection")
    def test_a_server_that_is_not_there_has_not_been_paid(self) -> None:
        sent = self._ask("Hello", url=_nobody(self._endpoint().url))
        self._failure(sent, FailureKind.CONNECTION, paid=False)

    @needs("malformed")
    def test_a_reply_that_cannot_be_read_is_told(self) -> None:
        self._fails(FailureKind.MALFORMED, paid=True)

    @needs("malformed")
    def test_what_is_no_answer_is_never_read_as_one(self) -> None:
        for body in (b"", b"no json", b"[]", b"null", b'"text"', b"{", b"\xff\xfe"):
            try:
                answer = self._kind().read(body)
            except MalformedReplyError:
                continue
            raise AssertionError(f"{body!r} is read as {answer}")

    @needs("invalid_request")
    def test_a_question_that_the_server_refuses_is_told(self) -> None:
        self._fails(FailureKind.INVALID_REQUEST, paid=False)

    @needs("too_large")
    def test_a_question_that_is_too_large_is_told(self) -> None:
        self._fails(FailureKind.TOO_LARGE, paid=False)

    # Asking -------------------------------------------------------------------------------------

    def _endpoint(self, **changes: Any) -> Endpoint:
        made = self.endpoint()
        key = None if "key" in self.lacks else Secret(self.stage.key)
        given = {name: value for name, value in {"key": key, **changes}.items() if value}
        return made.with_(**given)

    def _kind(self) -> type[Provider]:
        return provider_of(self.endpoint())

    def _provider(self, endpoint: Endpoint) -> Provider:
        return provider_of(endpoint)(endpoint)

    def _uses_network(self) -> bool:
        return self._kind().uses_network

    def _ways(self) -> Iterator[OnText | None]:
        """Whole, and streamed where that is another way."""
        yield None
        if "streaming" not in self.lacks:
            yield lambda _: None

    def _ask(
        self,
        prompt: Any,
        on_text: OnText | None = None,
        *,
        model: str = "",
        url: str = "",
        key: Secret | None = None,
        timeout: float | None = None,
        **asked: Any,
    ) -> Sent:
        changes = {"model": model, "url": url, "key": key, "timeout": timeout}
        changed = self._endpoint(**{name: value for name, value in changes.items() if value})
        [sent] = asyncio.run(self._send(changed, [prompt], [on_text], asked))
        _hidden(repr(sent), self.stage.key)
        return sent

    def _ask_all(self, prompts: list[Any], shows: list[Callable[[str], None]]) -> list[Sent]:
        return asyncio.run(self._send(self._endpoint(), prompts, shows, {}))

    async def _send(
        self,
        endpoint: Endpoint,
        prompts: list[Any],
        shows: list[Any],
        asked: Mapping[str, Any],
    ) -> list[Sent]:
        transport = open_transport(TransportSettings(timeout=_PATIENCE))
        provider = provider_of(endpoint)(endpoint, transport)
        provider.open()
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(provider.send(Request.of(endpoint, prompt, **asked), show))
                    for prompt, show in zip(prompts, shows, strict=True)
                ]
            return [task.result() for task in tasks]
        finally:
            await provider.close()
            await transport.close()

    # Judging ------------------------------------------------------------------------------------

    def _answered(self, sent: Sent) -> Answer:
        assert isinstance(sent.outcome, Answer), f"no answer: {sent.outcome}"
        _equal(self._kind().read(sent.body), sent.outcome, "the answer read from the recorded body")
        return sent.outcome

    def _failed(self, sent: Sent) -> Failure:
        assert isinstance(sent.outcome, Failure), f"no failure: {sent.outcome}"
        assert sent.outcome.message.strip(), f"a failure without a word: {sent.outcome}"
        return sent.outcome

    def _failure(self, sent: Sent, kind: FailureKind, *, paid: bool) -> None:
        failure = self._failed(sent)
        _equal(failure.kind, kind, f"kind ({failure.message})")
        _equal(failure.may_be_paid, paid, f"may_be_paid of {kind}")

    def _fails(self, kind: FailureKind, *, paid: bool, timeout: float | None = None) -> None:
        for on_text in self._ways():
            self.stage.play(kind)
            self._failure(self._ask("Hello", on_text, timeout=timeout), kind, paid=paid)
            _equal(self.stage.requests(), 1, "requests; it is the engine that tries again, not it")


def _tests() -> dict[str, Any]:
    return {name: each for name, each in vars(ProviderContract).items() if name[:5] == "test_"}


def _equal(found: Any, wanted: Any, what: str) -> None:
    assert found == wanted, f"{what}: {found!r}, not {wanted!r}"


def _found(wire: bytes, *words: str) -> None:
    """Each of the words is in what was sent; turns in their order."""
    places = [wire.find(word.encode()) for word in words]
    assert min(places) >= 0, f"{words[places.index(-1)]!r} was not sent: {wire[:500]!r}"
    if words[0].startswith("first"):
        assert places == sorted(places), f"not in this order: {words}"


def _hidden(text: str, key: str) -> None:
    for part in (key, key[:12], key[-8:]):
        assert part not in text, f"a key shows in {text[:500]!r}"


def _nobody(url: str) -> str:
    """The same address at a port where nobody listens."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
    return urlunsplit(urlsplit(url)._replace(netloc=f"127.0.0.1:{port}"))
