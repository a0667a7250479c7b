"""Slow oracles of pairwise statistics: loops over pairs, and cells that are filled with points."""

import itertools
import math
from fractions import Fraction

import numpy as np


def pairs(rows):
    """Every pair i < j of rows, as (1, columns) arrays."""
    return [(rows[i], rows[j]) for i, j in itertools.combinations(range(len(rows)), 2)]


def mean_over_pairs(kernel, rows):
    """The U-statistic as its definition says."""
    return math.fsum(float(kernel(x, y)) for x, y in pairs(rows)) / math.comb(len(rows), 2)


def points_in(lows, highs, count, *, shift=0.5):
    """Points of every cell, (count, cells): evenly inside wide cells; a point over and over."""
    shares = (np.arange(count) + shift) / count
    return lows + (highs - lows) * shares[:, None]


def rows_of(points):
    """Rows of every symbol from points of every column: shape (points, k, columns), columns' points combined."""
    found = []
    for chosen in itertools.product(*points):
        grids = np.meshgrid(*chosen, indexing="ij")
        found.append(np.stack([grid.ravel() for grid in grids], axis=-1))
    return np.array(found)


def integrated(kernel, domain, *, count=40):
    """Mean of a kernel over each pair of cells, by midpoints; no left point is a right one inside a wide cell."""
    cells = [column.cells() for column in domain.columns]
    left = rows_of([points_in(*cell, count) for cell in cells])
    right = rows_of([points_in(*cell, count + 1) for cell in cells])
    total = np.zeros((domain.size, domain.size))
    for x in left:
        for y in right:
            total += kernel(x[:, None], y[None])
    return total / (len(left) * len(right))


def tried_extremes(kernel, domain, *, count=24):
    """Least and largest value of a kernel over each pair of cells, which hold their upper end but not the lower."""
    cells = [column.cells() for column in domain.columns]
    shift = 1e-9
    points = [np.concatenate([points_in(*cell, count, shift=1.0), points_in(*cell, 1, shift=shift)]) for cell in cells]
    rows = rows_of(points)
    least = np.full((domain.size, domain.size), np.inf)
    most = -least
    for x in rows:
        for y in rows:
            values = kernel(x[:, None], y[None])
            least, most = np.minimum(least, values), np.maximum(most, values)
    return least, most


def volume(samples):
    """Volume under the ROC surface by trying every tuple, exactly; m equal scores in a row count 1/m!."""
    total = Fraction(0)
    for scores in itertools.product(*samples):
        if list(scores) == sorted(scores):
            share = Fraction(1)
            for _, run in itertools.groupby(scores):
                share /= math.factorial(len(list(run)))
            total += share
    return total / math.prod(len(sample) for sample in samples)


def debiased(counts, matrix, epsilon):
    """The mean over pairs from counts of k-ary randomized responses, as the methods file says (3.3)."""
    counts = np.asarray(counts, dtype=np.float64)
    records, size = counts.sum(), len(counts)
    beta = size / (size + math.expm1(epsilon))
    shift = np.full(size, beta / size)
    sums = counts - records * shift
    diagonal = counts @ np.diag(matrix) - 2 * counts @ matrix @ shift + records * (shift @ matrix @ shift)
    return (sums @ matrix @ sums - diagonal) / (records * (records - 1) * (1 - beta) ** 2)
