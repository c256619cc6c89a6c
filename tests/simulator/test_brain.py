"""The model answers the same question the same way, at the length asked for."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from penstock.simulator import answer, count
from penstock.simulator.counting import cut
from penstock.simulator.scripts import FIXED_TEXT, SCRIPTS
from tests.simulator.raw import chat

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
            "required": ["city", "days"],
        },
    },
}
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
FORM = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}


def words(text: str, **more: Any) -> str:
    return answer(chat(text, **more)).text


def test_the_same_question_has_the_same_answer_in_every_process() -> None:
    bodies = [chat("Describe a canal"), chat("x", response_format=FORM), chat("y", tools=[TOOL])]
    code = (
        "import sys, json; from penstock.simulator import answer\n"
        "print(json.dumps([answer(body, 3).text for body in json.loads(sys.argv[1])]))"
    )
    seen = set()
    for seed in ("0", "1", "random"):
        run = subprocess.run(
            [sys.executable, "-c", code, json.dumps(bodies)],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        seen.add(run.stdout)
    here = json.dumps([answer(body, 3).text for body in bodies]) + "\n"
    assert seen == {here.encode()}


def test_what_is_known_today_stays_known() -> None:
    assert words("Describe a canal").startswith("Some doubt that canal reduces")


def test_another_sample_or_prompt_or_model_gives_another_answer() -> None:
    answers = {answer(chat("Describe a canal"), sample).text for sample in range(50)}
    answers |= {words(f"Describe canal number {number}") for number in range(50)}
    answers |= {words("Describe a canal", model=f"model-{number}") for number in range(50)}
    answers.add(words("Describe a canal", seed=7))
    assert len(answers) >= 150


def test_another_image_gives_another_answer_and_costs_tokens() -> None:
    def with_image(url: str) -> dict[str, Any]:
        parts = [{"type": "text", "text": "Who is it?"}]
        parts.append({"type": "image_url", "image_url": {"url": url}})  # type: ignore[dict-item]
        return chat() | {"messages": [{"role": "user", "content": parts}]}

    one, two = answer(with_image("data:image/png;base64,AA")), answer(with_image("http://b/c.png"))
    assert one.text != two.text
    assert one.prompt_tokens >= 85


@pytest.mark.parametrize(
    ("prompt", "number"), [("in 50 words", 50), ("in about 12 words", 12), ("a 30-word note", 30)]
)
def test_as_many_words_as_asked_for(prompt: str, number: int) -> None:
    assert len(words(f"Explain gravity {prompt}.").split()) == number


def test_as_many_sentences_as_asked_for() -> None:
    text = words("Write three sentences about cats.")
    assert len(re.findall(r"[.!?](?:\s|$)", text)) == 3


def test_a_list_has_as_many_different_items_as_asked_for() -> None:
    lines = words("Give me a list of 10 ideas about food").splitlines()
    assert len(lines) == len(set(lines)) == 10
    assert lines[9].startswith("10. ")


def test_one_word_and_yes_or_no_are_short() -> None:
    assert len(words("Answer in one word: which river?").split()) == 1
    assert words("Is it blue? Answer yes or no.") in ("Yes", "No")


def test_an_open_question_gets_a_medium_answer_on_its_topic() -> None:
    lengths = [
        answer(chat(f"Tell me about windmills and rain {number}")).completion_tokens
        for number in range(40)
    ]
    assert min(lengths) >= 30
    assert max(lengths) <= 140
    assert len(set(lengths)) > 10
    assert "windmills" in words("Tell me about windmills")


def test_a_token_limit_cuts_the_answer_exactly() -> None:
    whole = answer(chat("Describe a canal"))
    short = answer(chat("Describe a canal", max_tokens=7))
    assert (short.finish, short.completion_tokens, count(short.text)) == ("length", 7, 7)
    assert whole.text.startswith(short.text)
    assert whole.finish == "stop"


def test_a_reasoning_model_spends_its_limit_on_reasoning_too() -> None:
    body = chat("Describe a canal", model="o3", max_completion_tokens=50)
    reply = answer(body)
    assert (reply.finish, reply.completion_tokens) == ("length", 50)
    free = answer(chat("Describe a canal", model="o3"))
    assert free.completion_tokens == free.reasoning_tokens + count(free.text) > count(free.text)
    assert answer(chat("x", model="gpt-5-mini", reasoning_effort="none")).reasoning_tokens == 0


def test_stop_strings_end_the_answer_before_them() -> None:
    whole = words("Describe a canal")
    mark = whole.split()[3]
    assert words("Describe a canal", stop=[mark]) == whole.partition(mark)[0]
    assert words("Describe a canal", stop=mark) == whole.partition(mark)[0]


def test_a_schema_in_the_system_message_is_followed() -> None:
    for fence in ("{}", "```json\n{}\n```"):
        schema = fence.replace("{}", json.dumps(SCHEMA))
        system = f"Answer only with JSON that fits this JSON schema:\n{schema}"
        body = chat("How many?")
        body["messages"].insert(0, {"role": "system", "content": system})
        assert list(json.loads(answer(body).text)) == ["a"]


def test_a_json_object_has_the_keys_named_in_the_prompt() -> None:
    form = {"type": "json_object"}
    value = json.loads(words('Return JSON with "city" and "score"', response_format=form))
    assert list(value) == ["city", "score"]
    assert isinstance(value["score"], int)
    assert isinstance(json.loads(words("Some JSON, please", response_format=form)), dict)


def test_a_required_tool_is_called_with_fitting_arguments() -> None:
    named = {"type": "function", "function": {"name": "get_weather"}}
    for choice in ("required", named):
        reply = answer(chat("Rain?", tools=[TOOL], tool_choice=choice))
        assert reply.finish == "tool_calls"
        call = reply.tool_calls[0]
        assert call["id"].startswith("call_")
        arguments = json.loads(call["function"]["arguments"])
        assert isinstance(arguments["city"], str)
        assert arguments["days"] >= 1


def test_a_tool_is_called_freely_only_when_the_user_speaks_of_it() -> None:
    asked = [answer(chat(f"Use the tool, {n}", tools=[TOOL])).finish for n in range(60)]
    assert 30 < asked.count("tool_calls") < 60
    silent = [answer(chat(f"Hello {n}", tools=[TOOL])).finish for n in range(20)]
    assert set(silent) == {"stop"}
    assert answer(chat("Use the tool", tools=[TOOL], tool_choice="none")).tool_calls == []


def test_after_a_tool_has_answered_the_model_speaks() -> None:
    body = chat("Use the weather tool", tools=[TOOL])
    call = {"id": "call_1", "type": "function", "function": {"name": "x", "arguments": "{}"}}
    body["messages"] += [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
    ]
    assert answer(body).finish == "stop"


def test_scripted_models_follow_their_script() -> None:
    assert all(script.description for script in SCRIPTS.values())
    refused = answer(chat("x", model="simulated-refuse"))
    assert refused.refusal
    assert refused.text == ""
    assert words(" exactly\nthis ", model="simulated-echo") == " exactly\nthis "
    fixed = answer(chat("x", model="simulated-fixed"))
    assert fixed.text == FIXED_TEXT
    assert 180 <= fixed.completion_tokens <= 220
    assert words("x", model="simulated-empty") == ""


def test_the_invalid_model_errs_until_it_is_corrected() -> None:
    wrong = words("How many?", model="simulated-invalid", response_format=FORM)
    with pytest.raises((ValueError, KeyError, TypeError)):
        int(json.loads(wrong)["a"])
    body = chat("How many?", model="simulated-invalid", response_format=FORM)
    assert "a" in json.loads(answer(body, sample=1).text)
    body["messages"] += [
        {"role": "assistant", "content": wrong},
        {"role": "user", "content": "That does not fit the schema."},
    ]
    assert "a" in json.loads(answer(body).text)


def test_counting_is_by_bytes_and_cutting_agrees_with_it() -> None:
    assert count("") == 0
    assert count("abcde") == 2
    for text in ("plain words", "žluťoučký kůň", "漢字かな交じり文", "🙂🙂🙂🙂"):
        for tokens in range(count(text)):
            assert count(cut(text, tokens)) == tokens
            assert text.startswith(cut(text, tokens))


def test_a_long_system_text_counts_as_cached() -> None:
    body = chat("Hi")
    body["messages"].insert(0, {"role": "system", "content": "rule " * 2000})
    reply = answer(body)
    assert 0 < reply.cached_tokens <= reply.prompt_tokens
    assert reply.cached_tokens % 128 == 0
    assert answer(chat("Hi")).cached_tokens == 0
