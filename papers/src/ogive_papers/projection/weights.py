"""The weights of 25 000 people that Figure 3 is about, or a simulated stand-in where the file is absent."""

from __future__ import annotations

import csv
import gzip
from functools import cache
from pathlib import Path

import numpy as np
from scipy.special import ndtr

from ogive.core.arrays import Float64
from ogive.errors import DataError, ParameterError, plain
from ogive_papers.items import Places, Setting, content_of, first_file
from ogive_papers.projection.shapes import Shape

FILES = ("socr_height_weight.csv.gz", "socr_height_weight.csv")
SIMULATED = "simulated"
"""In place of the file's digest: what was read is a stand-in."""

INPUT = "weight data"
RECORDS, MEAN, SPREAD = 25_000, 127.08, 11.66
LOW, HIGH = 70.0, 185.0
"""Public bounds, in pounds."""

LIKE = Shape(
    "weight-like", "like weights", LOW, HIGH,
    lambda generator, size: MEAN + SPREAD * generator.standard_normal(size),
    lambda x: np.asarray(ndtr((x - MEAN) / SPREAD)),
)  # fmt: skip
"""The normal distribution with the mean and spread of the weights."""


def find(places: Places) -> Path | None:
    """The file of weights among folders and files, or None."""
    return first_file(places, FILES)


def inputs(places: Places) -> Setting:
    """The start of the file's SHA-256, or `SIMULATED`."""
    path = find(places)
    if path is not None:
        read(path)
    return {INPUT: content_of(path, SIMULATED)}


def weights(places: Places) -> Float64:
    """The weights within the bounds, shape (records,); simulated ones, the same every time, where there is no file."""
    path = find(places)
    if path is not None:
        return read(path)
    return LIKE.records(np.random.default_rng(RECORDS), RECORDS)


@cache
def read(path: Path) -> Float64:
    """Read the column of weights of a table.

    Raises:
        ParameterError: the file is not a table with weights.
        DataError: a weight is not a number.
    """
    try:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            table = csv.DictReader(file)
            column = next((name for name in table.fieldnames or () if name.lower().startswith("weight")), None)
            cells = [] if column is None else [row[column] for row in table]
    except (OSError, EOFError, UnicodeDecodeError):
        raise ParameterError(f"cannot read {plain(path)} as a table of text") from None
    if not cells:
        raise ParameterError(f"{plain(path)} is not the table of weights of Figure 3; that has a column Weight(Pounds)")
    try:
        values = np.array(cells, dtype=np.float64)
    except (ValueError, TypeError):
        raise DataError(f"{plain(path)} has weights that are not numbers") from None
    if not np.isfinite(values).all():
        raise DataError(f"{plain(path)} has weights that are not numbers")
    return np.clip(values, LOW, HIGH)
