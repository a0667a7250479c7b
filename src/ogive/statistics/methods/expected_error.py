"""How far off a curve will be, from public quantities alone.

The error of a method that approximates depends on the shape of the data, so it is taken on public shapes
(`reference_shapes`). Two errors are predicted: the energy distance from the population, sqrt(2 * integral of the
squared difference), in units of the distance between the bounds along the axis of the bins' numbers, so that sampling
counts as well as noise and bias; and the largest error at any threshold (KS) against the records themselves.

Records are imagined from fixed public random numbers, noised, and smoothed as a release would be: what smoothing
does to the noise is measured and not guessed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.errors import ParameterError
from ogive.noise.base import Law
from ogive.noise.simulated import draw_public
from ogive.privacy import Adjacency
from ogive.statistics.methods.base import CurveTask
from ogive.statistics.methods.reference_shapes import SEED, USUAL, Expected, Shapes, energy_distances
from ogive.strategies import Strategy
from ogive.strategies.base import approximates
from ogive.strategies.smoothing import default_smoothing, smooth

_WIDE = 64.0  # variance from which a rounded normal number stands for discrete Gaussian noise


def typical(energies: Sequence[float]) -> float:
    """Geometric mean over the shapes; 0 where no shape has an error."""
    if not any(energies):
        return 0.0
    return math.exp(sum(math.log(max(energy, 1e-150)) for energy in energies) / len(energies))


@lru_cache(maxsize=512)
def simulated_errors(strategy: Any, records: int, *, total_known: bool, shapes: Shapes) -> Expected:
    """Predicted errors of the smoothed curve of a strategy.

    Args:
        strategy: What would be measured.
        records: Number of records, or a public guess of it.
        total_known: Whether that number is public.
        shapes: What the records look like.
    """
    counts = shapes.counts(strategy.size, records)
    random = np.random.Generator(np.random.PCG64([SEED, 1]))
    total = records if total_known else None
    curves = np.array([[simulated_curve(strategy, run, total, random) for run in runs] for runs in counts])
    return shapes.errors(curves, counts)


@lru_cache(maxsize=512)
def noise_energy(strategy: Any, records: int, *, total_known: bool) -> float:
    """What the noise alone adds to the error of a strategy's smoothed curve, in the same units.

    The energy distance of a smoothed noisy curve from the smoothed one without noise, of the same records.
    """
    counts = USUAL.counts(strategy.size, records)
    random = np.random.Generator(np.random.PCG64([SEED, 2]))
    total = records if total_known else None
    noisy, exact = (
        np.array([[simulated_curve(strategy, run, total, each) for run in runs] for runs in counts])
        for each in (random, None)
    )
    return typical(energy_distances(noisy, exact))


def simulated_curve(
    strategy: Strategy, counts: Int64, total: int | None, random: np.random.Generator | None
) -> Float64:
    """The smoothed shares of one imagined release, shape (N,); without noise where there is no generator."""
    answer = strategy.measure(counts)
    if random is not None:
        answer = answer + strategy.spread(
            tuple(public_noise(level.law, level.nodes, random) for level in strategy.levels)
        )
    elif not approximates(strategy):
        return shares(np.cumsum(counts).astype(np.float64))
    return shares(smooth(strategy, answer, total=total, kind=default_smoothing(strategy)))


def shares(cumulative: Float64) -> Float64:
    """A curve of shares from cumulative counts; all at the last threshold where there are none."""
    last = cumulative[-1]
    curve = np.minimum(cumulative / last, 1.0) if last > 0 else np.zeros(len(cumulative))
    curve[-1] = 1.0
    return curve


def public_noise(law: Law, size: int, random: np.random.Generator) -> Int64:
    """Noise of that law for a prediction, quickly: rounded normal numbers for wide Gaussian noise."""
    if getattr(law, "sigma", None) is not None and law.variance >= _WIDE:
        return np.rint(random.normal(0.0, math.sqrt(law.variance), size)).astype(np.int64)
    drawn: Int64 = draw_public(law, (1, size), random)[0]
    return drawn


def strategy_errors(strategy: Strategy, task: CurveTask, shapes: Shapes, records: int) -> Expected:
    """Predicted errors of a strategy's smoothed curve of so many records, under the terms of a task."""
    hashable: Any = task.terms.noise_of(strategy)
    known = task.terms.adjacency is Adjacency.REPLACE
    return simulated_errors(hashable, records, total_known=known, shapes=shapes)


def guessed(task: CurveTask) -> int:
    """The number of records that a prediction is for.

    Raises:
        ParameterError: it is neither public nor guessed.
    """
    if task.records is None:
        raise ParameterError(
            "the number of records is private, so the error of this method is not predicted; "
            "give a public guess as `expected_records`"
        )
    return max(1, task.records)
