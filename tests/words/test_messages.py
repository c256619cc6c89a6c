from __future__ import annotations

import base64
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import messages
from penstock.errors import RequestError
from penstock.messages import LARGEST_FILE, audio, file, image, normalise, text_of

PNG = b"\x89PNG\r\n\x1a\nrest"


def user(content: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": content}]


def part(given: Any) -> dict[str, Any]:
    """The one form of a part."""
    [made] = normalise(user([given]))[0]["content"]
    assert isinstance(made, dict)
    return made


def refused(prompt: Any) -> RequestError:
    with pytest.raises(RequestError) as caught:
        normalise(prompt)
    return caught.value


# Forms ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("hi", user("hi")),
        ("", user("")),
        ({"user": "hi"}, user("hi")),
        ({"system": "be brief", "user": "hi"}, [{"role": "system", "content": "be brief"}]),
        ({"system": "", "user": "hi"}, user("hi")),
        ({"system": None, "user": "hi"}, user("hi")),
        ({"role": "user", "content": "hi"}, user("hi")),
        (user("hi"), user("hi")),
        (tuple(user("hi")), user("hi")),
        (user(["a", "b"]), user([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])),
        ({"user": ["a"]}, user([{"type": "text", "text": "a"}])),
    ],
)
def test_every_form_becomes_messages(prompt: Any, wanted: list[Any]) -> None:
    assert normalise(prompt)[: len(wanted)] == wanted


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant"])
def test_every_role_is_kept(role: str) -> None:
    assert normalise([{"role": role, "content": "x"}]) == [{"role": role, "content": "x"}]


def test_a_system_prompt_goes_before_the_rest() -> None:
    assert normalise("hi", "be brief") == [{"role": "system", "content": "be brief"}, *user("hi")]
    assert normalise("hi", "") == user("hi")


def test_a_system_prompt_that_is_no_text_is_refused() -> None:
    with pytest.raises(RequestError, match="system prompt is a int"):
        normalise("hi", 5)  # type: ignore[arg-type]


def test_tool_calls_and_their_answers_are_kept() -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    talk = [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "content": "42", "tool_call_id": "1"},
        {"role": "user", "content": "so?", "name": "ann"},
    ]
    assert normalise(talk) == talk


def test_what_was_given_is_not_changed_later() -> None:
    given = user(["a"])
    made = normalise(given, "system")
    made[1]["content"].append("b")
    assert given == user(["a"])


# OpenAI's spellings -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"type": "text", "text": "a"}, {"type": "text", "text": "a"}),
        (
            {"type": "image_url", "image_url": {"url": "https://x/a.png", "detail": "low"}},
            {"type": "image", "url": "https://x/a.png", "detail": "low"},
        ),
        (
            {"type": "image_url", "image_url": "https://x/a.png"},
            {"type": "image", "url": "https://x/a.png"},
        ),
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
            {"type": "image", "data": "QUJD", "media_type": "image/png"},
        ),
        ({"type": "image", "url": "http://x/a.png"}, {"type": "image", "url": "http://x/a.png"}),
        (
            {"type": "image", "data": "QUJD", "media_type": "image/gif"},
            {"type": "image", "data": "QUJD", "media_type": "image/gif"},
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "mp3"}},
            {"type": "audio", "data": "QUJD", "format": "mp3"},
        ),
        (
            {"type": "audio", "data": "QUJD", "format": "wav"},
            {"type": "audio", "data": "QUJD", "format": "wav"},
        ),
        ({"type": "file", "file": {"file_id": "f-1"}}, {"type": "file", "id": "f-1"}),
        ({"type": "file", "id": "f-1"}, {"type": "file", "id": "f-1"}),
        (
            {
                "type": "file",
                "file": {"file_data": "data:application/pdf;base64,QUJD", "filename": "a.pdf"},
            },
            {"type": "file", "data": "QUJD", "media_type": "application/pdf", "name": "a.pdf"},
        ),
        (
            {"type": "file", "data": "QUJD", "media_type": "text/plain", "name": "a.txt"},
            {"type": "file", "data": "QUJD", "media_type": "text/plain", "name": "a.txt"},
        ),
        (
            {"type": "file", "url": "https://x/a.pdf"},
            {"type": "file", "url": "https://x/a.pdf"},
        ),
    ],
)
def test_openai_spellings_become_the_one_form(given: Any, wanted: dict[str, Any]) -> None:
    assert part(given) == wanted
    assert part(wanted) == wanted


# What is wrong ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (None, "nothing (None)"),
        (5, "a int"),
        (b"hi", "a bytes"),
        ([], "at least one message"),
        ({}, "'system' and 'user'"),
        ({"prompt": "hi"}, "'prompt'"),
        ({"user": "hi", "extra": 1}, "'extra'"),
        ({"system": "only"}, "'system'"),
    ],
)
def test_a_prompt_that_is_none_says_what_it_is(prompt: Any, said: str) -> None:
    assert said in refused(prompt).message


@pytest.mark.parametrize(
    "wrong",
    [
        "hi",
        5,
        None,
        {},
        {"role": "robot", "content": "x"},
        {"role": ["user"], "content": "x"},
        {"role": None, "content": "x"},
        {"role": "user"},
        {"role": "user", "content": None},
        {"role": "user", "content": 5},
        {"role": "user", "content": b"x"},
        {"role": "user", "content": {"type": "text"}},
        {"role": "user", "content": "x", "mood": "good"},
        {"role": "user", "content": "x", 5: "x", "y": 1},
        {"role": "user", "content": [5]},
        {"role": "user", "content": [None]},
        {"role": "user", "content": [[]]},
        {"role": "user", "content": [{}]},
        {"role": "user", "content": [{"type": "video"}]},
        {"role": "user", "content": [{"type": ["text"]}]},
        {"role": "user", "content": [{"type": "text"}]},
        {"role": "user", "content": [{"type": "text", "text": 5}]},
        {"role": "user", "content": [{"type": "image"}]},
        {"role": "user", "content": [{"type": "image", "url": 5}]},
        {"role": "user", "content": [{"type": "image", "url": "ftp://x"}]},
        {"role": "user", "content": [{"type": "image", "data": 5}]},
        {"role": "user", "content": [{"type": "image_url"}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": None}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:x"}}]},
        {"role": "user", "content": [{"type": "file"}]},
        {"role": "user", "content": [{"type": "file", "file": "a.pdf"}]},
        {"role": "user", "content": [{"type": "file", "file": {"file_data": "QUJD"}}]},
        {"role": "user", "content": [{"type": "file", "file": {"file_data": 5}}]},
        {"role": "user", "content": [{"type": "file", "url": "file:///etc/passwd"}]},
        {"role": "user", "content": [{"type": "file", "data": 5}]},
        {"role": "user", "content": [{"type": "audio", "data": "QUJD"}]},
        {"role": "user", "content": [{"type": "input_audio", "input_audio": 5}]},
        {"role": "user", "content": [{"type": "audio", "data": 5, "format": "wav"}]},
    ],
)
def test_a_wrong_message_is_named_by_its_number(wrong: Any) -> None:
    assert "message 3" in refused([*user("a"), *user("b"), wrong]).message


_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "type", "text", "url", "data", "image_url", "file", "user"]
            ),
            inner | st.sampled_from(["user", "text", "image", "image_url", "file", "audio"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(_anything)
def test_whatever_is_given_becomes_messages_or_a_request_error(prompt: Any) -> None:
    try:
        made = normalise(prompt)
    except RequestError:
        return
    assert made
    assert all(message["role"] for message in made)


# Files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["image", "image_url", "file", "audio", "input_audio", "text"])
@pytest.mark.parametrize("wrap", [lambda p: p, str])
def test_a_path_in_a_dictionary_never_reads_a_file(
    tmp_path: Path, kind: str, wrap: Callable[[Path], Any]
) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(PNG)
    inner = {"path": wrap(secret), "url": wrap(secret), "file": wrap(secret)}
    for wrong in (
        {"type": kind, "path": wrap(secret)},
        {"type": kind, "url": wrap(secret)},
        {"type": kind, "url": secret.as_uri()},
        {"type": kind, "file": wrap(secret)},
        {"type": kind, kind: inner},
        {"type": kind, "image_url": wrap(secret)},
        {"type": kind, "data": secret},
    ):
        assert "message 1" in refused(user([wrong])).message


def test_an_image_is_read_from_a_path_or_from_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(PNG)
    wanted = {
        "type": "image",
        "data": base64.b64encode(PNG).decode(),
        "media_type": "image/png",
    }
    assert image(path) == wanted
    assert image(PNG) == wanted
    assert image(PNG, detail="low") == wanted | {"detail": "low"}
    assert part(image(path)) == wanted


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"\x89PNG", "image/png"),
        (b"\xff\xd8", "image/jpeg"),
        (b"GIF8", "image/gif"),
        (b"RIFF", "image/webp"),
        (b"????", "image/png"),
    ],
)
def test_the_type_of_an_image_is_seen_in_its_bytes(start: bytes, kind: str) -> None:
    assert image(start + b"rest")["media_type"] == kind
    assert image(start + b"rest", media_type="image/bmp")["media_type"] == "image/bmp"


def test_an_image_may_lie_at_an_address() -> None:
    assert image("https://x/a.png", detail="high") == {
        "type": "image",
        "url": "https://x/a.png",
        "detail": "high",
    }


def test_a_path_given_as_a_text_says_how_to_give_it() -> None:
    with pytest.raises(RequestError) as caught:
        image("photos/a.png")
    assert "photos/a.png" in caught.value.message
    assert "image(Path(...))" in caught.value.remedy


def test_a_document_carries_its_name_and_type(tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    path.write_bytes(b"%PDF")
    made = file(path)
    assert (made["media_type"], made["name"]) == ("application/pdf", "report.pdf")
    assert file(path, name="x.bin", media_type="a/b") | {"data": ""} == {
        "type": "file",
        "data": "",
        "media_type": "a/b",
        "name": "x.bin",
    }
    assert file(b"x")["media_type"] == "application/octet-stream"
    assert part(made) == made


def test_audio_is_of_the_format_that_its_name_says(tmp_path: Path) -> None:
    path = tmp_path / "talk.mp3"
    path.write_bytes(b"ID3")
    assert audio(path)["format"] == "mp3"
    assert audio(path, format="wav")["format"] == "wav"
    assert audio(b"RIFF")["format"] == "wav"
    assert part(audio(path)) == audio(path)


@pytest.mark.parametrize("make", [image, file, audio])
def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, make: Callable[[Any], dict[str, Any]]
) -> None:
    for path in (tmp_path / "none.png", tmp_path, tmp_path / "a\0b"):
        with pytest.raises(RequestError) as caught:
            make(path)
        assert str(path) in caught.value.message
        assert "cannot be read" in caught.value.message


@pytest.mark.parametrize("make", [file, audio])
def test_a_file_is_given_as_a_path_or_as_bytes(make: Callable[[Any], dict[str, Any]]) -> None:
    for wrong in ("a.pdf", None, 5):
        with pytest.raises(RequestError, match="Path or as bytes"):
            make(wrong)


@pytest.mark.parametrize("make", [image, file, audio])
def test_a_file_over_the_bound_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Any], dict[str, Any]]
) -> None:
    assert LARGEST_FILE == 32 << 20
    monkeypatch.setattr(messages, "LARGEST_FILE", 1 << 20)
    path = tmp_path / "a.png"
    path.write_bytes(b"x" * (1 << 20))
    assert len(make(path)["data"]) > 1 << 20
    path.write_bytes(b"x" * ((1 << 20) + 1))
    for source in (path, path.read_bytes()):
        with pytest.raises(RequestError, match="larger than 1 MiB"):
            make(source)


def test_a_file_without_an_end_is_refused_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "LARGEST_FILE", 1 << 20)
    began = time.perf_counter()
    with pytest.raises(RequestError, match="larger"):
        file(Path("/dev/zero"))
    assert time.perf_counter() - began < 5


# Text -------------------------------------------------------------------------------------------


def test_all_text_of_messages_is_found() -> None:
    talk = normalise(
        [
            {"role": "system", "content": "a"},
            {"role": "user", "content": ["b", image("https://x/y"), "c"]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        ]
    )
    assert text_of(talk).split() == ["a", "b", "c"]
