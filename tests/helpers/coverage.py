"""How many of some intervals or tests at a level are right with near certainty, for simulations of any size."""

from scipy.stats import binom


def fewest(runs: int, level: float = 0.95, *, chance: float = 5e-4) -> int:
    """Hits of intervals of a level, fewer than which there are with less than a chance."""
    return int(binom.ppf(chance, runs, level))


def most(runs: int, level: float = 0.05, *, chance: float = 1.5e-3) -> int:
    """Rejections of tests at a level, more than which there are with at most a chance."""
    return int(binom.isf(chance, runs, level))
