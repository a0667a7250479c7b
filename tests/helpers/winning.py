"""Chances that each class wins a noisy plurality, which the package works out only to find costs."""

from __future__ import annotations

import numpy as np

from ogive.pate.costs.exact import _tables, winning


def log_winning(votes, sigma):
    """Ln of the chance that each class wins, for continuous noise; shape (queries, classes) as the votes have."""
    counts = np.asarray(votes, dtype=np.int64)
    tables = _tables(counts, sigma, 0.0)
    found = np.empty(counts.shape)
    for row, out in zip(counts, found, strict=True):
        values, where, times = np.unique(-row, return_inverse=True, return_counts=True)
        out[:] = winning(-values, times, tables)[where.reshape(-1)]
    return found
