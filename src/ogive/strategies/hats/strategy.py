"""Least-squares hats: noisy bin counts and overlapping triangles in place of blocks.

The best known strategies for prefix sums under pure differential privacy look like the identity
plus rows of overlapping triangles that add up to a constant. Here level l has spacing B_l: the
record in bin i, at x = 2i + 1, adds 2 B_l - r to hat j and r to hat j + 1, where j = floor(x / 2 B_l)
and r = x - 2 B_l j. Everything is an integer and every record adds exactly 2 B_l per level.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.core.parameters import plain_fields
from ogive.errors import ParameterError
from ogive.noise import law_from_dict
from ogive.noise.base import Law
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.base import (
    Level,
    batch,
    check_levels,
    check_privacy,
    histogram,
    measured_laws,
    measured_loss,
    moved_counts,
)
from ogive.strategies.hats.passes import HatSolver, as_arrays, hat_sums
from ogive.strategies.tree import whole_shares

# --- Spacings and shares of the loss for hats, tabulated for powers of two and carried over to other sizes
#
# The tables hold the best that searches like `benchmarks/hat_designs.py` found: it minimizes the exact
# mean variance under Laplace noise over the shares and descends over the spacings. They do not
# depend on the privacy level. Below the smallest tabulated size, noisy bins alone are best.

Design = tuple[tuple[int, ...], tuple[float, ...]]

# log2 N: spacings, shares of the bins and of each level of hats
TOTAL_KNOWN: dict[int, Design] = {
    6: ((9,), (0.4974, 0.5026)),
    7: ((14,), (0.504, 0.496)),
    8: ((18,), (0.4863, 0.5137)),
    9: ((30,), (0.5091, 0.4909)),
    10: ((11, 112), (0.3392, 0.3075, 0.3533)),
    11: ((14, 224), (0.3351, 0.3348, 0.3301)),
    12: ((14, 256), (0.3094, 0.3225, 0.3681)),
    13: ((24, 512), (0.3402, 0.3178, 0.342)),
    14: ((28, 768), (0.3304, 0.3224, 0.3472)),
    15: ((16, 224, 3584), (0.2616, 0.2409, 0.2505, 0.247)),
    16: ((16, 256, 4096), (0.2463, 0.2379, 0.2355, 0.2803)),
    17: ((20, 384, 8192), (0.2491, 0.2393, 0.2459, 0.2657)),
    18: ((24, 640, 16384), (0.2488, 0.2523, 0.2477, 0.2512)),
    19: ((16, 224, 3584, 57344), (0.2088, 0.1926, 0.2013, 0.2005, 0.1968)),
    20: ((20, 320, 5120, 73728), (0.2137, 0.1929, 0.1924, 0.1846, 0.2164)),
}
TOTAL_UNKNOWN: dict[int, Design] = {
    4: ((9,), (0.4771, 0.5229)),
    5: ((11,), (0.4657, 0.5343)),
    6: ((17,), (0.4795, 0.5205)),
    7: ((27,), (0.5, 0.5)),
    8: ((33,), (0.4827, 0.5173)),
    9: ((12, 192), (0.3291, 0.3261, 0.3448)),
    10: ((14, 224), (0.3197, 0.3091, 0.3712)),
    11: ((20, 448), (0.3307, 0.3233, 0.346)),
    12: ((24, 640), (0.3243, 0.3217, 0.354)),
    13: ((28, 1024), (0.3151, 0.3336, 0.3513)),
    14: ((40, 1536), (0.3278, 0.3152, 0.357)),
    15: ((24, 384, 7168), (0.2688, 0.2317, 0.2334, 0.2661)),
    16: ((20, 448, 10240), (0.2402, 0.243, 0.2395, 0.2773)),
    17: ((14, 192, 2560, 32768), (0.2041, 0.1944, 0.1929, 0.1832, 0.2254)),
    18: ((16, 256, 3584, 57344), (0.2027, 0.1961, 0.1871, 0.1881, 0.226)),
    19: ((20, 384, 6144, 114688), (0.2074, 0.1997, 0.1872, 0.1897, 0.216)),
    20: ((24, 512, 10240, 229376), (0.2098, 0.1974, 0.1928, 0.1931, 0.2069)),
}
SAMPLES = 256


@lru_cache(maxsize=256)
def hats_design(size: int, exponent: int, total_known: bool) -> tuple[tuple[int, ...], tuple[Fraction, ...]]:
    """Take the best of the designs tabulated just below and just above N, and of the bins alone."""
    table = TOTAL_KNOWN if total_known else TOTAL_UNKNOWN
    lower = size.bit_length() - 1
    near = {min(power, max(table)) for power in (lower, lower + (size != 1 << lower))}
    candidates: list[tuple[tuple[int, ...], tuple[Fraction, ...]]] = [((), (Fraction(1),))]
    for power in sorted(near):
        if power in table and table[power][0][-1] < size:
            spacings, weights = table[power]
            candidates.append((spacings, whole_shares(np.array(weights) ** (2 / exponent))))
    return min(candidates, key=lambda design: _sampled_mean(size, design, exponent, total_known))


def _sampled_mean(
    size: int, design: tuple[tuple[int, ...], tuple[Fraction, ...]], exponent: int, total_known: bool
) -> float:
    """Mean of the exact variance over at most `SAMPLES` points, up to a factor."""
    points = np.unique(np.linspace(0, size - 1, SAMPLES).astype(np.int64))
    variances = np.array([float(share) for share in design[1]]) ** -exponent
    solver = HatSolver(size, design[0], float(variances[0]), variances[1:])
    return float(solver.variance_at(points, total_known=total_known).mean())


# --- The strategy


def hat_changes(size: int, spacing: int, adjacency: Adjacency) -> tuple[int, int]:
    """How far one change of a record moves the hats of one level: largest L1 change, bound on the squared L2.

    One record adds (2B - r, r) with r odd. Two records in the same interval between knots move two
    hats by |r - r'| each; in adjacent intervals the L1 change is max(2 r', 4B - 2r) <= 4B - 2;
    farther apart it is 4B. Bins 0 and N - 1 attain the L1 change on all levels at once.
    """
    intervals = -(-size // spacing)
    one = (2 * spacing - 1) ** 2 + 1
    if adjacency is Adjacency.ADD_OR_REMOVE:
        return 2 * spacing, one
    if intervals == 1:
        return 4 * (size - 1), 8 * (size - 1) ** 2
    return 4 * spacing - 2 * (intervals == 2), 2 * one


@dataclass(frozen=True)
class LeastSquaresHats:
    """Noisy bin counts and integer hat sums, combined by least squares.

    Fields:
        size: Number of bins, N.
        spacings: Distances between knots, increasing, in bins, each below N; may be empty.
        laws: Noise law of the bins, then of each level of hats on its integer scale (2 spacing per record).
    """

    size: int
    spacings: tuple[int, ...]
    laws: tuple[Law, ...]

    name: ClassVar[str] = "hat_ls"

    def __post_init__(self) -> None:
        check_levels(self.size, self.spacings, self.laws, what="spacings")
        if len(self.laws) != len(self.spacings) + 1:
            raise ParameterError(
                f"hats need a law for the bins and one per spacing, got {len(self.laws)} laws for {self.spacings}"
            )
        if any(b <= a for a, b in zip(self.spacings, self.spacings[1:], strict=False)) or any(
            spacing >= self.size for spacing in self.spacings
        ):
            raise ParameterError(f"`spacings` must increase and stay below {self.size}, got {self.spacings}")

    @property
    def levels(self) -> tuple[Level, ...]:
        """The bins, then the hats of each spacing."""
        nodes = (self.size, *(int(size) for size in self._arrays[1]))
        return tuple(Level(count, law) for count, law in zip(nodes, self.laws, strict=True))

    @cached_property
    def _arrays(self) -> tuple[Int64, Int64]:
        return as_arrays(self.size, self.spacings)

    @cached_property
    def solver(self) -> HatSolver:
        """The least-squares problem, on the scale where a record adds 1 per level."""
        scaled = [law.variance / (2 * spacing) ** 2 for law, spacing in zip(self.laws[1:], self.spacings, strict=True)]
        return HatSolver(self.size, self.spacings, self.laws[0].variance, np.array(scaled))

    def measure(self, counts: Int64) -> Int64:
        """Bin counts followed by the integer hat sums of each level, shape (M,)."""
        bins = histogram(counts, self.size)
        return np.concatenate([bins, hat_sums(bins, *self._arrays)])

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        """Concatenate the levels' noise: every measurement has its own variable."""
        return np.concatenate(noise, axis=-1)

    def loss(self, adjacency: Adjacency) -> PureDP | ZeroConcentratedDP:
        """Add up the levels: exactly for Laplace noise, safely from above for Gaussian.

        Privacy:
            A level's sums change by at most 2B in absolute value for a record added or removed, 4B for one replaced.
        """
        l1, l2_squared = _all_changes(self.size, self.spacings, adjacency)
        return measured_loss(self.laws, l1=l1, l2_squared=l2_squared)

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Best linear unbiased cumulative counts, shape (..., N), in time O(N levels)."""
        rows, shape = batch(answer, self.size + int(self._arrays[1].sum()))
        return self.solver.estimate(rows, total).reshape(*shape, self.size)

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of each cumulative count, shape (N,)."""
        return self.solver.variance(total_known=total_known)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, **plain_fields(self)}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> LeastSquaresHats:
        """Rebuild hats from `to_dict`."""
        return LeastSquaresHats(data["size"], tuple(data["spacings"]), tuple(map(law_from_dict, data["laws"])))


def _all_changes(size: int, spacings: tuple[int, ...], adjacency: Adjacency) -> tuple[list[int], list[int]]:
    """L1 and squared L2 changes of the bins and of every level of hats."""
    bins = moved_counts(adjacency)
    changes = [(bins, bins), *(hat_changes(size, spacing, adjacency) for spacing in spacings)]
    return [change[0] for change in changes], [change[1] for change in changes]


def design_hats(size: int, *, privacy: PureDP | ZeroConcentratedDP, adjacency: Adjacency) -> LeastSquaresHats:
    """Choose spacings and noise with a small mean variance at the cost of `privacy`.

    Designs were optimized for Laplace noise at powers of two and are scaled to other sizes.

    Args:
        size: Number of bins, N.
        privacy: Loss to spend; PureDP takes Laplace noise, ZeroConcentratedDP Gaussian.
        adjacency: Under REPLACE the total is public and the estimate is conditioned on it.

    Raises:
        ParameterError: an argument is of the wrong kind or out of range.

    Privacy:
        `loss(adjacency)` of the result is at most `privacy`.
    """
    check_levels(size, (), (), what="spacings")
    check_privacy(privacy, adjacency)
    exponent = 2 if isinstance(privacy, PureDP) else 1
    spacings, shares = hats_design(size, exponent, adjacency is Adjacency.REPLACE)
    return shared_hats(size, spacings, shares, privacy=privacy, adjacency=adjacency)


def shared_hats(
    size: int,
    spacings: tuple[int, ...],
    shares: tuple[Fraction, ...],
    *,
    privacy: PureDP | ZeroConcentratedDP,
    adjacency: Adjacency,
) -> LeastSquaresHats:
    """Hats of given spacings and shares of the loss.

    Privacy:
        `loss(adjacency)` of the result is at most `privacy`.
    """
    l1, l2_squared = _all_changes(size, spacings, adjacency)
    return LeastSquaresHats(size, spacings, measured_laws(privacy, shares, l1=l1, l2_squared=l2_squared))
