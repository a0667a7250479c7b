"""How far off a curve will be, from public quantities alone.

The error of a way to measure that approximates depends on the shape of the data, so it is taken on seven public
reference shapes, one of which fills a twentieth of bounds that were chosen too wide. `auto` sets aside the ways that
are more than twice as far off as another one on any of them, and of the others takes the one with the smallest
geometric mean: no shape decides because its errors happen to be large, and
no gain on smooth shapes pays for failing on others.

Distances are energy distances from the population, sqrt(2 * integral of the squared difference), in units of the
distance between the bounds along the axis of the bins' numbers, so that sampling counts as well as noise and bias.

Records are imagined from fixed public random numbers, noised, and smoothed as a release would be: what smoothing
does to the noise is measured and not guessed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, ndtr

from ogive.errors import ParameterError
from ogive.noise.base import Law
from ogive.privacy import Adjacency
from ogive.smoothing import default_smoothing, smooth
from ogive.statistics.public_noise import draw_public
from ogive.statistics.recipes import Task
from ogive.strategies import Strategy
from ogive.strategies.base import approximates

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

REFERENCES = ("normal", "beta", "uniform", "exponential", "mixture", "spikes", "narrow")
_SPIKES = {0.05: 0.30, 0.20: 0.25, 0.35: 0.05, 0.50: 0.20, 0.77: 0.15, 0.95: 0.05}
_SEED = 0x656E65726779
RUNS = 8
_WIDE = 64.0  # variance from which a rounded normal number stands for discrete Gaussian noise


@lru_cache(maxsize=16)
def reference_curves(size: int) -> Float64:
    """Distribution functions of the reference shapes at the upper ends of the bins, shape (7, N)."""
    u = np.arange(1, size + 1) / size
    normal, wide = ndtr(8 * u - 4), 8 * u - 4
    curves = np.array(
        [
            normal,
            betainc(2, 5, u),
            u,
            -np.expm1(-8 * u),
            (ndtr((wide + 2) / 0.5) + ndtr((wide - 2) / 0.5)) / 2,
            sum((mass * (u >= place) for place, mass in _SPIKES.items()), np.zeros(size)),
            ndtr((u - 0.5) / 0.0125),
        ]
    )
    curves[:, -1] = 1.0
    curves.flags.writeable = False
    return curves


@lru_cache(maxsize=64)
def reference_counts(size: int, records: int) -> Int64:
    """Imagined records per bin of every shape and run, shape (7, runs, N)."""
    random = np.random.Generator(np.random.PCG64([_SEED, records]))
    shares = np.maximum(np.diff(reference_curves(size), axis=1, prepend=0.0), 0.0)
    drawn = [random.multinomial(records, share / share.sum(), size=RUNS) for share in shares]
    counts = np.array(drawn, dtype=np.int64)
    counts.flags.writeable = False
    return counts


def energies_of(curves: Float64) -> tuple[float, ...]:
    """Root mean squared energy distance of each shape, from shares of shape (7, runs, N)."""
    truth = reference_curves(curves.shape[-1])[:, np.newaxis]
    return _distances(curves, truth)


def typical(energies: Sequence[float]) -> float:
    """Geometric mean over the shapes; nothing where there is no error at all."""
    if not any(energies):
        return 0.0
    return math.exp(sum(math.log(max(energy, 1e-150)) for energy in energies) / len(energies))


def _distances(curves: Float64, others: Float64) -> tuple[float, ...]:
    return tuple(np.sqrt(2 * np.mean((curves - others) ** 2, axis=(1, 2))).tolist())


@lru_cache(maxsize=512)
def simulated_energies(strategy: Any, records: int, *, total_known: bool) -> tuple[float, ...]:
    """Predicted energy distances of the smoothed curve of a strategy, one for each shape.

    Args:
        strategy: What would be measured.
        records: Number of records, or a public guess of it.
        total_known: Whether that number is public.
    """
    counts = reference_counts(strategy.size, records)
    random = np.random.Generator(np.random.PCG64([_SEED, 1]))
    total = records if total_known else None
    return energies_of(np.array([[simulated_curve(strategy, run, total, random) for run in runs] for runs in counts]))


@lru_cache(maxsize=512)
def noise_energy(strategy: Any, records: int, *, total_known: bool) -> float:
    """What the noise alone adds to the error of a strategy's smoothed curve, in the same units.

    The energy distance of a smoothed noisy curve from the smoothed one without noise, of the same records.
    """
    counts = reference_counts(strategy.size, records)
    random = np.random.Generator(np.random.PCG64([_SEED, 2]))
    total = records if total_known else None
    noisy, exact = (
        np.array([[simulated_curve(strategy, run, total, each) for run in runs] for runs in counts])
        for each in (random, None)
    )
    return typical(_distances(noisy, exact))


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


def strategy_energies(strategy: Strategy, task: Task) -> tuple[float, ...]:
    """Predicted energy distances of a strategy's smoothed curve under the terms of a task.

    Raises:
        ParameterError: the number of records is neither public nor guessed.
    """
    hashable: Any = task.terms.noise_of(strategy)
    return simulated_energies(hashable, guessed(task), total_known=task.terms.adjacency is Adjacency.REPLACE)


def guessed(task: Task) -> int:
    """The number of records that a prediction is for.

    Raises:
        ParameterError: it is neither public nor guessed.
    """
    if task.records is None:
        raise ParameterError(
            "the number of records is private, so the error of this method is not predicted; "
            "give a public guess as expected_records"
        )
    return max(1, task.records)
