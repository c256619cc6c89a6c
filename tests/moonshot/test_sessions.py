"""The red-teaming sequence of Moonshot, walked against the simulator's server and its ledger."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock import moonshot
from penstock.engine.workbench import default_workbench
from penstock.errors import InputError, NotFoundError, PenstockError
from penstock.moonshot import sessions
from penstock.simulator import Simulator
from tests.moonshot.kit import echo
from tests.redteam.session_kit import asked, digest, system, user

CHAT = {
    "conn_id", "context_strategy", "prompt_template", "attack_module", "metric", "prompt",
    "prepared_prompt", "system_prompt", "predicted_result", "duration", "prompt_time",
}  # fmt: skip
SESSION = {
    "session_id", "endpoints", "created_epoch", "created_datetime", "prompt_template",
    "context_strategy", "cs_num_of_prev_prompts", "attack_module", "metric", "system_prompt",
}  # fmt: skip
BOOKMARK = {
    "name", "prompt", "prepared_prompt", "response", "context_strategy", "prompt_template",
    "attack_module", "metric", "bookmark_time",
}  # fmt: skip


@pytest.fixture
def runner(simulator: Simulator) -> Iterator[str]:
    names = [echo(simulator), echo(simulator, "Refuser", model="simulated-refuse")]
    yield moonshot.api_create_runner("My runner", names).id


def test_the_sequence_of_red_teaming(runner: str, simulator: Simulator) -> None:
    moonshot.api_create_prompt_template("Asked", template="Question: {{ prompt }}")
    made = sessions.api_create_session(runner, ["echo", "refuser"], {"system_prompt": "You guard."})
    assert set(made) == SESSION
    assert (made["session_id"], made["endpoints"]) == ("my-runner", ["echo", "refuser"])
    first = sessions.send_chat_message(runner, "One")
    assert {
        name: [chat["predicted_result"] for chat in chats] for name, chats in first.items()
    } == {
        "echo": ["One"],
        "refuser": ["I'm sorry, but I can't help with that request."],
    }
    assert set(first["echo"][0]) == CHAT
    assert sessions.api_update_context_strategy(runner, "add_previous_prompt")
    assert sessions.api_update_cs_num_of_prev_prompts(runner, 2)
    assert sessions.api_update_prompt_template(runner, "asked")
    assert sessions.api_update_metric(runner, "refusal")
    for line in ("Two", "Three", "Four"):
        last = sessions.send_chat_message(runner, line)
    assert sessions.api_update_context_strategy(runner, "none")
    assert sessions.api_update_attack_module(runner, "charswap_attack")
    attacked = sessions.send_chat_message(runner, "abcdef ghijkl mnopqr")
    assert last["echo"][0]["prepared_prompt"] == "Question: Two\nThree\nFour"
    ledger = asked(simulator)
    assert ledger[:2].count(digest([system("You guard."), user("One")], "simulated-echo")) == 1
    four = digest([system("You guard."), user("Question: Two\nThree\nFour")], "simulated-echo")
    assert four in ledger
    assert {chat["attack_module"] for chat in attacked["echo"]} == {"charswap_attack"}
    every = sessions.api_get_all_chats_from_session(runner)
    assert len(ledger) == sum(map(len, every.values()))
    assert [chat["prompt"] for chat in every["echo"]][:4] == ["One", "Two", "Three", "Four"]
    assert [chat["context_strategy"] for chat in every["echo"]][:2] == ["", "add_previous_prompt"]
    loaded = sessions.api_load_session(runner)
    assert (loaded["attack_module"], loaded["metric"]) == ("charswap_attack", "refusal")
    assert (loaded["prompt_template"], loaded["system_prompt"]) == ("asked", "You guard.")


def test_sessions_are_listed_and_deleted(runner: str) -> None:
    args = {"context_strategy": "add_previous_prompt", "cs_num_of_prev_prompts": 7}
    made = sessions.api_create_session(runner, [], args)
    assert made["endpoints"] == ["echo", "refuser"], "those of the runner"
    assert made["cs_num_of_prev_prompts"] == 7
    assert sessions.api_get_all_session_names() == ["my-runner"]
    assert sessions.api_get_all_session_metadata() == [made]
    assert sessions.api_delete_session(runner)
    assert sessions.api_get_all_session_names() == []
    assert moonshot.api_get_all_runner_name() == ["my-runner"]
    with pytest.raises(NotFoundError):
        sessions.api_load_session(runner)


async def test_inside_a_running_loop_a_message_is_awaited(runner: str) -> None:
    sessions.api_create_session(runner, "echo")
    chats = await sessions.send_chat_message(runner, "Hello.")
    assert chats["echo"][0]["predicted_result"] == "Hello."


def test_what_is_wrong_is_told_by_name(runner: str) -> None:
    with pytest.raises(NotFoundError, match="no runner 'nope'"):
        sessions.api_create_session("nope", ["echo"])
    with pytest.raises(InputError, match="'atack_module'"):
        sessions.api_create_session(runner, ["echo"], {"atack_module": "x"})
    sessions.api_create_session(runner, ["echo"])
    for update, value, told in (
        (sessions.api_update_context_strategy, "add_prev", "no strategy 'add_prev'"),
        (sessions.api_update_attack_module, "nope_attack", "no attack named 'nope_attack'"),
        (sessions.api_update_prompt_template, "nope", "no template 'nope'"),
        (sessions.api_update_metric, "bertscore", "weights of BERT"),
    ):
        with pytest.raises(PenstockError, match=told):
            update(runner, value)


def test_a_token_in_memory_is_used_and_stored_nowhere(simulator: Simulator) -> None:
    token = "a-literal-token-0123456789"
    simulator.set(key=token)
    with pytest.warns(UserWarning):
        name = echo(simulator, "Locked", token=token)
    runner = moonshot.api_create_runner("Locked runner", [name]).id
    sessions.api_create_session(runner)
    assert sessions.send_chat_message(runner, "Hi.")["locked"][0]["predicted_result"] == "Hi."
    folder = default_workbench().workspace.path
    for path in folder.rglob("*"):
        assert not path.is_file() or token.encode() not in path.read_bytes()


def test_bookmarks_are_kept_read_exported_and_deleted() -> None:
    told = sessions.api_insert_bookmark(
        "Leak", "p", "P!", "the answer", "add_previous_prompt", "asked", "charswap_attack", "x"
    )
    assert told["success"]
    with pytest.raises(InputError, match="there is a bookmark 'Leak' already"):
        sessions.api_insert_bookmark("Leak", "p", "P!", "another")
    found = sessions.api_get_bookmark("Leak")
    assert set(found) == BOOKMARK
    assert (found["prepared_prompt"], found["response"]) == ("P!", "the answer")
    assert (found["context_strategy"], found["attack_module"]) == (
        "add_previous_prompt", "charswap_attack",
    )  # fmt: skip
    path = Path(sessions.api_export_bookmarks("../../outside"))
    assert path.parent == default_workbench().workspace.path / "exports"
    assert json.loads(path.read_text()) == sessions.api_get_all_bookmarks() == [found]
    assert sessions.api_delete_bookmark("Leak")["success"]
    assert sessions.api_get_all_bookmarks() == []


@pytest.mark.parametrize("name", [name for name in sessions.__all__ if name[0].islower()])
def test_every_function_is_typed_and_documented(name: str) -> None:
    function = getattr(sessions, name)
    assert function.__doc__
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty
