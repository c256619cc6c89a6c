"""The report on a dataset that was made: what it cost, what is in it, what is worth a look.

print(report)                 a text for the terminal
report                        in a notebook, the page
report.save("report.html")    the page as one file, or all of it as JSON
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from penstock.errors import InputError
from penstock.generate.profile.results import Profile
from penstock.generate.report.findings import Finding, findings
from penstock.generate.report.page import made_page
from penstock.generate.report.run import RunFacts
from penstock.generate.report.show import as_text
from penstock.tables.atomic import draft

__all__ = ["DatasetReport", "RunFacts"]


@dataclass(frozen=True)
class DatasetReport:
    """What is in a dataset, and what it took to make it."""

    profile: Profile
    run_facts: RunFacts = field(default_factory=RunFacts)

    @property
    def findings(self) -> list[Finding]:
        """What is worth a look."""
        return findings(self.profile)

    def __str__(self) -> str:
        return as_text(self.profile, self.run_facts, self.findings)

    def _repr_html_(self) -> str:
        # A frame of its own: the page's style is not the notebook's, nor its script.
        page = html.escape(self.html())
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" title="Dataset report" '
            'style="width:100%;height:720px;border:0;border-radius:12px"></iframe>'
        )

    def html(self) -> str:
        """The page, which needs nothing but itself."""
        return made_page(self.profile, self.run_facts, self.findings).html()

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values; money as text, so that no digit is lost."""
        facts = _plain(asdict(self.run_facts))
        return {
            "run": facts,
            "findings": [asdict(each) for each in self.findings],
            "profile": _plain(self.profile.to_dict()),
        }

    def save(self, path: Path | str) -> Path:
        """Write the page (`.html`) or the values (`.json`), whole or not at all."""
        path = Path(path)
        makers = {".html": self.html, ".htm": self.html, ".json": self._json}
        maker = makers.get(path.suffix.lower())
        if maker is None:
            raise InputError(
                f"{path}: a report is written as HTML or JSON",
                remedy="End the name with .html or .json.",
            )
        content = maker()
        with draft(path, overwrite=True) as new:
            new.write_text(content, "utf-8")
        return path

    def _json(self) -> str:
        return json.dumps(self.to_dict(), indent=2) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inside) for key, inside in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inside) for inside in value]
    return str(value) if isinstance(value, Decimal) else value
