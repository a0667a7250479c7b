"""Means of kernels over pairs of one record of each class, where the classes are public.

Reports of different classes come from different people, so products of their estimated shares are unbiased and there is
no diagonal: a mean is h+'A h-, with rows of A for the positive class.

Source: Bell, Bellet, Gascon and Kulkarni 2020, sections 3.3, 3.4 and 11.2 of this project's account of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ogive.arrays import Float64, Int64
from ogive.errors import DataError, ParameterError, quoted
from ogive.statistics.ustatistic.means.generic import checked_matrices, on_simplex
from ogive.statistics.ustatistic.means.means import Means
from ogive.statistics.ustatistic.means.variance import two_sample_estimated, two_sample_hoeffding
from ogive.statistics.ustatistic.reports.laws import law_of


def means(
    oracle: Any,
    sums: Int64,
    matrices: Sequence[ArrayLike] | Float64,
    spreads: Sequence[ArrayLike] | Float64 | None = None,
) -> Means:
    """Estimate two-sample U-statistics of some kernels from one set of reports.

    Args:
        oracle: `PublicClasses` of two classes over "krr", "unary" or "haar"; class 1 is the positive one.
        sums: Of reports, of the oracle's shape, (2, ...).
        matrices: Kernels between symbols, each of shape (k, k); rows are of the positive class.
        spreads: Squared half-range of each kernel over pairs of symbols, shape (k, k); None where symbols are exact.

    Returns:
        Estimates with their covariances, which take the sizes of the classes as given.

    Raises:
        ParameterError: there are other than two classes, a matrix is of another size, or there are too many symbols.
        DataError: a class has no report.

    Privacy: post-processing of randomized reports; classes are public.
    """
    classes = getattr(oracle, "classes", None)
    if classes != 2:
        raise ParameterError(f"a mean over two samples needs reports of two public classes, got {quoted(classes)}")
    law = law_of(oracle.inner)
    kernels = checked_matrices(law, oracle.inner, matrices, symmetric=False)
    sizes = [law.records(each) for each in sums]
    for name, size in zip(("negative", "positive"), sizes, strict=True):
        if size < 1:
            raise DataError(f"there is no report of the {name} class; a mean over two samples needs one of each")
    shares = [law.counts(each) / size for each, size in zip(sums, sizes, strict=True)]
    negative, positive = (on_simplex(each[: oracle.inner.size], law.size) for each in shares)
    n_negative, n_positive = sizes
    values, prepared = [], []
    for kernel in kernels:
        middle = (kernel.max() + kernel.min()) / 2  # constants cost nothing and need not be rounded
        prepared.append(law.prepare(kernel - middle))
        values.append(middle + shares[1] @ prepared[-1].matrix @ shares[0])
    covariance = two_sample_estimated(
        law,
        prepared,
        (n_positive * shares[1], n_negative * shares[0]),
        (n_positive * positive, n_negative * negative),
    )
    sampling = two_sample_hoeffding([each.matrix for each in prepared], positive, negative, n_positive, n_negative)
    quantization = np.zeros(len(kernels))
    if spreads is not None:
        for place, spread in enumerate(checked_matrices(law, oracle.inner, spreads, symmetric=False)):
            quantization[place] = math.sqrt(max(float(shares[1] @ spread @ shares[0]), 0.0))
    return Means(np.array(values), covariance, sampling, quantization, n_negative + n_positive)
