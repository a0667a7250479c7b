"""Search spacings and shares for `ogive.strategies.hats` and print its two tables.

For given spacings the mean of the exact variance over sampled points is minimized over the shares
(L-BFGS on their logarithms). The spacings then move by steps on a grid of eight sizes per octave;
levels are added and dropped; each size starts from the one below and from a chain with one level
more. Takes an hour or so for all sizes; pass the largest log2 N as an argument to stop early.
"""

from __future__ import annotations

import itertools
import sys

import numpy as np
from scipy.optimize import minimize

from ogive.strategies.hats import HatSolver

SAMPLES = 512
WORTH = 2e-4
GRID = sorted({round(2 ** (step / 8)) for step in range(8, 8 * 19)})


def optimize_shares(size: int, spacings: tuple[int, ...], total_known: bool) -> tuple[float, np.ndarray]:
    """Least mean variance times epsilon^2 under Laplace noise, and the shares that reach it."""
    points = np.unique(np.linspace(0, size - 1, SAMPLES).astype(np.int64))
    unit = 2 if total_known else 1

    def log_mean(logits: np.ndarray) -> float:
        shares = np.exp(logits) / np.exp(logits).sum()
        variances = 2 * (unit / shares) ** 2
        solver = HatSolver(size, spacings, float(variances[0]), variances[1:])
        return float(np.log(solver.variance_at(points, total_known=total_known).mean()))

    levels = len(spacings) + 1
    options = {"maxiter": 25, "ftol": 1e-7}
    found = minimize(log_mean, np.zeros(levels), method="L-BFGS-B", bounds=[(-3, 3)] * levels, options=options)
    return float(np.exp(found.fun)), np.exp(found.x) / np.exp(found.x).sum()


def neighbors(spacings: tuple[int, ...], size: int) -> list[tuple[int, ...]]:
    """Chains one move away: a spacing shifted, all larger ones shifted together, a level dropped or added."""
    places = [int(np.argmin(np.abs(np.array(GRID) - spacing))) for spacing in spacings]
    moved: set[tuple[int, ...]] = set()
    for i, place in enumerate(places):
        moved.add(spacings[:i] + spacings[i + 1 :])
        for step in (-3, -1, 1, 3):
            if 0 <= place + step < len(GRID):
                moved.add((*spacings[:i], GRID[place + step], *spacings[i + 1 :]))
            if all(0 <= other + step < len(GRID) for other in places[i:]):
                moved.add((*spacings[:i], *(GRID[other + step] for other in places[i:])))
    top = spacings[-1] if spacings else 1
    additions = [round(np.sqrt(a * b)) for a, b in itertools.pairwise(spacings)]
    additions += [round(top * ratio) for ratio in (6, 9, 14, 20)]
    moved |= {tuple(sorted((*spacings, extra))) for extra in additions}
    return sorted(
        chain for chain in moved if list(chain) == sorted(set(chain)) and all(2 <= spacing < size for spacing in chain)
    )


def search(size: int, total_known: bool, start: tuple[int, ...]) -> tuple[float, tuple[int, ...], np.ndarray]:
    """Descend over spacings from `start` until no move helps by more than `WORTH`."""
    tried = {start: optimize_shares(size, start, total_known)}
    best, improved = start, True
    while improved:
        improved = False
        for chain in neighbors(best, size):
            if chain not in tried:
                tried[chain] = optimize_shares(size, chain, total_known)
                if tried[chain][0] < tried[best][0] * (1 - WORTH):
                    best, improved = chain, True
                    break
    return tried[best][0], best, tried[best][1]


def main(largest: int) -> None:
    for name, total_known in (("TOTAL_KNOWN", True), ("TOTAL_UNKNOWN", False)):
        print(f"{name}: dict[int, Design] = {{")
        spacings: tuple[int, ...] = ()
        for power in range(4, largest + 1):
            denser = tuple(
                round(2 ** (power * (level + 1) / (len(spacings) + 2))) for level in range(len(spacings) + 1)
            )
            starts = {spacings, denser}
            mean, spacings, shares = min(
                (search(2**power, total_known, start) for start in starts), key=lambda found: found[0]
            )
            if spacings:
                weights = ", ".join(f"{share:.4f}" for share in shares)
                chain = ", ".join(map(str, spacings)) + ("," if len(spacings) == 1 else "")
                print(f"    {power}: (({chain}), ({weights})),  # {mean:.1f}", flush=True)
        print("}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
