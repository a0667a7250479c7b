"""Exact covariances of estimated means given the records, which releases only estimate."""

from __future__ import annotations

from collections.abc import Sequence

from ogive.core.arrays import Float64
from ogive.statistics.ustatistic.laws import Prepared, ReportLaw
from ogive.statistics.ustatistic.means import _across, _linear, _paired, _sides


def conditional(law: ReportLaw, prepared: Sequence[Prepared], counts: Float64) -> Float64:
    """Covariance of the randomization, given the records.

    Args:
        law: Of the reports.
        prepared: Symmetric matrices in the law's coordinates.
        counts: True counts of symbols, shape (k,); at least two records in all.

    Returns:
        Covariances, shape (m, m), exactly.
    """
    paired, own = _paired(law, prepared, counts)
    return _linear(law, prepared, counts, counts) + 2 * (paired - own)


def two_sample_conditional(
    law: ReportLaw, prepared: Sequence[Prepared], positive: Float64, negative: Float64
) -> Float64:
    """Covariance of the randomization of two-sample means, given the records of both classes.

    Args:
        law: Of the reports.
        prepared: Matrices in the law's coordinates; rows are of the positive class.
        positive: True counts of symbols in the positive class, shape (k,).
        negative: True counts of symbols in the negative class, shape (k,).

    Returns:
        Covariances, shape (m, m), exactly.
    """
    classes = positive, negative
    return _sides(law, prepared, classes, classes) + _across(law, prepared, classes)
