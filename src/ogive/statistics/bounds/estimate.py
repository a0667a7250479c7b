"""Bounds found in noisy counts per order of magnitude: the ends, and how many records may lie outside."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ogive.columns.grids import Grid
from ogive.errors import DataError
from ogive.privacy import Adjacency
from ogive.provenance import Provenance
from ogive.statistics.base import Estimate
from ogive.statistics.bounds.noise import AT_BOTH_ENDS, extended, needed_beside, reach, sum_reach
from ogive.statistics.curve.estimate import read_grid, read_strategy
from ogive.statistics.curve.readings import lower_ends
from ogive.statistics.plain_json import Fields, check_price, is_whole
from ogive.strategies import LeastSquaresTree


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
    def _kept(self) -> tuple[int, int] | None:
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
        return self._kept is not None

    @property
    def low(self) -> float:
        """Lower bound; NaN where undefined."""
        if self._kept is None:
            return math.nan
        ends = lower_ends(self.grid)
        first = self._kept[0]
        return 0.0 if self.grid.thresholds[first] == 0 else float(ends[first])

    @property
    def high(self) -> float:
        """Upper bound, above the lower one; NaN where undefined."""
        if self._kept is None:
            return math.nan
        last = self._kept[1]
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
        if self._kept is None:
            return None
        first, last = self._kept
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
        if self._kept is None:
            return {"outside": 1.0, "too_wide": 0.0}
        first, last = self._kept
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
