from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint

import pytest

from penstock import plugins
from penstock.errors import InputError, NotFoundError


@pytest.fixture(autouse=True)
def _tidy() -> Iterator[None]:
    before = dict(plugins._registered), dict(plugins._loaded)
    yield
    for store, was in zip((plugins._registered, plugins._loaded), before, strict=True):
        store.clear()
        store.update(was)
    plugins._entries.cache_clear()


def entry(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    found = {name: EntryPoint(name, value, "penstock.metrics")}
    monkeypatch.setattr(plugins, "_entries", lambda kind: found if kind == "metric" else {})
    monkeypatch.setattr(plugins._entries, "cache_clear", lambda: None, raising=False)


def test_what_is_registered_is_found_and_named() -> None:
    thing = object()
    assert plugins.register("metric", "mine", thing) is thing
    assert plugins.find("metric", "mine") is thing
    assert "mine" in plugins.names("metric")
    assert "mine" not in plugins.names("attack")


def test_without_a_thing_it_is_a_decorator_that_returns_what_it_decorates() -> None:
    @plugins.register("reader", "lines")  # type: ignore[arg-type]
    def lines() -> int:
        return 7

    assert lines() == 7
    assert plugins.find("reader", "lines") is lines


def test_registering_again_replaces() -> None:
    plugins.register("attack", "mine", "old")
    plugins.register("attack", "mine", "new")
    assert plugins.find("attack", "mine") == "new"


def test_the_same_name_may_stand_for_two_kinds() -> None:
    plugins.register("attack", "mine", "attack")
    plugins.register("metric", "mine", "metric")
    assert plugins.find("attack", "mine") == "attack"
    assert plugins.find("metric", "mine") == "metric"


def test_unregister_takes_it_back_and_is_quiet_about_nothing() -> None:
    plugins.register("metric", "mine", 1)
    plugins.unregister("metric", "mine")
    plugins.unregister("metric", "mine")
    with pytest.raises(NotFoundError):
        plugins.find("metric", "mine")


def test_a_registered_one_stands_before_the_built_in_one() -> None:
    plugins.find("provider", "openai")
    plugins.register("provider", "openai", "mine")
    assert plugins.find("provider", "openai") == "mine"
    plugins.unregister("provider", "openai")
    assert plugins.find("provider", "openai").__name__ == "OpenAI"


def test_the_built_in_providers_come_through_the_same_door() -> None:
    assert {"openai", "simulated"} <= plugins.names("provider")
    assert plugins.find("provider", "openai") is plugins.find("provider", "openai")


def test_an_unknown_name_suggests_a_close_one_and_lists_the_known() -> None:
    with pytest.raises(NotFoundError) as caught:
        plugins.find("provider", "opnai")
    assert caught.value.message == "there is no provider named 'opnai'"
    assert "Did you mean 'openai'?" in caught.value.remedy
    assert "simulated" in caught.value.remedy


def test_a_name_like_no_other_gets_no_suggestion() -> None:
    with pytest.raises(NotFoundError) as caught:
        plugins.find("provider", "zzzzzz")
    assert "Did you mean" not in caught.value.remedy


@pytest.mark.parametrize(
    ("value", "said"),
    [("no_such_package:X", "no_such_package"), ("penstock.outcome:Nothing", "Nothing")],
)
def test_a_broken_entry_point_says_which_and_why(
    monkeypatch: pytest.MonkeyPatch, value: str, said: str
) -> None:
    entry(monkeypatch, "broken", value)
    with pytest.raises(InputError) as caught:
        plugins.find("metric", "broken")
    assert f"the metric 'broken' cannot be loaded from {value}" in caught.value.message
    assert said in caught.value.message.partition(value)[2]
    assert "installed" in caught.value.remedy


def test_an_entry_point_is_loaded_only_when_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entry(monkeypatch, "later", "no_such_package:X")
    assert plugins.names("metric") == {"later"}


@pytest.mark.parametrize("kind", plugins.KINDS)
def test_every_kind_has_a_door(kind: str) -> None:
    plugins.register(kind, "x", 1)
    assert plugins.find(kind, "x") == 1


@pytest.mark.parametrize("kind", ["providers", "", "Metric", "os"])
def test_an_unknown_kind_is_refused_everywhere(kind: str) -> None:
    for call in (
        lambda: plugins.register(kind, "x", 1),
        lambda: plugins.unregister(kind, "x"),
        lambda: plugins.find(kind, "x"),
        lambda: plugins.names(kind),
    ):
        with pytest.raises(InputError, match="no kind of plugin; known are provider, metric"):
            call()
