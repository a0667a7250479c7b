"""The paper's smoothing as printed (Eq. 3), solved by cvxopt as its authors did.

Unknowns are the corrections nu of all nodes of the binary tree. The problems are handed over
with sparse matrices; how the authors handed theirs over is not known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ogive.core.arrays import Float64


def incidence(size: int) -> sparse.csc_array:
    """Which nodes lie above which points, shape (points, nodes), for a power of two of points."""
    points = np.arange(size)
    levels = size.bit_length()
    starts = np.cumsum([0] + [size >> level for level in range(levels)])
    columns = np.concatenate([starts[level] + (points >> level) for level in range(levels)])
    rows = np.tile(points, levels)
    return sparse.csc_array((np.ones(rows.size), (rows, columns)), shape=(size, int(starts[-1])))


def solve_paper(noisy: Float64, power: int, *, top: float = 1.0) -> tuple[Float64, float]:
    """Smooth a noisy distribution function by Eq. 3.

    Args:
        noisy: Noisy values, shape (N,), N a power of two.
        power: 1 (linear program) or 2 (quadratic program).
        top: Largest value that is possible: 1 for frequencies, as in the paper; the number of records
            for counts, which the solver's fixed tolerances suit better.

    Returns:
        The smoothed values, shape (N,), and the sum of |nu|^power.

    Raises:
        ArithmeticError: the solver gave up.
    """
    from cvxopt import matrix, solvers

    above = incidence(noisy.size)
    nodes = above.shape[1]
    # 0 <= f_1, f_i <= f_{i+1}, f_N <= top as  constraints @ nu <= bound  with  f = noisy + above @ nu
    falls = sparse.vstack([-above[[0]], above[:-1] - above[1:], above[[-1]]])
    bound = np.concatenate([[noisy[0]], np.diff(noisy), [top - noisy[-1]]])
    options = {"show_progress": False}
    if power == 2:
        identity = sparse.eye_array(nodes)
        result = solvers.qp(_spmatrix(2 * identity), matrix(np.zeros(nodes)), _spmatrix(falls), matrix(bound),
                           options=options)  # fmt: skip
        corrections = np.array(result["x"]).ravel()
    else:
        # nu = up - down with up, down >= 0
        constraints = sparse.vstack([sparse.hstack([falls, -falls]), -sparse.eye_array(2 * nodes)])
        limits = np.concatenate([bound, np.zeros(2 * nodes)])
        result = solvers.lp(matrix(np.ones(2 * nodes)), _spmatrix(constraints), matrix(limits), options=options)
        both = np.array(result["x"]).ravel()
        corrections = both[:nodes] - both[nodes:]
    if result["status"] != "optimal":
        raise ArithmeticError(f"cvxopt ended with status {result['status']}")
    return noisy + above @ corrections, float((np.abs(corrections) ** power).sum())


def _spmatrix(array: Any) -> Any:
    from cvxopt import spmatrix

    entries = sparse.coo_array(array)
    rows, columns = entries.coords
    return spmatrix(entries.data, rows.tolist(), columns.tolist(), entries.shape)
