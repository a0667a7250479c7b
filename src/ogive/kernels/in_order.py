"""The kernel of a volume under the ROC surface: one score of each of several classes, in the right order or not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from ogive.arrays import Float64, Int64
from ogive.columns import Domain
from ogive.errors import ParameterError, quoted
from ogive.kernels.cells import check_count
from ogive.kernels.exact import BITS, Scale, finite_rows
from ogive.kernels.no_pairs import NoPairs
from ogive.kernels.surface import class_counts, count_in_order, exact_vus

MOST_CLASSES = 10


@dataclass(frozen=True)
class InOrder(NoPairs):
    """1 if one score of each class increases with the class; m equal consecutive scores count 1/m!.

    It depends on one record of each class, so it has no matrix between two symbols; `ogive.kernels.vus` uses
    histograms of the classes. With two classes it equals `Greater`, the positive class last.

    Fields:
        classes: Number of classes, 2 to 10.

    Raises:
        ParameterError: classes is out of range.
    """

    classes: int = 3

    name: ClassVar[str] = "in_order"

    def __post_init__(self) -> None:
        if type(self.classes) is not int or not 2 <= self.classes <= MOST_CLASSES:
            raise ParameterError(
                f"`classes` must be a whole number from 2 to {MOST_CLASSES}, got {quoted(self.classes)}"
            )

    @property
    def samples(self) -> int:
        """One for each class."""
        return self.classes

    def check(self, columns: Domain) -> None:
        """Refuse anything but one column of scores."""
        check_count(columns, 1, "the volume under the ROC surface")

    def range(self, columns: Domain) -> tuple[float, float]:
        """From 0 to 1."""
        return 0.0, 1.0

    def _no_pairs(self) -> ParameterError:
        return ParameterError(
            f"{self.name} looks at a record of each of {self.classes} classes, not at pairs; "
            "use the classes' histograms (ogive.kernels.vus)"
        )

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Volume under the surface of exact scores, in O(n log n)."""
        return exact_vus(finite_rows(rows, 1)[:, 0], _given(classes), self.classes)

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Steps of 1/K!; one record changes each tuple that it is in by at most 1."""
        orders = math.factorial(self.classes)
        return Scale(Fraction(1, orders), Fraction(0), orders)

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Exact sum over all tuples, in units of `scale`; partners are the product of the other classes' sizes."""
        return count_in_order(class_counts(rows[:, 0], _given(classes), self.classes))

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kernel": self.name, "classes": self.classes}


def _given(classes: Int64 | None) -> Int64:
    if classes is None:
        raise ParameterError("a volume under the ROC surface needs the class of each record")
    return classes
