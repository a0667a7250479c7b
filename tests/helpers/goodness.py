"""Goodness of fit of integer samplers to exact laws.

Level: a test passes while its p-value is above 1e-9, so that in ten thousand tests a false alarm has a
chance of one in a hundred thousand, and fixed seeds make even that one repeatable. Every user of these helpers
also runs two controls, noise 7 % too small and 7 % too large, which must fall below the level.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import mpmath
import numpy as np
from scipy import stats

LEVEL = 1e-9
CONTROL = Fraction(107, 100)


def controls(scale: Fraction) -> tuple[Fraction, Fraction]:
    """A scale that is 7 % too small and one that is 7 % too large."""
    return scale / CONTROL, scale * CONTROL


def fit(draws: np.ndarray, edges: Sequence[int], probabilities: Sequence[float]) -> float:
    """P-value of the G-test that draws follow a law.

    Args:
        draws: Integers.
        edges: Increasing integers that cut the line into len(edges) + 1 cells; a cell starts at its edge.
        probabilities: Exact chance of each cell; each must expect at least 10 draws.
    """
    expected = np.asarray(probabilities, float) * draws.size
    assert abs(expected.sum() / draws.size - 1) < 1e-9, "cell probabilities must sum to 1"
    assert expected.min() >= 10, f"a cell expects only {expected.min():.3g} draws"
    observed = np.bincount(np.searchsorted(edges, draws, side="right"), minlength=len(edges) + 1)
    return float(stats.power_divergence(observed, expected, lambda_="log-likelihood").pvalue)


def same(first: np.ndarray, second: np.ndarray, cells: int = 40) -> float:
    """P-value of the G-test that two samples of integers come from one law, whatever it is."""
    pooled = np.sort(np.concatenate([first, second]))
    edges = np.unique(pooled[np.linspace(0, pooled.size - 1, cells + 1).astype(int)[1:-1]])
    table = [np.bincount(np.searchsorted(edges, x, side="right"), minlength=edges.size + 1) for x in (first, second)]
    counts = np.array(table)[:, np.sum(table, axis=0) >= 20]
    assert counts.shape[1] >= 2, "both samples lie in one cell"
    return float(stats.chi2_contingency(counts, correction=False, lambda_="log-likelihood").pvalue)


def cut(below: Callable[[int], mpmath.mpf], width: float, draws: int, cells: int = 40) -> tuple[list[int], list[float]]:
    """Edges and exact cell probabilities of a law on the integers that is symmetric about 0.

    Args:
        below: Exact chance of a value below an integer.
        width: About the standard deviation.
        draws: Cells that would expect fewer than 20 of so many are merged.
        cells: About how many are wanted.
    """
    grid = sorted({round(width * 6 * (i / cells) ** 3 * 8) for i in range(-cells // 2, cells // 2 + 1)} | {0, 1})
    edges: list[int] = []
    chances: list[float] = []
    last = mpmath.mpf(0)
    for edge in grid:
        chance = below(edge)
        if (chance - last) * draws >= 20 and (1 - chance) * draws >= 20:
            edges.append(edge)
            chances.append(float(chance - last))
            last = chance
    return edges, [*chances, float(1 - last)]


def below_laplace(scale: Fraction) -> Callable[[int], mpmath.mpf]:
    """Exact chance of a discrete Laplace value below an integer."""
    ratio = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)

    def below(edge: int) -> mpmath.mpf:
        if edge <= 0:
            return ratio ** (1 - edge) / (1 + ratio)
        return 1 - ratio**edge / (1 + ratio)

    return below


def below_geometric(scale: Fraction) -> Callable[[int], mpmath.mpf]:
    """Exact chance of a geometric value below an integer."""
    ratio = mpmath.exp(-mpmath.mpf(scale.denominator) / scale.numerator)
    return lambda edge: mpmath.mpf(0) if edge <= 0 else 1 - ratio**edge


def below_gaussian(sigma: Fraction) -> Callable[[int], mpmath.mpf]:
    """Exact chance of a discrete Gaussian value below an integer; from sigma = 300 on to within 1e-6 of it."""
    width = mpmath.mpf(sigma.numerator) / sigma.denominator
    if sigma >= 300:
        # the midpoint rule: off by at most 1 / (24 sigma^2) of the curvature
        return lambda edge: mpmath.ncdf((edge - mpmath.mpf(1) / 2) / width)
    reach = int(14 * sigma) + 2
    return below_table({k: mpmath.exp(-((k / width) ** 2) / 2) for k in range(-reach, reach + 1)})


def below_table(weights: dict[int, mpmath.mpf]) -> Callable[[int], mpmath.mpf]:
    """Chance of a value below an integer, from weights that need not sum to 1."""
    total = mpmath.fsum(weights.values())
    running = mpmath.mpf(0)
    sums = {}
    for value in sorted(weights):
        sums[value] = running / total
        running += weights[value]
    low, high = min(sums), max(sums)
    return lambda edge: mpmath.mpf(0) if edge < low else mpmath.mpf(1) if edge > high else sums[edge]


def difference_table(chances: Sequence[mpmath.mpf], reach: int) -> dict[int, mpmath.mpf]:
    """Law of X - Y on [-reach, reach] for independent X, Y with the given chances of 0, 1, 2, ..."""
    half = [mpmath.fsum(a * b for a, b in zip(chances, chances[k:], strict=False)) for k in range(reach + 1)]
    return {k: half[abs(k)] for k in range(-reach, reach + 1)}
