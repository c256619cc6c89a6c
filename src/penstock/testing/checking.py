"""The contract without pytest: in a script, a notebook, or an example."""

from __future__ import annotations

from typing import NamedTuple

from penstock.testing.contract import ProviderContract

__all__ = ["Checked", "check"]


class Checked(NamedTuple):
    """One test of the contract, and what is wrong; empty when it passed."""

    test: str
    problem: str

    @property
    def ok(self) -> bool:
        return not self.problem


def check(contract: type[ProviderContract]) -> list[Checked]:
    """Run every test of a contract; none of them raises."""
    contract.setup_class()
    try:
        return [Checked(name, _problem(contract, name)) for name in contract.held_to()]
    finally:
        contract.teardown_class()


def _problem(contract: type[ProviderContract], name: str) -> str:
    case = contract()
    case.setup_method()
    try:
        getattr(case, name)()
    except Exception as error:
        return f"{type(error).__name__}: {error}".strip()
    return ""
