"""From a row to a question."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from pydantic import BaseModel

from penstock import file, image
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.generate import Prompter
from penstock.outcome import Answer, Finish
from penstock.providers.provider import Provider, Sent
from penstock.request import Request
from tests.generate.conftest import Make, numbered, texts


class Recorder(Provider):
    """Answers with OK and keeps the requests."""

    uses_network = False
    seen: list[Request]

    def open(self) -> None: ...

    async def send(self, request: Request, on_text: Any = None) -> Sent:
        Recorder.seen.append(request)
        return Sent(Answer("OK", Finish.STOP), b"OK", b"{}")

    def wire(self, request: Request) -> bytes:
        return b"{}"

    @classmethod
    def read(cls, body: bytes) -> Answer:
        return Answer(body.decode())


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch, bench: Workbench) -> Callable[..., list[Request]]:
    """The requests that a Prompter makes of rows, in their order."""
    from penstock.providers.simulated import Simulated

    Recorder.seen = []
    for name in ("open", "send", "wire", "read"):
        monkeypatch.setattr(Simulated, name, vars(Recorder)[name])

    def made(prompt: Any, rows: Any = None, **more: Any) -> list[Request]:
        Recorder.seen = []
        prompter = Prompter("simulated", prompt, concurrency=1, workbench=bench, **more)
        table = prompter(rows)
        assert len(table.failures) == 0, table.failures.to_list()
        return Recorder.seen

    return made


def test_a_text_is_a_user_message(requests: Callable[..., list[Request]]) -> None:
    [request] = requests(lambda: "Hello")
    assert request.messages == [{"role": "user", "content": "Hello"}]


def test_a_dictionary_has_a_system_and_a_user_text(
    requests: Callable[..., list[Request]],
) -> None:
    [request] = requests(lambda row: {"system": "Be brief.", "user": row["text"]}, texts("Hello"))
    assert request.messages == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
    ]


def test_the_system_prompt_stands_before_all_that_have_none_of_their_own(
    requests: Callable[..., list[Request]],
) -> None:
    prompts: dict[str, Any] = {
        "text": "Hello",
        "own": {"system": "My own.", "user": "Hello"},
        "messages": [{"role": "user", "content": "Hello"}],
    }
    made = requests(lambda row: prompts[row["text"]], texts(*prompts), system_prompt="Be brief.")
    assert [request.messages[0]["content"] for request in made] == [
        "Be brief.",
        "My own.",
        "Be brief.",
    ]
    assert all(len(request.messages) == 2 for request in made)


def test_messages_carry_images_and_files(
    requests: Callable[..., list[Request]], tmp_path: Path
) -> None:
    (tmp_path / "face.png").write_bytes(b"\x89PNG...")

    def prompt(row: dict[str, Any]) -> list[dict[str, Any]]:
        parts = [
            row["text"],
            image(tmp_path / "face.png"),
            {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
            file(b"%PDF...", name="report.pdf", media_type="application/pdf"),
        ]
        return [
            {"role": "system", "content": "Look."},
            {"role": "user", "content": "First."},
            {"role": "assistant", "content": "Yes?"},
            {"role": "user", "content": parts},
        ]

    [request] = requests(prompt, texts("Who is this?"))
    assert [message["role"] for message in request.messages] == [
        "system", "user", "assistant", "user",
    ]  # fmt: skip
    kinds = [part["type"] for part in request.messages[-1]["content"]]
    assert kinds == ["text", "image", "image", "file"]


def test_images_and_files_arrive_at_the_server(make: Make) -> None:
    def prompt(row: dict[str, Any]) -> list[dict[str, Any]]:
        picture = image(b"\x89PNG" + row["text"].encode())
        return [{"role": "user", "content": [picture, file(b"%PDF", name="a.pdf"), "What?"]}]

    prompter = make(prompt, model="simulated")
    table = prompter(texts("one", "two"))
    assert len(set(table["response"])) == 2, "another picture, another question"
    assert table.run.counters["input_tokens"] > 200, "media are counted"
    (again,) = prompter(texts("one"))
    assert again == table[0]


async def slowly(row: dict[str, Any]) -> str:
    await asyncio.sleep(0.05)
    return str(row["text"])


class Method:
    def prompt(self, row: dict[str, Any]) -> str:
        return str(row["text"])


@pytest.mark.parametrize(
    "prompt",
    [
        slowly,
        Method().prompt,
        functools.partial(lambda before, row: before + row["text"], ""),
        lambda anything: anything["text"],
    ],
    ids=["async", "method", "partial", "any name"],
)
def test_a_prompt_function_may_be_anything_that_takes_a_row(make: Make, prompt: Any) -> None:
    table = make(prompt)(numbered(20))
    assert table["response"] == table["text"]


def test_async_prompt_functions_run_side_by_side(make: Make) -> None:
    running = most = 0

    async def prompt(row: dict[str, Any]) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1
        return str(row["text"])

    assert len(make(prompt)(numbered(100))) == 100
    assert most > 50


def test_every_user_function_runs_in_one_thread_that_is_not_the_engines(make: Make) -> None:
    names = set()

    def prompt(row: dict[str, Any]) -> str:
        names.add(threading.current_thread().name)
        return str(row["text"])

    def parse(row: dict[str, Any], response: str) -> dict[str, Any]:
        names.add(threading.current_thread().name)
        return row

    make(prompt, parse_func=parse)(numbered(10))
    assert names == {"penstock-user"}


def test_the_prompt_function_is_called_once_a_row_and_the_parser_once_an_answer(
    make: Make,
) -> None:
    calls = {"prompt": 0, "parse": 0}

    def prompt(row: dict[str, Any]) -> str:
        calls["prompt"] += 1
        return str(row["text"])

    def parse(row: dict[str, Any], response: str) -> dict[str, Any]:
        calls["parse"] += 1
        return row

    make(prompt, parse_func=parse, n=2)(numbered(30))
    assert calls == {"prompt": 30, "parse": 60}


class Poem(BaseModel):
    poem: str


def test_a_subclass_writes_prompt_and_parse(bench: Workbench, at: Callable[..., Endpoint]) -> None:
    class Poet(Prompter):
        system_prompt = "You are a poet."
        response_format = Poem
        generation_params = MappingProxyType({"temperature": 1})

        def __init__(self, *arguments: Any, style: str, **more: Any) -> None:
            super().__init__(*arguments, **more)
            self.style = style

        def prompt(self, row: dict[str, Any]) -> str:
            return f"A {self.style} poem about {row['text']}"

        def parse(self, row: dict[str, Any], response: Any) -> dict[str, Any]:
            return {"topic": row["text"], "style": self.style, "is_poem": type(response) is Poem}

    table = Poet(at(), style="sad", workbench=bench)(texts("rain", "snow"))
    assert table.to_list() == [
        {"topic": "rain", "style": "sad", "is_poem": True},
        {"topic": "snow", "style": "sad", "is_poem": True},
    ]


def test_what_is_given_goes_before_what_a_subclass_wrote(
    bench: Workbench, at: Callable[..., Endpoint]
) -> None:
    class Both(Prompter):
        def prompt(self, row: dict[str, Any]) -> str:
            return "of the class"

    given = Both(at("simulated-echo"), lambda row: "given", workbench=bench)
    assert given(texts("x"))["response"] == ["given"]


def test_parameters_are_those_of_the_endpoint_then_of_the_prompter(
    requests: Callable[..., list[Request]], bench: Workbench
) -> None:
    [request] = requests(lambda: "Hello", generation_params={"temperature": 0.5, "seed": 7})
    assert request.params == {"temperature": 0.5, "seed": 7}


def test_parameters_may_differ_from_row_to_row(requests: Callable[..., list[Request]]) -> None:
    made = requests(
        lambda row: row["text"],
        numbered(3),
        generation_params=lambda row: {"temperature": row["id"] / 2},
    )
    assert [request.params for request in made] == [
        {"temperature": 0.0},
        {"temperature": 0.5},
        {"temperature": 1.0},
    ]


def test_the_parameters_of_a_row_arrive_at_the_server(make: Make) -> None:
    prompter = make(lambda row: "one two three four five six", model="simulated-echo",
                    generation_params=lambda row: {"max_tokens": row["id"] + 1})  # fmt: skip
    lengths = [len(text.split()) for text in prompter(numbered(4))["response"]]
    assert lengths == sorted(lengths) and len(set(lengths)) == 4
