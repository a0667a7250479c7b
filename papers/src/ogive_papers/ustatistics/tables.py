"""Which of the paper's tables a file holds: patients, or ratings of hotels."""

from __future__ import annotations

from pathlib import Path

from ogive.demo.data import first_line
from ogive.errors import ParameterError, plain
from ogive_papers.ecdf.data_sets import DIABETES
from ogive_papers.items import Places

RATINGS = ("rooms", "cleanliness")


def holds_ratings(path: Path) -> bool:
    """Whether a file is the table of ratings, else that of patients, by its columns.

    Raises:
        ParameterError: it is neither, or cannot be read.
    """
    _, header = first_line(path)
    if set(RATINGS) <= set(header):
        return True
    if DIABETES.target in header:
        return False
    raise ParameterError(
        f"{plain(path)} is none of the paper's tables; patients are known by the column {DIABETES.target}, "
        f"ratings of hotels by {' and '.join(RATINGS)}"
    )


def of_ratings(places: Places) -> Places:
    """The folders, and the files that hold ratings."""
    return tuple(place for place in places if not place.is_file() or holds_ratings(place))


def of_patients(places: Places) -> Places:
    """The folders, and the files that hold patients."""
    return tuple(place for place in places if not place.is_file() or not holds_ratings(place))
