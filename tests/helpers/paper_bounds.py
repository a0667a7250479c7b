"""Closed forms that the paper prints, against which the bounds of the package are held.

Source: Bell, Bellet, Gascon and Kulkarni 2020, Theorem 3 and Corollaries 1, 4 and 5.
"""

from __future__ import annotations

import math

from scipy.optimize import brentq

from ogive.core.checks import among
from ogive.statistics.ustatistic.trees import TIES, VARIANTS, closed_form_a


def closed_form_bins(records: int, epsilon: float, lipschitz: float = 1.0) -> float:
    """Number of bins of Corollary 1 for small epsilon and many records: n^(1/4) sqrt(L epsilon), not rounded."""
    return records**0.25 * math.sqrt(lipschitz * epsilon)


def root_a(positives: int, negatives: int, c: float, levels: int) -> float:
    """Where the paper's own bound for "half" is least: sqrt(a) (sqrt(a) - 1)^2 = 21 sqrt(2 n c L) / (8 n_min)."""
    n, fewer = positives + negatives, min(positives, negatives)
    target = 21 * math.sqrt(2 * n * c * levels) / (8 * fewer)
    root = brentq(lambda x: x * (x - 1) ** 2 - target, 1.0, 2.0 + target ** (1 / 3) + math.sqrt(target), xtol=1e-14)
    return float(root) ** 2


def boxed_bound(
    positives: int,
    negatives: int,
    c: float,
    levels: int,
    a: float,
    *,
    variant: str = "half",
    ties: str = "half",
    constants: str = "corrected",
) -> float:
    """The bound for two children and v = c n levels in closed form, with B simplified.

    Source: Theorem 3.
    """
    among(constants, "constants", ("corrected", "paper"))
    among(variant, "variant", VARIANTS)
    among(ties, "ties", TIES)
    n, fewer = positives + negatives, min(positives, negatives)
    wide = math.sqrt(2 * n * c * levels) / (math.sqrt(a) - 1)
    extra = 1 / levels if ties == "half" and constants == "corrected" else 0.0
    linear = (2 + extra / 2) * n
    if variant == "zero":
        inner = linear + (8 * a + 2) * fewer + (1 + extra / 2) * wide
    elif constants == "paper":
        inner = linear + (4 * a + 1) * fewer + 21 * wide
    else:
        inner = linear + (4 * a + 1) * fewer + (16 * a + 9 + extra / 2) * wide
    return c * levels**2 * inner / (positives * negatives)


def corollary_bound(
    positives: int, negatives: int, c: float, levels: int, *, variant: str = "half", constants: str = "corrected"
) -> float:
    """The paper's bound at its own threshold, `closed_form_a`, of the squared error of the AUC with strict ties.

    Args:
        positives: Of the larger scores.
        negatives: Of the smaller ones.
        c: Variance of a node, over the class's records and the levels.
        levels: Below the root.
        variant: "half" (Corollary 4) or "zero" (Corollary 5).
        constants: "corrected", or "paper", whose 14 in Corollary 4 is too small for its own Theorem 3.
    """
    a = closed_form_a(positives, negatives, c, levels, variant=variant)
    n, fewer = positives + negatives, min(positives, negatives)
    front = c * levels**2 / (fewer * (n - fewer))
    if variant == "zero":
        return front * ((8 * a + 2) * fewer + 2 * n + math.sqrt(math.sqrt(512 * c * levels * n) * fewer))
    last = 14.0 if constants == "paper" else math.sqrt(168 * math.sqrt(2))
    return front * (2 * n + (4 * a + 1) * fewer + last * math.sqrt(math.sqrt(c * n * levels) * fewer))
