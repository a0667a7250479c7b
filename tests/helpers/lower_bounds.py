"""Least errors of prefix sums that any measurements with Gaussian noise can have, by duality.

If the columns of R are the changes of measurements by a record, M estimates A x without bias, and weights w of bins add
up to 1, then the nuclear norm of A diag(w)^(1/2) is at most |M| max |column|, in Frobenius norm. So every w gives a
lower bound, whatever is measured. For replaced records, w are weights of pairs of bins, and their Laplacian matrix
stands for diag(w).
"""

import numpy as np


def added_or_removed(size, *, steps=20):
    """Lower bound on the root mean square error for noise of variance 1 and columns of norm at most 1."""
    prefixes = np.tril(np.ones((size, size)))
    weights, best = np.full(size, 1 / size), 0.0
    for _ in range(steps):
        _, values, right = np.linalg.svd(prefixes * np.sqrt(weights))
        best = max(best, values.sum() / np.sqrt(size))
        weights = (right**2 * values[:, None]).sum(axis=0)
        weights /= weights.sum()
    return best


def replaced(size, *, steps=40):
    """The same for columns whose differences have norm at most 1, where the total is known."""
    prefixes = np.tril(np.ones((size, size)))[:-1]
    index = np.arange(size)
    weights, best = np.abs(index[:, None] - index) ** 3.0, 0.0
    for _ in range(steps):
        weights /= weights.sum() / 2
        laplacian = np.diag(weights.sum(axis=1)) - weights
        values, vectors = np.linalg.eigh(prefixes @ laplacian @ prefixes.T)
        roots = np.sqrt(np.maximum(values, 1e-12 * values[-1]))
        best = max(best, np.sqrt(np.maximum(values, 0)).sum() / np.sqrt(size))
        slope = prefixes.T @ (vectors / roots) @ vectors.T @ prefixes
        weights = weights * (np.diag(slope)[:, None] + np.diag(slope) - 2 * slope) ** 2
    return best
