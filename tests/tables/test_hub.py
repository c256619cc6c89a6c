"""Tables on the Hugging Face hub: its own library against a hub on this machine."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyarrow import parquet

from penstock.errors import ApiError, InputError, KeyMissingError
from penstock.tables import Table
from penstock.tables import hub as ours
from tests.tables.hub import TOKEN, Hub, Refusal, Repo, serving
from tests.tables.test_card import ORIGIN

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

ROWS: list[dict[str, Any]] = [
    {"topic": "ä", "stars": 5, "tags": ["a", "b"], "more": {"x": 1.5}},
    {"topic": None, "stars": None, "tags": None, "more": None},
]


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    library = pytest.importorskip("huggingface_hub")
    constants = pytest.importorskip("huggingface_hub.constants")
    with serving(Hub()) as hub:
        template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants.ENDPOINT, hub.url)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
        monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        monkeypatch.delenv("HF_TOKEN", raising=False)
        yield hub
        library.close_session()


def table(rows: Any = None) -> Table:
    return Table.from_rows(ROWS if rows is None else rows)


def paths(hub: Hub, repo: str = "me/poems") -> list[str]:
    return sorted(path for path in hub.repos[repo].files if not path.startswith("."))


def content(hub: Hub, path: str, repo: str = "me/poems") -> list[dict[str, Any]]:
    read = parquet.read_table(io.BytesIO(hub.repos[repo].files[path]))
    found: list[dict[str, Any]] = read.to_pylist()
    return found


CHILD = """
import json, sys
from penstock.tables import Table
rows = json.loads(sys.argv[1])
print(Table.from_rows(rows).push_to_hub("poems", private=True))
Table.from_rows(rows[:1]).push_to_hub("me/poems", split="test")
Table.from_rows([{"n": 7}]).push_to_hub("me/poems", "numbers")
from datasets import load_dataset
found = {split: data.to_list() for split, data in load_dataset("me/poems").items()}
found["numbers"] = load_dataset("me/poems", "numbers", split="train").to_list()
print(json.dumps(found))
"""


def test_what_is_pushed_is_loaded_again_by_its_name(tmp_path: Path) -> None:
    with serving(Hub()) as hub:
        done = subprocess.run(
            [sys.executable, "-c", CHILD, json.dumps(ROWS)],
            cwd=tmp_path,
            env={
                **{name: value for name, value in os.environ.items() if "HF_" not in name},
                **dict.fromkeys(("HOME", "XDG_CACHE_HOME"), str(tmp_path)),
                "HF_ENDPOINT": hub.url,
                "HF_HUB_DISABLE_XET": "1",
                "HF_TOKEN": TOKEN,
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        address, found = done.stdout.splitlines()
        assert address.startswith(f"{hub.url}/datasets/me/poems/commit/")
        assert json.loads(found) == {"train": ROWS, "test": ROWS[:1], "numbers": [{"n": 7}]}
        assert hub.repos["me/poems"].private
        assert paths(hub) == [
            "README.md",
            "data/test-00000-of-00001.parquet",
            "data/train-00000-of-00001.parquet",
            "numbers/train-00000-of-00001.parquet",
        ]
        assert hub.repos["me/poems"].commits == 4, "one commit each, data and card together"
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert left, "the library keeps a cache"
    assert not [path for path in left if TOKEN.encode() in path.read_bytes()]


def test_a_push_replaces_its_split_and_nothing_else(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ours, "_SHARD", 1)
    monkeypatch.setattr(ours, "_ROW_GROUP", 1)
    numbers = [{"n": n} for n in range(3)]
    table(numbers).push_to_hub("me/poems", token=TOKEN)
    table(numbers).push_to_hub("me/poems", split="test", token=TOKEN)
    assert paths(hub)[1:] == [
        *(f"data/test-0000{n}-of-00003.parquet" for n in range(3)),
        *(f"data/train-0000{n}-of-00003.parquet" for n in range(3)),
    ]
    assert content(hub, "data/train-00001-of-00003.parquet") == [{"n": 1}]
    hub.repos["me/poems"].files["data/notes.txt"] = b"mine"
    table(numbers[:1]).push_to_hub("me/poems", token=TOKEN)
    assert paths(hub)[1:] == [
        "data/notes.txt",
        *(f"data/test-0000{n}-of-00003.parquet" for n in range(3)),
        "data/train-00000-of-00001.parquet",
    ]


def test_the_card_knows_the_run_and_goes_with_the_data(hub: Hub) -> None:
    made = table()
    made.run = SimpleNamespace(origin=ORIGIN)
    made.push_to_hub("me/poems", token=TOKEN, commit_message="Poems of November")
    text = hub.repos["me/poems"].files["README.md"].decode()
    assert "`openai/gpt-4o-mini`" in text and "- synthetic" in text
    assert "* `tags`: `list<item: string>`" in text.replace("element", "item")
    [commit] = [seen for seen in hub.seen if "/commit/" in seen.path]
    assert b"Poems of November" in commit.body
    made.push_to_hub("me/poems", token=TOKEN, card="# Only my words")
    text = hub.repos["me/poems"].files["README.md"].decode()
    assert text.endswith("---\n\n# Only my words\n")


def test_an_empty_table_has_its_columns(hub: Hub) -> None:
    table()[:0].push_to_hub("me/poems", token=TOKEN)
    assert content(hub, "data/train-00000-of-00001.parquet") == []
    body = hub.repos["me/poems"].files["data/train-00000-of-00001.parquet"]
    assert parquet.read_schema(io.BytesIO(body)).names == list(ROWS[0])


def test_a_branch_of_its_own_leaves_main_alone(hub: Hub) -> None:
    table().push_to_hub("me/poems", revision="draft", token=TOKEN)
    repo = hub.repos["me/poems"]
    assert "README.md" in repo.branches["draft"] and "README.md" not in repo.files


# What goes wrong --------------------------------------------------------------------------------


def test_private_is_never_public(hub: Hub) -> None:
    hub.repos["me/poems"] = Repo(private=False)
    with pytest.raises(InputError, match="everyone can read it"):
        table().push_to_hub("me/poems", private=True, token=TOKEN)
    assert paths(hub) == [] and not hub.large


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"split": "a/b"}, "split is 'a/b'"),
        ({"split": ""}, "split is ''"),
        ({"config_name": "data"}, "config_name is 'data'"),
        ({"config_name": "../x"}, "config_name is '../x'"),
        ({"card": "---\n- a\n---"}, "the card that is given"),
    ],
)
def test_a_wrong_option_is_said_before_anything_is_sent(
    hub: Hub, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        table().push_to_hub("me/poems", **options, token=TOKEN)
    assert not hub.seen


def test_a_wrong_name_and_an_empty_table_are_said(hub: Hub) -> None:
    with pytest.raises(InputError, match="is no name of a dataset"):
        table().push_to_hub("me/po ems!", token=TOKEN)
    with pytest.raises(InputError, match="no columns"):
        Table.from_rows([]).push_to_hub("me/poems", token=TOKEN)
    assert not hub.repos


def test_without_a_token_it_is_said_how_to_get_one(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(KeyMissingError, match="no token") as error:
        table().push_to_hub("me/poems")
    assert "hf auth login" in error.value.remedy and "HF_TOKEN" in error.value.remedy
    assert not hub.seen
    monkeypatch.setenv("MY_TOKEN", TOKEN)
    assert table().push_to_hub("me/poems", token="env:MY_TOKEN")


@pytest.mark.parametrize(
    ("where", "refusal", "said"),
    [
        ("/api/datasets", Refusal(401, "", f"Invalid token {TOKEN}"), "token is wrong"),
        ("/commit/", Refusal(403, "", f"No right for {TOKEN}"), "may not write there"),
        ("/commit/", Refusal(412, "", "changed"), "changed meanwhile"),
        ("/preupload/", Refusal(500, "", f"Oh no {TOKEN}"), "500"),
        ("/objects/batch", Refusal(400, "", f"Bad {TOKEN}"), "400"),
    ],
    ids=["401", "403", "412", "500", "batch"],
)
def test_a_refusal_is_named_and_holds_no_token(
    hub: Hub, where: str, refusal: Refusal, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)  # it tries a 500 again
    hub.refuse[where] = refusal
    with pytest.raises(ApiError, match=said) as raised:
        table().push_to_hub("me/poems", token=TOKEN)
    error = raised.value
    assert error.__cause__ is None and error.__context__ is None, "theirs holds the request"
    assert TOKEN not in f"{error}{error.__dict__}"
    assert TOKEN not in "".join(traceback.format_exception(error))
    assert "README.md" not in (hub.repos["me/poems"].files if hub.repos else ())


def test_a_hub_that_is_not_there_is_said(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ApiError, match="the upload to me/poems failed"):
        table().push_to_hub("me/poems", token=TOKEN)


def test_the_library_that_is_missing_is_named_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(InputError, match=r"pip install 'penstock\[hf\]'"):
        table().push_to_hub("me/poems", token=TOKEN)
