"""The real data of the paper (its Table 1): where each lies, and a stand-in where it is absent."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ogive.core.arrays import Bool, Float64
from ogive.demo.data import Labelled, first_line
from ogive.errors import DataError, ParameterError, plain
from ogive_papers.items import Places, Setting

SIMULATED = "simulated"
"""In place of a file's digest: what was read is a stand-in."""


@dataclass(frozen=True, kw_only=True)
class DataSet(Labelled):
    """One data set of the paper, titled as there.

    Fields:
        name: Short name, used in settings.
        files: Patterns of the names of its files in a folder.
        instances: As printed in Table 1.
        share: Fraction of positive instances, as printed.
        features: Number of features, as printed.
        rows: Rows of the public file, for the stand-in.
        spread: Standard deviation of the stand-in's log odds; decides how well its classes are told apart.
    """

    name: str
    files: tuple[str, ...]
    instances: int
    share: float
    features: int
    rows: int
    spread: float

    def find(self, places: Places) -> Path | None:
        """The first file of this data set in the given folders and files, or None."""
        for place in places:
            if place.is_file():
                if known_table(place) is self:
                    return place
            else:
                for pattern in self.files:
                    result = sorted(place.glob(pattern))
                    if result:
                        return result[0]
        return None


HEART = DataSet(
    "Heart disease", "TenYearCHD", "0", name="heart", files=("framingham*.csv", "framingham*.csv.gz"),
    instances=4328, share=0.152, features=15, rows=4238, spread=0.9,
)  # fmt: skip
BANK = DataSet(
    "Bank-full", "y", "no", name="bank", files=("bank-full.csv.gz", "bank-full.csv"),
    instances=45211, share=0.117, features=16, rows=45211, spread=2.2,
)  # fmt: skip
DIABETES = DataSet(
    "Diabetes", "readmitted", "NO", name="diabetes", files=("diabetic_data.csv.gz", "diabetic_data.csv"),
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
