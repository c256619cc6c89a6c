"""Tables: rows from anywhere, and the table that every job returns.

    rows(source)       a stream of row dicts: files, DataFrames, generators, dicts of lists
    Table              rows and columns over Arrow, in memory or mapped from disk
    TableWriter        rows in any order in, a table in the right order on disk out

Nothing heavy is loaded until rows are.
"""

from __future__ import annotations

from penstock.tables.files import FORMATS, ReadOptions
from penstock.tables.origin import Origin
from penstock.tables.reading import rows
from penstock.tables.source import Problem, Row, RowSource
from penstock.tables.table import Table
from penstock.tables.writer import TableWriter

__all__ = [
    "FORMATS",
    "Origin",
    "Problem",
    "ReadOptions",
    "Row",
    "RowSource",
    "Table",
    "TableWriter",
    "rows",
]
