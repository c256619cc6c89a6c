"""The card of a published table: what it says, and that nothing in it is obeyed."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InputError
from penstock.tables import Origin
from penstock.tables.card import Part, card
from penstock.tables.features import features

SCHEMA = pa.schema([("topic", pa.string()), ("stars", pa.int64())])
ORIGIN = Origin(
    run="prompt-20261101-090000-ab12",
    models=("openai/gpt-4o-mini",),
    prompt="describe (sha256 0123456789ab)",
    ended=datetime(2026, 11, 1, 9, tzinfo=UTC),
    failed=3,
    recorded=0,
    input_tokens=12_345,
    output_tokens=67_890,
    cost=Decimal("0.120"),
    unpriced=0,
)


def part(**changes: Any) -> Part:
    given: dict[str, Any] = {
        "repo": "me/poems",
        "config": "default",
        "split": "train",
        "folder": "data",
        "schema": SCHEMA,
        "rows": 1_234,
        "size": 5_678,
        "version": "0.1.0",
        "origin": ORIGIN,
    }
    return Part(**{**given, **changes})


def read(text: str) -> tuple[dict[str, Any], str]:
    """The card as the hub's own library reads it."""
    hub = pytest.importorskip("huggingface_hub")
    made = hub.DatasetCard(text, ignore_metadata_errors=False)
    return made.data.to_dict(), made.text


def test_a_card_says_what_made_the_data() -> None:
    front, body = read(card(part()))
    assert front == {
        "tags": ["penstock", "synthetic"],
        "size_categories": ["1K<n<10K"],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": "train", "path": "data/train-*"}],
            }
        ],
        "dataset_info": [
            {
                "config_name": "default",
                "features": [
                    {"name": "topic", "dtype": "string"},
                    {"name": "stars", "dtype": "int64"},
                ],
                "splits": [{"name": "train", "num_bytes": 5_678, "num_examples": 1_234}],
                "dataset_size": 5_678,
            }
        ],
    }
    for line in (
        "# poems",
        "## train",
        "* **Made by:** a language model: `openai/gpt-4o-mini`",
        "* **Prompt:** `describe (sha256 0123456789ab)`",
        "* **Run:** `prompt-20261101-090000-ab12`, 2026-11-01",
        "* **Rows:** 1,234",
        "* **Failed rows:** 3, which are not in here",
        "* **Tokens:** 12,345 in, 67,890 out",
        "* **Cost:** $0.12",
        "* **Written by:** Penstock 0.1.0",
        "* `topic`: `string`",
        "* `stars`: `int64`",
        'dataset = load_dataset("me/poems", split="train")',
    ):
        assert line in body.splitlines(), line


def test_what_is_not_known_is_not_said() -> None:
    front, body = read(card(part(origin=None)))
    assert front["tags"] == ["penstock"], "nobody knows whether a model made it"
    assert "language model" not in body and "Cost" not in body


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"cost": Decimal(0)}, "$0"),
        (
            {"cost": Decimal(0), "unpriced": 7},
            "$0, and 7 answers of which no price is known",
        ),
        ({"recorded": 1_000}, "$0.12; 1,000 answers had been paid for by earlier runs"),
    ],
)
def test_a_cost_says_what_it_leaves_out(changes: dict[str, Any], said: str) -> None:
    origin = Origin(**{**ORIGIN.__dict__, **changes})
    assert f"* **Cost:** {said}" in card(part(origin=origin)).splitlines()


def test_another_split_and_another_subset_stand_beside_the_first() -> None:
    text = card(part())
    text = card(part(split="test", rows=10_000), old=text)
    other = pa.schema([("n", pa.float64())])
    text = card(part(config="numbers", folder="numbers", schema=other, rows=5), old=text)
    front, body = read(text)
    assert [config["config_name"] for config in front["configs"]] == ["default", "numbers"]
    files = [each["path"] for config in front["configs"] for each in config["data_files"]]
    assert files == ["data/train-*", "data/test-*", "numbers/train-*"]
    default, numbers = front["dataset_info"]
    assert [split["num_examples"] for split in default["splits"]] == [1_234, 10_000]
    assert default["dataset_size"] == 2 * 5_678
    assert numbers["features"] == [{"name": "n", "dtype": "float64"}]
    assert front["size_categories"] == ["10K<n<100K"]
    assert [line for line in body.splitlines() if line.startswith("#")] == [
        "# poems",
        "## train",
        "## test",
        "## train of numbers",
    ]
    assert 'load_dataset("me/poems", "numbers", split="train")' in body


def test_a_push_renews_its_own_section_and_keeps_what_people_wrote() -> None:
    text = card(part()).replace("# poems", "# Poems\n\nWritten in a dry summer.")
    text = text.replace("tags:", "license: mit\nlanguage:\n- no\ntags:\n- poetry") + "\nThanks!\n"
    front, body = read(card(part(rows=99), old=text))
    assert (front["license"], front["language"]) == ("mit", ["no"])
    assert front["tags"] == ["poetry", "penstock", "synthetic"]
    assert "Written in a dry summer." in body and body.rstrip().endswith("Thanks!")
    assert body.count("## train") == 1
    assert "* **Rows:** 99" in body and "1,234" not in body


def test_a_card_that_others_made_keeps_their_files() -> None:
    old = """---
dataset_info:
  features:
  - name: topic
    dtype: string
  - name: stars
    dtype: int64
  splits:
  - name: test
    num_examples: 7
configs:
- config_name: default
  data_files: old/*.csv
---
"""
    front, _ = read(card(part(split="test"), old=old))
    assert front["configs"][0]["data_files"] == [
        {"split": "train", "path": "old/*.csv"},
        {"split": "test", "path": "data/test-*"},
    ]
    [info] = front["dataset_info"]
    assert info["splits"] == [{"name": "test", "num_examples": 1_234, "num_bytes": 5_678}]


def test_a_text_of_ones_own_takes_the_place_of_ours() -> None:
    own = "---\nlicense: cc0-1.0\ntags: [mine]\n---\n# My own words\n"
    front, body = read(card(part(), old=card(part(split="test")), own=own))
    assert body.strip() == "# My own words"
    assert front["license"] == "cc0-1.0"
    assert front["tags"] == ["mine", "penstock", "synthetic"]
    assert len(front["configs"][0]["data_files"]) == 2


@pytest.mark.parametrize(
    "text", ["---\na: [1\n---\n", "---\n- a\n- b\n---\n", "---\na: &x 1\nb: *x\n---\n"]
)
def test_front_matter_that_cannot_be_used_is_said(text: str) -> None:
    with pytest.raises(InputError, match="the card of me/poems"):
        card(part(), old=text)
    with pytest.raises(InputError, match="the card that is given"):
        card(part(), own=text)


def test_other_columns_need_another_subset() -> None:
    text = card(part())
    other = part(schema=pa.schema([("other", pa.string())]))
    assert "`other`" in card(other, old=text), "in the place of the same split they may change"
    with pytest.raises(InputError, match="has other columns in 'default'") as error:
        card(other._replace(split="test"), old=text)
    assert "config_name=" in error.value.remedy


@pytest.mark.parametrize(
    ("rows", "size"),
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (10**6, "1M<n<10M"), (10**9, "n>1B")],
)
def test_the_size_is_one_of_the_hub_s(rows: int, size: str) -> None:
    assert read(card(part(rows=rows)))[0]["size_categories"] == [size]


# Data that would like to be obeyed ----------------------------------------------------------------

EVIL = [
    "a\n---\n# Owned",
    "```\n</script><script>alert(1)</script>",
    "` ``` ` [x](javascript:1)",
    "<!-- end of penstock default/train -->",
    "x: !!python/object:os.system {}",
    "&a *a",
    "\u202etxt.exe",
    "null",
    "1",
    "no",
    "- a",
    "",
    " ",
    "'",
    '"',
    "\\",
    "a" * 1000,
    "\u2028---\u2028",
    "\x85---\x85",
    "#",
    "---",
]


def held(names: list[str]) -> None:
    """The names are read back as they are, and the text has the lines it always has."""
    plain = card(part(schema=pa.schema([(f"c{n}", pa.string()) for n, _ in enumerate(names)])))
    evil = part(schema=pa.schema([(name, pa.string()) for name in names]))
    front, body = read(card(evil))
    [info] = front["dataset_info"]
    assert [feature["name"] for feature in info["features"]] == names
    assert len(body.splitlines()) == len(read(plain)[1].splitlines())
    assert body.count("<!--") == 2 + sum(name.count("<!--") for name in names)
    starts = [line for line in body.splitlines() if line.startswith("* ") and "**" not in line[:5]]
    assert len(starts) == len(names)
    assert card(evil, old=card(evil)) == card(evil), "pushing again changes nothing"


@pytest.mark.parametrize("name", EVIL, ids=ascii)
def test_the_name_of_a_column_is_only_a_name(name: str) -> None:
    held([name])


@given(st.lists(st.text(max_size=20), min_size=1, max_size=5, unique=True))
def test_any_names_of_columns_are_only_names(names: list[str]) -> None:
    held([name.encode("utf-8", "replace").decode() for name in names])


def test_secrets_that_this_process_knows_are_masked() -> None:
    from penstock.secret import Secret

    Secret("canary-in-the-model-name")
    origin = Origin(**{**ORIGIN.__dict__, "models": ("openai/canary-in-the-model-name",)})
    assert "canary" not in card(part(origin=origin))


# Types --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "of",
    [
        *(pa.null(), pa.bool_(), pa.int64(), pa.uint8(), pa.float16(), pa.float32(), pa.float64()),
        *(pa.string(), pa.large_string(), pa.binary(), pa.date32(), pa.date64(), pa.time64("us")),
        *(pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.duration("us"), pa.decimal128(38, 2)),
        *(pa.list_(pa.string()), pa.list_(pa.list_(pa.int64())), pa.large_list(pa.string())),
        pa.list_(pa.struct([("a", pa.int64())])),
        pa.struct([("a", pa.list_(pa.struct([("b", pa.string())])))]),
        pa.dictionary(pa.int32(), pa.string()),
    ],
    ids=str,
)
def test_columns_are_described_as_the_hub_s_own_library_does(of: pa.DataType) -> None:
    datasets = pytest.importorskip("datasets")
    schema = pa.schema([("x", of)])
    assert features(schema) == datasets.Features.from_arrow_schema(schema)._to_yaml_list()


def test_a_type_without_a_word_leaves_the_columns_out() -> None:
    schema = pa.schema([("x", pa.map_(pa.string(), pa.int64()))])
    assert features(schema) is None
    assert "features" not in read(card(part(schema=schema)))[0]["dataset_info"][0]
