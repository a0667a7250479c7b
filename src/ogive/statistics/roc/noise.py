"""What noise does to the curves of two classes: linear estimates, and simulated releases.

Raw class curves have independent noise of the same law. Three kinds of releases differ in what is known:

    known sizes    public labels under REPLACE: each curve is conditioned on the size of its class
    known sum      private labels under REPLACE: the estimated sizes should add up to n. Half of the excess
                   r = est_0(N) + est_1(N) - n is taken from each size, T_k = est_k(N) - r / 2, and each curve is
                   conditioned on its T_k: est_k(i) - (r / 2) Cov(i, N) / Var(N), the best linear use of n
    nothing known  ADD_OR_REMOVE, or the paper's split budget

Simulations use public, fixed random numbers, apart from every release's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogive.arrays import Float64
from ogive.noise.simulated import draw_public
from ogive.statistics.curve.bands.simultaneous import NoiseMaxima
from ogive.strategies import Strategy

KNOWN_SIZES, KNOWN_SUM, NOTHING_KNOWN = "sizes", "sum", "nothing"

SIMULATED_VALUES = 6_000_000
FEWEST_SIMULATIONS, MOST_SIMULATIONS = 399, 1999
_BATCH_VALUES = 1 << 20
_SEED = 0x726F63  # public and fixed


def default_simulations(strategy: Strategy) -> int:
    """1999 up to some 3000 noise nodes a class, fewer beyond, never below 399."""
    nodes = sum(level.nodes for level in strategy.levels)
    return min(MOST_SIMULATIONS, max(FEWEST_SIMULATIONS, SIMULATED_VALUES // nodes))


def pull_of_total(strategy: Strategy) -> Float64:
    """How much each point of a curve moves with a known total, Cov(i, N) / Var(N), shape (N,); the last is 1."""
    nothing = np.zeros(len(strategy.measure(np.zeros(strategy.size, dtype=np.int64))), dtype=np.int64)
    return strategy.estimate(nothing, 1)


def share_excess(raw: Float64, pull: Float64, total: float) -> Float64:
    """Raw curves of both classes, shape (2, ..., N), corrected so that their sizes add up to a known sum."""
    excess = raw[0, ..., -1] + raw[1, ..., -1] - total
    corrected: Float64 = raw - excess[..., None] / 2 * pull
    return corrected


def pairs_at_ends(negatives: Float64, positives: Float64, positive_when: str) -> Float64:
    """Pairs ranked rightly if all ties were ranked wrongly, and if all were ranked rightly; bilinear, shape (2, ...).

    Whatever the scores within the bins are, the pairs that they rank rightly are between the two.
    """
    steps = np.diff(negatives, axis=-1, prepend=0.0)
    before = np.einsum("...i,...i->...", steps[..., 1:], positives[..., :-1])
    upto = np.einsum("...i,...i->...", steps, positives)
    if positive_when == "low":
        return np.stack([before, upto])
    everything = negatives[..., -1] * positives[..., -1]
    return np.stack([everything - upto, everything - before])


@dataclass(frozen=True, eq=False)
class SimulatedNoise:
    """Functionals of the noise of simulated releases, shape (simulations,) each where nothing else is said.

    Fields:
        maxima: Largest errors of the curve of one class, in records; both classes have the same law.
        ratio_above: Largest error of that curve when the error of its size may be taken away, sign kept,
            max over i of max(e_i, e_i - e_N).
        last: Error of the size of that class.
        pairs: Errors of the numbers of pairs in order with ties ranked wrongly and rightly, shape (2, simulations).
        products: Error of the product of the class sizes.
        null: Error of the pairs in order, ties one half, less that of half of the products, if both classes had the
            distribution of all records.
        bins: Largest error of the records of both classes in one bin.
    """

    maxima: NoiseMaxima
    ratio_above: Float64
    last: Float64
    pairs: Float64
    products: Float64
    null: Float64
    bins: Float64


def simulate_noise(
    strategy: Strategy, curves: Float64, *, known: str, positive_when: str, simulations: int
) -> SimulatedNoise:
    """Draw the noise of whole releases around given curves and keep what bands and intervals need.

    Args:
        strategy: What was measured of each class.
        curves: Cumulative counts of negatives and positives that stand in for the true ones, shape (2, N).
        known: KNOWN_SIZES, KNOWN_SUM or NOTHING_KNOWN.
        positive_when: "high" or "low".
        simulations: Number of releases to simulate.
    """
    random = np.random.Generator(np.random.PCG64(_SEED))
    above, either, ratio, ratio_above, last, products, null, bins = (np.empty(simulations) for _ in range(8))
    pairs = np.empty((2, simulations))
    nodes = sum(level.nodes for level in strategy.levels)
    batch = max(1, _BATCH_VALUES // nodes)
    pull = pull_of_total(strategy) if known == KNOWN_SUM else None
    true_pairs = pairs_at_ends(curves[0], curves[1], positive_when)[:, None]
    true_product = curves[0, -1] * curves[1, -1]
    alike = _alike(curves)
    for start in range(0, simulations, batch):
        rows = min(batch, simulations - start)
        here = slice(start, start + rows)
        errors = np.empty((2, rows, strategy.size))
        for k in range(2):
            noise = tuple(draw_public(level.law, (rows, level.nodes), random) for level in strategy.levels)
            errors[k] = strategy.estimate(strategy.spread(noise), 0 if known == KNOWN_SIZES else None)
        if pull is not None:
            errors = share_excess(errors, pull, 0.0)
        highest, lowest = errors[0].max(axis=-1), errors[0].min(axis=-1)
        last[here] = size = errors[0, :, -1].copy()
        above[here] = np.maximum(highest, 0)
        either[here] = np.maximum(highest, -lowest)
        ratio[here] = np.maximum(either[here], np.maximum(highest - size, size - lowest))
        ratio_above[here] = np.maximum(highest, highest - size)
        bins[here] = np.abs(np.diff(errors[0] + errors[1], prepend=0.0, axis=-1)).max(axis=-1)
        same = errors + alike[:, None, :]
        null[here] = pairs_at_ends(same[0], same[1], positive_when).mean(axis=0) - same[0, :, -1] * same[1, :, -1] / 2
        errors += curves[:, None, :]
        pairs[:, here] = pairs_at_ends(errors[0], errors[1], positive_when) - true_pairs
        products[here] = errors[0, :, -1] * errors[1, :, -1] - true_product
    return SimulatedNoise(NoiseMaxima(above, either, ratio), ratio_above, last, pairs, products, null, bins)


def _alike(curves: Float64) -> Float64:
    """Curves of both classes, of the sizes that they have, if both had the distribution of all records."""
    sizes = curves[:, -1]
    whole = float(sizes.sum())
    return np.outer(sizes, curves.sum(axis=0) / whole) if whole > 0 else curves
