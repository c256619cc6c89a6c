"""The report of a dataset: what is in its table, with what the run took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.generate.made import status_name
from penstock.generate.profile import profile
from penstock.generate.report import DatasetReport, RunFacts
from penstock.tables import Table

if TYPE_CHECKING:
    from penstock.generate.making import Making

__all__ = ["reported"]


def reported(table: Table, making: Making) -> DatasetReport:
    """The report of a table that a schema made."""
    schema = making.schema
    status = status_name(schema.makes)
    found = profile(
        table, failures=table.failures, columns=list(schema.makes), status_column=status
    )
    info = table.run
    counters = info.counters
    facts = RunFacts(
        run=info.id,
        state=str(info.state),
        title=making.options.get("name") or "Dataset",
        models=info.models,
        input_tokens=counters["input_tokens"],
        output_tokens=counters["output_tokens"],
        cost=info.cost,
        unpriced=counters["unpriced"],
        questions=counters["asked"] + counters["recorded"],
        recorded=counters["recorded"],
        seconds=info.seconds,
        seed=making.seed,
        wanted=making.goal.n,
        rejected=dict(making.fallen),
    )
    return DatasetReport(found, facts)
