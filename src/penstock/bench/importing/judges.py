"""Whom Moonshot's metrics ask: its `metrics_config.json` names endpoints by metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from penstock.bench.importing.finding import Written, id_of
from penstock.bench.importing.report import Tally
from penstock.errors import InputError

__all__ = ["Judges"]


@dataclass(frozen=True)
class Judges:
    """The endpoints of each metric, and which of them there are."""

    of: Mapping[str, tuple[str, ...]]
    there: Callable[[str], bool]

    @classmethod
    def read(cls, written: Written, there: Callable[[str], bool], tally: Tally) -> Judges:
        """From the configuration; an entry that makes no sense is told, and the others hold."""
        of = {}
        for metric, config in written.data.items():
            given = config.get("endpoints") or [] if isinstance(config, dict) else None
            if isinstance(given, list) and all(isinstance(each, str) for each in given):
                of[metric] = tuple(given)
            else:
                line = written.document.place(metric).line if written.document else None
                tally.refuse("metric", metric, written.file, "endpoints is no list of names", line)
        return cls(of, there)

    def judge(self, metric: str, recipe: str, file: str, tally: Tally) -> str | None:
        """The id of the endpoint that judges. One that is not there is named all the same."""
        names = self.of.get(metric, ())
        if not names:
            tally.note(f"no judge is named for {metric}: name one when it is run", "recipe", recipe)
            return None
        if len(names) > 1:
            tally.note(f"{metric} has {len(names)} judges; the first is taken", "recipe", recipe)
        try:
            judge = id_of(names[0])
        except InputError:
            judge = ""
        if not judge or not self.there(judge):
            reason = f"its judge {names[0]!r} (of {metric}) is not among the endpoints"
            tally.lack("recipe", recipe, file, reason)
        return judge or None
