"""What may be asked of records, as plain data.

Statistics speak this language upward, trust models answer it downward; neither knows the
other. A query holds everything a party needs to rebuild it; nothing executable is sent.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.errors import ParameterError
from ogive.grids import Grid
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.base import Pointwise, Strategy

Int64 = NDArray[np.int64]

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

    def __post_init__(self) -> None:
        if self.strategy.size != self.binning.grid.bins:
            raise ParameterError(
                f"the strategy covers {self.strategy.size} points but the grid has {self.binning.grid.bins}"
            )
        if self.points is not None and not isinstance(self.strategy, Pointwise):
            raise ParameterError(f"method {self.strategy.name!r} cannot be opened at single points; use method 'path'")

    def price(self, adjacency: Adjacency) -> PureDP | ZeroConcentratedDP:
        """Privacy loss of opening the measurement, all points included.

        Raises:
            ParameterError: missing values are dropped although the adjacency makes the number of
                records public.
        """
        if adjacency is Adjacency.REPLACE and self.binning.missing == "drop":
            raise ParameterError(
                "missing='drop' would publish how many values are missing, since replacing a record may change it; "
                "use missing='low' or 'high', or adjacency ADD_OR_REMOVE"
            )
        return self.strategy.loss(adjacency)

    def digest(self, counts: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of all that fixes the measurement: binned data, binning, strategy, adjacency.

        As secret as the data: whoever can guess the counts can check the guess.
        """
        public = {
            "binning": self.binning.to_dict(),
            "strategy": self.strategy.to_dict(),
            "adjacency": adjacency.value,
        }
        text = json.dumps(public, sort_keys=True).encode()
        digest = hashlib.sha256(b"ogive measurement 1\n" + len(text).to_bytes(8, "big") + text)
        digest.update(counts.astype("<i8").tobytes())
        return digest.digest()

    def measure(self, counts: Int64) -> Int64:
        """The exact integers that the query asks for, from a histogram of shape (N,)."""
        if self.points is None:
            return self.strategy.measure(counts)
        assert isinstance(self.strategy, Pointwise)
        return self.strategy.measure_at(counts, np.array(self.points, dtype=np.int64))

    def noise(self, nodes: NodeNoise) -> Int64:
        """What the node noise adds to `measure`, same shape."""
        strategy = self.strategy
        if self.points is None:
            every = (np.arange(level.nodes) for level in strategy.levels)
            return strategy.spread(self._draw(nodes, tuple(every)))
        assert isinstance(strategy, Pointwise)
        return strategy.spread_at(self._draw(nodes, strategy.nodes_at(np.array(self.points, dtype=np.int64))))

    def _draw(self, nodes: NodeNoise, wanted: tuple[Int64, ...]) -> tuple[Int64, ...]:
        levels = enumerate(self.strategy.levels)
        return tuple(nodes.values(level.law, number, wanted[number]) for number, level in levels)


@dataclass(frozen=True)
class Answer:
    """Integers that came back for a query.

    Fields:
        values: Noisy measurements, int64; shape (M,), or (points,) where points were asked.
        total: The number of records where the adjacency makes it public, else None.
        noisy: False only where the trust model has no privacy.
    """

    values: Int64
    total: int | None
    noisy: bool = True


Query = CurveQuery
