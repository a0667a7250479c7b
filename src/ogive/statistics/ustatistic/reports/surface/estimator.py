"""The volume under the ROC surface of several public classes, from randomized reports of the scores.

Every term of the volume takes one bin of each class, and classes are different people, so unbiased histograms of the
classes give an unbiased volume, and the covariances of these histograms its exact variance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.arrays import Bool, Float64, Int64
from ogive.errors import DataError, ParameterError
from ogive.kernels.surface import vus, vus_extremes
from ogive.local.classes import PublicClasses
from ogive.statistics.ustatistic.means.generic import on_simplex
from ogive.statistics.ustatistic.reports.laws import law_of
from ogive.statistics.ustatistic.reports.surface.variance import LARGEST, excess, multinomial


@dataclass(frozen=True)
class LocalVus:
    """A volume and its error.

    Fields:
        value: Unbiased estimate; noise may take it out of [0, 1].
        variance: Of the randomization, given the records: the unbiased estimate, or that at the nearest
            possible histograms where it is larger.
        sampling_variance: Of the records' own volume around the population's, at the nearest possible histograms.
        quantization: How far the volume may be from that of the scores before they were rounded to bins, estimated.
        records: Number of reports of each class.
    """

    value: float
    variance: float
    sampling_variance: float
    quantization: float
    records: tuple[int, ...]

    @property
    def standard_error(self) -> float:
        """Standard error that the randomization of the reports causes."""
        return math.sqrt(self.variance)


def volume(oracle: Any, sums: Int64, *, wide: Bool | None = None) -> LocalVus:
    """Estimate the volume under the ROC surface of two or more public classes.

    Args:
        oracle: `PublicClasses` over "krr", "unary" or "haar"; classes in the order that scores should have.
        sums: Of reports, of the oracle's shape.
        wide: Which bins hold more than one score, so that two scores in them need not be equal, shape (k,); None if
            no bin does.

    Raises:
        ParameterError: the oracle is another one, or has too many bins.
        DataError: a class has no report.

    Privacy: post-processing of randomized reports; classes are public.

    Source: methods file, section 2; the variance: docs/proofs/hierarchy.md.
    """
    if not isinstance(oracle, PublicClasses) or oracle.classes < 2:
        raise ParameterError("a volume under the ROC surface needs reports of two or more public classes")
    check_surface(oracle.classes, oracle.inner.size)
    law = law_of(oracle.inner)
    records = tuple(law.records(each) for each in sums)
    for place, count in enumerate(records):
        if count < 1:
            raise DataError(f"class {place} has no report; each class needs one")
    histograms = np.stack([shares(oracle.inner, each) for each in sums])
    plausible = np.stack([on_simplex(each, oracle.inner.size) for each in histograms])
    value = vus(histograms)
    unbiased = -excess(histograms, [-each for each in _noise(oracle.inner, histograms, records)])
    likely = excess(plausible, _noise(oracle.inner, plausible, records))
    drawn = excess(plausible, [multinomial(each, count) for each, count in zip(plausible, records, strict=True)])
    least, largest = (value, value) if wide is None else vus_extremes(histograms, wide)
    moved = max(value - least, largest - value, 0.0)
    return LocalVus(value, max(unbiased, likely, 0.0), max(drawn, 0.0), moved, records)


def predicted(inner: Any, histograms: Float64, records: Sequence[int]) -> float:
    """Mean over records of the variance of the randomization, if they are drawn from known distributions.

    Args:
        inner: Oracle of the scores: "krr", "unary" or "haar".
        histograms: Shares of each class in each bin, shape (K, k).
        records: Number of each class.
    """
    drawn = [multinomial(each, count) for each, count in zip(histograms, records, strict=True)]
    whole = [one + other for one, other in zip(_noise(inner, histograms, records), drawn, strict=True)]
    return excess(histograms, whole) - excess(histograms, drawn)


def shares(inner: Any, sums: Int64) -> Float64:
    """Unbiased shares of one class in all bins, shape (k,), with sum 1; the last takes what fills the domain up."""
    law = law_of(inner)
    return np.add.reduceat(law.counts(sums) / law.records(sums), np.arange(inner.size))


def check_surface(classes: int, bins: int) -> None:
    """Refuse surfaces whose variance would take too much memory.

    Raises:
        ParameterError: classes times bins are more than `LARGEST`.
    """
    if classes * bins > LARGEST:
        raise ParameterError(
            f"a volume under the ROC surface of {classes} classes from reports takes at most {LARGEST // classes} "
            f"bins, got {bins}"
        )


def _noise(inner: Any, histograms: Float64, records: Sequence[int]) -> list[Float64]:
    """Covariance of the estimated shares of each class, linear in its true ones; shape (k, k) each."""
    law, places = law_of(inner), np.arange(inner.size)
    found = []
    for each, count in zip(histograms, records, strict=True):
        weights = np.pad(each, (0, law.size - len(each)))
        found.append(np.add.reduceat(np.add.reduceat(law.covariance(weights), places), places, axis=1) / count)
    return found
