"""The real data of the paper (its Table 1): where each lies, how it is read, and a stand-in where it is absent."""

from __future__ import annotations

import csv
import gzip
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ogive.arrays import Bool, Float64
from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.reproduce.items import Places, Setting

if TYPE_CHECKING:
    import pyarrow as pa


SIMULATED = "simulated"
"""In place of a file's digest: what was read is a stand-in."""

_MISSING = ["", "?", "NA", "NaN", "nan"]


@dataclass(frozen=True)
class DataSet:
    """One data set of the paper.

    Fields:
        name: Short name, used in settings.
        title: As the paper calls it.
        files: Patterns of the names of its files in a folder.
        target: Column of the class.
        negative: The target's value of the negative class; every other value is positive.
        left_out: Columns that name a row or a person, which a model must not learn from.
        codes: Columns of numbers that stand for words.
        positive: The target's value of the positive class, where others are negative too.
        instances: As printed in Table 1.
        share: Fraction of positive instances, as printed.
        features: Number of features, as printed.
        rows: Rows of the public file, for the stand-in.
        spread: Standard deviation of the stand-in's log odds; decides how well its classes are told apart.
    """

    name: str
    title: str
    files: tuple[str, ...]
    target: str
    negative: str
    instances: int
    share: float
    features: int
    rows: int
    spread: float
    left_out: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    positive: str | None = None

    def find(self, places: Places) -> Path | None:
        """The first file of this data set in the given folders and files, or None."""
        for place in places:
            if place.is_file():
                if known_table(place) is self:
                    return place
            else:
                for pattern in self.files:
                    found = sorted(place.glob(pattern))
                    if found:
                        return found[0]
        return None


HEART = DataSet(
    "heart", "Heart disease", ("framingham*.csv", "framingham*.csv.gz"), "TenYearCHD", "0",
    instances=4328, share=0.152, features=15, rows=4238, spread=0.9,
)  # fmt: skip
BANK = DataSet(
    "bank", "Bank-full", ("bank-full.csv.gz", "bank-full.csv"), "y", "no",
    instances=45211, share=0.117, features=16, rows=45211, spread=2.2,
)  # fmt: skip
DIABETES = DataSet(
    "diabetes", "Diabetes", ("diabetic_data.csv.gz", "diabetic_data.csv"), "readmitted", "NO",
    instances=101766, share=0.460, features=49, rows=101766, spread=0.75,
    left_out=("encounter_id", "patient_nbr"),
    codes=("admission_type_id", "discharge_disposition_id", "admission_source_id"),
)  # fmt: skip

DATA_SETS = {data_set.name: data_set for data_set in (HEART, BANK, DIABETES)}


def inputs_of(*names: str) -> Callable[[Places], Setting]:
    """A function that names the data an item reads, by content.

    Args:
        names: Data sets, as in `DATA_SETS`.

    Returns:
        From places to one setting per data set: the start of its file's SHA-256, or `SIMULATED`.
    """

    def inputs(places: Places) -> Setting:
        for place in places:
            if place.is_file():
                known_table(place)
        return {f"{name} data": _digest(DATA_SETS[name].find(places)) for name in names}

    return inputs


def _digest(path: Path | None) -> str:
    if path is None:
        return SIMULATED
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError as problem:
        raise DataError(f"cannot read {plain(path)}: {(problem.strerror or 'unknown reason').lower()}") from None


def known_table(path: Path) -> DataSet:
    """Which data set a file holds, by its target column.

    Raises:
        ParameterError: none, or the file cannot be read.
    """
    _, header = first_line(path)
    for data_set in DATA_SETS.values():
        if data_set.target in header:
            return data_set
    targets = ", ".join(f"{data_set.target} ({data_set.title})" for data_set in DATA_SETS.values())
    raise ParameterError(f"{plain(path)} is none of the paper's tables; each is known by its target column: {targets}")


def first_line(path: Path) -> tuple[str, list[str]]:
    """The separator and the names of the columns."""
    try:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            line = file.readline()
    except (OSError, EOFError, UnicodeDecodeError):
        raise ParameterError(f"cannot read {plain(path)} as a table of text") from None
    delimiter = ";" if line.count(";") > line.count(",") else ","
    return delimiter, next(csv.reader([line.strip()], delimiter=delimiter), [])


@cache
def read_table(data_set: DataSet, path: Path) -> tuple[pa.Table, Bool]:
    """Read the features, missing values as null, and whether each row is positive.

    Raises:
        DataError: the file cannot be read, or a row has no class.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    delimiter, _ = first_line(path)
    try:
        table = arrow_csv.read_csv(
            path,
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter),
            convert_options=arrow_csv.ConvertOptions(null_values=_MISSING, strings_can_be_null=True),
        )
    except (pa.ArrowInvalid, OSError):
        raise DataError(f"cannot read {plain(path)} as a table separated by {quoted(delimiter)}") from None
    return divided(data_set, table, plain(path))


def divided(data_set: DataSet, table: pa.Table, name: str) -> tuple[pa.Table, Bool]:
    """Part a table into its features and whether each row is positive.

    Args:
        data_set: Which data set the table holds.
        table: Features and target.
        name: What error messages call the table.

    Raises:
        DataError: the target is lacking, or a row has none.
    """
    import pyarrow as pa
    from pyarrow import compute

    if data_set.target not in table.column_names:
        raise DataError(f"{name} lacks the column {data_set.target} of {data_set.title}")
    target = compute.cast(table[data_set.target], pa.string())
    if target.null_count:
        raise DataError(f"{name} has {target.null_count} rows without a value of {data_set.target}")
    if data_set.positive is None:
        chosen = compute.not_equal(target, data_set.negative)
    else:
        chosen = compute.equal(target, data_set.positive)
    positive = chosen.to_numpy(zero_copy_only=False).astype(np.bool_)
    return table.drop_columns([data_set.target]), positive


def stand_in(data_set: DataSet) -> tuple[Float64, Bool]:
    """Simulate predictions and classes where the file is absent: as many rows, the same share of positives.

    Log odds are normal, and each class is drawn with the probability that was predicted, so the
    simulated model is calibrated. The same ones every time.

    Returns:
        Predicted probability and class of each row, shape (rows,).
    """
    draw = np.random.default_rng([data_set.rows, data_set.instances])
    odds = data_set.spread * draw.standard_normal(data_set.rows)
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 / (1 + np.exp(-odds - middle))).mean() < data_set.share else (low, middle)
    predicted = 1 / (1 + np.exp(-odds - low))
    return predicted, draw.random(data_set.rows) < predicted
