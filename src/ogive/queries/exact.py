"""Exact means of kernels over pairs: for those who may see the records, and never answered with privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ogive.arrays import Int64
from ogive.errors import DataError, UnsupportedError
from ogive.kernels import null_variance
from ogive.kernels.base import Measure
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, Loss, PrivacyUnit, PureDP
from ogive.queries import base
from ogive.queries.aggregates import RowValues
from ogive.strategies.base import Level


@dataclass(frozen=True)
class ExactMeansQuery(base.CuratorQuery):
    """The exact mean of every kernel, in floating point; only the trust model clear answers it.

    Answers hold the number of records, or of each class, then the bits of the means, and those of the first mean's
    variance under the null hypothesis, NaN where there is none.

    Fields:
        rows: Columns of the kernels, then the column of public classes where there is one.
        measure: Whose kernels.
        classes: How many public classes there are; 0 for none.
    """

    rows: RowValues
    measure: Measure
    classes: int = 0

    @property
    def method(self) -> str:
        """Name of this query."""
        return "exact"

    @property
    def aggregate(self) -> RowValues:
        """The rows of numbers and classes."""
        return self.rows

    @property
    def levels(self) -> tuple[Level, ...]:
        """No levels, since there is no noise."""
        return ()

    def price(self, unit: PrivacyUnit) -> Loss:
        """Nominal price, used only where nothing is paid; a paid release gets no answer."""
        return PureDP(Fraction(1, 10**12))

    def totals(self, sums: Int64, adjacency: Adjacency) -> tuple[int, ...] | None:
        """The number of records, or of each class, where that is public."""
        return self._sizes(sums) if adjacency is Adjacency.REPLACE else None

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of the rows and kernels; as secret as the data."""
        public = {"rows": self.rows.to_dict(), "measure": self.measure.to_dict(), "adjacency": adjacency.value}
        return base.digest("exact means", public, sums)

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """Sizes and means, and of a kernel that has one the variance under the null hypothesis: floats by their bits.

        Raises:
            UnsupportedError: privacy was asked for.
            DataError: there are fewer than two records, or a class is empty.
        """
        if nodes is not None:
            raise UnsupportedError("exact means are not private; only the trust model clear gives them")
        sizes = self._sizes(sums)
        if self.classes and 0 in sizes:
            raise DataError(f"class {sizes.index(0)} of {self.classes} has no record; each class needs one")
        values = self.rows.values(sums)
        labels = values[:, -1].astype(np.int64) if self.classes else None
        kept = values[:, :-1] if self.classes else values
        means = [kernel.exact(kept, labels) for kernel in self.measure.kernels]
        variance = null_variance.of_rows(self.measure.kernels[0], kept, labels)
        numbers = np.array([*means, *([] if variance is None else [variance])])
        return np.concatenate([np.array(sizes, dtype=np.int64), numbers.view(np.int64)])

    def read(self, values: Int64) -> tuple[tuple[int, ...], list[float], float | None]:
        """Sizes, means, and the variance under the null hypothesis from an answer."""
        first, kernels = self.classes or 1, len(self.measure.kernels)
        numbers = values[first:].view(np.float64).tolist()
        return tuple(values[:first].tolist()), numbers[:kernels], numbers[kernels] if len(numbers) > kernels else None

    def _sizes(self, sums: Int64) -> tuple[int, ...]:
        if not self.classes:
            return (len(sums),)
        counts = np.bincount(self.rows.values(sums)[:, -1].astype(np.int64), minlength=self.classes)
        return tuple(counts.tolist())
