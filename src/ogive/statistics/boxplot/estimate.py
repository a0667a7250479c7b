"""Released boxplots: the estimate that can be compared, drawn and stored."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Unpack, get_args

import numpy as np

from ogive.checks import among
from ogive.errors import ParameterError, quoted
from ogive.grids import Grid
from ogive.pictures import Style
from ogive.privacy import Adjacency
from ogive.provenance import Provenance
from ogive.rooms import room
from ogive.statistics.base import Estimate
from ogive.statistics.boxplot.boxes import NUMBERS, Box
from ogive.statistics.curve.estimate import Curve

PlotKind = Literal["box", "violin"]
KINDS: tuple[PlotKind, ...] = get_args(PlotKind)
PUBLIC_GROUPS = "the group of each record, and so the size of each group, is public; only values are hidden"


_TOLD_APART = 2.0
"""Standard deviations of noise from which a number of records is told apart from none."""


@dataclass(frozen=True, repr=False)
class Boxplots(Estimate):
    """A box for all records of a column, or for each group.

    Fields:
        column: What was measured.
        by: Column of the groups; None where all records are in one box.
        grid: The public thresholds.
        method: "resample" or "five_numbers".
        boxes: In the order of the groups.
        curves: The curve behind each box where the method released one, else empty.
        adjacency: Which data sets are adjacent.
        provenance: What was released, at what price and under whose trust; None until released.
        public_groups: Whether the group of each record, and so the size of each group, is public: the guarantee
            then hides values alone.
    """

    schema: ClassVar[str] = "ogive.boxplot/1"
    indent: ClassVar[int | None] = 1

    column: str
    by: str | None
    grid: Grid
    method: str
    boxes: tuple[Box, ...]
    curves: tuple[Curve, ...]
    adjacency: Adjacency
    provenance: Provenance | None = None
    public_groups: bool = False

    @property
    def private(self) -> bool:
        """Whether noise was added."""
        return self.provenance is None or self.provenance.private

    @property
    def caption(self) -> str:
        """The guarantee in a clause, or "not private"."""
        if self.provenance is None or self.provenance.privacy is None:
            return "not private: exact values"
        known = "; groups are public" if self.public_groups else ""
        return f"{self.provenance.privacy}{known}; trust model {self.provenance.trust}"

    def __iter__(self) -> Iterator[Box]:
        """The boxes, in the order of the groups."""
        return iter(self.boxes)

    def __len__(self) -> int:
        """How many boxes there are."""
        return len(self.boxes)

    def __getitem__(self, group: Any) -> Box:
        """The box of a group.

        Raises:
            ParameterError: there is no such group.
        """
        for box in self.boxes:
            if box.group == group and isinstance(box.group, str) == isinstance(group, str):
                return box
        known = ", ".join(repr(box.group) for box in self.boxes)
        raise ParameterError(f"there is no box of {quoted(group)}; there are {known}")

    def dots(self, place: int) -> tuple[float, ...]:
        """Synthetic outliers that a picture shows of a box, in the order of the boxes.

        On either side none, unless more records seem to lie beyond the whisker than twice the standard deviation of the
        noise there: of fewer nobody can tell whether there is any.
        """
        box = self.boxes[place]
        if not self.private or not self.curves or not box.outliers:
            return box.outliers
        curve = self.curves[place]
        errors = curve.standard_error(self._labels(box.low, box.high), target="sample") * curve.records
        below, above = (
            count is not None and count > _TOLD_APART * error
            for count, error in zip((box.below, box.above), errors.tolist(), strict=True)
        )
        return tuple(number for number in box.outliers if (below if number < box.q1 else above))

    def _labels(self, *numbers: float) -> list[Any]:
        return [self.grid.label(number) for number in numbers]

    def with_provenance(self, provenance: Provenance) -> Boxplots:
        """Return the same boxes with their provenance."""
        said = PUBLIC_GROUPS.capitalize() + "."
        if self.public_groups and provenance.private and not provenance.assumption.endswith(said):
            provenance = dataclasses.replace(provenance, assumption=f"{provenance.assumption} {said}")
        curves = tuple(curve.with_provenance(provenance) for curve in self.curves)
        return dataclasses.replace(self, provenance=provenance, curves=curves)

    def noise_share(self) -> float:
        """The smallest of the boxes' curves: where it is large no box says anything."""
        return min((curve.noise_share() for curve in self.curves), default=0.0)

    def errors(self, truth: Boxplots) -> dict[str, float]:
        """Distances from the boxes of the exact records, as shares of the bounds' distance, on average over the boxes.

        Returns:
            Of the numbers of a box, by their names: q1, median and q3, and low and high, the whiskers' ends, only where
            both were made by one method: those of "five_numbers" are the ends of the records.

        Raises:
            ParameterError: these are no boxes, or boxes of another grid or other groups.
        """
        if not isinstance(truth, Boxplots):
            raise ParameterError(f"boxes compare with other boxes, such as exact ones, got {type(truth).__name__}")
        groups = [[box.group for box in boxes.boxes] for boxes in (self, truth)]
        if self.grid != truth.grid or groups[0] != groups[1]:
            raise ParameterError("boxes of different grids or groups do not compare")
        span = self.grid.high - self.grid.low
        own, exact = (np.array([box.numbers for box in boxes.boxes]) for boxes in (self, truth))
        gaps = np.abs(own - exact).mean(axis=0) / span
        comparable = NUMBERS if self.method == truth.method else NUMBERS[1:4]
        return {name: float(gap) for name, gap in zip(NUMBERS, gaps, strict=True) if name in comparable}

    def plot(
        self, ax: Any = None, *, kind: PlotKind = "box", truth: Boxplots | None = None, **style: Unpack[Style]
    ) -> Any:
        """Draw the boxes, or violins of the released curves; returns matplotlib axes.

        Args:
            ax: Axes to draw into; new ones by default.
            kind: "box" or "violin".
            truth: Exact boxes of the same groups, to be drawn beside; never published.
            style: Of the boxes; see `ogive.plots.Style`.

        Raises:
            ParameterError: matplotlib is not installed, there is no such kind, or no curves were released, which
                violins need.
        """
        among(kind, "kind", KINDS)
        if truth is not None:
            self.errors(truth)
        if kind == "violin" and not all(each.curves for each in (self, truth) if each is not None):
            raise ParameterError("violins need a whole curve, which `method='resample'` releases")
        return room(type(self), "plot").draw(self, ax, kind=kind, truth=truth, **style)
