"""What approximating strategies have measured, as linear facts about the histogram.

With x the histogram (N bins), y the noisy measurements, A the features and e the noise,

    y = A x + e,   so   |(y - A x)_m| <= q sd(e_m) for all m at once, with probability 1 - a,

where q is the 1 - a quantile of max_m |e_m| / sd(e_m), found by simulation from public random numbers. The noise does
not depend on the records, so this holds for every data set.

Measurements of disjoint records add up, and so does their noise (`SummedApproximations`). Where the parts' features
have different numbers of fractional bits, those of one part differ from the sum's by rounding: by `slack_m` per record.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.errors import ParameterError
from ogive.noise.simulated import draw_public
from ogive.progress import Progress
from ogive.statistics.confidence import simulations_needed
from ogive.strategies import Approximating
from ogive.strategies.summed import SummedApproximations

SIMULATIONS = 9999
_SEED = 0x636F6D6D6F6E  # public and fixed, so that two bands of one curve come from one simulation
_BATCH_VALUES = 1 << 21
_KEPT = 16


@dataclass(frozen=True, eq=False)
class Measured:
    """Noisy linear measurements of one histogram, each on the scale where the largest feature is 1.

    Fields:
        features: What one record in each bin adds, A, shape (M, N).
        answer: What was measured, y, shape (M,).
        slack: How much one record may add beside its features, shape (M,).
        noise: Simulated errors e, shape (simulations, M).
    """

    features: Float64
    answer: Float64
    slack: Float64
    noise: Float64


def simulations_for(strategy: Approximating, level: Fraction) -> int:
    """Simulations for a band of that level, for sample and population alike.

    Raises:
        ParameterError: the level takes too many.
    """
    nodes = sum(part.nodes for part in strategy.levels)
    return simulations_needed(level, share=Fraction(1, 2), nodes=nodes, usual=SIMULATIONS)


def common_measurements(
    strategy: Approximating, measured: Int64, *, simulations: int, progress: Progress | None = None
) -> Measured:
    """Bring the measurements of a strategy to the scale of its features, and simulate their noise.

    Raises:
        ParameterError: there are not as many measurements as the strategy takes.
    """
    features = strategy.features
    if len(features) != len(measured):
        raise ParameterError(f"this strategy measures {len(features)} numbers, but the curve holds {len(measured)}")
    unit = np.abs(features).max(axis=1).astype(np.float64)
    unit[unit == 0] = 1.0
    noise = _simulated_noise(strategy, simulations, progress)
    return Measured(features / unit[:, np.newaxis], measured / unit, _rounding(strategy) / unit, noise / unit)


def _rounding(strategy: Approximating) -> Float64:
    """How far a part's features, on the sum's scale, are from those of the sum, per measurement."""
    largest = np.zeros(len(strategy.features))
    if isinstance(strategy, SummedApproximations):
        for part, shift in set(zip(strategy.parts, strategy.shifts, strict=True)):
            assert isinstance(part, Approximating)
            apart = np.abs((part.features << shift) - strategy.features).max(axis=1)
            largest = np.maximum(largest, apart)
    return largest


_kept: OrderedDict[tuple[Approximating, int], Float64] = OrderedDict()


def _simulated_noise(strategy: Approximating, simulations: int, progress: Progress | None) -> Float64:
    """Errors of the measurements in simulated releases, shape (simulations, M); kept for the strategies used last."""
    key = (strategy, simulations)
    if key in _kept:
        _kept.move_to_end(key)
        return _kept[key]
    random = np.random.Generator(np.random.PCG64(_SEED))
    batches = []
    step = max(1, _BATCH_VALUES // sum(level.nodes for level in strategy.levels))
    for start in range(0, simulations, step):
        rows = min(step, simulations - start)
        drawn = tuple(draw_public(level.law, (rows, level.nodes), random) for level in strategy.levels)
        batches.append(strategy.spread(drawn).astype(np.float64))
        if progress is not None:
            progress(start + rows, simulations)
    _kept[key] = np.concatenate(batches)
    while len(_kept) > _KEPT:
        _kept.popitem(last=False)
    return _kept[key]
