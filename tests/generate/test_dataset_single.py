"""A generator called by itself: one answer now, or a stream of them in order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from pydantic import BaseModel

import penstock
from penstock.endpoint import Endpoint
from penstock.engine.workbench import Workbench
from penstock.errors import ApiError, InputError, PenstockError, ProcessingError
from penstock.simulator import Simulator
from penstock.tables import Table
from tests.generate.schema_kit import Gen, Schema, sent


class Person(BaseModel):
    name: str
    age: int


def test_a_row_in_an_answer_out(gen: Gen, simulator: Simulator) -> None:
    fn = gen("simulated-echo")("Write about {topic} in {tone}", tone="verse")
    assert fn({"topic": "Python"}) == "Write about Python in verse"
    assert fn(topic="Rust") == "Write about Rust in verse"
    assert fn({"topic": "Python", "unused": 1}, topic="C") == "Write about C in verse"
    assert fn({"topic": "Python"}) == "Write about Python in verse"
    assert gen("simulated-echo")("no names")() == "no names"
    assert sent(simulator) == 4


def test_inside_a_loop_it_is_awaited(gen: Gen) -> None:
    fn = gen("simulated-echo")("About {topic}")

    async def main() -> list[Any]:
        return list(await asyncio.gather(*(fn({"topic": n}) for n in range(20))))

    assert asyncio.run(main()) == [f"About {n}" for n in range(20)]


def test_it_gives_what_the_first_row_of_a_dataset_has(
    gen: Gen, schema: Schema, simulator: Simulator
) -> None:
    fn = gen()("Write about {topic}")
    [row] = schema({"topic": "tea", "text": fn}, 1).generate()
    assert fn({"topic": "tea"}) == row["text"]
    assert sent(simulator) == 1


def test_structured_prompts_of_functions_and_messages(gen: Gen) -> None:
    who = gen()("A person", response_format=Person)()
    assert set(who) == {"name", "age"}
    assert gen("simulated-echo")(lambda topic: f"<{topic}>")(topic="x") == "<x>"
    assert gen("simulated-echo")([{"role": "user", "content": "{a}"}])(a=5) == "5"


def test_conditions_and_checks_hold_here_too(gen: Gen, simulator: Simulator) -> None:
    seen: list[str] = []

    def second(text: str) -> bool:
        seen.append(text)
        return len(seen) == 2

    assert gen()("About {a}", check=second)(a=5) == seen[1] != seen[0]
    with pytest.raises(ProcessingError, match="rejected: made 2 times and refused: dull"):
        gen()("About {b}", check=lambda text: "dull", tries=2)(b=1)
    assert sent(simulator) == 4
    assert gen()("About {c}", when=lambda c: c > 1)(c=1) is None
    assert sent(simulator) == 4


def test_what_is_wrong_is_raised_before_anything_is_sent(gen: Gen, simulator: Simulator) -> None:
    fn = gen()("About {topic}")
    with pytest.raises(InputError, match=r"\{topic\}") as raised:
        fn({"topics": 1})
    assert "Did you mean 'topics'?" in raised.value.remedy
    bad: Any
    for bad in ("Python", ["Python"], 5):
        with pytest.raises(InputError, match="a row is a dictionary"):
            fn(bad)
    with pytest.raises(InputError):
        gen()("x", when="missing")()
    with pytest.raises(PenstockError, match="OPENAI_API_KEY"):
        penstock.generator("openai", workbench=fn.generator.workbench)("Hi")()
    assert sent(simulator) == 0


def test_what_the_server_says_is_raised(gen: Gen, simulator: Simulator) -> None:
    simulator.set(errors="401:1")
    with pytest.raises(ApiError, match="authentication"):
        gen()("Hi")()
    simulator.set(errors="400:1")
    with pytest.raises(ProcessingError, match="invalid_request"):
        gen("simulated-echo")("Hi")()
    simulator.set(errors="")
    assert gen("simulated-echo")("Hi")() == "Hi"
    with pytest.raises(ProcessingError, match="refused"):
        gen("simulated-refuse")("Hi", response_format=Person)()


# Streams ----------------------------------------------------------------------------------------


def rows(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield {"n": number}


def test_a_stream_keeps_the_order_of_the_rows(gen: Gen, simulator: Simulator) -> None:
    simulator.set(latency="0-20")
    stream = gen("simulated-echo")("row {n}").stream(rows(600))
    assert list(stream) == [f"row {n}" for n in range(600)]
    assert sent(simulator) == 600
    table = Table.from_rows([{"n": 1}, {"n": 2}])
    assert list(gen("simulated-echo")("row {n}").stream(table)) == ["row 1", "row 2"]
    assert list(gen("simulated-echo")("row {n}").stream([])) == []
    assert sent(simulator) == 602, "a draw belongs to its place"


def test_a_stream_reads_no_further_than_it_must(gen: Gen, simulator: Simulator) -> None:
    read = 0

    def endless() -> Iterator[dict[str, Any]]:
        nonlocal read
        while True:
            read += 1
            yield {"n": read}

    answers = iter(gen("simulated-echo")("row {n}").stream(endless()))
    assert [next(answers) for _ in range(10)] == [f"row {n}" for n in range(1, 11)]
    answers.close()  # type: ignore[attr-defined]
    assert read < 10_000
    assert simulator.summary()["requests"] < 10_000


def test_a_stream_raises_at_the_first_that_failed_after_those_before_it(
    gen: Gen, simulator: Simulator
) -> None:
    def fails(n: int) -> str:
        if n == 5:
            raise KeyError("five")
        return f"row {n}"

    got: list[str] = []
    with pytest.raises(ProcessingError, match="the prompt function raised KeyError"):
        for answer in gen("simulated-echo")(lambda n: fails(n)).stream(rows(100)):
            got.append(answer)  # noqa: PERF402
    assert got == [f"row {n}" for n in range(5)]
    with pytest.raises(InputError, match=r"\{m\}"):
        list(gen()("{m}").stream(rows(3)))
    with pytest.raises(InputError, match="row 2 could not be made: RuntimeError: the source broke"):
        list(gen("simulated-echo")("{n}").stream(_breaks()))


def _breaks() -> Iterator[dict[str, Any]]:
    yield {"n": 1}
    raise RuntimeError("the source broke")


def test_a_row_without_the_column_is_named(gen: Gen) -> None:
    with pytest.raises(InputError, match="no column 'n'"):
        list(gen("simulated-echo")("{n}").stream([{"n": 1}, {"m": 2}]))


def test_async_for_goes_through_it_inside_a_loop(gen: Gen) -> None:
    async def main() -> list[str]:
        return [answer async for answer in gen("simulated-echo")("row {n}").stream(rows(50))]

    assert asyncio.run(main()) == [f"row {n}" for n in range(50)]


@pytest.mark.parametrize("kind", ["answers", "rows"])
def test_a_task_that_is_cancelled_leaves_a_stream_at_once(
    gen: Gen, schema: Schema, simulator: Simulator, kind: str, bench: Workbench
) -> None:
    simulator.set(latency="300")
    fn = gen()("slowly {n}")

    def stream() -> AsyncIterator[Any]:
        columns = {"n": penstock.sample.sequence(), "x": fn}
        made = fn.stream(rows(2000)) if kind == "answers" else schema(columns, 2000).stream()
        return aiter(made)

    async def through() -> None:
        async for _ in stream():
            pass

    async def main() -> float:
        task = asyncio.create_task(through())
        while not simulator.summary()["requests"]:
            await asyncio.sleep(0.01)
        task.cancel()
        begun = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - begun

    assert asyncio.run(main()) < 5, "it does not wait for the next row"
    simulator.set(latency="0")
    bench.close()
    assert 0 < simulator.summary()["requests"] < 2000, "and nothing more is sent"


def test_a_stream_begins_anew_each_time(gen: Gen, simulator: Simulator) -> None:
    stream = gen("simulated-echo")("row {n}").stream([{"n": 1}, {"n": 2}])
    assert list(stream) == list(stream) == ["row 1", "row 2"]
    assert sent(simulator) == 2


def test_a_function_in_a_run_may_not_wait_for_a_stream(schema: Schema, gen: Gen) -> None:
    fn = gen("simulated-echo")("row {n}")
    table = schema({"x": lambda: list(fn.stream([{"n": 1}]))}, 1).generate()
    assert "would wait for it" in table.failures[0]["message"].replace("\n", " ")


# The generator itself ---------------------------------------------------------------------------


def test_a_generator_is_made_of_a_provider_a_model_or_an_endpoint(
    bench: Workbench, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", simulator.url)
    monkeypatch.setenv("OPENAI_API_KEY", "of-no-worth")
    endpoint = Endpoint("openai", "simulated-echo", simulator.url, key="of-no-worth")
    made = [
        penstock.generator("openai", model="simulated-echo", workbench=bench),
        penstock.generator("openai", "another-key-of-no-worth", "simulated-echo", workbench=bench),
        penstock.generator("openai/simulated-echo", workbench=bench),
        penstock.generator(endpoint, workbench=bench),
        penstock.async_generator(endpoint, workbench=bench),
        penstock.generator(endpoint.with_(model="other"), model="simulated-echo", workbench=bench),
        penstock.generator(
            "openai", model="simulated-echo", base_url=simulator.url, workbench=bench
        ),
    ]
    for each in made:
        assert each("Hi")() == "Hi"
    assert sent(simulator) == 1, "they are the same model, so it is one question"
    assert penstock.generator("simulated", workbench=bench)("Hi")()
    assert sent(simulator) == 1


def test_the_setting_names_the_model_where_nobody_does(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("PENSTOCK_LLM_MODEL", "simulated-echo")
    with Workbench(workspace=tmp_path / "other") as other:
        assert penstock.generator(workbench=other)("Hi")() == "Hi"
    monkeypatch.delenv("PENSTOCK_LLM_MODEL")
    with pytest.raises(InputError):
        penstock.generator(workbench=bench)("Hi")()
