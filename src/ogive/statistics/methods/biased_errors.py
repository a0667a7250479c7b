"""Errors of one noisy curve whose estimate has a bias: they depend on the data, so public shapes stand for them.

The noise is simulated, and the bias is that of every public shape of `reference_shapes`: a smooth distribution has
little bias, one with few distinct values has much. Every error is the largest over the shapes, with the smallest beside
it. Bands take long, so they are those of a normal distribution in the middle of the bounds and of a narrow one aside.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.statistics.curve.bands.approximating import common_ends
from ogive.statistics.curve.bands.programs import some_thresholds
from ogive.statistics.curve.bands.simultaneous import upper_quantile
from ogive.statistics.methods.expected_error import public_noise
from ogive.statistics.methods.reference_shapes import EVERY
from ogive.statistics.prediction import Errors
from ogive.strategies import Approximating

_SEED = 0x62696173
_NOISES = 199  # simulated releases
_PROGRAMS = 12  # thresholds at which the band is looked at
_BAND_NOISES = 999
_BANDS = ("normal", "aside")


def approximate_errors(strategy: Approximating, records: int, *, known: bool, tail: Fraction) -> Errors:
    """Errors of the raw curve by name; see `CURVE_METRICS` of `plan` for what each says.

    Args:
        strategy: What would be measured.
        records: Number of records.
        known: Whether that number is public.
        tail: Error probability of the largest error and the band.
    """
    total = records if known else None
    counts = np.rint(np.diff(EVERY.curves(strategy.size), axis=1, prepend=0.0) * records).astype(np.int64)
    counts[:, strategy.size // 2] += records - counts.sum(axis=1)  # rounding
    counts = np.maximum(counts, 0)
    truth = np.cumsum(counts, axis=1)
    totals = [int(curve[-1]) if known else None for curve in truth]
    answers = [strategy.measure(shape) for shape in counts]
    bare = [strategy.estimate(answer, whole) for answer, whole in zip(answers, totals, strict=True)]
    bias = np.array(bare) - truth
    random = np.random.Generator(np.random.PCG64(_SEED))
    drawn = tuple(public_noise(level.law, _NOISES * level.nodes, random) for level in strategy.levels)
    nodes = tuple(noise.reshape(_NOISES, -1) for noise in drawn)
    noise = strategy.estimate(strategy.spread(nodes), None if total is None else 0)
    largest = [np.abs(noise + shape).max(axis=1) for shape in bias]
    squared = float(np.mean(strategy.variance(total_known=known))) + np.mean(bias**2, axis=1)
    values = {
        "rmse": np.sqrt(squared),
        "ks": np.array([np.mean(each) for each in largest]),
        "ks_95": np.array([upper_quantile(each, tail) for each in largest]),
    }
    places = [EVERY.names.index(name) for name in _BANDS]
    bands = [_half_width(strategy, bare[each], answers[each], totals[each], tail) for each in places]
    errors = {name: each / records for name, each in values.items()}
    return Errors.over_shapes({**errors, "band": np.array(bands)})


def _half_width(strategy: Approximating, raw: Float64, answer: Int64, total: int | None, tail: Fraction) -> float:
    low, high = common_ends(
        raw,
        answer,
        strategy=strategy,
        total=total,
        tail=tail,
        target="population",
        simulations=_BAND_NOISES,
        programs=_PROGRAMS,
    )
    looked_at = some_thresholds(raw, _PROGRAMS)
    return float(np.max((high - low)[looked_at])) / 2
