from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from penstock.cli.config import app, settings_markdown, settings_yaml
from penstock.errors import HostError, InputError, SettingsError
from penstock.settings import SETTINGS, Settings

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for setting in SETTINGS:
        monkeypatch.delenv(setting.env, raising=False)
    monkeypatch.delenv("PENSTOCK_SETTINGS", raising=False)
    return tmp_path


def run(*arguments: str) -> None:
    app(list(arguments), exit_on_error=False, result_action="return_value")


def test_show_lists_every_setting_with_value_and_origin(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "penstock.yaml").write_text("llm:\n  model: gpt-4o-mini\n")
    monkeypatch.setenv("PENSTOCK_LLM_REASKS", "7")
    run("show")
    out = capsys.readouterr().out
    assert all(setting.key in out for setting in SETTINGS)
    assert re.search(r"llm\.model +gpt-4o-mini +penstock\.yaml:2", out)
    assert re.search(r"llm\.reasks +7 +PENSTOCK_LLM_REASKS", out)
    assert re.search(r"llm\.http2 +false +default", out)
    assert "settings file: " in out


def test_show_cuts_nothing_when_it_is_piped(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "penstock.yaml").write_text(f"llm: {{model: {'m' * 300}}}")
    run("show")
    assert re.search(r"llm\.model +m{300} +penstock\.yaml:1", capsys.readouterr().out)


def test_show_as_json_is_complete(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "penstock.yaml").write_text("llm: {temperature: 0.5}")
    run("show", "--json")
    rows = json.loads(capsys.readouterr().out)
    assert list(rows) == [setting.key for setting in SETTINGS]
    assert rows["llm.temperature"] == {"value": 0.5, "origin": "penstock.yaml:1"}
    assert rows["llm.model"] == {"value": None, "origin": "default"}


@pytest.mark.parametrize("arguments", [["show"], ["show", "--json"]])
def test_show_is_inert_and_tells_no_secret(
    arguments: list[str], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "penstock.yaml").write_text(
        'llm:\n  proxy: http://me:hunter2@proxy:3128\n  model: "[bold]a\\e[2Jb[/bold]"\n'
        "  ca_bundle: sk-abcdefghijklmnop\n"
    )
    run(*arguments)
    out = capsys.readouterr().out
    assert "hunter2" not in out
    assert "me:" not in out
    assert "sk-abcdef" not in out
    assert "\x1b" not in out
    assert "[bold]" in out
    assert "@proxy:3128" in out


def test_show_says_what_is_wrong(here: Path) -> None:
    (here / "penstock.yaml").write_text("llm: {modle: x}")
    with pytest.raises(SettingsError, match="did you mean"):
        run("show")


def test_init_writes_a_file_that_changes_nothing(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("init")
    assert capsys.readouterr().out == "wrote penstock.yaml\n"
    settings = Settings.load()
    assert settings.file == here / "penstock.yaml"
    assert settings == Settings()
    assert settings.origins == {}


def test_the_file_says_all_there_is_to_say_of_each_setting() -> None:
    text = settings_yaml()
    for setting in SETTINGS:
        for part in (setting.help, setting.allowed, setting.env):
            assert part in text
        assert f"\n  # {setting.name}: " in text


def test_every_line_of_the_file_can_be_uncommented(here: Path) -> None:
    text = re.sub(r"(?m)^  # ", "  ", settings_yaml())
    (here / "penstock.yaml").write_text(text)
    settings = Settings.load()
    assert settings == Settings()
    assert set(settings.origins) == {setting.key for setting in SETTINGS}


def test_every_example_of_the_file_is_valid(here: Path) -> None:
    examples = re.findall(r"For example (\S+)\. Environment: (\S+)", settings_yaml())
    by_env = {setting.env: setting for setting in SETTINGS}
    assert {env for _, env in examples} == {s.env for s in SETTINGS if s.example is not None}
    for example, env in examples:
        setting = by_env[env]
        (here / "penstock.yaml").write_text(f"{setting.section}:\n  {setting.name}: {example}\n")
        assert Settings.load().origin(setting.key) == "penstock.yaml:2"


def test_init_refuses_to_overwrite_unless_forced(here: Path) -> None:
    (here / "penstock.yaml").write_text("llm: {model: mine}")
    with pytest.raises(InputError, match="already there"):
        run("init")
    assert (here / "penstock.yaml").read_text() == "llm: {model: mine}"
    run("init", "--force")
    assert (here / "penstock.yaml").read_text() == settings_yaml()


def test_init_takes_a_file_or_a_folder(here: Path) -> None:
    (here / "folder").mkdir()
    run("init", "folder")
    run("init", "other.yaml")
    assert (here / "folder" / "penstock.yaml").read_text() == settings_yaml()
    assert (here / "other.yaml").read_text() == settings_yaml()


def test_init_says_when_it_cannot_write(here: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        run("init", "nowhere/penstock.yaml")
    (here / "file").write_text("")
    with pytest.raises(HostError, match="Not a directory"):
        run("init", "file/penstock.yaml")


def test_the_page_is_made_from_the_table() -> None:
    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    assert page == settings_markdown(), "run: penstock config docs > docs/settings.md"


def test_the_page_documents_each_setting_and_its_example_loads(here: Path) -> None:
    page = settings_markdown()
    for setting in SETTINGS:
        assert f"| `{setting.name}` |" in page
        assert f"`{setting.env}`<br>`{setting.flag}`" in page
    example = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert example
    (here / "penstock.yaml").write_text(example[1])
    assert Settings.load().token_management.budget == 25.0


def test_docs_writes_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    run("docs")
    assert capsys.readouterr().out == settings_markdown()
