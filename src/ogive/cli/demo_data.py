"""The demonstration's table: a bank's customers, or a simulated table of the same size."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ogive.datasets import data_directory
from ogive.errors import DataError
from ogive.records import Records

FILE = "bank-full.csv.gz"
ROWS = 45_211
SEED = 45_211


@dataclass(frozen=True)
class Table:
    """Records with the columns age and balance, and where they come from, in words."""

    records: Records
    origin: str
    simulated: bool = False


def find_table(path: Path | None) -> Table:
    """Open the table that was named, else the bank's, else a simulated one.

    Args:
        path: A table with the columns age and balance; None looks for the public data sets.

    Raises:
        DataError: the table that was named cannot be read, or OGIVE_DATA names no folder.
    """
    if path is not None:
        if not path.is_file():
            raise DataError(f"there is no file {path}; name a table with the columns age and balance")
        return Table(_checked(Records.of(path)), path.name)
    try:
        public = data_directory() / FILE
    except DataError:
        if os.environ.get("OGIVE_DATA"):
            raise
        public = None
    if public is not None and public.is_file():
        return Table(_checked(Records.of(public)), "customers of a Portuguese bank (UCI Bank Marketing, bank-full)")
    return Table(Records.of(simulate(ROWS)), "SIMULATED customers: the public data set was not found", simulated=True)


def simulate(rows: int) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Draw ages and balances of roughly a bank's shapes, the same ones every time.

    Args:
        rows: How many customers.
    """
    draw = np.random.default_rng(SEED)
    age = np.clip(np.round(18 + draw.gamma(4.2, 5.5, rows)), 18, 95)
    size = np.exp(draw.normal(6.4, 1.5, rows))
    kind = draw.random(rows)
    balance = np.round(np.select([kind < 0.08, kind < 0.16], [0.0, -np.minimum(size / 2, 8_000)], size))
    return {"age": age, "balance": np.minimum(balance, 110_000)}


def _checked(records: Records) -> Records:
    lacking = [name for name in ("age", "balance") if name not in records.columns]
    if lacking:
        raise DataError(f"the demonstration needs the columns age and balance; {' and '.join(lacking)} not found")
    return records
