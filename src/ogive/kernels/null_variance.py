"""Variances of rank statistics if the null hypothesis holds, with what ties take off them.

If the scores of two classes come from one distribution, every assignment of the classes to the scores is equally
likely, and the number P of pairs that are in order (ties one half) has the variance

    n0 n1 / 12 (n + 1 - sum (t^3 - t) / (n (n - 1))),

t being how many records share a score. If two columns are independent, every permutation of one is equally likely, and
concordant minus discordant pairs S have the variance

    (v(n) - sum v(t) - sum v(u)) / 18 + 2 T2 U2 / (n (n - 1)) + T3 U3 / (9 n (n - 1) (n - 2)),

with v(t) = t (t - 1) (2 t + 5), T2 = sum t (t - 1) / 2, T3 = sum t (t - 1) (t - 2), t and u being the runs of equal
values of both columns.

Ties only make both smaller: P and S are the means of what they would be with all ties broken at random, and a
conditional mean varies no more than what it is the mean of. So where ties are not known the variance without ties is an
upper bound.

Source:
    Lehmann 1975, Nonparametrics; Kendall 1970, Rank correlation methods.
"""

from __future__ import annotations

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.kernels.base import Kernel
from ogive.kernels.ranks import Greater, ScoreOrder, SignProduct


def tie_share(counts: Float64, records: float) -> float:
    """What ties take off the variance of P as a share of it: sum (t^3 - t) / (n^3 - n)."""
    tied = np.maximum(counts, 1.0)
    return min(1.0, float(np.sum(tied**3 - tied)) / max(records**3 - records, 1.0))


def pairs_in_order(negatives: float, positives: float, ties: float = 0.0) -> float:
    """Variance of P for two classes of these sizes; `ties` is the `tie_share`."""
    return negatives * positives * (negatives + positives + 1) / 12 * (1 - ties)


def kendall(records: int, first: Float64 | None = None, second: Float64 | None = None) -> float:
    """Variance of concordant minus discordant pairs; without runs of equal values where these are not given."""
    n = float(records)
    result = _runs(np.array([n])) / 18
    if first is None or second is None:
        return result
    pairs = [float(np.sum(t * (t - 1))) / 2 for t in (first, second)]
    triples = [float(np.sum(t * (t - 1) * (t - 2))) for t in (first, second)]
    result -= (_runs(first) + _runs(second)) / 18
    result += 2 * pairs[0] * pairs[1] / (n * (n - 1))
    return result + (triples[0] * triples[1] / (9 * n * (n - 1) * (n - 2)) if n > 2 else 0.0)


def of_rows(kernel: Kernel, rows: Float64, classes: Int64 | None) -> float | None:
    """Variance of the mean of a kernel over pairs of these rows under the null hypothesis; None of other kernels.

    Args:
        kernel: Of Kendall's tau, or of an AUC in which ties count half.
        rows: Columns of the kernel, shape (n, columns).
        classes: The public class of each row, if there are classes.
    """
    n = len(rows)
    pairs = n * (n - 1) / 2
    if isinstance(kernel, SignProduct):
        return kendall(n, _sizes(rows[:, 0]), _sizes(rows[:, 1])) / pairs**2
    if isinstance(kernel, Greater) and kernel.ties == "half" and classes is not None:
        positives = float(np.count_nonzero(classes))
        product = (n - positives) * positives
        return pairs_in_order(n - positives, positives, tie_share(_sizes(rows[:, 0]), n)) / product**2
    if isinstance(kernel, ScoreOrder) and kernel.ties == "half":
        positives = float(np.count_nonzero(rows[:, 1] == 1))
        return pairs_in_order(n - positives, positives, tie_share(_sizes(rows[:, 0]), n)) / pairs**2
    return None


def _runs(sizes: Float64) -> float:
    return float(np.sum(sizes * (sizes - 1) * (2 * sizes + 5)))


def _sizes(values: Float64) -> Float64:
    return np.unique(values, return_counts=True)[1].astype(np.float64)
