"""Chances that each class wins a noisy plurality, which the package works out only to find costs."""

from __future__ import annotations

import numpy as np

from ogive.core.compiling import njit
from ogive.pate.costs.exact import _complement, _integrand, _tables, _totals


def log_winning(votes, sigma):
    """Ln of the chance that each class wins, for continuous noise; shape (queries, classes) as the votes have."""
    counts = np.asarray(votes, dtype=np.int64)
    tables = _tables(counts, sigma, 0.0)
    found = np.empty(counts.shape)
    for row, out in zip(counts, found, strict=True):
        values, where, times = np.unique(-row, return_inverse=True, return_counts=True)
        out[:] = winning(-values, times, tables)[where.reshape(-1)]
    return found


@njit(error_model="numpy")
def winning(values, times, tables):
    """Ln of the chance of winning of a class with each distinct count."""
    start, total = _totals(values, times, tables)
    scratch = np.empty(2 * (tables.half // tables.stride) + 3)
    result = np.empty(values.size)
    for which in range(values.size):
        _, size, peak = _integrand(values, times, tables, total, start, which, scratch)
        result[which] = peak + tables.log_step + np.log(scratch[:size].sum())
    if times[0] == 1:
        result[0] = _complement(result, times)
    return result
