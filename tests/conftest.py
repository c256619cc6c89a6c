"""Every test in a world of its own: no keys, no home, no workspace but its own folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count

import pytest
from hypothesis import settings

from penstock import logs, plugins, secret
from penstock.engine.workbench import close
from penstock.simulator import Simulator

_FOREIGN = ("PENSTOCK_", "OPENAI_", "AZURE_", "ANTHROPIC_", "GEMINI_", "GOOGLE_", "SSL_CERT")
_WORLDS = count()
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "REQUESTS_CA_BUNDLE")

# Enough to notice; a property of one's own is tried with more by `--hypothesis-profile default`.
settings.register_profile("suite", max_examples=20)
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def _own_world(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    for name in list(os.environ):
        if name.startswith(_FOREIGN) or name.upper() in _PROXIES:
            monkeypatch.delenv(name)
    # Not by mktemp: it looks through all folders of all tests each time.
    world = tmp_path_factory.getbasetemp() / "worlds" / str(next(_WORLDS))
    world.mkdir(parents=True)
    home = world / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    work = world / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    known, registered = list(secret._known), dict(plugins._registered)
    yield
    close()
    logs.reset()
    secret._known[:] = known  # a key of one test is an ordinary word to the next
    plugins._registered.clear()
    plugins._registered.update(registered)


@pytest.fixture(scope="session")
def _simulator() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


@pytest.fixture
def simulator(_simulator: Simulator) -> Iterator[Simulator]:
    """One server for all tests, as if it had just been started."""
    _simulator.reset()
    yield _simulator
    _simulator.set(
        latency="0",
        errors="",
        outages="",
        rpm=None,
        tpm=None,
        quota=None,
        key=None,
        fixed=False,
        burst=60.0,
        max_concurrency=None,
        seed=0,
        batch_seconds=0.2,
        batch_faults="",
        batch_tokens=None,
        max_batches=None,
    )
