"""A table for other libraries, loaded only now, and named when they are missing."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from penstock.errors import InputError

if TYPE_CHECKING:
    import datasets
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["library", "to_hf", "to_pandas", "to_polars"]


def to_pandas(table: pa.Table) -> pd.DataFrame:
    pandas = library("pandas", "pandas")
    frame = table.to_pandas()
    for name, field in zip(table.column_names, table.schema, strict=True):
        column = table.column(name)
        # pandas would turn whole numbers with gaps into floats and lose digits.
        if column.null_count and str(field.type) == "int64":
            frame[name] = column.to_pandas(types_mapper=lambda _: pandas.Int64Dtype())
    return cast("pd.DataFrame", frame)


def to_polars(table: pa.Table) -> pl.DataFrame:
    polars = library("polars", "polars")
    return cast("pl.DataFrame", polars.from_arrow(table))


def to_hf(table: pa.Table, path: Path | None) -> datasets.Dataset:
    """`path`: the Arrow stream that the table is mapped from, if it is."""
    hf = library("datasets", "hf")
    dataset = hf.Dataset
    if path is not None:
        return cast("datasets.Dataset", dataset.from_file(str(path)))
    return cast("datasets.Dataset", dataset(hf.table.InMemoryTable(table)))


def library(name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InputError(
            f"this needs {name}, which is not installed",
            remedy=f"Install it: pip install 'penstock[{extra}]'",
        ) from None
