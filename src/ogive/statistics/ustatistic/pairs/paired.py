"""Means over some pairs of people, and their error, from the noisy values that the pairs gave out.

The mean of unbiased values w over N pairs varies with the noise, with who met whom, and with who the people are. Values
of two pairs without a common person are independent, so all of it is in the products of pairs that share one:

    sum over related pairs a, b of (w_a - m)(w_b - m) / (N^2 - R),

R being how many ordered pairs of pairs are related, each with itself among them; the divisor counts that m is estimated
too. Of disjoint pairs it is the variance of a mean. What part of it the sample has is told by pairs that share one
person: noise of different pairs is independent, so that their products estimate the covariance of the kernel.

Source:
    `docs/proofs/pairs.md`; Blom 1976; Aronow, Samii and Assenova 2015 on variances of dyadic data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.pairs import Design
from ogive.pairs.design import pair_keys


@dataclass(frozen=True)
class PairedMeans:
    """Means of some kernels over pairs of people.

    Fields:
        values: Shape (m,).
        variance: Covariance around the population's means, shape (m, m).
        sampling: The part of it that the statistic of all pairs of these people has, as far as pairs tell: nothing
            where nobody was in two pairs; shape (m, m).
    """

    values: Float64
    variance: Float64
    sampling: Float64


def paired_means(design: Design, values: Float64, *, people: Sequence[int]) -> PairedMeans:
    """The means of values of shape (pairs, m), with their errors.

    Args:
        design: Who met whom; two pairs at least.
        values: Unbiased values of each pair.
        people: How many there are, also in no pair; between classes of the one that is first in pairs, and of the
            other.
    """
    count = len(design)
    means = values.mean(axis=0)
    centred = values - means
    own = centred.T @ centred
    repeated = _group_products(pair_keys(design.pairs, design.users), centred)
    shared: list[Float64]
    met: list[Int64]
    if design.between:
        shared = [_group_products(design.pairs[:, side], centred) - repeated for side in (0, 1)]
        met = [design.first_degrees, design.second_degrees]
    else:
        ends = np.concatenate([design.pairs[:, 0], design.pairs[:, 1]])
        shared = [_group_products(ends, np.concatenate([centred, centred])) - 2 * repeated]
        met = [design.degrees]
    repeats = _squares(np.unique(pair_keys(design.pairs, design.users), return_counts=True)[1].astype(np.int64))
    related = [_squares(degrees) - (1 if design.between else 2) * repeats for degrees in met]
    # what pairs that share nobody would have: no sharing makes it less
    floor = own / (count * max(1, count - 1))
    every = count**2 - repeats - sum(related)
    variance = floor
    if every > 0:
        variance = floor + _positive((repeated + sum(shared)) / every - floor)
    sampling = np.zeros_like(floor)
    for products, pairs, size in zip(shared, related, people, strict=True):
        if pairs:
            covariance = _positive(products / pairs + variance)  # products around the mean lack its variance
            sampling += covariance * ((1 if design.between else 4) / size)
    return PairedMeans(means, variance, _at_most(sampling, variance))


def _group_products(keys: Int64, values: Float64) -> Float64:
    """Sum over groups of the outer square of the sum of a group's values, shape (m, m)."""
    groups = np.unique(keys, return_inverse=True)[1]
    sums = [np.bincount(groups, weights=column).astype(np.float64) for column in values.T]
    return np.asarray(np.array(sums) @ np.array(sums).T)


def _squares(counts: Int64) -> int:
    return int(counts @ counts)


def _positive(matrix: Float64) -> Float64:
    """The nearest covariance matrix."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    found: Float64 = (vectors * np.maximum(values, 0)) @ vectors.T
    return found


def _at_most(part: Float64, whole: Float64) -> Float64:
    """The largest share of a covariance matrix that leaves a covariance matrix of the whole."""
    if not part.any():
        return part
    return whole - _positive(whole - part)
