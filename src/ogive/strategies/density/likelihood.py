"""The likelihood of a histogram of which weighted sums were measured with independent noise.

With x the histogram (N bins), y = H x + e what was measured and V the variances of the noise e, taken for normal,

    -log likelihood = x^T J x / 2 - x^T b + constant,   J = H^T V^-1 H,   b = H^T V^-1 y,

so b is all that a fit has to know of y. The smooth part of a histogram is even within groups of neighboring bins, at
most `GROUPS` of them, and needs of J only the sums over groups; single bins need its diagonal and its products.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ogive.arrays import Float64, Int64

GROUPS = 256


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Weighted sums of bins, and the variance of the noise of each.

    Fields:
        rows: Weights of the bins in every sum, at most 1, a sparse matrix of shape (M, N).
        variances: Noise of each sum, shape (M,).
        heavy: Whether the noise has tails like Laplace noise, heavier than those of a normal law.
    """

    rows: Any
    variances: Float64
    heavy: bool

    @property
    def size(self) -> int:
        """Number of bins, N."""
        return int(self.rows.shape[1])

    @cached_property
    def _columns(self) -> Any:
        return self.rows.T.tocsr()

    @cached_property
    def starts(self) -> Int64:
        """First bin of each group, shape (G,)."""
        groups = min(self.size, GROUPS)
        return np.arange(groups) * self.size // groups

    @cached_property
    def widths(self) -> Float64:
        """Bins of each group, shape (G,)."""
        return np.diff(self.starts, append=self.size).astype(np.float64)

    @cached_property
    def group(self) -> Int64:
        """The group of each bin, shape (N,)."""
        return np.repeat(np.arange(len(self.starts)), self.widths.astype(np.int64))

    @cached_property
    def middles(self) -> Float64:
        """Middle of each group on [0, 1], shape (G,)."""
        return (self.starts + self.widths / 2) / self.size

    @cached_property
    def precision(self) -> Float64:
        """J between records spread evenly over groups, shape (G, G)."""
        from scipy import sparse  # slow to import

        bins = np.arange(self.size)
        even = sparse.csr_array((1 / self.widths[self.group], (bins, self.group)), shape=(self.size, len(self.starts)))
        sums = (self.rows @ even).tocsr()
        scaled = sparse.diags_array(1 / self.variances) @ sums
        found: Float64 = (sums.T @ scaled).toarray()
        return found

    @cached_property
    def diagonal(self) -> Float64:
        """Diagonal of J, shape (N,)."""
        found: Float64 = self.rows.power(2).T @ (1 / self.variances)
        return found

    @cached_property
    def _owners(self) -> Any:
        """Which sums a bin has much weight in, shape (N, M)."""
        return (self.rows > 0.3).T.astype(np.float64).tocsr()

    def weigh(self, answer: Float64) -> Float64:
        """H^T V^-1 y, shape (N,)."""
        found: Float64 = self._columns @ (answer / self.variances)
        return found

    def times(self, histogram: Float64) -> Float64:
        """J x, shape (N,)."""
        return self.weigh(self.rows @ histogram)

    def means(self, values: Float64) -> Float64:
        """Means over groups, shape (G,)."""
        found: Float64 = np.add.reduceat(values, self.starts) / self.widths
        return found

    def even(self, shares: Float64) -> Float64:
        """Shares of groups spread evenly over their bins, shape (N,)."""
        found: Float64 = (shares / self.widths)[self.group]
        return found

    def outliers(self, answer: Float64, histogram: Float64) -> Float64:
        """What normal noise takes for evidence at each bin and Laplace noise does not, shape (N,).

        Beyond sqrt(2) deviations the density of Laplace noise falls as exp(-sqrt(2) z), which is slower than
        exp(-z^2 / 2) by exp((z - sqrt(2))^2 / 2) and a constant.
        """
        if not self.heavy:
            return np.zeros(self.size)
        beyond = (answer - self.rows @ histogram) / np.sqrt(self.variances) - np.sqrt(2)
        found: Float64 = self._owners @ (np.maximum(beyond, 0.0) ** 2 / 2)
        return found
