"""Votes of teachers trained on characters of free fonts: a task like Glyph, whose data are private.

The file `characters.npz` is made by `benchmarks/characters.py`: 150 imbalanced classes, one private label in ten wrong,
ensembles of 100 to 5000 teachers that divide the same images, and public queries with their features and true labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.errors import DataError, ParameterError, plain
from ogive.pate.votes import array_names, check_votes, read_array
from ogive_papers.items import Places, first_file

FILE = "characters.npz"
TEACHERS, CLASSES = 5000, 150
QUERIES = 16_000
"""Fewest that there must be: two rounds ask as many."""


@dataclass(frozen=True, eq=False)
class Characters:
    """What the file holds but votes.

    Fields:
        queries: Features of the public queries, shape (queries, features).
        truth: Their true classes, shape (queries,).
        judged: Features of the images that students are judged on, shape (images, features).
        judged_truth: Their true classes, shape (images,).
        baseline: Share of them on which one model of the private images is right.
    """

    queries: Float64
    truth: Int64
    judged: Float64
    judged_truth: Int64
    baseline: float


def is_characters(path: Path) -> bool:
    """Whether a file that was named holds votes on characters."""
    return path.suffix == ".npz" and "judged_truth" in array_names(path)


def find_characters(places: Places) -> Path | None:
    """The file among folders and files, or None."""
    chosen = tuple(place for place in places if not place.is_file() or is_characters(place))
    return first_file(chosen, (FILE,))


@cache
def read_characters(path: Path) -> Characters:
    """Queries, and what students are judged on.

    Raises:
        DataError: an array is missing or of another shape, or there are too few queries.
    """
    queries, truth, judged, judged_truth = (
        _array(path, name) for name in ("queries", "truth", "judged", "judged_truth")
    )
    if len(queries) != len(truth) or len(judged) != len(judged_truth) or queries.shape[1:] != judged.shape[1:]:
        raise DataError(f"{plain(path)} has features and true labels of different numbers of images")
    if len(truth) < QUERIES:
        raise DataError(f"{plain(path)} has {len(truth)} queries, fewer than {QUERIES}; make it without --small")
    baseline = float(_array(path, "baseline"))
    return Characters(
        queries.astype(np.float64), truth.astype(np.int64), judged.astype(np.float64), judged_truth.astype(np.int64),
        baseline,
    )  # fmt: skip


@cache
def votes_on_characters(path: Path, teachers: int) -> Int64:
    """Votes of an ensemble on all queries, shape (queries, classes).

    Raises:
        DataError: there are no votes of so many teachers, or not on the queries' classes.
    """
    votes = check_votes(_array(path, f"votes_{teachers}"), teachers=teachers)
    if votes.shape != (len(read_characters(path).truth), CLASSES):
        raise DataError(f"{plain(path)} must have votes on every query over {CLASSES} classes, got {votes.shape}")
    return votes


def _array(path: Path, name: str) -> Any:
    try:
        return read_array(path, name)
    except ParameterError:
        raise DataError(
            f"{plain(path)} has no array {name}; make the file with benchmarks/characters.py, without --small"
        ) from None
