"""The bias that randomized rounding leaves in Gini's mean difference, and its correction.

A value between the nodes g and g + h goes to one of them at random, so that its mean stays. The distance of two values
of different cells is then right on average; of two values of the same cell, g + u h and g + v h, it is too large by
2 h min(u, v) (1 - max(u, v)), at most h / 2, and h / 6 on average where values are spread evenly within cells. So the
bias is between 0 and h / 2 times the chance that two records are in one cell, and about a third of the most.

Source: docs/proofs/pairwise.md.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Float64


def same_cell(nodes: Float64) -> Float64:
    """Matrix over nodes whose mean over pairs tells the spacing times the chance that two records share a cell.

    The mass of a cell is taken as the mean of the masses of its two nodes, where the first and the last node,
    which get values from one side alone, count twice: exact for an even distribution, and near it for smooth ones.

    Args:
        nodes: Increasing, at least two, shape (k,).

    Returns:
        Symmetric, shape (k, k): sum over cells of h_l times the product of what both nodes say of the mass of cell l.
    """
    cells, shares = np.diff(nodes), np.zeros((len(nodes) - 1, len(nodes)))
    places = np.arange(len(cells))
    shares[places, places] = shares[places, places + 1] = 0.5
    shares[0, 0] = shares[-1, -1] = 1.0
    found: Float64 = shares.T @ (cells[:, None] * shares)
    return found


def corrected(matrix: Float64, nodes: Float64) -> Float64:
    """Gini's matrix at the nodes without the bias of randomized rounding for smooth data.

    Subtracts a sixth of `same_cell`. Do not use it where records sit on a few values: rounding values on nodes has no
    bias then.

    Args:
        matrix: |g_i - g_j|, shape (k, k).
        nodes: g, shape (k,).
    """
    return matrix - same_cell(nodes) / 6
