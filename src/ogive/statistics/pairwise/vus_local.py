"""The volume under the ROC surface of several public classes, from randomized reports of the scores.

Every term of the volume takes one bin of each class, and classes are different people, so unbiased histograms of the
classes give an unbiased volume. Its error is found by running the collection again on imagined people who are like the
estimated histograms: their reports are made by the oracle itself. Of many people a part is imagined; the variance falls
as one over their number, and what falls faster is then overstated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.errors import DataError, ParameterError
from ogive.kernels.surface import vus
from ogive.local.classes import PublicClasses
from ogive.local.tree import TreeOracle
from ogive.noise import KeyedSource
from ogive.statistics.pairwise.generic import on_simplex
from ogive.statistics.pairwise.laws import law_of

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

MOST_RESAMPLES = 10_000
# bytes of imagined reports in one resample
_MOST_BYTES = 1 << 20
_SEED = 0x767573


@dataclass(frozen=True)
class LocalVus:
    """A volume and its error.

    Fields:
        value: Unbiased estimate; noise may take it out of [0, 1].
        variance: Bootstrap estimate of the variance of the randomization, given the records.
        sampling_variance: Bootstrap estimate of the variance of the records' own volume around the population's.
        records: Number of reports of each class.
    """

    value: float
    variance: float
    sampling_variance: float
    records: tuple[int, ...]

    @property
    def standard_error(self) -> float:
        """Of the randomization."""
        return math.sqrt(self.variance)


def volume(oracle: Any, sums: Int64, *, resamples: int = 100) -> LocalVus:
    """Estimate the volume under the ROC surface of two or more public classes.

    Args:
        oracle: `PublicClasses` over "krr", "unary", "haar" or "tree"; classes in the order that scores should have.
        sums: Of reports, of the oracle's shape.
        resamples: Imagined collections, 2 to 10 000; the error's own relative error is about 1 / sqrt(2 resamples).

    Raises:
        ParameterError: the oracle is another one, or resamples are out of range.
        DataError: a class has no report.

    Privacy: post-processing of randomized reports; classes are public.

    Source: methods file, section 2.
    """
    if not isinstance(oracle, PublicClasses) or oracle.classes < 2:
        raise ParameterError("a volume under the ROC surface needs reports of two or more public classes")
    if isinstance(resamples, bool) or not isinstance(resamples, int) or not 2 <= resamples <= MOST_RESAMPLES:
        raise ParameterError(f"resamples must be a whole number from 2 to {MOST_RESAMPLES}, got {resamples!r}")
    records = [oracle.inner.reports(each) for each in sums]
    for place, count in enumerate(records):
        if count < 1:
            raise DataError(f"class {place} has no report; each class needs one")
    histograms = np.stack([shares(oracle.inner, each) for each in sums])
    randomized, sampled = _resampled(oracle, histograms, records, resamples)
    return LocalVus(vus(histograms), randomized, sampled, tuple(records))


def shares(inner: Any, sums: Int64) -> Float64:
    """Unbiased shares of one class in all symbols, shape (size,); what only fills the domain up has none.

    Raises:
        ParameterError: the leaves of a tree are too many to be counted.
    """
    if isinstance(inner, TreeOracle):
        if inner.tallied < inner.levels:
            raise ParameterError(f"a tree of {inner.padded} leaves is too large for histograms; use 2^20 at most")
        return np.asarray(inner.counts(sums)[-1][: inner.size] / inner.reports(sums), dtype=np.float64)
    law = law_of(inner)
    return np.asarray(law.counts(sums)[: inner.size] / law.records(sums), dtype=np.float64)


def _resampled(oracle: PublicClasses, histograms: Float64, records: list[int], resamples: int) -> tuple[float, float]:
    """Variances of the randomization and of the sampling."""
    generator, source = np.random.default_rng(_SEED), KeyedSource.from_seed(_SEED)
    size = oracle.inner.size
    laws = [on_simplex(each, size) for each in histograms]
    part = min(1.0, _MOST_BYTES / (oracle.payload_bytes * sum(records)))
    people = [max(_least(oracle.inner), math.ceil(part * count)) for count in records]
    part = min(1.0, max(fewer / count for fewer, count in zip(people, records, strict=True)))
    differences, drawn = [], []
    for _ in range(resamples):
        exact, noisy = [], []
        for law, count in zip(laws, people, strict=True):
            counts = generator.multinomial(count, law)
            symbols = generator.permutation(np.repeat(np.arange(size, dtype=np.int64), counts))
            numbers = np.arange(count, dtype=np.int64)
            sums = np.zeros(oracle.inner.shape, dtype=np.int64)
            oracle.inner.add(sums, numbers, oracle.inner.randomize(symbols, numbers, source=source))
            exact.append(counts / count)
            noisy.append(shares(oracle.inner, sums))
        drawn.append(vus(np.stack(exact)))
        differences.append(vus(np.stack(noisy)) - drawn[-1])
    return part * float(np.mean(np.square(differences))), part * float(np.var(drawn, ddof=1))


def _least(inner: Any) -> int:
    """So many people that every level of a tree is asked."""
    return 2 * inner.levels if isinstance(inner, TreeOracle) else 1
