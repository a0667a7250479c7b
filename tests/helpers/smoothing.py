"""Strategies to smooth, and whether a smoothed curve is optimal, by dense algebra.

A strategy is known only through `measure` and `spread`, as matrices: nothing here shares a line
with the algorithms that are tested.
"""

import numpy as np
from scipy.optimize import linprog

from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies import (
    Strategy,
    design_hats,
    design_path,
    design_ring,
    design_square_root,
    design_symmetric_root,
    design_tree,
)

DESIGNS = {
    "path": (design_path, PureDP(1)),
    "path_gaussian": (design_path, ZeroConcentratedDP("0.1")),
    "tree": (design_tree, PureDP(1)),
    "hats": (design_hats, PureDP(1)),
    "square_root": (design_square_root, ZeroConcentratedDP("0.1")),
    "symmetric": (design_symmetric_root, ZeroConcentratedDP("0.1")),
    "ring": (design_ring, ZeroConcentratedDP("0.1")),
}


def designed(name: str, size: int, adjacency: Adjacency) -> Strategy:
    design, privacy = DESIGNS[name]
    return design(size, privacy=privacy, adjacency=adjacency)


def noisy_answer(strategy: Strategy, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    noise = tuple(
        np.rint(rng.laplace(size=level.nodes) * np.sqrt(level.law.variance / 2)).astype(np.int64)
        for level in strategy.levels
    )
    return strategy.measure(counts) + strategy.spread(noise)


def matrices(strategy: Strategy) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Measurements of each bin, contribution of each noise variable, variance of each noise variable."""
    measured = np.column_stack([strategy.measure(unit) for unit in np.eye(strategy.size, dtype=np.int64)])
    columns, variances = [], []
    for at, level in enumerate(strategy.levels):
        for node in range(level.nodes):
            noise = [np.zeros(other.nodes, np.int64) for other in strategy.levels]
            noise[at][node] = 1
            columns.append(strategy.spread(tuple(noise)))
            variances.append(level.law.variance)
    return measured.astype(float), np.column_stack(columns).astype(float), np.array(variances)


def whitened(strategy: Strategy, answer: np.ndarray, points=None) -> tuple[np.ndarray, np.ndarray]:
    """Design matrix on increments of the curve and target, in coordinates where the noise is white."""
    measured, spread, variances = matrices(strategy)
    if points is not None:
        # increments between the wanted points stand for the bins between them
        measured = np.tril(np.ones((len(points), len(points)))) * 2.0**strategy.bits
        spread = spread[points]
    root = np.linalg.inv(np.linalg.cholesky(spread @ np.diag(variances) @ spread.T))
    return root @ measured, root @ answer


def violation(curve, design, target, *, total, boxed=False) -> float:
    """By how much a curve fails the optimality conditions of least squares, relative to the gradient at 0."""
    bins = np.diff(curve, prepend=0.0)
    gradient = design.T @ (design @ bins - target)
    scale = np.abs(design.T @ target).max() + np.abs(design.T @ design).max() + 1e-300
    wrong = [float(-bins.min()) / (1 + abs(curve[-1]))]
    if total is not None:
        slack = total - curve[-1]
        wrong.append(-slack if boxed else abs(slack))
        if total == 0:
            return max(wrong)
        if not boxed or slack <= 1e-9 * total:
            theta = float(bins @ gradient) / float(bins.sum())
            wrong.append(theta / scale if boxed else 0.0)
            gradient = gradient - theta
    positive = bins > 1e-9 * (1 + curve[-1])
    wrong.append(float(-gradient.min()) / scale)
    wrong.append(float(np.abs(gradient[positive]).max(initial=0.0)) / scale)
    return max(wrong)


def cost(strategy: Strategy, answer, *, total=None, curve=None, points=None, boxed=False) -> float:
    """Least sum of |noise| / standard deviation that explains an answer by a valid curve, or by the given one."""
    measured, spread, variances = matrices(strategy)
    if points is not None:
        measured = np.tril(np.ones((len(points), len(points)))) * 2.0**strategy.bits
        spread = spread[points]
    # unknowns: bins, and the noise as a difference of two nonnegative parts in standard deviations
    parts = spread * np.sqrt(variances)
    prices = np.concatenate([np.zeros(measured.shape[1]), np.ones(2 * parts.shape[1])])
    sums = np.concatenate([np.ones(measured.shape[1]), np.zeros(2 * parts.shape[1])])[None]
    rows, right = [np.hstack([measured, parts, -parts])], [np.asarray(answer, dtype=float)]
    above, limit = None, None
    if curve is not None:
        rows, right = [np.hstack([parts, -parts])], [answer - measured @ np.diff(curve, prepend=0.0)]
        prices = np.ones(2 * parts.shape[1])
    elif total is not None and boxed:
        above, limit = sums, [total]
    elif total is not None:
        rows.append(sums)
        right.append([total])
    solved = linprog(prices, A_ub=above, b_ub=limit, A_eq=np.vstack(rows), b_eq=np.concatenate(right))
    assert solved.status == 0, solved.message
    return float(solved.fun)
