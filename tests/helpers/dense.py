"""Least squares, its covariance and its price by dense linear algebra, for strategies that measure with own noise.

Slow and written without any of the recursions: the measurement matrix is read off unit vectors.
"""

import itertools

import numpy as np


def matrix(strategy):
    """Measurement matrix, shape (M, N), integers."""
    return np.array([strategy.measure(unit) for unit in np.eye(strategy.size, dtype=np.int64)]).T


def noise_variances(strategy):
    """Variance of every measurement's noise, shape (M,)."""
    return np.concatenate([np.full(level.nodes, level.law.variance) for level in strategy.levels])


def prefix_covariance(strategy, *, total_known):
    """Covariance matrix of the best linear unbiased cumulative counts, shape (N, N)."""
    A = matrix(strategy) / np.sqrt(noise_variances(strategy))[:, None]
    covariance = np.linalg.inv(A.T @ A)
    if total_known:
        with_total = covariance.sum(axis=1)
        covariance = covariance - np.outer(with_total, with_total) / with_total.sum()
    prefixes = np.tril(np.ones((strategy.size, strategy.size)))
    return prefixes @ covariance @ prefixes.T


def prefix_estimate(strategy, answer, total):
    """Best linear unbiased cumulative counts by a least-squares solver; a known total is a substitution."""
    root = np.sqrt(noise_variances(strategy))
    A, y = matrix(strategy) / root[:, None], answer / root
    if total is None:
        return np.cumsum(np.linalg.lstsq(A, y, rcond=None)[0])
    # the last bin is the total minus the others
    reduced, rest = A[:, :-1] - A[:, -1:], y - A[:, -1] * total
    others = np.linalg.lstsq(reduced, rest, rcond=None)[0] if strategy.size > 1 else np.zeros(0)
    return np.append(np.cumsum(others), total)


def record_changes(strategy, *, replace):
    """Every change of the measurements when one record is removed or replaced, one per row, zero rows left out."""
    columns = matrix(strategy).T
    if not replace:
        return columns
    return np.array([a - b for a, b in itertools.permutations(columns, 2)])


def levels_of(strategy, change):
    """A change of the measurements cut into levels: pairs (law, change)."""
    ends = np.cumsum([level.nodes for level in strategy.levels])[:-1]
    return [(level.law, part) for level, part in zip(strategy.levels, np.split(change, ends), strict=True)]
