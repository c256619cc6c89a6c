"""The delimiter of a csv file, when nobody says it."""

from __future__ import annotations

import csv
from collections.abc import Sequence

__all__ = ["DELIMITERS", "delimiter_of"]

DELIMITERS = ",\t;|"


def delimiter_of(lines: Sequence[str]) -> str:
    """The delimiter that cuts the header into parts, and most lines into as many.

    The wrong one cuts through quoted names and leaves quotes in the parts.
    """
    best, most = ",", (-1e9, 0.0, 0)
    for delimiter in DELIMITERS:
        try:
            records = [cells for cells in csv.reader(lines, delimiter=delimiter) if cells]
        except csv.Error:
            continue
        if records and len(header := records[0]) > 1:
            quotes = sum('"' in cell for cell in header)
            agree = sum(len(cells) == len(header) for cells in records) / len(records)
            if (score := (-quotes, agree, len(header))) > most:
                best, most = delimiter, score
    return best
