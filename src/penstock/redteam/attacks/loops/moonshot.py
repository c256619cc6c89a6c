"""Where Moonshot's own attacks come from."""

from __future__ import annotations

__all__ = ["MOONSHOT"]

MOONSHOT = (
    "AI Verify Foundation: Project Moonshot, attack modules, 2024, "
    "https://github.com/aiverify-foundation/moonshot-data"
)
