"""The volume under a ROC surface from randomized reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.core.arrays import Bool, Float64, Int64
from ogive.errors import DataError, ParameterError
from ogive.kernels.surface import vus, vus_extremes
from ogive.local.oracles import PublicClasses
from ogive.statistics.ustatistic.means import on_simplex
from ogive.statistics.ustatistic.reports.laws import law_of

# --- Exact variance of the volume
#
# The volume is a sum over chains of bins, one of each class, that never fall; m classes in a row in one bin weigh 1/m!.
# Its square is a sum over pairs of chains, to which each class brings a factor of its own, of mean m_c m_c' + C_c for a
# histogram with mean m_c and covariance C_c. Chains are followed class by class, by the bin that they are in and the
# number of classes in a row that were in it; what the means alone give is left out at every step, so that nothing
# cancels. Time is O(K^3 k^2).
#
# Source: docs/proofs/hierarchy.md.

LARGEST = 4096
"""Most classes times bins: chains of ten classes in so many take 130 MB."""


def excess(means: Float64, covariances: Sequence[Float64]) -> float:
    """Mean of the squared volume of independent histograms less the squared volume of their means.

    Args:
        means: Of the shares of each class, lowest class first, shape (K, k).
        covariances: Of the shares of each class, shape (k, k) each. Where they are those of histograms it is the
            variance of the volume. With unbiased histograms as means and their covariances negated it is,
            on average, the squared volume of the true shares less that of the histograms.
    """
    bins = means.shape[1]
    # products of the means along one chain, and what covariances add to them along two
    chain, pair = np.ones((1, bins)), np.zeros((1, bins, 1, bins))
    for number, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
        if number:
            chain = _advanced(chain)
            pair = _advanced(_advanced(pair).transpose(2, 3, 0, 1))
        pair = pair * (np.outer(mean, mean) + covariance)[:, None]
        pair += np.multiply.outer(chain, chain) * covariance[:, None]
        chain = chain * mean
    return float(pair.sum())


def multinomial(shares: Float64, records: float) -> Float64:
    """Covariance of the shares of this many records that are drawn from a distribution, shape (k, k)."""
    return (np.diag(shares) - np.outer(shares, shares)) / records


def _advanced(chains: Float64) -> Float64:
    """Chains before their next class: it starts a new bin above, or joins the others in theirs.

    Args:
        chains: By the classes in a row, the bin, and whatever else, shape (runs, k, ...).
    """
    started = np.zeros_like(chains[:1])
    started[0, 1:] = np.cumsum(chains.sum(axis=0), axis=0)[:-1]
    rows = np.arange(2, len(chains) + 2).reshape(-1, *(1,) * (chains.ndim - 1))
    return np.concatenate([started, chains / rows])


# --- The volume from reports
#
# Every term of the volume takes one bin of each class, and classes are different people, so unbiased histograms of the
# classes give an unbiased volume, and the covariances of these histograms its exact variance.


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
    """Refuse surfaces whose variance would take too much memory."""
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
