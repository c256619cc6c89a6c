from __future__ import annotations

import subprocess
import sys

from penstock import tokens
from penstock.tokens import counting, prices


def test_the_face_shows_all_that_the_room_offers() -> None:
    assert tokens.__all__ == sorted({*counting.__all__, *prices.__all__})
    assert all(hasattr(tokens, name) for name in tokens.__all__)


def test_importing_the_room_loads_nothing_heavy() -> None:
    program = (
        "import sys, penstock.tokens;"
        "print(*sys.modules.keys() & {'splintr', 'genai_prices', 'yaml', 'pydantic', 'httpx2'})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
