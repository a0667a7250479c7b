"""Volume under the ROC surface of K ordered classes: how often one score of each class is in the right order.

With K = 2 this is the AUC. Of m consecutive classes with one score, one of the m! orders is right, so ties count
1/m!. It is not a statistic of pairs: it needs one histogram of each class. `vus` is linear in every one of them, so
independent unbiased histograms give an unbiased volume.

Source:
    Methods file, section 2: the recursion over bins, and its tree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ogive.columns import Domain
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import array_of, refuse_masked
from ogive.errors import DataError, ParameterError, quoted
from ogive.kernels.base import BITS, Scale, finite_rows
from ogive.kernels.cells import check_count
from ogive.kernels.triples import NoPairs


def vus(histograms: ArrayLike) -> float:
    """Volume under the surface of one histogram of each class, lowest class first, in O(K^2 k).

    Args:
        histograms: Shares of each class in each bin of the score, shape (K, k), rows that add up to 1. Noisy shares may
            be negative.

    Returns:
        Probability that one score of each class is in the order of the classes; 1/K! for uninformative scores.

    Raises:
        ParameterError: there are fewer than two classes, or a share is not finite.

    Example:
        >>> round(vus([[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0, 0.5, 0, 0.5]]), 6)
        0.520833
    """
    shares = _checked(histograms)
    return float(_forward(shares, _orders(len(shares)))[-1, -1])


def vus_extremes(histograms: ArrayLike, wide: ArrayLike) -> tuple[float, float]:
    """Smallest and largest volume if scores may lie anywhere in some bins.

    Scores of a row of classes that share such a bin are all in order, or none are. In other bins they are equal.

    Args:
        histograms: As of `vus`.
        wide: Whether each bin holds more than one score, shape (k,).

    Raises:
        ParameterError: as `vus`.

    Example:
        >>> vus_extremes([[0.5, 0.5], [0.5, 0.5]], np.array([True, True]))
        (0.25, 0.75)
    """
    shares = _checked(histograms)
    orders = _orders(len(shares))
    if np.shape(wide) != shares.shape[1:]:
        raise ParameterError(
            f"`wide` must say of each of {shares.shape[1]} bins whether it is, got shape {np.shape(wide)}"
        )
    open_rows = np.asarray(wide, dtype=np.bool_) & (orders < 1)
    least, largest = (float(_forward(shares, np.where(open_rows, each, orders))[-1, -1]) for each in (0.0, 1.0))
    return least, largest


def vus_gradient(histograms: ArrayLike) -> Float64:
    """Derivative of `vus` in every share, shape (K, k), for the delta method.

    Raises:
        ParameterError: as `vus`.
    """
    shares = _checked(histograms)
    classes = len(shares)
    orders = _orders(classes)
    before, after = _forward(shares, orders), _forward(shares[::-1, ::-1], orders)[::-1, ::-1]
    gradient = np.zeros_like(shares)
    for start in range(classes):
        for end in range(start + 1, classes + 1):
            # classes start..end - 1 share one bin
            outside = before[:-1, start] * after[1:, end] / math.factorial(end - start)
            for number in range(start, end):
                others = [other for other in range(start, end) if other != number]
                gradient[number] += outside * np.prod(shares[others], axis=0)
    return gradient


def vus_tree(histograms: ArrayLike) -> float:
    """The same volume from the tree of the bins, whose nodes are sums of their children: K (K + 1)/2 sums a node.

    The number of bins is padded with empty bins to a power of two.

    Raises:
        ParameterError: as `vus`.
    """
    shares = _checked(histograms)
    classes, bins = shares.shape
    size = 1 << (bins - 1).bit_length()
    shares = np.concatenate([shares, np.zeros((classes, size - bins))], axis=1)
    # ordered[first, last, node]: chance that scores of these classes are all in the node and in order
    ordered = np.zeros((classes, classes, size))
    for first in range(classes):
        product = np.ones(size)
        for last in range(first, classes):
            product = product * shares[last]
            ordered[first, last] = product / math.factorial(last - first + 1)
    while size > 1:
        size //= 2
        left, right = ordered[..., 0::2], ordered[..., 1::2]
        above = left + right
        for first in range(classes):
            for last in range(first + 1, classes):
                for cut in range(first, last):
                    above[first, last] += left[first, cut] * right[cut + 1, last]
        ordered = above
    return float(ordered[0, classes - 1, 0])


def exact_vus(scores: ArrayLike, classes: ArrayLike, count: int | None = None) -> float:
    """Volume under the surface of exact scores, in O(n log n).

    Args:
        scores: Shape (n,).
        classes: Of each record, 0..count-1, in the order that scores should have; shape (n,).
        count: Number of classes; None takes the largest class that occurs.

    Raises:
        DataError: a class has no record, or a score is not finite.
        ParameterError: there are fewer than two classes, or a class outside 0..count-1, or not one for each score.
    """
    counts = class_counts(scores, classes, count)
    return vus(counts / counts.sum(axis=1, keepdims=True))


def class_counts(scores: ArrayLike, classes: ArrayLike, count: int | None = None) -> Int64:
    """Records of each class at each score that occurs, scores in order; shape (count, scores)."""
    scores, classes = finite_rows(np.reshape(scores, (-1, 1)), 1)[:, 0], array_of(classes)
    if classes.shape != scores.shape:
        raise ParameterError(f"give the class of each of {len(scores)} scores, got {classes.size} classes")
    if len(classes) and not np.issubdtype(classes.dtype, np.integer):
        raise ParameterError(f"`classes` must be whole numbers, got an array of {classes.dtype}")
    number = int(classes.max(initial=0)) + 1 if count is None else count
    if len(classes) and not 0 <= classes.min() <= classes.max() < number:
        raise ParameterError(f"`classes` must be whole numbers from 0 to {number - 1}")
    places = np.unique(scores, return_inverse=True)[1]
    values = int(places.max(initial=0)) + 1
    counts = np.bincount(classes * values + places, minlength=number * values).reshape(number, values)
    empty = np.flatnonzero(counts.sum(axis=1) == 0)
    if empty.size:
        raise DataError(f"class {int(empty[0])} has no record; each class needs one")
    return counts.astype(np.int64)


def count_in_order(counts: Int64) -> int:
    """Exact sum over all tuples of one record of each class, in units of 1/K!.

    Args:
        counts: Records of each class at each score, shape (K, scores).
    """
    classes, values = counts.shape
    # found[m]: m! times the sum for the first m classes, over scores below each one
    results = [np.full(values + 1, 1, dtype=object)]
    for last in range(1, classes + 1):
        steps = np.zeros(values, dtype=object)
        product = np.ones(values, dtype=object)
        for first in range(last - 1, -1, -1):
            product = product * counts[first].astype(object)
            steps = steps + math.comb(last, first) * results[first][:-1] * product
        results.append(np.concatenate([np.zeros(1, dtype=object), np.cumsum(steps)]))
    return int(results[-1][-1])


def _checked(histograms: ArrayLike) -> Float64:
    refuse_masked(histograms)
    try:
        shares = np.asarray(histograms, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("`histograms` must be numbers, as many for each class") from None
    if shares.ndim != 2 or shares.shape[0] < 2 or shares.shape[1] < 1:
        raise ParameterError("`histograms` must be one row of shares for each of at least two classes")
    if not np.isfinite(shares).all():
        raise ParameterError("shares of bins must be finite numbers")
    return shares


def _orders(classes: int) -> Float64:
    """What m classes in a row in one bin weigh, of which one of m! orders is right; shape (K, 1)."""
    return np.array([[1 / math.factorial(number + 1)] for number in range(classes)])


def _forward(shares: Float64, orders: Float64) -> Float64:
    """F[b, m]: chance that scores of the first m classes are in bins below b and in order; shape (k + 1, K + 1).

    Row m - 1 of `orders` is what m classes in a row in a bin weigh, for each bin or for all.
    """
    classes, bins = shares.shape
    result = np.zeros((bins + 1, classes + 1))
    result[:, 0] = 1.0
    for last in range(1, classes + 1):
        steps = np.zeros(bins)
        product = np.ones(bins)
        for first in range(last - 1, -1, -1):
            product = product * shares[first]
            # the chance for the first classes was found in an earlier turn, for all bins at once
            steps += result[:-1, first] * product * orders[last - first - 1]
        result[1:, last] = np.cumsum(steps)
    return result


# --- The kernel: one score of each class, in the right order or not

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


def _given(classes: Int64 | None) -> Int64:
    if classes is None:
        raise ParameterError("a volume under the ROC surface needs the class of each record")
    return classes
