"""Curve methods: methods that release a curve by more than one strategy measured once.

A curve method is a generator of queries that returns the curve, and a prediction of its error. It is frozen plain data,
so a question in the ledger holds it as it is; `Ecdf(method=...)` takes it by its name, with the usual options, or as an
instance with others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from ogive.columns import Binning
from ogive.grids import Grid
from ogive.queries import Answer, Query
from ogive.statistics.base import Terms
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.methods.reference_shapes import Expected, Shapes

LARGEST_PREDICTED = 4096


@dataclass(frozen=True)
class CurveTask:
    """What a curve method is asked to do: the curve that is wanted, under which terms.

    Fields:
        binning: Column and grid.
        terms: Privacy, unit and what the trust model can serve.
        smooth: How the curve is made valid; "auto" for what suits the method.
        expected_records: A public guess of the number of records, for where that is private.
    """

    binning: Binning
    terms: Terms
    smooth: str = "auto"
    expected_records: int | None = None

    @property
    def size(self) -> int:
        """Number of thresholds."""
        return self.binning.grid.bins

    @property
    def coarse(self) -> CurveTask:
        """The same task on at most 4096 thresholds, on which predictions are nearly the same and quick."""
        return self.at_most(LARGEST_PREDICTED)

    def at_most(self, bins: int) -> CurveTask:
        """The same task on at most so many thresholds."""
        if self.size <= bins:
            return self
        grid = Grid.linear(0, 1, bins=bins)
        return dataclasses.replace(self, binning=dataclasses.replace(self.binning, grid=grid))

    @property
    def rows(self) -> int:
        """How many records of one person are hidden together."""
        return self.terms.unit.max_rows_per_person

    @property
    def records(self) -> int | None:
        """The public number of records, or else the public guess of it."""
        known = self.terms.records
        return self.expected_records if known is None else known


@runtime_checkable
class CurveMethod(Protocol):
    """Interface; frozen plain data with no subclass."""

    name: ClassVar[str]
    """As in `Ecdf(method=...)` and on the command line."""

    def curve(self, task: CurveTask) -> Generator[Query, Answer, Curve]:
        """Yield queries, receive answers, return the curve.

        Raises:
            ParameterError: the options do not fit the grid or the terms.
            ScaleError: more noise would be needed than can be drawn.
            UnsupportedError: the trust model cannot serve it.
        """
        ...

    def errors(self, task: CurveTask, shapes: Shapes, records: int) -> Expected:
        """Predicted errors of the published curve on public shapes; what the records look like has no say in it.

        Args:
            task: What is designed for, with the number of records that is public or guessed.
            shapes: What the records are imagined to look like.
            records: How many are imagined.

        Raises:
            ParameterError, ScaleError, UnsupportedError: as `curve`.
        """
        ...
