"""Making a Prompter sends nothing and writes nothing; what is wrong with it is said at once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import EndpointError, InputError, PenstockError, RequestError
from penstock.generate import LLM, Prompter
from penstock.simulator import Simulator
from tests.generate.conftest import Make, texts

PROGRAM = """
import sys
from pathlib import Path
from pydantic import BaseModel
from penstock.generate import Prompter
class Poem(BaseModel):
    text: str
class Poet(Prompter):
    def prompt(self, row):
        return "A poem"
Prompter("gpt-4", lambda: "Hello", response_format=Poem, backend_params={"base_url": sys.argv[1]})
Poet("simulated")
Prompter(None, lambda row: "Hello", budget=5, n=3)
print(list(Path().iterdir()), list(Path.home().iterdir()))
"""


def test_a_constructor_makes_no_request_and_touches_no_disk(
    simulator: Simulator, tmp_path: Path
) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM, simulator.url],
        cwd=work,
        env={"HOME": str(home), "PATH": "/usr/bin", "OPENAI_API_KEY": "a-key"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said.strip() == "[] []"
    assert simulator.summary()["requests"] == 0


def test_llm_is_the_same_class() -> None:
    assert LLM is Prompter


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"prompt_func": None}, "needs a prompt function"),
        ({"prompt_func": "A text"}, "the prompt function is a str"),
        ({"prompt_func": lambda a, b: ""}, "takes 2 arguments (a, b)"),
        ({"prompt_func": lambda row, *, style: ""}, "takes 2 arguments (row, style)"),
        ({"parse_func": lambda response: {}}, "the parse function takes (response)"),
        ({"parse_func": lambda a, b, c: {}}, "the parse function takes (a, b, c)"),
        ({"n": 0}, "n is 0"),
        ({"n": True}, "n is True"),
        ({"n": 1.5}, "n is 1.5"),
        ({"cache": "none"}, "cache is 'none'"),
        ({"failures": "ignore"}, "failures is 'ignore'"),
        ({"budget": -1}, "budget is -1"),
        ({"budget": "much"}, "budget is 'much'"),
        ({"budget": float("nan")}, "budget is nan"),
        ({"response_format": 7}, "an answer schema is a Pydantic model or a JSON schema"),
        ({"response_format": {"type": "nonsense"}}, "nonsense"),
        ({"generation_params": ["temperature"]}, "generation_params is a list"),
        ({"generation_params": asyncio.sleep}, "generation_params is an async function"),
        ({"generation_params": {"n": 3}}, "n cannot be given as a parameter"),
        ({"generation_params": {"api_key": "sk"}}, "api_key cannot be given as a parameter"),
        ({"backend_params": {"max_retrys": 2}}, "backend_params has no 'max_retrys'"),
        ({"backend_params": {"max_retries": "two"}}, "max_retries is 'two'"),
        ({"backend_params": {"max_retries": -1}}, "max_retries is -1"),
    ],
)
def test_what_is_wrong_is_said_by_the_constructor(given: dict[str, Any], said: str) -> None:
    arguments: dict[str, Any] = {"model_name": "simulated", "prompt_func": lambda row: "Hello"}
    with pytest.raises(InputError) as error:
        Prompter(**{**arguments, **given})
    assert said in str(error.value)


def test_an_unknown_backend_parameter_is_answered_with_a_suggestion() -> None:
    with pytest.raises(InputError) as error:
        Prompter("simulated", lambda: "Hello", backend_params={"max_requests_per_min": 5})
    assert "Did you mean 'max_requests_per_minute'?" in error.value.remedy


def test_no_model_at_all_is_a_clear_error() -> None:
    with pytest.raises(EndpointError, match="no model is given"):
        Prompter(prompt_func=lambda: "Hello")()


def test_the_setting_names_the_model_where_the_program_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PENSTOCK_LLM_MODEL", "simulated-echo")
    assert Prompter(prompt_func=lambda: "Hello")()["response"] == ["Hello"]


def test_a_missing_key_is_said_before_the_run_begins() -> None:
    with pytest.raises(PenstockError, match="OPENAI_API_KEY is not set"):
        Prompter("gpt-4", lambda row: row["text"])(texts("one"))
    assert not list(Path.cwd().rglob("run.json"))


def test_rows_for_a_prompt_that_takes_none_and_none_for_one_that_takes_them(make: Make) -> None:
    with pytest.raises(InputError, match="takes a row, but no dataset"):
        make(lambda row: "Hello")()
    with pytest.raises(InputError, match="takes no row"):
        make(lambda: "Hello")(texts("one"))


def test_a_row_that_is_optional_may_be_given_or_not(make: Make) -> None:
    prompter = make(lambda row=None: "no row" if row is None else row["text"])
    assert prompter()["response"] == ["no row"]
    assert prompter(texts("one"))["response"] == ["one"]
    anything = make(lambda *rows: f"{len(rows)} rows")
    assert anything(texts("one"))["response"] == ["1 rows"]


def test_a_parameter_that_cannot_be_one_is_refused_also_when_it_comes_from_the_row(
    make: Make,
) -> None:
    table = make(generation_params=lambda row: {"messages": []})(texts("one"))
    assert table.failures[0]["message"].startswith("messages cannot be given as a parameter")
    with pytest.raises(RequestError):
        make(generation_params={"messages": []})
