"""Votes of the paper's teachers and the true labels of their queries: where they lie, and what is read of them.

Votes are arrays of counts, shape (queries, classes), in an .npz file or as NAME.npy: `mnist_250`, `adult_250` and
`svhn_250`, each of 250 teachers. Those of SVHN lie in a file of their own; those of Glyph were never published.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from ogive.core.arrays import Int64
from ogive.errors import DataError, ParameterError, plain
from ogive.pate.votes import array_names, check_votes, read_array, read_votes
from ogive_papers.items import Places, Setting, content_of
from ogive_papers.pate.characters import is_characters

ABSENT = "absent"
"""In place of a file's digest: there is none."""

TEACHERS = 250
PUBLISHED = "pate_teacher_votes.npz"


@dataclass(frozen=True)
class VoteSet:
    """Votes on one data set.

    Fields:
        title: As the paper calls it.
        array: Name of the array of votes.
        file: The file of a folder that holds them, as it is usually called.
        queries: Fewest that there must be.
        classes: Number of classes.
        labels: Files with the true labels of the queries, in their order; none for data that are not shared.
    """

    title: str
    array: str
    file: str
    queries: int
    classes: int
    labels: tuple[str, ...] = ()


MNIST = VoteSet("MNIST", "mnist_250", PUBLISHED, 640, 10, ("mnist.npz",))
ADULT = VoteSet("Adult", "adult_250", PUBLISHED, 1500, 2, ("adult.test.gz", "adult.test"))
SVHN = VoteSet("SVHN", "svhn_250", "svhn_votes.npz", 8500, 10)

TRAINING_ROWS = ("adult.data.gz", "adult.data")
"""Private rows of Adult, which models without privacy are trained on."""

VOTE_SETS = {votes.title: votes for votes in (MNIST, SVHN, ADULT)}


def find_votes(votes: VoteSet, places: Places) -> Path | None:
    """The file of votes among folders and files, or None.

    Raises:
        ParameterError: a file that was named has neither votes nor labels.
        DataError: it cannot be read.
    """
    for place in places:
        if place.is_file():
            if votes.array in _arrays(place):
                return place
            continue
        for name in (votes.file, f"{votes.array}.npz", f"{votes.array}.npy"):
            if (place / name).is_file() and votes.array in _arrays(place / name):
                return place / name
    return None


def find_labels(votes: VoteSet, places: Places) -> Path | None:
    """The file of true labels among folders and files, or None."""
    return find_named(votes.labels, places)


def find_named(names: Sequence[str], places: Places) -> Path | None:
    """The first file that is called by one of these names, among folders and files that were named; or None."""
    for place in places:
        for name in names:
            result = place if place.is_file() and place.name == name else place / name
            if result.is_file():
                return result
    return None


def inputs_of(*titles: str) -> Callable[[Places], Setting]:
    """A function that names votes and labels by content: the start of a file's SHA-256, or `ABSENT`.

    It reads the votes that it finds, so that others than the paper's are refused before anything is worked out.
    """

    def inputs(places: Places) -> Setting:
        known: dict[str, str] = {}
        for title in titles:
            votes = VOTE_SETS[title]
            result = find_votes(votes, places)
            if result is not None:
                _read_votes(votes, result)
            known[votes_input(title)] = content_of(result, ABSENT)
            if votes.labels:
                known[f"{title} labels"] = content_of(find_labels(votes, places), ABSENT)
        return known

    return inputs


def votes_input(title: str) -> str:
    """How the votes on a data set are called among the inputs."""
    return f"{title} votes"


def absence(votes: VoteSet) -> str:
    """What to say where votes are needed and not there."""
    return (
        f"no array {votes.array} was found; name {votes.file} or its folder with --data (counts of {TEACHERS} "
        f"teachers, at least {votes.queries} x {votes.classes})"
    )


def lack(votes: VoteSet, known: Setting) -> str:
    """What to say where votes with true labels are needed and one of them is not among the inputs."""
    if known.get(votes_input(votes.title), ABSENT) == ABSENT:
        return absence(votes)
    return f"the true labels of {votes.title} were not found; put {votes.labels[0]} into the folder named with --data"


def votes_of(votes: VoteSet, places: Places, asked: int) -> Int64 | None:
    """The first queries in stored order, shape (asked, classes), or None where there is no file.

    Raises:
        DataError: the file holds other votes than these.
    """
    path = find_votes(votes, places)
    return None if path is None else _read_votes(votes, path)[:asked]


def labels_of(votes: VoteSet, places: Places, asked: int) -> Int64 | None:
    """True labels of the first queries, shape (asked,), or None where there is no file.

    Raises:
        DataError: the file cannot be read, or holds too few.
    """
    path = find_labels(votes, places)
    if path is None:
        return None
    labels = _read_digits(path) if votes is MNIST else _read_incomes(path)
    if labels.size < asked:
        raise DataError(f"{plain(path)} has {labels.size} labels, fewer than the {asked} queries that are asked")
    return labels[:asked]


@cache
def _read_votes(votes: VoteSet, path: Path) -> Int64:
    counts = check_votes(read_votes(path, name=votes.array if path.suffix == ".npz" else None), teachers=TEACHERS)
    queries, classes = counts.shape
    if queries < votes.queries:
        raise DataError(f"{votes.array} needs at least {votes.queries} rows, got {queries} ({plain(path)})")
    if classes != votes.classes:
        raise DataError(
            f"{votes.array} needs {votes.classes} columns, one for every class, got {classes} ({plain(path)})"
        )
    return counts


@cache
def _read_digits(path: Path) -> Int64:
    try:
        labels = read_array(path, "y_test")
    except (ParameterError, DataError):
        labels = None
    if labels is None or labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise DataError(f"{plain(path)} is not a file of MNIST; that has an array y_test")
    return labels.astype(np.int64)


@cache
def _read_incomes(path: Path) -> Int64:
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            last = [line.rsplit(",", 1)[1].strip().rstrip(".") for line in file if "," in line]
    except (OSError, EOFError, UnicodeDecodeError):
        raise DataError(f"{plain(path)} cannot be read as the test part of Adult") from None
    if not set(last) <= {"<=50K", ">50K"}:
        raise DataError(f"{plain(path)} is not the test part of Adult, whose lines end with <=50K. or >50K.")
    return np.array([income == ">50K" for income in last], dtype=np.int64)


def _arrays(path: Path) -> tuple[str, ...]:
    """Arrays of votes that a file holds; none for a file of labels, or of what stands in for Glyph."""
    known = (*TRAINING_ROWS, *(name for votes in VOTE_SETS.values() for name in votes.labels))
    if path.name in known or is_characters(path):
        return ()
    names: tuple[str, ...] = (path.stem,) if path.suffix == ".npy" else ()
    if path.suffix == ".npz":
        names = array_names(path)
    result = tuple(votes.array for votes in VOTE_SETS.values() if votes.array in names)
    if not result:
        wanted = ", ".join(votes.array for votes in VOTE_SETS.values())
        raise ParameterError(
            f"{path} is not named after any of the paper's votes, {wanted}; call it {SVHN.array}.npy for those on SVHN"
            if path.suffix == ".npy"
            else f"{path} holds no votes of the paper's teachers: none of the arrays {wanted}"
        )
    return result
