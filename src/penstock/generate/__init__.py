"""Generate: prompts over a dataset."""

from __future__ import annotations

from penstock.generate.prompter import LLM, Prompter

__all__ = ["LLM", "Prompter"]
