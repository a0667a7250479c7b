"""The demonstration's table: a bank's customers, or others of the same columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ogive.arrays import Bool
from ogive.datasets import bank
from ogive.demo.learning import BANK, divided, read_table
from ogive.errors import DataError, plain

if TYPE_CHECKING:
    import pyarrow as pa

NEEDED = ("age", "balance")


@dataclass(frozen=True, eq=False)
class Table:
    """Customers, whether each said yes, and where they come from, in words.

    Fields:
        name: What the ledger calls them.
        features: Columns that a model may learn from, age and balance among them.
        positive: Whether each customer said yes, shape (rows,).
        origin: For people.
    """

    name: str
    features: pa.Table
    positive: Bool
    origin: str


def find_table(path: Path | None) -> Table:
    """Open the table that was named, else the bank's, which comes with the package.

    Args:
        path: A CSV file with the columns age and balance, and yes or no in the column y; None takes the bank's.

    Raises:
        DataError: the table that was named cannot be read.
    """
    if path is None:
        features, positive = divided(BANK, bank(), "the bank's table")
        return Table("bank-full", features, positive, "customers of a Portuguese bank (UCI Bank Marketing, bank-full)")
    if not path.is_file():
        raise DataError(f"there is no file {plain(path)}; name a CSV table with the columns age, balance and y")
    features, positive = read_table(BANK, path)
    if not positive.size:
        raise DataError(f"{plain(path)} has no rows; the demonstration needs customers")
    lacking = [name for name in NEEDED if name not in features.column_names]
    if lacking:
        raise DataError(f"the demonstration needs the columns age, balance and y; {' and '.join(lacking)} not found")
    return Table(path.name.split(".")[0], features, positive, path.name)
