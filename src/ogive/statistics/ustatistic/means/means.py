"""What the reports say about the means of some kernels, and how far off each may be."""

from __future__ import annotations

from dataclasses import dataclass

from ogive.arrays import Float64


@dataclass(frozen=True)
class Means:
    """Estimated U-statistics of m kernels from the same reports.

    Fields:
        values: Unbiased estimates, shape (m,); noise may take them out of the kernels' ranges.
        covariance: Of the randomization given the records, shape (m, m).
        sampling: Of the records given their distribution, shape (m, m), so that `covariance + sampling` is the error
            against the population; None where it is not estimated.
        quantization: Estimated bound of the error that binning makes, shape (m,): root of the mean of
            the squared half-ranges of each kernel over pairs of bins; 0 where no spreads were given.
        records: Number of reports.
    """

    values: Float64
    covariance: Float64
    sampling: Float64 | None
    quantization: Float64
    records: int
