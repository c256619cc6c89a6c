"""The system's own Chromium, watched: what ran, what was asked for, what was said.

The browser is kept for a module and never longer: its loop counts as running in this thread, and
a test that is a coroutine could not run beside it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Dialog, Page, Request, sync_playwright

__all__ = ["Watched", "chromium", "watched"]

_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-sync",
    "--no-first-run",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser, or a skip that says why."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watched:
    """A page, and what happened on it that should not have."""

    page: Page
    home: str
    asked: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def assert_inert(self) -> None:
        """No script of a text ran, nothing outside was asked for, nothing was even refused."""
        assert self.page.evaluate("window.canary") is None
        assert [url for url in self.asked if not url.startswith(self.home)] == []
        assert self.dialogs == []
        assert self.errors == []


@contextmanager
def watched(
    browser: Browser,
    home: str,
    *,
    width: int = 1200,
    height: int = 800,
    scheme: Literal["light", "dark"] = "light",
) -> Iterator[Watched]:
    """A page of its own; every request that leaves `home` is noted and cut off."""
    size: Any = {"width": width, "height": height}
    context = browser.new_context(viewport=size, color_scheme=scheme)
    found = Watched(context.new_page(), home)

    def dismissed(dialog: Dialog) -> None:
        found.dialogs.append(dialog.message)
        dialog.dismiss()

    def noted(request: Request) -> None:
        found.asked.append(request.url)

    context.on("request", noted)
    context.route(
        lambda url: not url.startswith((home, "data:")), lambda route: route.abort("failed")
    )
    found.page.on("dialog", dismissed)
    found.page.on("pageerror", lambda error: found.errors.append(str(error)))
    found.page.on(
        "console",
        lambda said: found.errors.append(said.text) if said.type in ("error", "warning") else None,
    )
    try:
        yield found
    finally:
        context.close()
