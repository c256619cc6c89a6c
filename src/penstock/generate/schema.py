"""The schema of a dataset: columns by name, in the order written, and which of them need which.

Everything that can be wrong with it is said when it is made: unknown names, with the one that was
probably meant, cycles, columns that there would be twice. Nothing has been sent by then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from penstock.endpoint import Endpoint
from penstock.errors import InputError
from penstock.generate.arguments import Needs, no_column
from penstock.generate.columns import Column, Sampled, as_column
from penstock.generate.samplers.base import check_groups
from penstock.generate.schedule import Graph

if TYPE_CHECKING:
    from penstock.generate.models import Models

__all__ = ["Schema"]


class Schema:
    """Columns, checked, and the graph between them."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        if not isinstance(columns, Mapping):
            raise InputError(
                f"a schema is a dictionary of columns, not a {type(columns).__name__}",
                remedy="Write dataset({'topic': sample.choice([...]), ...}).",
            )
        if not columns:
            raise InputError("the schema has no columns")
        self.columns: dict[str, Column] = {}
        for name, value in columns.items():
            if not isinstance(name, str) or not name.strip():
                raise InputError(f"{name!r} is no name for a column; a text is wanted")
            self.columns[name] = as_column(value)
        self.names = tuple(self.columns)
        check_groups(c.sampler for c in self.columns.values() if isinstance(c, Sampled))
        self.makes = self._makes()
        self.nameable = tuple(self._owners())
        self.needs = [self._needs(name) for name in self.names]
        self.graph = self._graph()
        self._check_cycles()
        self.twins = self._twins()

    def _makes(self) -> tuple[str, ...]:
        """The columns of the table."""
        made: dict[str, str] = {}
        for name, column in self.columns.items():
            for field in column.fields or (name,):
                if field in made:
                    raise InputError(
                        f"there would be two columns {field!r}: of {made[field]!r} and of {name!r}",
                        remedy="Rename one of them, or leave out expand=True.",
                    )
                made[field] = name
        return tuple(made)

    def _owners(self) -> dict[str, tuple[int, str | None]]:
        """Every name that can be written: a column's, or a field's, and where its value is."""
        owners: dict[str, tuple[int, str | None]] = {}
        for number, (name, column) in enumerate(self.columns.items()):
            owners.setdefault(name, (number, None))
            for field in column.fields or ():
                owners[field] = (number, field)
        return owners

    def _needs(self, name: str) -> Needs:
        found = self.columns[name].needs(name, self.nameable)
        for needed in found.names:
            if needed not in self.nameable:
                what = f"column {name!r}"
                raise no_column(what, f"{needed!r}, which it requires,", needed, self.nameable)
        return found

    def _graph(self) -> Graph:
        owners = self._owners()
        needs = [[owners[name][0] for name in found.names] for found in self.needs]
        edges = [set(each) for each in needs]
        after: list[list[int]] = []
        for number, found in enumerate(self.needs):
            # A row is what was written before, without what is made of this very column.
            later = _made_of(number, edges) if found.loose else set()
            earlier = range(number if found.loose else 0)
            after.append([n for n in earlier if n not in edges[number] and n not in later])
            edges[number].update(after[number])
        return Graph.of(self.names, needs, after)

    def _check_cycles(self) -> None:
        graph, settled = self.graph, set[int]()
        for start in range(len(self.names)):
            way: list[int] = []
            self._walk(start, way, settled, graph)

    def _walk(self, start: int, way: list[int], settled: set[int], graph: Graph) -> None:
        """Depth first, without recursion; a cell that is met on its own way is a circle."""
        stack = [(start, iter((*graph.needs[start], *graph.after[start])))]
        way.append(start)
        while stack:
            cell, inputs = stack[-1]
            follow = next((other for other in inputs if other not in settled), None)
            if follow is None:
                settled.add(cell)
                stack.pop()
                way.pop()
            elif follow in way:
                circle = [*way[way.index(follow) :], follow]
                raise InputError(
                    "the columns need each other in a circle: "
                    + " needs ".join(self.names[each] for each in circle)
                )
            else:
                way.append(follow)
                stack.append((follow, iter((*graph.needs[follow], *graph.after[follow]))))

    def _twins(self) -> tuple[int, ...]:
        """For each column how many before it ask the same: each draws answers of its own."""
        asked: list[Any] = []
        twins = []
        for column in self.columns.values():
            question = column.question
            twins.append(0 if question is None else asked.count(question))
            asked.append(question)
        return tuple(twins)

    def inputs(self) -> list[list[tuple[str, int, str | None]]]:
        """For each column what it may read: name, the number of the cell, and the field of it."""
        owners = self._owners()
        found = []
        for number, needs in enumerate(self.needs):
            names = list(needs.names)
            after = self.graph.after[number]
            names += [n for n in owners if owners[n][0] in after and n not in names]
            found.append([(name, *owners[name]) for name in names])
        return found

    def endpoints(self, models: Models) -> tuple[Endpoint, ...]:
        """All that are asked, each once."""
        found: list[Endpoint] = []
        for column in self.columns.values():
            found += [each for each in column.endpoints(models) if each not in found]
        return tuple(found)

    def check_rows(self, n: int) -> None:
        """Refuse more rows than there can be."""
        for column in self.columns.values():
            column.check_rows(n)

    def spread(self, cells: Sequence[Any]) -> dict[str, Any]:
        """A row of the table from its cells; what failed is None."""
        row: dict[str, Any] = {}
        for (name, column), value in zip(self.columns.items(), cells, strict=True):
            if column.fields is None:
                row[name] = value
            else:
                values = value if isinstance(value, Mapping) else {}
                row.update((field, values.get(field)) for field in column.fields)
        return row


def _made_of(column: int, edges: list[set[int]]) -> set[int]:
    """The columns that are made of one, and those that are made of them."""
    found, left = set[int](), [column]
    while left:
        one = left.pop()
        more = [n for n, inputs in enumerate(edges) if one in inputs and n not in found]
        found.update(more)
        left += more
    return found
