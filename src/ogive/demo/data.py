"""The demonstration's table: a bank's customers, or a simulated table of the same size."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ogive.arrays import Bool
from ogive.datasets import data_directory
from ogive.errors import DataError, plain
from ogive.reproduce.ecdf.data_sets import BANK, read_table

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 45_211
SEED = 45_211
NEEDED = ("age", "balance")


@dataclass(frozen=True, eq=False)
class Table:
    """Customers, whether each said yes, and where they come from, in words.

    Fields:
        name: What the ledger calls them.
        features: Columns that a model may learn from, age and balance among them.
        positive: Whether each customer said yes, shape (rows,).
        origin: For people.
        simulated: Whether nobody of them exists.
    """

    name: str
    features: pa.Table
    positive: Bool
    origin: str
    simulated: bool = False


def find_table(path: Path | None) -> Table:
    """Open the table that was named, else the bank's, else a simulated one.

    Args:
        path: A CSV file with the columns age and balance, and yes or no in the column y; None looks for the public
            data sets.

    Raises:
        DataError: the table that was named cannot be read, or OGIVE_DATA names no folder.
    """
    if path is not None:
        if not path.is_file():
            raise DataError(f"there is no file {plain(path)}; name a CSV table with the columns age, balance and y")
        return _read(path, path.name)
    try:
        public = BANK.find((data_directory(),))
    except DataError:
        if os.environ.get("OGIVE_DATA"):
            raise
        public = None
    if public is not None:
        return _read(public, "customers of a Portuguese bank (UCI Bank Marketing, bank-full)")
    features, positive = simulate(ROWS)
    origin = "SIMULATED customers: the public data set was not found"
    return Table("simulated customers", features, positive, origin, simulated=True)


def simulate(rows: int) -> tuple[pa.Table, Bool]:
    """Draw customers of roughly a bank's shapes, whose answers depend on what is known of them; always the same.

    Args:
        rows: How many customers.

    Returns:
        Ages, balances, lengths of the last call in seconds and whether they have a housing loan; and the answers.
    """
    import pyarrow as pa

    draw = np.random.default_rng(SEED)
    age = np.clip(np.round(18 + draw.gamma(4.2, 5.5, rows)), 18, 95)
    size = np.exp(draw.normal(6.4, 1.5, rows))
    kind = draw.random(rows)
    balance = np.round(np.select([kind < 0.08, kind < 0.16], [0.0, -np.minimum(size / 2, 8_000)], size))
    balance = np.minimum(balance, 110_000)
    duration = np.round(draw.gamma(1.6, 160.0, rows))
    housing = draw.random(rows) < 0.55
    odds = 0.0045 * duration + 0.03 * np.abs(age - 42) + 0.08 * np.log1p(np.maximum(balance, 0)) - 1.0 * housing - 3.7
    positive = draw.random(rows) < 1 / (1 + np.exp(-odds))
    columns = {"age": age, "balance": balance, "duration": duration, "housing": np.where(housing, "yes", "no")}
    return pa.table(columns), positive


def _read(path: Path, origin: str) -> Table:
    features, positive = read_table(BANK, path)
    if not positive.size:
        raise DataError(f"{plain(path)} has no rows; the demonstration needs customers")
    lacking = [name for name in NEEDED if name not in features.column_names]
    if lacking:
        raise DataError(f"the demonstration needs the columns age, balance and y; {' and '.join(lacking)} not found")
    return Table(path.name.split(".")[0], features, positive, origin)
