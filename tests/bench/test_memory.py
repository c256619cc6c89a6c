"""A long benchmark takes hardly more memory than a short one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.bench_kit import recipe, template

ROOT = Path(__file__).parents[2]


def peaks(place: Path, prompts: int, early: int, different: int) -> tuple[int, int]:
    """Two endpoints; with fewer `different` questions the others find the answers of these."""
    place.mkdir(exist_ok=True)
    with (place / "d.jsonl").open("w") as file:
        for number in range(prompts):
            row = {"input": f"question number {number % different}", "target": str(number)}
            file.write(json.dumps(row) + "\n")
    (place / "d.yaml").write_text("name: d\nfile: d.jsonl\n")
    form = template(place, "t", "Shortly: {{ prompt }}")
    metrics = ["exact_match", "contains", "edit_similarity"]
    what = recipe(place, datasets=["./d.yaml"], templates=[form], metrics=metrics)
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.bench_memory", what, str(early)],
        env={
            **os.environ,
            "PENSTOCK_HOME": str(place / "home"),
            "PENSTOCK_STORAGE_DURABILITY": "fast",
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    count, at_early, at_end = map(int, done.stdout.split())
    assert count == 2 * prompts and at_early
    return at_early, at_end


@pytest.mark.timeout(180)
def test_40_000_items_take_hardly_more_memory_than_the_first_10_000(tmp_path: Path) -> None:
    at_early, at_end = peaks(tmp_path, 20_000, 10_000, different=1000)
    assert at_end < 1.25 * at_early


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_100_000_prompts_to_two_endpoints_take_hardly_more_memory_than_10_000(
    tmp_path: Path,
) -> None:
    _, short = peaks(tmp_path / "short", 10_000, 1_000, different=10_000)
    _, long = peaks(tmp_path / "long", 100_000, 20_000, different=100_000)
    assert long < 1.35 * short, "the result included, which holds eight bytes for every score"
