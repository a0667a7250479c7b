"""Public shapes of data on which errors are predicted where they depend on the records.

Seven reference shapes stand for columns as they often are: `auto` ranks methods by their errors on these. Nineteen
harder ones stand for what misleads a method that measures little: records on one value or on a few, heavy tails, empty
stretches, and all records in a thousandth of the bounds, also close to one end. `auto` takes no method that fails on
any of them.

Places are fractions of the axis of the bins' numbers. Those of the harder shapes are no simple fractions, so that no
shape suits the borders of a certain grid or of a certain number of groups; two lie at the ends, where columns often do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ogive.arrays import Float64, Int64

SEED = 0x656E65726779
_SPIKES = {0.05: 0.30, 0.20: 0.25, 0.35: 0.05, 0.50: 0.20, 0.77: 0.15, 0.95: 0.05}
_SEVERAL = {0.0713: 0.35, 0.2361: 0.30, 0.5279: 0.20, 0.9017: 0.15}
_ROUNDED = {0.0127 + 0.0771 * number: 1 / 13 for number in range(13)}


def _atoms(u: Float64, masses: Mapping[float, float]) -> Float64:
    found = np.zeros(len(u))
    for place, mass in masses.items():
        found += mass * (u >= place)
    return found


def _normal(z: Float64) -> Float64:
    """The standard normal distribution function; its last digits enter the noise of what was measured before."""
    from scipy.special import ndtr  # slow to import

    found: Float64 = ndtr(z)
    return found


def _beta(u: Float64) -> Float64:
    """The beta distribution function with parameters 2 and 5."""
    from scipy.special import betainc  # slow to import

    found: Float64 = betainc(2, 5, u)
    return found


def _tail(u: Float64, scale: float, power: float) -> Float64:
    """A density that falls like a power of the distance from the lower bound."""
    tail: Float64 = (1 - (1 + u / scale) ** -power) / (1 - (1 + 1 / scale) ** -power)
    return tail


def _within(u: Float64, low: float, high: float) -> Float64:
    """Evenly between two places."""
    return np.clip((u - low) / (high - low), 0.0, 1.0)


_CURVES: dict[str, Callable[[Float64], Float64]] = {
    "normal": lambda u: _normal(8 * u - 4),
    "beta": _beta,
    "uniform": lambda u: u,
    "exponential": lambda u: -np.expm1(-8 * u),
    "mixture": lambda u: (_normal((8 * u - 4 + 2) / 0.5) + _normal((8 * u - 4 - 2) / 0.5)) / 2,
    "spikes": lambda u: _atoms(u, _SPIKES),
    "narrow": lambda u: _normal((u - 0.5) / 0.0125),
    "lowest": lambda u: _atoms(u, {0.0: 1.0}),
    "constant": lambda u: _atoms(u, {0.3819: 1.0}),
    "highest": lambda u: np.zeros(len(u)),
    "zeros": lambda u: 0.92 + 0.08 * _tail(u, 0.06, 1.2),
    "peak": lambda u: _atoms(u, {0.7135: 0.90}) + 0.10 * _normal((u - 0.3) / 0.1),
    "half": lambda u: _atoms(u, {0.2764: 0.50}) + 0.50 * u,
    "ends": lambda u: _atoms(u, {0.0: 0.60}),
    "several": lambda u: _atoms(u, _SEVERAL),
    "rounded": lambda u: 0.6 * _atoms(u, _ROUNDED) + 0.4 * _normal((u - 0.45) / 0.15),
    "power": lambda u: _tail(u, 0.003, 1.1),
    "lognormal": lambda u: _normal(np.log(u / 0.003) / 1.5),
    "gap": lambda u: 0.6 * _within(u, 0.011, 0.083) + 0.4 * _within(u, 0.71, 0.745),
    "slim": lambda u: _normal((u - 0.0313) / 0.003),
    "thin": lambda u: _normal((u - 0.4142) / 0.0003),
    "aside": lambda u: _normal((u - 0.8731) / 0.0015),
    "edge": lambda u: _within(u, 0.0011, 0.0051),
    "steep": lambda u: -np.expm1(-u / 0.004),
    "near": lambda u: _within(u, 0.0097, 0.0103),
    "corner": lambda u: _within(u, 0.9947, 0.9986),
}

REFERENCES = tuple(_CURVES)[:7]
HARD = tuple(_CURVES)[7:]


class Expected(NamedTuple):
    """Expected errors of a published curve, each with one value for every shape.

    Fields:
        energy: Root mean squared energy distance from the population, sampling included.
        ks: Mean of the largest error at any threshold against the records themselves, as a share of them.
    """

    energy: tuple[float, ...]
    ks: tuple[float, ...]


def energy_distances(curves: Float64, others: Float64) -> tuple[float, ...]:
    """Root mean squared energy distance for each shape, of curves of shape (shapes, runs, N)."""
    return tuple(np.sqrt(2 * np.mean((curves - others) ** 2, axis=(1, 2))).tolist())


@dataclass(frozen=True)
class Shapes:
    """Some of the public shapes, and samples of each from fixed public random numbers.

    Fields:
        names: Which shapes.
        runs: How many samples are imagined of each.
    """

    names: tuple[str, ...]
    runs: int

    def curves(self, size: int) -> Float64:
        """Distribution functions at the upper ends of the bins, shape (shapes, N)."""
        return _curves(self.names, size)

    def counts(self, size: int, records: int) -> Int64:
        """Imagined records per bin, shape (shapes, runs, N)."""
        return _counts(self, size, records)

    def errors(self, curves: Float64, counts: Int64) -> Expected:
        """Errors of published shares of the imagined records, both of shape (shapes, runs, N)."""
        own = np.cumsum(counts, axis=-1) / counts.sum(axis=-1, keepdims=True)
        largest = np.abs(curves - own).max(axis=-1).mean(axis=-1)
        population = self.curves(curves.shape[-1])[:, np.newaxis]
        return Expected(energy_distances(curves, population), tuple(largest.tolist()))


USUAL = Shapes(REFERENCES, 8)
"""What methods are ranked by."""

FIRST = Shapes(("lowest", "constant", "highest"), 8)
"""What misleads most methods that measure little: a first and quick look."""

EVERY = Shapes((*REFERENCES, *HARD), 32)
"""What no method may fail on that `auto` takes."""


@lru_cache(maxsize=32)
def _curves(names: tuple[str, ...], size: int) -> Float64:
    u = np.arange(1, size + 1) / size
    curves = np.array([_CURVES[name](u) for name in names])
    curves[:, -1] = 1.0
    curves.flags.writeable = False
    return curves


@lru_cache(maxsize=64)
def _counts(shapes: Shapes, size: int, records: int) -> Int64:
    random = np.random.Generator(np.random.PCG64([SEED, records]))
    shares = np.maximum(np.diff(shapes.curves(size), axis=1, prepend=0.0), 0.0)
    drawn = [random.multinomial(records, share / share.sum(), size=shapes.runs) for share in shares]
    counts = np.array(drawn, dtype=np.int64)
    counts.flags.writeable = False
    return counts
