"""The kernel of an AUC whose labels are private: score and label in one record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.columns import Domain
from ogive.errors import DataError, ParameterError, quoted
from ogive.kernels.cells import check_count
from ogive.kernels.counting import count_greater
from ogive.kernels.exact import BITS, Scale, paired_rows
from ogive.kernels.matrices import Indicator
from ogive.kernels.ranks import Greater, check_ties, tie_scale, tie_sum


@dataclass(frozen=True)
class ScoreOrder(Indicator):
    """1 if the record of the positive class has the greater score; else, and within a class, 0.

    Rows are (score, label), the label 1 for the positive class. The AUC is the mean of this kernel over that of
    `Untied((1,))`, the share of pairs whose labels differ: both are of the same responses.

    Fields:
        ties: Value of equal scores of different classes: "half" or "strict" (nothing).

    Raises:
        ParameterError: ties is neither.
    """

    ties: str = "half"

    name: ClassVar[str] = "score_order"
    samples: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_ties(self.ties)

    def check(self, columns: Domain) -> None:
        """Refuse anything but a score and a label of two classes."""
        check_count(columns, 2, "an AUC with private labels")
        label = columns.columns[1]
        if label.size != 2 or label.cells()[0].tolist() != [0.0, 1.0]:
            raise ParameterError(f"column {quoted(label.column)} must have two classes, the positive one last")

    def __call__(self, left: Float64, right: Float64) -> Float64:
        """Whether score and label agree on the order."""
        greater = Greater(self.ties)
        above, below = greater(left, right), greater(right, left)
        sign = left[..., 1] - right[..., 1]
        return np.asarray(np.where(sign > 0, above, np.where(sign < 0, below, 0.0)))

    def cell_means(self, columns: Domain) -> Float64:
        """Those of `Greater`, where labels differ."""
        return _between(Greater(self.ties).cell_means(Domain(columns.columns[:1])))

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Those of `Greater`, where labels differ."""
        least, most = Greater(self.ties).cell_extremes(Domain(columns.columns[:1]))
        return _between(least), _between(most)

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Share of all pairs that are of different classes and in the right order."""
        rows = paired_rows(rows, 2)
        records = len(rows)
        unit = float(tie_scale(self.ties).unit)
        return self._count(rows) * unit / (records * (records - 1) // 2)

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Half pairs if ties count half, else whole ones."""
        return tie_scale(self.ties)

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Pairs of different classes in the right order, in units of `scale`."""
        return self._count(rows)

    def _count(self, rows: Float64) -> int:
        positive = rows[:, 1] == 1
        return tie_sum(*count_greater(rows[positive, 0], rows[~positive, 0]), self.ties)


def auc_factor(records: int, positives: int) -> float:
    """Factor from the mean of `ScoreOrder` over all pairs to the AUC, for known class sizes.

    Args:
        records: Number of all records, at least 2.
        positives: Number of records of the positive class, at least 1 and fewer than all.

    Raises:
        DataError: a class is empty.
    """
    if not 0 < positives < records:
        raise DataError("an AUC needs a record of each class")
    return (records * (records - 1) // 2) / (positives * (records - positives))


def _between(scores: Float64) -> Float64:
    """Matrix over (score, label) from one over scores, rows of the positive class."""
    size = len(scores)
    whole = np.zeros((size, 2, size, 2))
    whole[:, 1, :, 0] = scores
    whole[:, 0, :, 1] = scores.T
    return whole.reshape(2 * size, 2 * size)
