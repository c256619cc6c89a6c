"""Answers with a shape: a Pydantic model goes in, checked objects come out.

Runs offline. `simulated-invalid` breaks the schema at first, so that the second part shows an
answer that is asked again with what was wrong with it.
"""

import tempfile

from pydantic import BaseModel, Field

import penstock


class Person(BaseModel):
    """Somebody who might exist."""

    name: str
    age: int = Field(ge=0, le=120)
    languages: list[str] = Field(min_length=1, max_length=3)


with tempfile.TemporaryDirectory() as folder, penstock.Workbench(workspace=folder) as bench:
    for sample in range(3):
        found = penstock.ask(
            "Make up a person.", model="simulated", schema=Person, sample=sample, workbench=bench
        )
        print(found.value)

    found = penstock.ask(
        "Make up a person.", model="simulated-invalid", schema=Person, workbench=bench
    )
    print("corrected:", found.value)
