"""The names of the built-in metrics, and where their entry points point, as the package says."""

from __future__ import annotations

import tomllib
from pathlib import Path

__all__ = ["BUILT_IN", "JUDGES"]

_PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
BUILT_IN: dict[str, str] = _PROJECT["project"]["entry-points"]["penstock.metrics"]
JUDGES = {
    "correctness",
    "faithfulness",
    "llm_judge",
    "pairwise",
    "refusal_judge",
    "relevance",
    "safety_judge",
}
