from __future__ import annotations

import copy
import json
import logging
import pickle
import stat
import sys
import time
import traceback
from pathlib import Path

import msgspec
import orjson
import pytest

from penstock import secret as secret_room
from penstock.errors import InputError, KeyMissingError, PenstockError
from penstock.secret import (
    SHOWN,
    Masking,
    Secret,
    holds_known,
    is_reference,
    mask,
    mask_bytes,
    resolve,
)

CANARY = "canary-9f8e7d6c5b4a"


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secret_room, "_known", [])


def command(code: str) -> str:
    return f"command:{sys.executable} -c '{code}'"


def rendered(error: BaseException) -> str:
    """A traceback as a crash reporter writes it: with every local variable."""
    found = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "".join(found.format())


def test_no_way_of_showing_a_secret_shows_it() -> None:
    secret = Secret(CANARY)
    box = {"key": secret, "list": [secret], "tuple": (secret,)}
    for shown in (
        repr(secret),
        str(secret),
        f"{secret}",
        f"{secret!r}",
        f"{secret:>40}",
        format(secret, "s"),
        "%s %r" % (secret, secret),  # noqa: UP031
        "{}".format(secret),  # noqa: UP032
        repr(box),
        str(box),
        ascii(secret),
    ):
        assert CANARY not in shown
        assert SHOWN in shown


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_secret_is_never_pickled(protocol: int) -> None:
    with pytest.raises(TypeError, match="never stored"):
        pickle.dumps({"key": Secret(CANARY)}, protocol)


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy])
def test_a_copy_shows_no_more_than_the_original(copier: object) -> None:
    try:
        made = copier([Secret(CANARY)])  # type: ignore[operator]
    except TypeError as error:
        made = error
    assert CANARY not in repr(made)


@pytest.mark.parametrize("dump", [json.dumps, orjson.dumps, msgspec.json.encode])
def test_a_secret_is_not_json(dump: object) -> None:
    with pytest.raises(TypeError) as caught:
        dump({"key": Secret(CANARY)})  # type: ignore[operator]
    assert CANARY not in str(caught.value)
    assert CANARY not in json.dumps({"key": Secret(CANARY)}, default=str)


def test_a_secret_has_no_dict_and_compares_by_value() -> None:
    with pytest.raises(TypeError):
        vars(Secret(CANARY))
    assert Secret(CANARY) == Secret(CANARY)
    assert Secret(CANARY) != Secret("another-secret")
    assert Secret(CANARY) != CANARY
    assert len({Secret(CANARY), Secret(CANARY)}) == 1
    assert Secret(CANARY).reveal() == CANARY


def test_a_traceback_with_local_variables_does_not_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", CANARY)

    def use() -> None:
        secret = resolve("env:A_KEY")
        headers = {"authorization": secret}
        raise RuntimeError(f"cannot send {headers}")

    with pytest.raises(RuntimeError) as caught:
        use()
    text = rendered(caught.value)
    assert "secret = ****" in text
    assert CANARY not in text


def test_a_failing_command_that_printed_the_key_does_not_show_it_in_a_traceback() -> None:
    with pytest.raises(KeyMissingError) as caught:
        resolve(command(f'print("canary-" + "9f8e7d6c5b4a"); raise SystemExit({3})'))
    assert "exit code 3" in caught.value.message
    assert CANARY not in rendered(caught.value)


def test_a_reference_is_told_from_a_key() -> None:
    assert is_reference("env:OPENAI_API_KEY")
    assert is_reference("file:~/key")
    assert is_reference("command:pass show key")
    assert not is_reference("sk-abcdef")
    assert not is_reference("environment")


def test_the_environment_is_read_when_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", f"  {CANARY}\n")
    assert resolve("env:A_KEY").reveal() == CANARY
    monkeypatch.setenv("A_KEY", "another-key")
    assert resolve("env:A_KEY").reveal() == "another-key"


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_a_missing_or_empty_variable_is_named(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    if value is not None:
        monkeypatch.setenv("A_KEY", value)
    with pytest.raises(KeyMissingError) as caught:
        resolve("env:A_KEY")
    assert caught.value.message == "the environment variable A_KEY is not set"
    assert caught.value.remedy == "Run: export A_KEY=..."


def test_a_key_file_is_read_and_stripped(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{CANARY}\n")
    assert resolve(f"file:{tmp_path / 'key'}").reveal() == CANARY


def test_a_key_file_in_the_home_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "key").write_text(CANARY)
    assert resolve("file:~/key").reveal() == CANARY


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file"),
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\xff\xfe\x00", "not a text file"),
        (b"x" * 100_000, "too large to be a key"),
    ],
)
def test_a_key_file_that_holds_no_key_is_named(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(KeyMissingError) as caught:
        resolve(f"file:{path}")
    assert str(path) in caught.value.message
    assert said in caught.value.message


@pytest.mark.parametrize("path", ["/", "a\0b", "~nobody-of-that-name/key", ""])
def test_a_path_that_is_no_file_is_a_missing_key(path: str) -> None:
    with pytest.raises(KeyMissingError, match="cannot be read"):
        resolve(f"file:{path}")


def test_an_endless_file_is_not_read_to_its_end() -> None:
    assert stat.S_ISCHR(Path("/dev/zero").stat().st_mode)
    with pytest.raises(KeyMissingError):
        resolve("file:/dev/zero")


def test_a_command_gives_the_key_without_a_shell(tmp_path: Path) -> None:
    assert resolve(command(f'print("{CANARY}")')).reveal() == CANARY
    with pytest.raises(KeyMissingError):
        resolve(f"command:false; touch {tmp_path}/ran")
    assert resolve(f"command:echo a-key; touch {tmp_path}/ran").reveal().startswith("a-key;")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("no-such-program-anywhere", "FileNotFoundError"),
        ("false", "exit code 1"),
        ("true", "gave no key"),
        ("", "(nothing)"),
        ("   ", "(nothing)"),
        ("echo 'unclosed", "ValueError"),
        ("printf '\\377\\376'", "UnicodeDecodeError"),
        ("a\0b", "ValueError"),
        ("/", "PermissionError"),
    ],
)
def test_a_command_that_gives_no_key_is_named(line: str, said: str) -> None:
    with pytest.raises(KeyMissingError) as caught:
        resolve(f"command:{line}")
    assert said in caught.value.message


def test_a_command_from_an_imported_file_is_refused_and_not_run(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        resolve(f"command:touch {tmp_path}/ran", trusted=False)
    assert "imported" in caught.value.message
    assert "env:NAME" in caught.value.remedy
    assert not (tmp_path / "ran").exists()


def test_a_secret_resolves_to_itself() -> None:
    secret = Secret(CANARY)
    assert resolve(secret) is secret
    assert resolve(secret, trusted=False) is secret


@pytest.mark.parametrize("text", ["sk-abcdefgh12345", "vault:x", "", "ENV:A_KEY"])
def test_what_is_no_reference_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve(text)
    assert "must be a reference" in caught.value.message
    assert not text or text not in str(caught.value)


def test_every_known_secret_is_masked_wherever_it_stands() -> None:
    Secret(CANARY)
    assert mask(f"a{CANARY}b {CANARY}") == "a****b ****"
    assert mask_bytes(f'{{"k":"{CANARY}"}}'.encode()) == b'{"k":"****"}'


def test_a_secret_that_contains_another_is_masked_whole() -> None:
    Secret("overlap-short")
    Secret("overlap-short-and-long")
    assert mask("x overlap-short-and-long y") == "x **** y"


def test_a_short_secret_does_not_mask_ordinary_words() -> None:
    Secret("the")
    Secret("")
    assert mask("the weather") == "the weather"
    assert mask_bytes(b"the weather") == b"the weather"


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-CANARY1234567890",
        "sk-proj-CANARY*****7890 is wrong",
        "gsk_CANARY1234567890",
        "hf_CANARY1234567890",
        "xai-CANARY1234567890",
        "AIzaCANARY12345678901234567890",
        "Bearer CANARY1234567890",
        "bearer CANARY.1234-567890",
        "Authorization: Bearer CANARY1234567890",
        "Authorization: Basic CANARY1234567890",
        "authorization: CANARY1234567890",
        '{"Authorization": "Bearer CANARY1234567890"}',
        "{'authorization': 'Bearer CANARY1234567890'}",
        "x-api-key: CANARY1234567890",
        '"api-key":"CANARY1234567890"',
        "api-key=CANARY1234567890&x=1",
        "apikey=CANARY1234567890",
        "x-goog-api-key: CANARY1234567890",
        "https://user:CANARY1234567890@example.org/v1",
        "https://CANARY1234567890@example.org/v1",
        "http://user:CANARY@56@proxy:3128",
        "postgresql+psycopg://user:CANARY@56@db/penstock",
    ],
)
def test_what_looks_like_a_key_is_masked_though_nobody_knows_it(text: str) -> None:
    shown = mask(text)
    assert "CANARY" not in shown
    assert "56" not in shown
    assert SHOWN in shown


@pytest.mark.parametrize(
    "text",
    [
        "The task-oriented approach needs no key.",
        "https://example.org/v1/models?x=1",
        "mail me@example.org or see http://example.org/a@b",
        "a bearer of bad news",
        "row 3, column 'key': 5 is no text",
        "",
    ],
)
def test_ordinary_text_is_left_as_it_is(text: str) -> None:
    assert mask(text) == text


def test_the_name_before_a_masked_value_stays_readable() -> None:
    assert mask("x-api-key: CANARY1234567890") == "x-api-key: ****"
    assert mask("http://u:p-word@host/x") == "http://****@host/x"


def test_masking_a_hostile_text_takes_no_longer_than_its_length() -> None:
    for part in ("Bearer ", "sk-", "://", "://a:", "authorization: ", "api-key" + " " * 50, "@"):
        began = time.perf_counter()
        mask(part * (400_000 // len(part)))
        mask(part + " " * 400_000 + part)
        assert time.perf_counter() - began < 5


def test_an_error_logged_with_its_trace_does_not_show_a_key(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("A_KEY", CANARY)
    secret = resolve("env:A_KEY")
    with caplog.at_level(logging.ERROR):
        try:
            raise PenstockError(f"cannot use {secret}")
        except PenstockError:
            logging.getLogger("test").exception("failed with %s %r", secret, secret)
    assert "failed with **** ****" in caplog.text
    assert CANARY not in caplog.text


ODD = "p/q+r=0123456789"


@pytest.mark.parametrize("spelt", [ODD, "p\\/q+r=0123456789", "p%2Fq%2Br%3D0123456789"])
def test_a_secret_is_masked_as_json_and_addresses_spell_it(spelt: str) -> None:
    Secret(ODD)
    assert mask(f"it is {spelt}, is it") == "it is ****, is it"
    assert mask_bytes(f"it is {spelt}".encode()) == b"it is ****"
    assert holds_known(spelt) and not holds_known(spelt[:8])


@pytest.mark.parametrize("gap", ["***", "**********", "...", "…"])
def test_the_two_ends_of_a_known_secret_are_masked(gap: str) -> None:
    Secret(CANARY)
    for start in (4, 6, 12):
        assert mask(f"wrong key: {CANARY[:start]}{gap}{CANARY[-4:]}.") == "wrong key: ****"
    assert mask(f"a canal {gap} a canary") == f"a canal {gap} a canary"


def test_a_text_in_pieces_never_shows_a_secret_and_loses_nothing_else() -> None:
    Secret(CANARY)
    text = f"a can of can-{CANARY} and {CANARY[:9]} c"
    for size in range(1, len(text)):
        masking = Masking()
        shown = [masking.feed(text[at : at + size]) for at in range(0, len(text), size)]
        assert "".join(shown) + masking.end() == text.replace(CANARY, SHOWN)
        assert masking.end() == ""
        assert not any(CANARY[:12] in piece for piece in shown)


def test_what_cannot_begin_a_secret_is_shown_at_once() -> None:
    Secret(CANARY)
    masking = Masking()
    assert masking.feed("hello ") == "hello "
    assert masking.feed("can") == ""
    assert masking.feed(" do") == "can do"
