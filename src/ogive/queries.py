"""What may be asked of records, as plain data.

Statistics speak this language upward, trust models answer it downward; neither knows the
other. A query holds everything a party needs to rebuild it; nothing executable is sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.errors import ParameterError
from ogive.grids import Grid
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.base import Strategy

MISSING_POLICIES = ("refuse", "low", "high", "drop")


@dataclass(frozen=True)
class Binning:
    """How one record becomes the number of a bin.

    Fields:
        column: Name of a numeric or temporal column.
        grid: Public thresholds; values outside are clipped to its bounds.
        missing: What a missing value means: "refuse" (an error), "low" or "high" (counted at that
            bound), or "drop" (not counted; only where the number of records is private).
    """

    column: str
    grid: Grid
    missing: str = "refuse"

    def __post_init__(self) -> None:
        if self.missing not in MISSING_POLICIES:
            raise ParameterError(f"missing must be one of {', '.join(MISSING_POLICIES)}, got {self.missing!r}")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"column": self.column, "grid": self.grid.to_dict(), "missing": self.missing}


@dataclass(frozen=True)
class CurveQuery:
    """Noisy measurements of the histogram of one column.

    The pair (binning, strategy) is the *measurement*, priced once however often and at
    whatever points it is opened. `points` restricts the answer to some 0-based points,
    which only pointwise strategies (path noise) can do; None asks for the whole answer.
    """

    binning: Binning
    strategy: Strategy
    points: tuple[int, ...] | None = None

    @property
    def measurement(self) -> tuple[Binning, Strategy]:
        """What is priced, and what a release's noise is bound to."""
        return self.binning, self.strategy

    def price(self, adjacency: Adjacency) -> PureDP | ZeroConcentratedDP:
        """Privacy loss of opening the measurement, all points included."""
        return self.strategy.loss(adjacency)


@dataclass(frozen=True)
class Answer:
    """Integers that came back for a query.

    Fields:
        values: Noisy measurements, int64; shape (M,), or (points,) where points were asked.
        total: The number of records where the adjacency makes it public, else None.
    """

    values: NDArray[np.int64]
    total: int | None


Query = CurveQuery
