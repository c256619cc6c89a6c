"""Every rewriting has a known output, and says of itself what people need to know."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from penstock.errors import InputError
from tests.redteam.attacks.classes import every, made, pure
from tests.redteam.attacks.known_encodings import ENCODINGS
from tests.redteam.attacks.known_framings import FRAMINGS
from tests.redteam.attacks.known_perturbations import PERTURBATIONS

KNOWN = ENCODINGS | PERTURBATIONS | FRAMINGS
PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"
ENTRIES = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]["entry-points"]


def test_no_rewriting_is_without_a_known_output() -> None:
    assert sorted(KNOWN) == sorted(pure())


@pytest.mark.parametrize("name", pure())
def test_a_rewriting_makes_what_it_is_known_to_make(name: str) -> None:
    known = KNOWN[name]
    assert made(name, **known.parameters).variants(known.prompt, seed=1) == known.variants


@pytest.mark.parametrize("name", pure())
def test_a_rewriting_describes_itself_and_each_of_its_parameters(name: str) -> None:
    attack = pure()[name]
    assert attack.__doc__, "a docstring of its own is its description"
    assert 20 < len(attack.about()) < 160
    assert attack.about().endswith((".", "?"))
    for field, info in attack.model_fields.items():
        assert info.description, f"{field} says nothing"
        assert not info.is_required(), f"{field} has no default"
    assert attack().describe()["name"] == name
    assert attack.made(attack().to_dict(), name) == attack()


@pytest.mark.parametrize("name", pure())
def test_a_rewriting_that_does_not_decode_says_so(name: str) -> None:
    attack = pure()[name]
    if not attack.decodes:
        with pytest.raises(InputError, match=f"{name} makes cannot be read back"):
            attack().decode("anything")


def test_moonshots_ids_are_those_it_has() -> None:
    ids = {name: attack.moonshot for name, attack in pure().items() if attack.moonshot}
    assert ids == {
        "charswap": "charswap_attack",
        "colloquial_wordswap": "colloquial_wordswap_attack",
        "homoglyph": "homoglyph_attack",
        "homoglyph_v2": "homoglyph_v2_attack",
        "insert_punctuation": "insert_punctuation_attack",
        "job_role_generator": "job_role_generator",
        "payload_mask": "payload_mask_attack",
        "textbugger": "textbugger_attack",
        "unchanged": "sample_attack_module",
    }


@pytest.mark.skipif("penstock.attacks" not in ENTRIES, reason="no attack is registered yet")
def test_every_attack_is_registered_under_its_name() -> None:
    written = ENTRIES["penstock.attacks"]
    here = {name: f"{attack.__module__}:{attack.__name__}" for name, attack in every().items()}
    assert {name: value for name, value in written.items() if name in here} == here
