"""The sum of a column."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, TypedDict

from ogive.columns import Missing
from ogive.grids import Bound
from ogive.parameters import one_of
from ogive.privacy import Rational
from ogive.queries import Answer, Query
from ogive.statistics.base import Terms
from ogive.statistics.confidence import check_level
from ogive.statistics.sums.ask import ask_lattice, sum_weights
from ogive.statistics.sums.estimate import SumEstimate
from ogive.statistics.sums.lattice import Lattice


class SumOptions(TypedDict, total=False):
    """The fields of `Sum` that are options."""

    bounds: tuple[Bound, Bound] | None
    step: Rational | None
    missing: Missing
    confidence_level: float


@dataclass(frozen=True)
class Sum:
    """The sum of one column over the records.

    Fields:
        column: Numeric column.
        bounds: Smallest and largest possible value, public; values outside count as the nearer one.
        step: Distance between the evenly spaced numbers to which values are rounded; by default the smallest of 1, 2,
            5, 10, ... or 0.5, 0.2, 0.1, ... with at most 10,000 steps between the bounds. One that does not divide
            their distance is made a little smaller. The estimate says the step, and intervals count half of it for each
            record.
        missing: What a missing value means: "refuse" (an error), "low" or "high" (the lower or the upper bound), a
            public value that it is counted as, or "drop" (not counted; ADD_OR_REMOVE only).
        confidence_level: Of the interval, above 0 and at most 0.9999.
    """

    name: ClassVar[str] = "sum"

    column: str
    bounds: tuple[Bound, Bound] | None = None
    _: KW_ONLY
    step: Rational | None = None
    missing: Missing = one_of("refuse", "low", "high", "drop")
    confidence_level: float = 0.95

    def __post_init__(self) -> None:
        """Refuse what no release could use, before any data is touched."""
        object.__setattr__(self, "confidence_level", float(check_level(self.confidence_level)))
        binning = self.lattice.binning(self.column, self.missing)
        object.__setattr__(self, "missing", binning.missing)

    @property
    def lattice(self) -> Lattice:
        """The public numbers to which values are rounded."""
        return Lattice.of(self.bounds, self.step)

    def canonical(self) -> Sum:
        """The one spelling that stands for all of the same question: bounds and step as exact numbers."""
        lattice = self.lattice
        bounds: Any = (lattice.low, lattice.high)
        return dataclasses.replace(self, bounds=bounds, step=lattice.step)

    def alternatives(self) -> dict[str, Sum]:
        """There is one way, which the trust model and the adjacency decide."""
        return {"sum": self}

    def questions(self, terms: Terms) -> Generator[Query, Answer, SumEstimate]:
        """Add up the values once.

        Privacy: one measurement at the whole of `terms.privacy`, or one report of every owner.
        """
        weights, lattice = sum_weights(self.lattice, terms.adjacency)
        measured = yield from ask_lattice(self.column, lattice, self.missing, weights, terms)
        return SumEstimate(
            self.column,
            measured,
            missing=self.missing,
            confidence_level=self.confidence_level,
            lattice=lattice,
            counts_rounding=True,
        )
