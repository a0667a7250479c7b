"""Bounds found in noisy counts per order of magnitude: the ends, and how many records may lie outside.

All tails of noise are rounded up, so that what is promised of them holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ogive.columns.grids import Grid
from ogive.errors import DataError
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.noise.base import Law
from ogive.privacy import Adjacency
from ogive.provenance import Provenance
from ogive.statistics.base import Estimate
from ogive.statistics.curve.estimate import read_grid, read_strategy
from ogive.statistics.curve.readings import lower_ends
from ogive.statistics.plain_json import Fields, check_price, is_whole
from ogive.strategies import LeastSquaresTree

_ROOM = 1 + 1e-9
_SUMMED = 64


def reach(law: Law, size: int, chance: float) -> int:
    """The smallest t such that some of `size` independent draws is t or more with probability at most `chance`.

    Exact for Laplace noise and for Gaussian noise of small sigma, to floating point; for large sigma at most one
    part in a thousand too large.
    """
    each = -math.expm1(math.log1p(-chance) / size) / _ROOM
    low, high = 0, 1
    while tail(law, high) > each:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if tail(law, middle) > each else (low, middle)
    return high


def tail(law: Law, start: int) -> float:
    """P(Z >= start) for start >= 1, rounded up."""
    from scipy.special import ndtr  # slow to import

    if isinstance(law, DiscreteLaplace):
        inverse = 1 / float(law.scale)
        return math.exp(-start * inverse) / (1 + math.exp(-inverse)) * _ROOM
    assert isinstance(law, DiscreteGaussian)
    sigma = float(law.sigma)
    if sigma < _SUMMED:
        # beyond 40 sigma the terms add up to less than the smallest float
        values = np.arange(start, start + int(40 * sigma) + 2)
        return float(np.exp(law.log_probability(values)).sum()) * _ROOM
    # a decreasing sum is at most its first term and an integral
    first = float(np.exp(law.log_probability(np.array([start])))[0])
    return (first + float(ndtr(-start / sigma))) * _ROOM


def sum_reach(law: Law, terms: int, chance: float) -> float:
    """A value that the sum of some independent draws exceeds with probability at most `chance`.

    Chernoff's bound, with the exact moment generating function of discrete Laplace noise and
    exp(lambda^2 sigma^2 / 2) for discrete Gaussian noise.

    Source: Canonne, Kamath and Steinke 2020, lemma 8 for the Gaussian.
    """
    if terms == 0:
        return 0.0
    needed = -math.log(chance)
    if isinstance(law, DiscreteGaussian):
        return float(law.sigma) * math.sqrt(2 * terms * needed) * _ROOM
    assert isinstance(law, DiscreteLaplace)
    scale = float(law.scale)
    share = np.linspace(0.001, 0.999, 999)  # any lambda below 1 / scale gives a valid bound
    log_moment = (
        2 * math.log(-math.expm1(-1 / scale))
        - np.log(-np.expm1((share - 1) / scale))
        - np.log(-np.expm1(-(share + 1) / scale))
    )
    return float(np.min((terms * log_moment + needed) * scale / share)) * _ROOM


# --- Bins beside those that certainly hold records
#
# A bin that lies d places beyond the bounds extends them if noise alone would reach its count with probability at most
# c / 4^(d - 1). The probability falls as the harm grows: bounds that are d bins of base 2 too wide cost 2^d times the
# noise. No bin needs more than one that is taken by itself. Noise makes the bounds too wide with probability at most
# that of any bin passing the threshold by itself, plus 2 (c + c / 4 + ...) = 8 c / 3.
#
# Source:
#     `docs/proofs/together.md`.

FURTHER = 4
"""How many times smaller the probability is one place further off."""

AT_BOTH_ENDS = 2 * FURTHER / (FURTHER - 1)
"""The probabilities of all places at both ends together, in those of the first."""


def needed_beside(law: Law, size: int, chance: float, most: int) -> tuple[int, ...]:
    """The noisy counts from which on a bin extends the bounds, by its distance from them, 1 first."""
    needed: list[int] = []
    while len(needed) < size:
        count = reach(law, 1, chance / FURTHER ** len(needed)) if not needed or needed[-1] < most else most
        needed.append(min(count, most))
    return tuple(needed)


def extended(counts: Sequence[int], needed: Sequence[int]) -> int:
    """By how many of the bins beyond a bound it moves outwards."""
    moved = 0
    for place, count in enumerate(counts, start=1):
        if count >= needed[place - moved - 1]:
            moved = place
    return moved


# --- The estimate


@dataclass(frozen=True, repr=False)
class BoundsEstimate(Estimate):
    """Bounds of one column: the outermost magnitudes whose noisy counts show that they hold records.

    Fields:
        column: Name of the column.
        grid: The public magnitudes; values beyond its ends count as its ends.
        counts: Noisy number of records per bin of the grid.
        strategy: The noise of the counts; None if there is none.
        adjacency: Which data sets are adjacent.
        total: The number of records if public, else None.
        false_alarm: Largest probability that a bin without records is counted as occupied.
        confidence_level: Probability that at most `records_outside` records lie outside the bounds.
        provenance: Origin of the release: statistic, price and trust model.
        beside: Largest probability that the bin next to the bounds extends them without records; None where every bin
            must pass the threshold.
    """

    schema: ClassVar[str] = "ogive.bounds/1"
    indent: ClassVar[int | None] = 1

    column: str
    grid: Grid
    counts: tuple[int, ...]
    strategy: LeastSquaresTree | None
    adjacency: Adjacency
    total: int | None
    false_alarm: float
    confidence_level: float
    provenance: Provenance | None = None
    beside: float | None = None

    @cached_property
    def threshold(self) -> int:
        """The noisy count from which on a bin is taken to hold records."""
        return 1 if self.strategy is None else reach(self.strategy.laws[0], self.grid.bins, self.false_alarm)

    @cached_property
    def _outermost(self) -> tuple[int, int] | None:
        """First and last bin that count as holding records."""
        bins = np.flatnonzero(np.array(self.counts) >= self.threshold)
        if not len(bins):
            return None
        first, last = int(bins[0]), int(bins[-1])
        if self.beside is None or self.strategy is None:
            return first, last
        below = extended(self.counts[:first][::-1], self._needed)
        above = extended(self.counts[last + 1 :], self._needed)
        return first - below, last + above

    @cached_property
    def _needed(self) -> tuple[int, ...]:
        """The noisy counts from which on a bin extends the bounds, by its distance from them, 1 first."""
        assert self.beside is not None, "asked where bounds are extended"
        assert self.strategy is not None, "exact bounds are not extended"
        return needed_beside(self.strategy.laws[0], self.grid.bins, self.beside, self.threshold)

    @property
    def wrong_end(self) -> float:
        """Largest probability that noise alone made the bounds too wide, at either end."""
        return self.false_alarm if self.beside is None else min(1.0, self.false_alarm + AT_BOTH_ENDS * self.beside)

    @property
    def defined(self) -> bool:
        """Whether any magnitude clearly holds records; if not, there are too few records for this guarantee."""
        return self._outermost is not None

    @property
    def low(self) -> float:
        """Lower bound; NaN where undefined."""
        if self._outermost is None:
            return math.nan
        ends = lower_ends(self.grid)
        first = self._outermost[0]
        return 0.0 if self.grid.thresholds[first] == 0 else float(ends[first])

    @property
    def high(self) -> float:
        """Upper bound, above the lower one; NaN where undefined."""
        if self._outermost is None:
            return math.nan
        last = self._outermost[1]
        end = float(self.grid.thresholds[last])
        end = 0.0 if 0 > end > -float(np.finfo(np.float64).tiny) else end
        # all records on one threshold: a bound needs room above it
        return end if end > self.low else float(self.grid.thresholds[min(last + 1, self.grid.bins - 1)])

    @property
    def bounds(self) -> tuple[float, float]:
        """Lower and upper bound, in the form that other statistics accept."""
        return self.low, self.high

    @property
    def records_outside(self) -> int | None:
        """Upper limit of the number of records outside, at `confidence_level`; None where undefined."""
        if self._outermost is None:
            return None
        first, last = self._outermost
        below = self._at_most(sum(self.counts[:first]), first)
        above = self._at_most(sum(self.counts[last + 1 :]), self.grid.bins - 1 - last)
        return below + above if self.total is None else min(below + above, self.total)

    def _at_most(self, noisy: int, bins: int) -> int:
        """Most records that bins at one end hold, for all numbers of bins at both ends at once."""
        if self.strategy is None or bins == 0:
            return noisy
        chance = (1 - self.confidence_level) / (2 * (self.grid.bins - 1))
        return max(0, math.floor(noisy + sum_reach(self.strategy.laws[0], bins, chance)))

    def errors(self, truth: BoundsEstimate) -> dict[str, float]:
        """Distances from the bounds of the exact counts.

        Returns:
            outside: Share of the records in bins outside the bounds; 1 where they are undefined.
            too_wide: How many bins without records the bounds include at their ends.
        """
        exact = np.array(truth.counts)
        if self._outermost is None:
            return {"outside": 1.0, "too_wide": 0.0}
        first, last = self._outermost
        inside = exact[first : last + 1]
        held = np.flatnonzero(inside)
        empty = len(inside) if not len(held) else held[0] + len(inside) - 1 - held[-1]
        return {"outside": float(1 - inside.sum() / max(exact.sum(), 1)), "too_wide": float(empty)}

    def to_dict(self) -> dict[str, Any]:
        """Plain data; the ends and what lies outside follow from the counts."""
        return {
            "schema": self.schema,
            "column": self.column,
            "grid": self.grid.to_dict(),
            "counts": list(self.counts),
            "strategy": None if self.strategy is None else self.strategy.to_dict(),
            "adjacency": self.adjacency.value,
            "total": self.total,
            "false_alarm": self.false_alarm,
            "confidence_level": self.confidence_level,
            **({} if self.beside is None else {"beside": self.beside}),
            "low": self.low if self.defined else None,
            "high": self.high if self.defined else None,
            "records_outside": self.records_outside,
            "provenance": None if self.provenance is None else self.provenance.to_dict(),
        }

    @classmethod
    def _read(cls, data: Any) -> Any:
        known = Fields.of(data, cls.schema, "bounds", _NEEDED)
        counts = data["counts"]
        if not isinstance(counts, list) or not counts or not all(map(is_whole, counts)):
            raise DataError("the field 'counts' of bounds must be a list of whole numbers")
        grid = read_grid(data["grid"], len(counts))
        if grid.unit != "number":
            raise DataError("the grid of bounds must hold numbers")
        strategy = None if data["strategy"] is None else read_strategy(data["strategy"], grid.bins)
        if strategy is not None and not (isinstance(strategy, LeastSquaresTree) and strategy.blocks == (1,)):
            raise DataError("the strategy of bounds must count every bin once")
        adjacency, provenance = known.adjacency(), known.provenance()
        check_price(provenance, [(strategy, adjacency)])
        estimate = BoundsEstimate(
            column=known.text("column"),
            grid=grid,
            counts=tuple(counts),
            strategy=strategy,
            adjacency=adjacency,
            total=known.total(),
            false_alarm=known.chance("false_alarm"),
            confidence_level=known.chance("confidence_level"),
            provenance=provenance,
            beside=known.chance("beside") if "beside" in data else None,
        )
        if (data["low"], data["high"]) != ((estimate.low, estimate.high) if estimate.defined else (None, None)):
            raise DataError("the bounds contradict the counts they were read from")
        return estimate


_NEEDED = (
    "column", "grid", "counts", "strategy", "adjacency", "total", "false_alarm", "confidence_level", "low", "high",
    "provenance",
)  # fmt: skip
