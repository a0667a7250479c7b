"""Least-squares trees smoothed in the norm of their own noise."""

from __future__ import annotations

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.strategies.tree.least_absolute import smooth_tree_absolute
from ogive.strategies.tree.least_squares import smooth_tree
from ogive.strategies.tree.strategy import LeastSquaresTree


def nearest_tree(strategy: LeastSquaresTree, answer: Int64, total: int | None, kind: str, *, bits: int = 0) -> Float64:
    """The histogram of bins at least 0 that is nearest to an answer, by "least_squares" or "least_absolute".

    Args:
        strategy: The blocks, with the noise of the answer as it stands.
        answer: Noisy counts of the blocks times 2^bits, shape (M,).
        total: The number of records where it is public, else None.
        kind: Which distance.
        bits: Fractional bits of the answer.
    """
    known = None if total is None else float(total)
    values = np.ldexp(answer.astype(np.float64), -bits)
    variances = np.ldexp(np.array([level.law.variance for level in strategy.levels]), -2 * bits)
    blocks, sizes = np.array(strategy.blocks), np.array([level.nodes for level in strategy.levels])
    if kind == "least_squares":
        return smooth_tree(values, blocks, sizes, variances, total=known)
    return smooth_tree_absolute(values, blocks, sizes, 1.0 / np.sqrt(variances), total=known)
