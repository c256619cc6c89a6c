"""A small data folder in Moonshot's formats, written on the spot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from penstock.bench.importing import Imported, import_folder
from penstock.bench.shelves import Shelves
from penstock.engine.workbench import Workbench

HIGHER = {"A": [80, 100], "B": [50, 79], "C": [0, 49]}
LOWER = {"A": [0, 20], "B": [21, 50], "C": [51, 100]}
CANARY = "canary-5f1c-token-that-nobody-may-see"


class Moon:
    """A folder that is written file by file, and a workspace into which it is brought."""

    def __init__(self, folder: Path, bench: Workbench) -> None:
        self.folder = folder
        self.bench = bench

    def write(self, path: str, data: Any) -> Path:
        """A file; what is no text is written as JSON."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(data if isinstance(data, str) else json.dumps(data, indent=2))
        return file

    def endpoint(self, name: str, /, **fields: Any) -> Path:
        usual = {"name": name, "connector_type": "openai-connector", "uri": "", "token": "",
                 "max_calls_per_second": 2, "max_concurrency": 3, "model": "gpt-4o",
                 "params": {"timeout": 300, "temperature": 0.5}}  # fmt: skip
        return self.write(f"connectors-endpoints/{name}.json", usual | fields)

    def dataset(self, name: str, /, *examples: Any, **fields: Any) -> Path:
        usual = {"name": f"The {name}", "description": "Sums.", "license": "MIT", "reference": "us"}
        data = usual | fields | {"examples": list(examples) or [{"input": "1+1?", "target": "2"}]}
        return self.write(f"datasets/{name}.json", data)

    def template(self, name: str, /, text: str = "Answer: {{ prompt }}", **fields: Any) -> Path:
        data = {"name": name, "description": "Asks.", "template": text} | fields
        return self.write(f"prompt-templates/{name}.json", data)

    def recipe(self, name: str, /, *metrics: str, **fields: Any) -> Path:
        usual = {"name": f"The {name}", "description": "Measures.", "tags": [],
                 "categories": ["Capability"], "datasets": ["sums"], "prompt_templates": [],
                 "metrics": list(metrics) or ["exactstrmatch"],
                 "grading_scale": HIGHER}  # fmt: skip
        return self.write(f"recipes/{name}.json", usual | fields)

    def cookbook(self, name: str, /, *recipes: str, **fields: Any) -> Path:
        usual = {"name": name, "description": "All.", "tags": [], "categories": []}
        return self.write(f"cookbooks/{name}.json", usual | {"recipes": list(recipes)} | fields)

    def config(self, **metrics: Any) -> Path:
        return self.write("metrics/metrics_config.json", metrics)

    def brought(self, **options: bool) -> Imported:
        """What comes of importing the folder as it is now."""
        return import_folder(self.folder, self.bench, **options)

    @property
    def shelves(self) -> Shelves:
        return Shelves(self.bench)

    def saved(self, name: str) -> dict[str, Any]:
        """The endpoint that the catalogue keeps under a name."""
        row = self.bench.catalog.endpoint(name)
        assert row is not None
        spec: dict[str, Any] = row["spec"]
        return spec

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows beside a dataset."""
        body = (self.shelves.datasets.folder / f"{name}.jsonl").read_text()
        return [json.loads(line) for line in body.splitlines()]


def everything(workspace: Path) -> bytes:
    """All that a workspace holds."""
    files = [path for path in sorted(workspace.rglob("*")) if path.is_file()]
    return b"\n".join([*(str(path).encode() for path in files), *(p.read_bytes() for p in files)])
