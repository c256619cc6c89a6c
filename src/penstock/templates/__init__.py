"""Templates: text with the names of columns in braces."""

from __future__ import annotations

from penstock.templates.bare import Template

__all__ = ["Template"]
