"""Public data: the table that comes with the package, and the folder where reproductions find theirs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from ogive.errors import DataError, ParameterError, plain, quoted

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

SHIPPED = {"bank": "bank-full.parquet"}
"""Names of the tables that come with the package, with their files beside this one."""


@overload
def bank() -> pa.Table: ...
@overload
def bank(backend: Literal["pyarrow"]) -> pa.Table: ...
@overload
def bank(backend: Literal["pandas"]) -> pd.DataFrame: ...
@overload
def bank(backend: Literal["polars"]) -> pl.DataFrame: ...
def bank(backend: str = "pyarrow") -> Any:
    """Load the customers of a Portuguese bank who were offered a term deposit by telephone.

    The table is complete: 45,211 rows, one for each customer, and 17 columns with their original names. `age` is in
    years, `balance` is the average yearly balance in euros, `duration` is the length of the last call in seconds, and
    `y` says whether the customer accepted ("yes" or "no"). Numbers are whole, all other columns are text, and no value
    is missing; values unknown to the bank are the text "unknown".

    Args:
        backend: The library whose table is returned: "pyarrow", which is always installed, "pandas" or "polars".

    Returns:
        The table, shape (45211, 17).

    Raises:
        ParameterError: `backend` is another word, or its library is not installed.

    Source:
        S. Moro, P. Cortez and P. Rita, "A data-driven approach to predict the success of bank telemarketing",
        Decision Support Systems 62, 2014; UCI Machine Learning Repository, "Bank Marketing", bank-full.csv,
        https://doi.org/10.24432/C5K306, under the license CC BY 4.0.

    Example:
        >>> bank().num_rows
        45211
    """
    import pyarrow.parquet as pq

    if backend not in ("pyarrow", "pandas", "polars"):
        raise ParameterError(f"`backend` must be 'pyarrow', 'pandas' or 'polars', not {quoted(backend)}")
    table = pq.read_table(shipped("bank"))
    if backend == "pyarrow":
        return table
    try:
        if backend == "pandas":
            return table.to_pandas()
        import polars

        return polars.from_arrow(table)
    except ImportError:
        raise ParameterError(f"{backend} is not installed; pip install {backend}, or leave out `backend`") from None


def shipped(name: str) -> Path:
    """The Parquet file of a table that comes with the package."""
    if name not in SHIPPED:
        raise DataError(f"the package has no data set {quoted(name)}; it has {', '.join(SHIPPED)}")
    return Path(__file__).with_name(SHIPPED[name])


def data_directory() -> Path:
    """Find the folder of public data sets.

    It is the folder that the environment variable OGIVE_DATA names, else `shared/data` beside the
    source checkout that this module is part of.

    Raises:
        DataError: there is no such folder.
    """
    named = os.environ.get("OGIVE_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[4] / "shared" / "data"
    if not folder.is_dir():
        place = f"OGIVE_DATA names {named}, which is not a folder" if named else "OGIVE_DATA is not set"
        raise DataError(
            f"the public data sets were not found: {plain(place)}; set OGIVE_DATA to the folder that holds them"
        )
    return folder
