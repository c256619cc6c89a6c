from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import SettingsError
from penstock.secret import mask
from penstock.settings import SETTINGS, Setting, Settings, Value


def load(
    folder: Path,
    text: str | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, Value] | None = None,
) -> Settings:
    if text is not None:
        (folder / "penstock.yaml").write_text(text, "utf-8")
    return Settings.load(flags, folder, environ or {})


def wrong(
    folder: Path,
    text: str | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, Value] | None = None,
) -> str:
    with pytest.raises(SettingsError) as caught:
        load(folder, text, environ, flags)
    return caught.value.message


def named(key: str) -> Setting:
    return next(setting for setting in SETTINGS if setting.key == key)


# What the table says


def test_the_defaults_are_those_of_the_seed(tmp_path: Path) -> None:
    settings = load(tmp_path)
    assert settings == Settings()
    assert settings.batch_processing.max_workers == 4
    assert settings.batch_processing.chunk_size == 1000
    assert settings.batch_processing.max_retries == 3
    assert settings.llm.model is None
    assert settings.token_management.token_limit is None
    assert settings.token_management.cost_tracking is True
    assert settings.logging.level == "INFO"
    assert settings.logging.max_size == 10_485_760
    assert settings.logging.backup_count == 5
    assert settings.file is None


def test_the_seed_s_own_file_loads(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "batch_processing:\n  max_workers: 4\n  chunk_size: 1000\n  max_retries: 3\n\n"
        "llm:\n  model: gpt-4\n  temperature: 0.7\n  max_tokens: 2048\n\n"
        "token_management:\n  token_limit: 1000000\n  cost_tracking: true\n\n"
        "logging:\n  level: INFO\n  file: batch_grader.log\n  max_size: 10485760 # 10MB\n"
        "  backup_count: 5\n",
    )
    assert settings.llm.model == "gpt-4"
    assert settings.llm.temperature == 0.7
    assert settings.token_management.token_limit == 1_000_000
    assert settings.logging.file == "batch_grader.log"


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.key)
def test_each_setting_is_documented_and_its_default_and_example_are_allowed(
    setting: Setting,
) -> None:
    assert len(setting.help) > 10
    assert setting.help.endswith(".")
    assert setting.accept(setting.default) == setting.default
    if setting.example is not None:
        assert setting.accept(setting.example) == setting.example


def test_keys_environment_names_and_flags_are_unique() -> None:
    for names in (
        [setting.key for setting in SETTINGS],
        [setting.env for setting in SETTINGS],
        [setting.flag for setting in SETTINGS],
    ):
        assert len(set(names)) == len(names)


def test_names_follow_from_the_table() -> None:
    setting = named("batch_processing.max_workers")
    assert setting.env == "PENSTOCK_BATCH_PROCESSING_MAX_WORKERS"
    assert setting.flag == "--max-workers"
    assert named("logging.file").flag == "--log-file"


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Settings().llm.model = "x"  # type: ignore[misc]


def test_settings_travel_to_other_processes(tmp_path: Path) -> None:
    settings = load(tmp_path, "llm:\n  model: a\n")
    copy = pickle.loads(pickle.dumps(settings))
    assert copy == settings
    assert copy.origin("llm.model") == "penstock.yaml:2"


def test_importing_settings_loads_nothing_heavy() -> None:
    program = (
        "import sys, penstock.settings\n"
        "heavy = {'yaml', 'pydantic', 'rich', 'cyclopts', 'difflib'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "penstock.settings.Settings.load(environ={})\n"
        "assert 'yaml' not in sys.modules\n"
    )
    with TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-c", program], cwd=folder, check=True)


# The layers


def test_a_later_layer_wins_and_is_named_as_the_origin(tmp_path: Path) -> None:
    text = "# mine\nllm:\n  model: from-file\n  temperature: 1\n"
    environ = {"PENSTOCK_LLM_MODEL": "from-env", "PENSTOCK_LLM_REASKS": "7"}
    settings = load(tmp_path, text, environ, {"llm.model": "from-flag"})
    assert settings.llm.model == "from-flag"
    assert settings.origin("llm.model") == "--model"
    assert settings.llm.temperature == 1.0
    assert settings.origin("llm.temperature") == "penstock.yaml:4"
    assert settings.llm.reasks == 7
    assert settings.origin("llm.reasks") == "PENSTOCK_LLM_REASKS"
    assert settings.origin("llm.proxy") == "default"
    assert settings["llm.model"] == "from-flag"


def test_a_flag_that_was_not_given_changes_nothing(tmp_path: Path) -> None:
    settings = load(tmp_path, "llm: {model: a}", flags={"llm.model": None})
    assert settings.llm.model == "a"


def test_null_unsets_what_a_lower_layer_set(tmp_path: Path) -> None:
    assert load(tmp_path, "logging: {file: null}").logging.file is None
    text = "llm: {model: a}\nlogging: {file: a.log}\n"
    assert load(tmp_path, text, {"PENSTOCK_LLM_MODEL": "null"}).llm.model is None
    assert load(tmp_path, text, flags={"logging.file": "null"}).logging.file is None


def test_an_empty_environment_variable_counts_as_not_set(tmp_path: Path) -> None:
    settings = load(tmp_path, "llm: {model: a}", {"PENSTOCK_LLM_MODEL": ""})
    assert settings.origin("llm.model") == "penstock.yaml:1"


def test_every_setting_is_listed_with_its_origin(tmp_path: Path) -> None:
    rows = list(load(tmp_path, environ={"PENSTOCK_STORAGE_DRAIN": "5"}).rows())
    assert [row.setting for row in rows] == list(SETTINGS)
    assert [(row.setting.key, row.value) for row in rows if row.origin != "default"] == [
        ("storage.drain", 5.0)
    ]


def test_the_process_s_own_folder_and_environment_are_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "penstock.yaml").write_text("llm: {model: a}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PENSTOCK_LLM_REASKS", "9")
    settings = Settings.load()
    assert (settings.llm.model, settings.llm.reasks) == ("a", 9)


# The file


def test_the_nearest_file_upward_is_read(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    load(tmp_path, "llm: {model: outer}")
    settings = load(inner)
    assert settings.llm.model == "outer"
    assert settings.origin("llm.model") == "../../penstock.yaml:1"
    assert settings.file == tmp_path / "penstock.yaml"
    (tmp_path / "a" / "penstock.yaml").write_text("llm: {model: nearer}")
    assert load(inner).llm.model == "nearer"


def test_a_file_named_by_the_environment_goes_before_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text("\nllm: {model: other}")
    settings = load(tmp_path, "llm: {model: near}", {"PENSTOCK_SETTINGS": "other.yaml"})
    assert settings.llm.model == "other"
    assert settings.origin("llm.model") == "other.yaml:2"


def test_a_named_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    message = wrong(tmp_path, environ={"PENSTOCK_SETTINGS": "nowhere.yaml"})
    assert message == "nowhere.yaml cannot be read: No such file or directory"
    wrong(tmp_path, environ={"PENSTOCK_SETTINGS": "~nobody-of-that-name/x.yaml"})


def test_a_file_further_up_that_belongs_to_another_user_is_refused_unless_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "a"
    inner.mkdir()
    load(tmp_path, "llm: {proxy: 'http://evil'}")
    real = os.getuid()
    if real == 0:
        os.chown(tmp_path / "penstock.yaml", 12345, -1)
    else:
        monkeypatch.setattr(os, "getuid", lambda: real + 1)
    assert "belongs to another user" in wrong(inner)
    named_file = {"PENSTOCK_SETTINGS": str(tmp_path / "penstock.yaml")}
    assert load(inner, environ=named_file).llm.proxy == "http://evil"
    assert load(tmp_path).llm.proxy == "http://evil"


@pytest.mark.parametrize("text", ["", "# nothing\n", "llm:\n", "---\n", "{}"])
def test_an_empty_file_or_section_changes_nothing(text: str, tmp_path: Path) -> None:
    assert load(tmp_path, text) == Settings()


def test_relative_paths_in_the_file_are_meant_from_its_folder(tmp_path: Path) -> None:
    inner = tmp_path / "a"
    inner.mkdir()
    load(tmp_path, "llm: {ca_bundle: certs/ca.pem}\ntoken_management: {prices: /abs/p.yaml}")
    settings = load(inner)
    assert settings.llm.ca_bundle == str(tmp_path / "certs" / "ca.pem")
    assert settings.token_management.prices == "/abs/p.yaml"
    environ = {"PENSTOCK_LLM_CA_BUNDLE": "ca.pem", "PENSTOCK_TOKEN_MANAGEMENT_PRICES": "~/p.yaml"}
    settings = load(inner, environ=environ)
    assert settings.llm.ca_bundle == "ca.pem"
    assert settings.token_management.prices == str(Path.home() / "p.yaml")


# What is wrong


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "llm:\n  temperature: 3\n",
            "penstock.yaml:2: llm.temperature: 3 is not allowed; "
            "it takes a number from 0 to 2, or null",
        ),
        (
            "\nbatch_processing: {max_workers: '4'}",
            "penstock.yaml:2: batch_processing.max_workers: '4' is not allowed; "
            "it takes a whole number, 1 or more",
        ),
        (
            "storage:\n  durability: slow\n",
            "penstock.yaml:2: storage.durability: 'slow' is not allowed; it takes full or fast",
        ),
        (
            "llm:\n  modle: x\n",
            "penstock.yaml:2: llm.modle is not a setting; did you mean llm.model?",
        ),
        (
            "loging:\n  level: INFO\n",
            "penstock.yaml:1: loging is not a section; did you mean logging?",
        ),
        (
            "zzz: 1",
            "penstock.yaml:1: zzz is not a section; there are batch_processing, llm, "
            "token_management, storage, logging",
        ),
        ("llm: 5", "penstock.yaml:1: llm: names and values are wanted, indented"),
        ("llm: {model: a, model: b}", "penstock.yaml:1:17: the key 'model' is given twice, "),
        ("llm: *x", "penstock.yaml:1:6: the alias *x is not allowed"),
        ("- llm", "penstock.yaml:1: sections are wanted"),
    ],
)
def test_an_error_in_the_file_names_line_key_value_and_what_is_allowed(
    text: str, message: str, tmp_path: Path
) -> None:
    assert wrong(tmp_path, text).startswith(message)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("llm.model", "5"),
        ("llm.model", "''"),
        ("llm.model", "[a]"),
        ("llm.model", "{a: b}"),
        ("llm.timeout", "null"),
        ("llm.timeout", "0"),
        ("llm.timeout", ".inf"),
        ("llm.timeout", ".nan"),
        ("llm.timeout", "true"),
        ("llm.http2", "1"),
        ("llm.http2", "maybe"),
        ("llm.transport", "null"),
        ("llm.transport", "httpx"),
        ("llm.concurrency", "0"),
        ("llm.concurrency", "1.5"),
        ("llm.concurrency", "1e300"),
        ("llm.concurrency", "99999999999999999999"),
        ("llm.concurrency", "false"),
        ("token_management.budget", "-0.01"),
        ("token_management.budget", "1e999"),
        ("logging.level", "TRACE"),
        ("logging.max_size", "10"),
        ("logging.backup_count", "-1"),
    ],
)
def test_a_wrong_value_in_the_file_is_refused(key: str, value: str, tmp_path: Path) -> None:
    section, name = key.split(".")
    message = wrong(tmp_path, f"{section}:\n  {name}: {value}\n")
    assert message.startswith(f"penstock.yaml:2: {key}: ")
    assert named(key).allowed in message


def test_everything_that_is_wrong_is_reported_at_once(tmp_path: Path) -> None:
    text = "llm:\n  modle: x\n  timeout: soon\nlogging:\n  level: LOUD\nextra: 1\n"
    environ = {"PENSTOCK_LLM_REASKS": "many", "PENSTOCK_STORAGE_DURABLE": "full"}
    message = wrong(tmp_path, text, environ, {"llm.http2": "perhaps", "llm.nothing": 1})
    assert [line.split(": ")[0] for line in message.splitlines()] == [
        "8 settings are wrong:",
        *("penstock.yaml:2", "penstock.yaml:3", "penstock.yaml:5", "penstock.yaml:6"),
        *("PENSTOCK_LLM_REASKS", "environment", "--http2", "flags"),
    ]


def test_an_unknown_environment_variable_of_a_section_is_an_error(tmp_path: Path) -> None:
    message = wrong(tmp_path, environ={"PENSTOCK_LLM_MODLE": "x"})
    assert message == (
        "environment: PENSTOCK_LLM_MODLE is not a setting; did you mean PENSTOCK_LLM_MODEL?"
    )


def test_other_variables_are_left_alone(tmp_path: Path) -> None:
    environ = {"PENSTOCK_HOME": "/x", "PENSTOCK_SERVER_TOKEN": "x", "PENSTOCK_LLMX": "1"}
    assert load(tmp_path, environ=environ) == Settings()


def test_an_unknown_key_is_an_error_when_asked_for() -> None:
    with pytest.raises(SettingsError, match=r"did you mean llm\.model"):
        Settings().origin("llm.modell")
    with pytest.raises(SettingsError, match="not a setting"):
        Settings()["llm"]


def test_errors_show_no_secret_and_no_escape_sequence(tmp_path: Path) -> None:
    key = "sk-abcdefghijklmnopqrstuvwxyz"
    message = wrong(
        tmp_path,
        f'llm:\n  timeout: {key}\n  "\\e[2Jx": 1\n',
        {"PENSTOCK_LLM_REASKS": key, "PENSTOCK_LLM_HTTP2": "\x1b[31m\n"},
    )
    assert key[3:] not in message
    assert "\x1b" not in message
    assert len(message.splitlines()) == 5


def test_the_password_of_a_proxy_is_masked_everywhere(tmp_path: Path) -> None:
    settings = load(tmp_path, environ={"PENSTOCK_LLM_PROXY": "http://me:opensesame1@proxy:3128"})
    assert settings.llm.proxy == "http://me:opensesame1@proxy:3128"
    assert "opensesame1" not in repr(settings)
    assert "opensesame1" not in mask("could not reach http://me:opensesame1@proxy:3128")


# Words for values


@pytest.mark.parametrize(
    ("word", "value"),
    [
        *((word, True) for word in ("true", "TRUE", "1", "yes", "Yes", "on")),
        *((word, False) for word in ("false", "False", "0", "no", "NO", "off")),
    ],
)
def test_booleans_in_the_environment_have_the_usual_words(
    word: str, value: bool, tmp_path: Path
) -> None:
    assert load(tmp_path, environ={"PENSTOCK_LLM_HTTP2": word}).llm.http2 is value
    assert load(tmp_path, flags={"llm.http2": value}).llm.http2 is value


def test_yes_and_no_are_booleans_in_the_file_too(tmp_path: Path) -> None:
    assert load(tmp_path, "logging: {console: yes}").logging.console is True


def test_choices_are_read_in_any_case(tmp_path: Path) -> None:
    assert load(tmp_path, "logging: {level: debug}").logging.level == "DEBUG"


def test_whole_numbers_may_be_written_as_powers_of_ten(tmp_path: Path) -> None:
    limit = load(tmp_path, "token_management: {token_limit: 1e6}").token_management.token_limit
    assert limit == 1_000_000
    assert isinstance(limit, int)
    environ = {"PENSTOCK_TOKEN_MANAGEMENT_TOKEN_LIMIT": "1e6"}
    assert load(tmp_path, environ=environ).token_management.token_limit == 1_000_000


# Any value, any layer


def values(setting: Setting) -> st.SearchStrategy[Value]:
    found: st.SearchStrategy[Value]
    low, high = setting.minimum, setting.maximum
    if setting.choices:
        found = st.sampled_from(setting.choices)
    elif setting.kind is bool:
        found = st.booleans()
    elif setting.kind is str:
        letters = st.characters(categories=["L", "N", "P", "S"])
        # A leading ~ is a home; "null" is how the environment says none.
        texts = st.text(letters, min_size=1).filter(lambda t: t[0] != "~" and t.lower() != "null")
        found = texts.map(lambda t: "/" + t.strip("/.") + "x") if setting.path else texts
    elif setting.kind is int:
        found = st.integers(int(low or 0), int(high or 2**53))
    else:
        found = st.floats(low, high or 2.0**53)
    return found | st.none() if setting.optional else found


any_setting = st.sampled_from(SETTINGS).flatmap(lambda s: st.tuples(st.just(s), values(s)))


@given(any_setting)
def test_any_valid_value_loads_back_equal_from_file_environment_and_flag(
    drawn: tuple[Setting, Value],
) -> None:
    setting, value = drawn
    with TemporaryDirectory() as folder:
        here = Path(folder)
        plain = value if isinstance(value, str) else json.dumps(value)
        from_environment = load(here, environ={setting.env: plain})
        from_flag = load(here, flags={setting.key: "null" if value is None else value})
        written = json.dumps(value, ensure_ascii=False)
        from_file = load(here, f"{setting.section}:\n  {setting.name}: {written}\n")
    for settings in (from_file, from_environment, from_flag):
        found = settings[setting.key]
        assert found == value
        assert value is None or type(found) is setting.kind
        assert settings.origin(setting.key) != "default"
        others = [row for row in settings.rows() if row.setting != setting]
        assert all(row.value == row.setting.default for row in others)


@given(st.data(), st.sampled_from(SETTINGS))
def test_whatever_layers_set_a_value_the_last_of_them_wins(
    data: st.DataObject, setting: Setting
) -> None:
    given_value = st.none() | st.tuples(values(setting))
    file, environment, flag = (data.draw(given_value) for _ in range(3))
    expected, origin = (setting.default, "default")
    text, environ, flags = None, {}, {}
    if file:
        written = json.dumps(file[0], ensure_ascii=False)
        text = f"{setting.section}:\n  {setting.name}: {written}\n"
        expected, origin = file[0], "penstock.yaml:2"
    if environment:
        plain = environment[0]
        environ[setting.env] = plain if isinstance(plain, str) else json.dumps(plain)
        expected, origin = plain, setting.env
    if flag:
        flags[setting.key] = "null" if flag[0] is None else flag[0]
        expected, origin = flag[0], setting.flag
    with TemporaryDirectory() as folder:
        settings = load(Path(folder), text, environ, flags)
    assert settings[setting.key] == expected
    assert settings.origin(setting.key) == origin


@given(st.sampled_from(SETTINGS), st.text(max_size=30))
def test_any_text_in_the_environment_is_accepted_or_refused_in_words(
    setting: Setting, text: str
) -> None:
    try:
        setting.parse(text)
    except ValueError as error:
        assert str(error).endswith(setting.allowed)
