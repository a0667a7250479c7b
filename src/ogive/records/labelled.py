"""Sums over records that have a label: counts per class and bin, and sums per group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ogive.errors import DataError
from ogive.queries import Binning, ClassBinning, GroupSums, Label
from ogive.records.binning import add_counts

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]


class Classes:
    """Reads labels chunk by chunk, and sees a third class wherever it turns up."""

    def __init__(self, label: Label) -> None:
        self._label = label
        self._other: Any = None

    def positive(self, array: Any) -> NDArray[np.bool_]:
        """Whether each label is of the positive class.

        Raises:
            DataError: a label is missing or of neither class.
        """
        label = self._label
        if array.null_count:
            raise DataError(f"label column {label.column!r} has missing values; every record needs a class")
        codes, values = _encoded(array)
        classes = np.array([self._class_of(value) for value in values], dtype=bool)
        return classes[codes] if len(values) else np.zeros(0, dtype=bool)

    def _class_of(self, value: Any) -> bool:
        label = self._label
        if _among(value, label.positive):
            return True
        if label.negative is not None:
            if _among(value, label.negative):
                return False
            raise DataError(
                f"label column {label.column!r} holds values of neither class; "
                "name all values of each class with positive= and negative="
            )
        if self._other is None:
            self._other = value
        if not _among(value, (self._other,)):
            raise DataError(
                f"label column {label.column!r} holds more than two classes; name the values of the negative class too"
            )
        return False


def _encoded(array: Any) -> tuple[Int64, list[Any]]:
    """Number of each label among the distinct ones, and these."""
    encoded = array if pa.types.is_dictionary(array.type) else pc.dictionary_encode(array)
    codes: Int64 = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    present = np.unique(codes)
    return np.searchsorted(present, codes), [encoded.dictionary[int(code)].as_py() for code in present]


def _among(value: Any, wanted: tuple[Any, ...]) -> bool:
    """Numbers and truth values compare as numbers, text as text."""
    return any(isinstance(value, str) == isinstance(other, str) and value == other for other in wanted)


def class_counts(aggregate: ClassBinning, chunks: Iterator[tuple[Float64, Any]]) -> Int64:
    """Records per class and bin, shape (2, N), from chunks of scores and Arrow labels."""
    counts = np.zeros(aggregate.shape, dtype=np.int64)
    classes = Classes(aggregate.label)
    for scores, labels in chunks:
        positive = classes.positive(labels)
        for k in range(2):
            add_with_policy(counts[k], scores[positive == bool(k)], aggregate.score)
    return counts


def group_sums(aggregate: GroupSums, chunks: Iterator[tuple[Float64, Any]]) -> Int64:
    """Sums per group, shape (4, Q), from chunks of probabilities and Arrow labels."""
    sums = np.zeros(aggregate.shape, dtype=np.int64)
    classes = Classes(aggregate.label)
    one = 1 << aggregate.bits
    grid = aggregate.probability.grid
    for probabilities, labels in chunks:
        positive = classes.positive(labels)
        values = with_policy(probabilities, aggregate.probability)
        fixed = np.rint(values * one).astype(np.int64)
        groups = np.searchsorted(grid.thresholds, values, side="left")
        for row, weights in enumerate((one - fixed, fixed, ~positive, positive)):
            np.add.at(sums[row], groups, weights.astype(np.int64))
    return sums


def with_policy(values: Float64, binning: Binning) -> Float64:
    """Values with missing ones replaced and others clipped, as the policies say.

    Raises:
        DataError: a policy refuses what was found.
    """
    grid = binning.grid
    missing = np.isnan(values)
    if missing.any():
        if binning.missing not in ("low", "high"):
            raise DataError(
                f"column {binning.column!r} has missing values; say what they mean with missing='low' or 'high'"
            )
        values = np.where(missing, grid.low if binning.missing == "low" else grid.high, values)
    refuse_outside(values, binning)
    return np.clip(values, grid.low, grid.high)


def refuse_outside(values: Float64, binning: Binning) -> None:
    """Refuse values outside the bounds where the policy says so.

    Raises:
        DataError: there is one.
    """
    grid = binning.grid
    if binning.outside == "refuse" and bool(np.any((values < grid.low) | (values > grid.high))):
        low, high = grid.label(grid.low), grid.label(grid.high)
        raise DataError(
            f"column {binning.column!r} has values outside {low} to {high}; "
            "widen the bounds, or count them at the nearer bound with outside='clip'"
        )


def add_with_policy(counts: Int64, values: Float64, binning: Binning) -> None:
    """Add the bins of some values to counts, in place, as the policies say.

    Raises:
        DataError: a policy refuses what was found.
    """
    refuse_outside(values, binning)
    missing = add_counts(counts, values, binning.grid)
    if missing and binning.missing == "refuse":
        raise DataError(
            f"column {binning.column!r} has missing values; say what they mean with missing='low', 'high' or 'drop'"
        )
    if binning.missing == "low":
        counts[0] += missing
    elif binning.missing == "high":
        counts[-1] += missing
