"""Distributions on which the curves of all methods are compared, as exact shares of the bins of a public grid.

Records are drawn as counts per bin, multinomially: the same law as that of binned values, at a millionth of the work.
Real columns are taken as they are; what they were drawn from is not known, so their own shares count as the truth.
"""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ogive.columns.grids import Grid
from ogive.datasets import data_directory

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

BINS = 1024
SPIKES = {0.05: 0.30, 0.20: 0.25, 0.35: 0.05, 0.50: 0.20, 0.77: 0.15, 0.95: 0.05}
"""Values in [0, 1] and how many records have each."""


@dataclass(frozen=True, eq=False)
class Case:
    """What the records are like, and how they are looked at.

    Fields:
        name: As in the tables.
        grid: Public thresholds.
        shares: Probability of each bin, shape (bins,).
        counts: Records per bin where they are real, else None.
    """

    name: str
    grid: Grid
    shares: Float64
    counts: Int64 | None = None

    def draw(self, records: int, seed: int) -> Int64:
        """Records per bin of one simulated data set, or the real ones."""
        if self.counts is not None:
            return self.counts
        return np.random.default_rng(seed).multinomial(records, self.shares).astype(np.int64)


def _continuous(name: str, law: object, low: float, high: float) -> Case:
    """Values beyond the bounds are clipped to them, as a release does."""
    grid = Grid.linear(low, high, bins=BINS)
    return Case(name, grid, _shares(np.asarray(law.cdf(grid.thresholds))))  # type: ignore[attr-defined]


def _shares(cdf: Float64) -> Float64:
    shares = np.diff(np.append(cdf[:-1], 1.0), prepend=0.0)
    return np.maximum(shares, 0.0) / shares.sum()


class _Mixture:
    """Half N(-2, 1/4) and half N(2, 1/4)."""

    def cdf(self, at: Float64) -> Float64:
        return (stats.norm.cdf(at, -2, 0.5) + stats.norm.cdf(at, 2, 0.5)) / 2


class _Spikes:
    """`SPIKES`."""

    def cdf(self, at: Float64) -> Float64:
        return sum((mass * (at >= value) for value, mass in SPIKES.items()), np.zeros(at.size))


class _Rounded:
    """N(50, 15^2) as people write it: rounded to multiples of 5."""

    def cdf(self, at: Float64) -> Float64:
        return np.asarray(stats.norm.cdf(5 * np.floor(at / 5) + 2.5, 50, 15))


LAWS: dict[str, tuple[object, float, float]] = {
    "normal": (stats.norm(), -4, 4),
    "beta": (stats.beta(2, 5), 0, 1),
    "uniform": (stats.uniform(), 0, 1),
    "exponential": (stats.expon(), 0, 8),
    "mixture": (_Mixture(), -4, 4),
    "spikes": (_Spikes(), 0, 1),
}
# shapes that no rule was made with: `auto` predicts errors on the six above
HELD_OUT: dict[str, tuple[object, float, float]] = {
    "lognormal": (stats.lognorm(1), 0, 20),
    "rounded": (_Rounded(), 0, 100),
    "narrow": (stats.uniform(0.3, 0.1), 0, 1),
    "Student t2": (stats.t(2), -10, 10),
}
WEIGHTS, BALANCE, BALANCE_FINE = "SOCR weights", "bank balance", "bank balance, log grid"
REAL = (WEIGHTS, BALANCE, BALANCE_FINE)
NAMES = (*LAWS, *HELD_OUT, *REAL)


@cache
def case(name: str, wider: int = 1) -> Case:
    """A case by its name, with bounds `wider` times as far apart as they need to be.

    The lower bound of the exponential distribution stays at 0; other bounds move out by the same at both ends.
    """
    if name in REAL:
        return _real(name)
    law, low, high = {**LAWS, **HELD_OUT}[name]
    room = (wider - 1) * (high - low)
    below = 0.0 if name == "exponential" else room / 2
    label = name if wider == 1 else f"{name}, bounds {wider} times too wide"
    return _continuous(label, law, low - below, high + room - below)


def _real(name: str) -> Case:
    if name == WEIGHTS:
        values, grid = _column("socr_height_weight.csv.gz", 2, ","), Grid.linear(70, 185, bins=BINS)
    else:
        values = _column("bank-full.csv.gz", 5, ";")
        grid = Grid.linear(-10_000, 120_000, bins=BINS) if name == BALANCE else _signed_log(10_000, 120_000)
    counts = np.bincount(grid.bin_of(values), minlength=grid.bins).astype(np.int64)
    return Case(name, grid, counts / counts.sum(), counts)


def _signed_log(below: float, above: float) -> Grid:
    """Thresholds at even distances in asinh(value / 100): linear near 0, geometric far out, on both sides."""
    ends = np.arcsinh(np.array([-below, above]) / 100)
    thresholds = 100 * np.sinh(np.linspace(ends[0], ends[1], BINS + 1)[1:])
    thresholds[-1] = above
    return Grid.explicit(thresholds.tolist(), low=-below)


def _column(name: str, number: int, separator: str) -> Float64:
    with gzip.open(data_directory() / name, "rt", encoding="utf-8") as file:
        rows = csv.reader(file, delimiter=separator)
        next(rows)
        return np.array([float(row[number]) for row in rows if row])


def distances(cumulative: Float64, truth: Float64, thresholds: Float64) -> tuple[float, float, float]:
    """KS, Earth Mover's and energy distance of two step functions, shares at the thresholds of one grid."""
    gap = np.asarray(cumulative) - truth
    widths = np.diff(thresholds)
    return (
        float(np.abs(gap).max()),
        float(np.abs(gap[:-1]) @ widths),
        float(np.sqrt(2 * (gap[:-1] ** 2 @ widths))),
    )
