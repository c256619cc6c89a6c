from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import splintr
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock.tokens import (
    DEFAULT_VOCABULARY,
    count,
    count_messages,
    count_request,
    counting,
    is_exact,
    vocabulary,
)

CL100K, O200K = "gpt-4", "gpt-4o"
ONE_OF_EACH = ["gpt-4o", "gpt-4", "llama-3", "llama-2", "mistral-7b-v0.1", "gemma-3", "deepseek-v3"]
ANY_TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates and NULs included
WORDS = st.lists(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1), min_size=1).map(" ".join)


@pytest.mark.parametrize(
    ("text", "in_cl100k", "in_o200k"),
    [
        # From OpenAI's cookbook "How to count tokens with tiktoken".
        ("tiktoken is great!", 6, 6),
        ("antidisestablishmentarianism", 6, 6),
        ("2 + 2 = 4", 7, 7),
        ("お誕生日おめでとう", 9, 8),
        # From tiktoken's own tests.
        ("hello world", 2, 2),
        ("rer", 1, None),
        ("'rer", 2, None),
        ("today\n ", 3, None),
        ("today\n \n", 2, None),
        ("today\n  \n", 2, None),
        (" \x850", 4, None),
        ("👍", 3, None),
        ("", 0, 0),
    ],
)
def test_counts_are_those_that_openai_publishes(
    text: str, in_cl100k: int, in_o200k: int | None
) -> None:
    assert count(text, CL100K) == in_cl100k
    if in_o200k is not None:
        assert count(text, O200K) == in_o200k


COOKBOOK = [
    {
        "role": "system",
        "content": "You are a helpful, pattern-following assistant that translates corporate "
        "jargon into plain English.",
    },
    {
        "role": "system",
        "name": "example_user",
        "content": "New synergies will help drive top-line growth.",
    },
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Things working well together will increase revenue.",
    },
    {
        "role": "system",
        "name": "example_user",
        "content": "Let's circle back when we have more bandwidth to touch base on opportunities "
        "for increased leverage.",
    },
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Let's talk later when we're less busy about how to do better.",
    },
    {
        "role": "user",
        "content": "This late pivot means we don't have time to boil the ocean for the client "
        "deliverable.",
    },
]


@pytest.mark.parametrize(("model", "prompt_tokens"), [("gpt-4", 129), ("gpt-4o", 124)])
def test_messages_count_as_the_api_reported_for_the_cookbooks_example(
    model: str, prompt_tokens: int
) -> None:
    assert count_messages(COOKBOOK, model) == prompt_tokens


def test_a_special_token_spelled_out_is_only_text() -> None:
    assert count("<|endoftext|>", CL100K) > 1
    assert count("<|im_start|>system", O200K) > 2


def test_broken_utf16_is_read_as_tiktoken_reads_it() -> None:
    assert count("\ud83d\udc4d", CL100K) == count("👍", CL100K)
    assert count("\ud83d", CL100K) == count("\ufffd", CL100K)


@pytest.mark.parametrize("model", ONE_OF_EACH)
@settings(max_examples=60, deadline=None)
@given(text=ANY_TEXT)
@example("\0")
@example("a\0\ud800\udc00\ud800")
def test_no_text_is_refused_and_no_token_is_less_than_a_byte(model: str, text: str) -> None:
    size = len(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode())
    # Some vocabularies put a word boundary before the first letter.
    assert (size > 0) <= count(text, model) <= size + 1


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4", "llama-3", "qwen3"])
@settings(max_examples=60, deadline=None)
@given(first=WORDS, second=WORDS)
def test_counts_add_up_between_words(model: str, first: str, second: str) -> None:
    whole = count(f"{first} {second}", model)
    assert whole == count(first, model) + count(f" {second}", model)


@settings(max_examples=60, deadline=None)
@given(first=ANY_TEXT, second=ANY_TEXT)
def test_a_message_costs_its_content_and_a_fixed_price(first: str, second: str) -> None:
    one = count_messages([{"role": "user", "content": first}])
    two = count_messages(
        [{"role": "user", "content": first}, {"role": "user", "content": [second]}]
    )
    around = counting.PER_MESSAGE + count("user")
    assert one == counting.PRIMING + around + count(first)
    assert two == one + around + count(second)


def test_a_long_text_in_pieces_counts_as_it_does_whole() -> None:
    text = " ".join(f"word{number} and some more of it" for number in range(20_000))
    encode = splintr.Tokenizer.from_pretrained("o200k_base").encode_ordinary
    assert len(text) > 8 * counting._PIECE
    assert count(text, O200K) == len(encode(text))


@given(st.text("ab ", min_size=1, max_size=300))
def test_pieces_are_small_and_lose_nothing(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_PIECE", 16)
        patch.setattr(counting, "_WINDOW", 8)
        pieces = list(counting._pieces(text))
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= 16 for piece in pieces)


@pytest.mark.parametrize("unit", ["hello world ", "a", "👍"])
def test_fifty_megabytes_are_counted(unit: str) -> None:
    assert count(unit * (50_000_000 // len(unit.encode())), O200K) > 1_000_000


@pytest.mark.parametrize(
    ("model", "name", "exact"),
    [
        ("gpt-4o-mini-2024-07-18", "o200k_base", True),
        ("chatgpt-4o-latest", "o200k_base", True),
        ("gpt-4.1-nano", "o200k_base", True),
        ("gpt-5-mini", "o200k_base", True),
        ("o1", "o200k_base", True),
        ("o3-mini", "o200k_base", True),
        ("o4-mini", "o200k_base", True),
        ("openai/gpt-oss-120b", "o200k_harmony", True),
        ("gpt-4", "cl100k_base", True),
        ("gpt-4-turbo", "cl100k_base", True),
        ("gpt-3.5-turbo-0125", "cl100k_base", True),
        ("gpt-35-turbo", "cl100k_base", True),
        ("ft:gpt-3.5-turbo:acme::7p4lURel", "cl100k_base", True),
        ("text-embedding-3-small", "cl100k_base", True),
        ("meta-llama/Meta-Llama-3.1-8B-Instruct", "llama3", True),
        ("llama3.2:3b", "llama3", True),
        ("open_llama_3b", DEFAULT_VOCABULARY, False),
        ("meta-llama/Llama-2-7b-chat-hf", "llama2", True),
        ("codellama:13b", "codellama", True),
        ("llama-4-maverick", DEFAULT_VOCABULARY, False),
        ("deepseek-ai/DeepSeek-V3", "deepseek_v3", True),
        ("deepseek-chat", "deepseek_v3", False),
        ("deepseek-r1-distill-llama-70b", "llama3", True),
        ("DeepSeek-R1-Distill-Qwen-7B", "qwen3", True),
        ("Qwen/Qwen2.5-72B-Instruct", "qwen3", True),
        ("qwen3:8b", "qwen3", True),
        ("qwen3.5-plus", "qwen3", False),
        ("qwen-max", "qwen3", False),
        ("glm-4.5", "glm4", True),
        ("kimi-k2-instruct", "kimi_k2", True),
        ("phi-4", "phi4", True),
        ("phi-4-mini-instruct", "o200k_base", False),
        ("allenai/OLMo-2-1124-7B", "olmo2", True),
        ("google/gemma-3-27b-it", "gemma3", True),
        ("gemma-2-9b-it", "gemma2", True),
        ("gemma-2b", "gemma2", False),
        ("mistralai/Mistral-7B-Instruct-v0.2", "mistral_v1", True),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mistral_v1", True),
        ("mistralai/Mixtral-8x22B-Instruct-v0.1", "mistral_v2", True),
        ("mistralai/Mistral-7B-Instruct-v0.3", "mistral_v2", True),
        ("open-mistral-nemo", "mistral_v3", True),
        ("mistral-large-latest", "mistral_v3", False),
        ("claude-sonnet-4-5", DEFAULT_VOCABULARY, False),
        ("models/gemini-2.5-pro", "gemma4", False),
        ("some-new-model", DEFAULT_VOCABULARY, False),
        ("", DEFAULT_VOCABULARY, False),
        (None, DEFAULT_VOCABULARY, False),
    ],
)
def test_a_models_name_finds_its_vocabulary(model: str | None, name: str, exact: bool) -> None:
    assert (vocabulary(model), is_exact(model)) == (name, exact)


def test_every_vocabulary_of_the_table_is_bundled_and_adds_nothing_of_its_own() -> None:
    for name in {name for _, name, _ in counting._VOCABULARIES} | {DEFAULT_VOCABULARY}:
        assert splintr.Tokenizer.from_pretrained(name).encode_ordinary("") == []


def test_threads_that_come_at_once_load_a_vocabulary_once(monkeypatch: pytest.MonkeyPatch) -> None:
    real, loads = splintr.Tokenizer, []

    class Loader:
        @staticmethod
        def from_pretrained(name: str) -> Any:
            loads.append(name)
            return real.from_pretrained(name)

    monkeypatch.setattr(splintr, "Tokenizer", Loader)
    monkeypatch.setattr(counting, "_encoders", {})
    with ThreadPoolExecutor(16) as threads:
        counts = set(threads.map(lambda _: count("hello world " * 500, CL100K), range(64)))
    assert counts == {1001}
    assert loads == ["cl100k_base"]


def _with(part: dict[str, Any]) -> int:
    empty = count_messages([{"role": "user", "content": []}])
    return count_messages([{"role": "user", "content": [part]}]) - empty


def test_an_image_counts_flat_and_not_as_its_base64() -> None:
    data = base64.b64encode(bytes(100_000)).decode()
    assert _with({"type": "image", "data": data, "media_type": "image/png"}) == 765
    assert _with({"type": "image", "url": "https://example.com/a.png", "detail": "low"}) == 85
    url = {"url": "data:image/png;base64," + data, "detail": "low"}
    assert _with({"type": "image_url", "image_url": url}) == 85


def test_a_file_counts_by_its_size() -> None:
    data = base64.b64encode(bytes(40_000)).decode()
    text = _with({"type": "file", "data": data, "media_type": "text/plain", "name": "a.txt"})
    pdf = _with({"type": "file", "data": data, "media_type": "application/pdf", "name": "a.pdf"})
    assert text == pytest.approx(10_000, abs=5)
    assert pdf == pytest.approx(1_600, abs=5)
    inner = {"file_data": "data:text/csv;base64," + data, "filename": "a.csv"}
    assert _with({"type": "file", "file": inner}) == pytest.approx(10_000, abs=5)
    assert _with({"type": "file", "id": "file-123"}) == 1_500
    sound = _with({"type": "audio", "data": data, "format": "wav"})
    assert sound == pytest.approx(40, abs=2)


def test_schema_and_tools_are_counted_with_the_messages() -> None:
    messages = [{"role": "user", "content": "How is the weather?"}]
    schema = {"type": "object", "properties": {"degrees": {"type": "number"}}}
    tool = {"type": "function", "function": {"name": "weather", "parameters": schema}}
    plain = count_messages(messages, O200K)
    assert count_request(messages, O200K) == plain
    with_schema = count_request(messages, O200K, schema)
    assert with_schema == plain + count(counting._compact(schema), O200K)
    with_tools = count_request(messages, O200K, schema, [tool, tool])
    assert with_tools == with_schema + 2 * count(counting._compact(tool), O200K)


def test_tool_calls_and_their_results_are_counted() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    silent = [{"role": "assistant", "content": None}]
    calling = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    assert count_messages(calling) > count_messages(silent)
    assert count_messages([{"role": "tool", "content": "4", "tool_call_id": "call_1"}]) > 8
