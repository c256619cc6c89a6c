from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from penstock.endpoint import Endpoint, Prices
from penstock.errors import SettingsError
from penstock.tokens import Price, PriceList

TABLE = """
gpt-4o:            {input: 0.1, output: 0.3}
gpt-4*:            {input: 2, output: 3, cached_input: 0.5, batch_input: 1.5, batch_output: 2.5}
"openai/my-*-x":   {input: 1e-7, output: 12345.678901}
meta-llama/*:      {input: 4, output: 5}
"*":               {input: 6, output: 7}
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "prices.yaml"
    path.write_text(TABLE)
    return path


def found(prices: PriceList, provider: str, model: str) -> Price:
    price = prices.price(Endpoint(provider, model, url="http://localhost:1/v1"))
    assert price is not None
    return price


@pytest.mark.parametrize(
    ("provider", "model", "pattern", "rate"),
    [
        ("openai", "gpt-4o", "gpt-4o", "0.1"),
        ("openai", "GPT-4o", "gpt-4o", "0.1"),
        ("openai", "gpt-4-turbo", "gpt-4*", "2"),
        ("anthropic", "gpt-4-turbo", "gpt-4*", "2"),
        ("openai", "my-own-x", "openai/my-*-x", "1e-7"),
        ("anthropic", "my-own-x", "*", "6"),
        ("openai", "meta-llama/Llama-3", "meta-llama/*", "4"),
        ("simulated", "anything", "*", "6"),
    ],
)
def test_the_nearest_name_of_the_own_table_wins(
    table: Path, provider: str, model: str, pattern: str, rate: str
) -> None:
    price = found(PriceList.load(table), provider, model)
    assert price.input == Decimal(rate)
    assert price.source == f"prices.yaml: {pattern}"


def test_the_own_table_wins_over_the_packaged_one(table: Path) -> None:
    price = PriceList.load(table).price(Endpoint("openai", "gpt-4o"))
    assert price is not None
    assert (price.input, price.source) == (Decimal("0.1"), "prices.yaml: gpt-4o")


def test_numbers_never_pass_through_a_float(table: Path) -> None:
    assert str(found(PriceList.load(table), "openai", "gpt-4o").input) == "0.1"
    assert str(found(PriceList.load(table), "openai", "my-own-x").output) == "12345.678901"
    assert found(PriceList({"m": {"input": 0.1, "output": 0.3}}), "x", "m").input == Decimal("0.1")


def test_batch_prices_come_from_the_own_table_or_are_half(table: Path) -> None:
    prices = PriceList.load(table)
    given = prices.price(Endpoint("openai", "gpt-4-turbo"), "batch")
    half = prices.price(Endpoint("openai", "gpt-4o"), "batch")
    rate = Decimal("1.5")
    assert given == Price(rate, Decimal("2.5"), Decimal("0.5"), rate, "prices.yaml: gpt-4*")
    assert half is not None
    assert half.input == Decimal("0.05")
    assert half.source == "half of prices.yaml: gpt-4o, published batch discount"


def test_a_table_may_be_given_in_python() -> None:
    prices = PriceList({"a": Prices(Decimal(1), Decimal(2)), "b*": {"input": "3", "output": 4}})
    assert found(prices, "x", "a").output == 2
    assert found(prices, "x", "bc").input == 3
    assert found(prices, "x", "bc").source == "own prices: b*"


def test_brackets_and_question_marks_in_a_name_are_only_letters() -> None:
    prices = PriceList({"m[1]?*": {"input": 1, "output": 1}})
    assert found(prices, "x", "m[1]?a").input == 1
    assert prices.price(Endpoint("x", "m1a")) is None


def test_an_empty_table_leaves_the_packaged_prices(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text("# nothing yet\n")
    price = PriceList.load(path).price(Endpoint("openai", "gpt-4o"))
    assert price is not None
    assert price.source.startswith("genai-prices ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("m: {inputs: 1, output: 2}", "m: unknown key 'inputs'; allowed are input, output"),
        ("m: {input: 1}", "m: output is missing"),
        ("m: {input: cheap, output: 2}", "m: prices.input is 'cheap'; a number is wanted"),
        ("m: {input: -1, output: 2}", "m: prices.input is -1; it must not be negative"),
        ("m: {input: .nan, output: 2}", "m: prices.input is nan"),
        ("m: {input: , output: 2}", "m: prices.input is None"),
        ("m: {input: [1], output: 2}", "m: prices.input is ['1']"),
        ("m: {input: 1e99, output: 2}", "m: no price is 1E+99"),
        ("m: 3", "m: prices are wanted, not '3'"),
        ("- m", "a table of models and their prices is wanted"),
        ("m: {input: 1", "prices.yaml:2:1: "),
        ("m: {input: 1, output: 2}\nm: {input: 1, output: 2}", ":2:1: the key 'm' is given twice"),
        ("m: &a {input: 1, output: 2}\nn: *a", ":2:4: the alias *a is not allowed"),
        ("? [a]\n: {input: 1, output: 2}", ":1:3: a key must be plain text"),
        ("m: !!python/object/apply:os.getcwd []", ":1:4: the tag "),
        ("m: \0", ":1:4: the character U+0000"),
        ("[" * 5000, "nested more than 64 deep"),
    ],
)
def test_a_wrong_table_is_refused_with_its_file_and_key(
    tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    with pytest.raises(SettingsError) as caught:
        PriceList.load(path)
    assert str(path) in caught.value.message
    assert said in caught.value.message


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none\.yaml cannot be read: No such file"):
        PriceList.load(tmp_path / "none.yaml")
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"m\xe9: {}")
    with pytest.raises(SettingsError, match=r"latin\.yaml:1: is not UTF-8 text"):
        PriceList.load(path)
