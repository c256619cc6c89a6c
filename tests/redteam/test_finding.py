"""Attacks are found by name, by Moonshot's id, and nearly by what was meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

import pytest

from penstock import plugins
from penstock.errors import InputError, NotFoundError
from penstock.redteam.attack import Rewrite
from penstock.redteam.attacks.ciphers import Caesar
from penstock.redteam.attacks.misspelling import Charswap
from penstock.redteam.finding import attack_names, find_attack
from tests.redteam.attacks.classes import every, registered


@pytest.fixture(autouse=True)
def _all_of_them() -> Iterator[None]:
    with registered():
        yield


class Shout(Rewrite):
    """The prompt in capital letters."""

    name = "shout"
    family = "perturbation"
    moonshot = "shout_module"

    def rewrite(self, prompt: str, random: Random) -> Iterable[str]:
        yield prompt.upper()


def test_every_attack_is_found_by_its_name() -> None:
    assert attack_names() == sorted(attack_names())
    assert set(every()) <= set(attack_names())
    for name, attack in every().items():
        if not attack.needs:
            assert type(find_attack(name)) is attack


def test_an_attack_is_made_with_its_parameters() -> None:
    found = find_attack("caesar", shift=7, framed=False)
    assert found == Caesar(shift=7, framed=False)
    assert found.describe() == {"name": "caesar", "parameters": {"shift": 7, "framed": False}}


@pytest.mark.parametrize("name", [a.moonshot for a in every().values() if a.moonshot])
def test_moonshots_ids_are_understood(name: str) -> None:
    assert find_attack(name).moonshot == name


def test_an_id_of_moonshot_takes_parameters_too() -> None:
    assert find_attack("charswap_attack", most=3) == Charswap(most=3)
    assert "charswap_attack" not in attack_names()


def test_an_unknown_name_is_told_with_those_near_to_it() -> None:
    with pytest.raises(NotFoundError) as caught:
        find_attack("homoglif")
    assert caught.value.message == "there is no attack named 'homoglif'"
    assert "Did you mean 'homoglyph'" in caught.value.remedy
    with pytest.raises(NotFoundError, match="there is no attack named ''"):
        find_attack("")
    with pytest.raises(NotFoundError) as caught:
        find_attack("????")
    assert caught.value.remedy.startswith("There are ")


def test_a_wrong_parameter_names_the_attack_and_the_parameter() -> None:
    with pytest.raises(InputError) as caught:
        find_attack("caesar", shift=99)
    assert "attack 'caesar': shift: it is 99" in str(caught.value)
    with pytest.raises(InputError) as caught:
        find_attack("caesar", shft=3)
    assert "Did you mean 'shift'?" in str(caught.value)


def test_one_may_register_ones_own_class_or_one_ready_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_registered", dict(plugins._registered))
    plugins.register("attack", "shout", Shout)
    plugins.register("attack", "far", Caesar(shift=13))
    assert find_attack("shout").about() == "The prompt in capital letters."
    assert find_attack("shout_module") == Shout()
    assert find_attack("far") == Caesar(shift=13)
    with pytest.raises(InputError, match="'far' was registered ready made"):
        find_attack("far", shift=3)


@pytest.mark.parametrize(("thing", "kind"), [(int, "class int"), (len, "builtin_function")])
def test_what_is_no_attack_is_refused(
    thing: object, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "_registered", dict(plugins._registered))
    plugins.register("attack", "odd", thing)
    with pytest.raises(InputError, match=f"the attack 'odd' is a {kind}"):
        find_attack("odd")


def test_an_attack_that_cannot_be_loaded_does_not_hide_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = plugins.find

    def find(kind: str, name: str) -> object:
        if name == "atbash":
            raise InputError("the attack 'atbash' cannot be loaded")
        return real(kind, name)

    monkeypatch.setattr(plugins, "find", find)
    assert find_attack("charswap_attack") == Charswap()
    with pytest.raises(InputError, match="cannot be loaded"):
        find_attack("atbash")
