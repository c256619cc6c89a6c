"""No key, address or proxy of this machine reaches a test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.providers.servers import Recorder

_PREFIXES = ("OPENAI_", "AZURE_OPENAI_", "PENSTOCK_")
_NAMES = {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NETRC", "REQUEST_METHOD"}


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith(_PREFIXES) or name in _NAMES or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture(scope="session")
def recorder_server() -> Iterator[Recorder]:
    with Recorder() as recorder:
        yield recorder


@pytest.fixture
def recorder(recorder_server: Recorder) -> Recorder:
    """A server that writes down what it was sent and answers every question alike."""
    recorder_server.clear()
    return recorder_server
