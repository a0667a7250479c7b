"""Released boxplots: the estimate that can be compared, drawn and stored.

A box of a curve is that of as many evenly spread values as there are records: value i of n is the point at which
the curve reaches (i - 1/2) / n. So the picture has no randomness of its own, and redrawing it tells nothing new. Where
the curve is flat, the first point counts; within a bin of numbers or times, mass lies evenly.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Unpack, get_args

import numpy as np

from ogive.columns import LabelValue
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64
from ogive.core.checks import among
from ogive.errors import DataError, ParameterError, quoted
from ogive.privacy import Adjacency
from ogive.provenance import Provenance
from ogive.showing.pictures import Style
from ogive.statistics.base import FEWEST, Estimate
from ogive.statistics.curve.estimate import Curve, read_grid
from ogive.statistics.curve.readings import lower_ends
from ogive.statistics.plain_json import Fields, check_price, is_number, is_text, is_whole

WHISKER = 1.5
"""Whiskers reach to the outermost values within this many times the box's height of it."""

SHOWN_OUTLIERS = 50
"""Most values beyond each whisker that are listed; all are counted."""

_MOST_RECORDS = 1 << 53
"""Up to this number of records the places of single values are different numbers."""

CONFIDENCE_LEVEL = 0.95
"""Chance that the intervals of one box hold the population's quartiles and median, all three."""

NUMBERS = ("low", "q1", "median", "q3", "high")
QUARTERS = (0.25, 0.5, 0.75)


class Interval(NamedTuple):
    """Ends between which a true quantile lies, as numbers of the grid."""

    low: float
    high: float


class Intervals(NamedTuple):
    """Of the quartiles and the median of one box; all three hold at once with the stated confidence."""

    q1: Interval
    median: Interval
    q3: Interval


@dataclass(frozen=True)
class Box:
    """One box: five numbers of the grid, not decreasing, and what lies beyond; nothing unless it is `told`.

    Fields:
        group: Value of the group; None where all records are in one box.
        low, high: Ends of the whiskers.
        q1, median, q3: Quartiles.
        below, above: How many records lie beyond each whisker, by estimate; None where that is not known.
        outliers: Some of those, at most 50 on either side, increasing; drawn from the curve, not records.
        records: Estimated or public number of records of the group; None where it is not known.
        flat: Whether both quartiles lie in one bin of the grid: the middle half of the records has one value, or
            values closer than the grid tells apart.
        intervals: Of q1, median and q3; None where they are not known, as for "five_numbers".
    """

    group: LabelValue | None
    low: float
    q1: float
    median: float
    q3: float
    high: float
    below: int | None = None
    above: int | None = None
    outliers: tuple[float, ...] = ()
    records: float | None = None
    flat: bool = False
    intervals: Intervals | None = None

    @property
    def numbers(self) -> tuple[float, float, float, float, float]:
        """The five numbers: low, q1, median, q3, high."""
        return self.low, self.q1, self.median, self.q3, self.high

    @property
    def defined(self) -> bool:
        """Whether the noisy count of the group is positive; files have numbers of such boxes alone."""
        return self.records is None or self.records > 0

    @property
    def told(self) -> bool:
        """Whether people are told the box: the number of records with its noise is at least 1, or not known."""
        return self.records is None or self.records >= FEWEST


def inverse(grid: Grid, probabilities: Float64, shares: Float64) -> Float64:
    """The first points at which a curve reaches some shares in (0, 1], as numbers of the grid."""
    bins = np.searchsorted(probabilities, shares, side="left")
    before = np.concatenate(([0.0], probabilities))[bins]
    mass = probabilities[bins] - before
    within = np.where(mass > 0, (shares - before) / np.where(mass > 0, mass, 1.0), 1.0)
    low, high = lower_ends(grid)[bins], grid.thresholds[bins]
    numbers = low + np.clip(within, 0, 1) * (high - low)
    if grid.unit != "number":
        numbers = np.minimum(np.ceil(numbers), np.floor(high))
    return np.asarray(numbers, dtype=np.float64)


def box_of(
    curve: Curve, group: LabelValue | None, quartiles: tuple[float, ...] | None = None, *, flat: bool = False
) -> Box:
    """The box of a curve, with its own quartiles or given ones; post-processing."""
    grid, shares = curve.grid, curve.probabilities
    n = min(max(1, round(curve.records)), _MOST_RECORDS)

    def value(number: int) -> float:
        return float(inverse(grid, shares, np.array((number - 0.5) / n)))

    q1, median, q3 = quartiles or map(float, inverse(grid, shares, np.array(QUARTERS)))
    reach = WHISKER * (q3 - q1)
    numbers = range(1, n + 1)
    below = bisect.bisect_left(numbers, q1 - reach, key=value)
    within = bisect.bisect_right(numbers, q3 + reach, key=value)
    # of few records the outermost may lie inside the box
    low = min(value(min(below + 1, n)), q1)
    high = max(value(max(within, 1)), q3)
    shown = [*_spread(1, below), *_spread(within + 1, n)]
    first, last = np.searchsorted(shares, [0.25, 0.75], side="left")
    return Box(
        group,
        low,
        q1,
        median,
        q3,
        high,
        below=below,
        above=n - within,
        outliers=tuple(value(number) for number in shown),
        records=curve.records,
        flat=flat if quartiles else bool(first == last),
    )


def _spread(first: int, last: int) -> list[int]:
    """Whole numbers from first to last: all of a few, else evenly spaced ones with both ends."""
    if last - first < SHOWN_OUTLIERS:
        return list(range(first, last + 1))
    return [first + (last - first) * step // (SHOWN_OUTLIERS - 1) for step in range(SHOWN_OUTLIERS)]


# --- The estimate

PlotKind = Literal["box", "violin"]
KINDS: tuple[PlotKind, ...] = get_args(PlotKind)
PUBLIC_GROUPS = "the group of each record, and so the size of each group, is public; only values are hidden"


_SURE = 2.0
"""Standard deviations of noise from which a number of records is told apart from none."""


@dataclass(frozen=True, repr=False)
class Boxplots(Estimate):
    """A box for all records of a column, or for each group.

    Fields:
        column: What was measured.
        by: Column of the groups; None where all records are in one box.
        grid: The public thresholds.
        method: "resample", "five_numbers" or "joint".
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
        """The box of a group."""
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
            count is not None and count > _SURE * error
            for count, error in zip((box.below, box.above), errors.tolist(), strict=True)
        )
        return tuple(number for number in box.outliers if (below if number < box.q1 else above))

    def _labels(self, *numbers: float) -> list[Any]:
        return [self.grid.label(number) for number in numbers]

    def with_provenance(self, provenance: Provenance) -> Boxplots:
        """Return the same boxes with their provenance."""
        statement = PUBLIC_GROUPS.capitalize() + "."
        if self.public_groups and provenance.private and not provenance.assumption.endswith(statement):
            provenance = dataclasses.replace(provenance, assumption=f"{provenance.assumption} {statement}")
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
            ParameterError: these are not boxes, or boxes of another grid or other groups.
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
        options: dict[str, Any] = {"kind": kind, "truth": truth}
        return self.view().draw(ax, **options, **style)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: boxes as people write them, and as exact numbers of the grid."""
        return {
            "schema": self.schema,
            "column": self.column,
            "by": self.by,
            "grid": self.grid.to_dict(),
            "method": self.method,
            "adjacency": self.adjacency.value,
            "public_groups": self.public_groups,
            "boxes": [_box_data(self.grid, box) for box in self.boxes],
            "curves": [curve.to_dict() for curve in self.curves],
            "provenance": None if self.provenance is None else self.provenance.to_dict(),
        }

    @classmethod
    def _read(cls, data: Any) -> Any:
        known = Fields.of(data, cls.schema, "boxplots", _NEEDED)
        column, method, adjacency = known.text("column"), known.text("method"), known.adjacency()
        by, listed, held = data["by"], data["boxes"], data["curves"]
        if by is not None and not is_text(by):
            raise DataError("the field 'by' of boxplots must be a short text or null")
        if method not in METHODS:
            raise DataError(f"the method of boxplots must be one of {', '.join(METHODS)}")
        if not isinstance(listed, list) or not 1 <= len(listed) <= _MOST_BOXES or (by is None and len(listed) != 1):
            raise DataError(
                f"the field 'boxes' must be a list of 1 to {_MOST_BOXES} boxes, or of one where there is no 'by'"
            )
        if not isinstance(held, list) or len(held) != (0 if method == "five_numbers" else len(listed)):
            raise DataError("the field 'curves' must hold a curve for each box, or none where five numbers were found")
        known_groups = data["public_groups"]
        if not isinstance(known_groups, bool) or (known_groups and (by is None or adjacency is not Adjacency.REPLACE)):
            raise DataError("the field 'public_groups' must be false, or true where there are groups and none is added")
        provenance = known.provenance(*((by,) if known_groups and by is not None else ()))
        grid = read_grid(data["grid"])
        boxes = tuple(_box(grid, box) for box in listed)
        if any((box.group is None) != (by is None) for box in boxes) or len({b.group for b in boxes}) < len(boxes):
            raise DataError(
                "each box must be of a group of its own where there is a 'by', and of no group where there is none"
            )
        curves = tuple(Curve.from_dict(curve) for curve in held)
        check_price(provenance, [(curve.strategy, curve.adjacency) for curve in curves])
        if known_groups and provenance is not None:
            curves = tuple(curve.with_provenance(provenance) for curve in curves)
        for box, curve in zip(boxes, curves, strict=method != "five_numbers"):
            _check_curve(box, curve, grid, column, selected=method == "joint")
        return Boxplots(
            column=column,
            by=by,
            grid=grid,
            method=method,
            boxes=boxes,
            curves=curves,
            adjacency=adjacency,
            provenance=provenance,
            public_groups=known_groups,
        )


# --- Plain data, which need not be trusted

METHODS = ("resample", "five_numbers", "joint")

_NEEDED = ("column", "by", "grid", "method", "adjacency", "public_groups", "boxes", "curves", "provenance")
_BOX = ("group", "values", "numbers", "below", "above", "outliers", "records", "flat")
_MOST_BOXES = 1000


def _box_data(grid: Grid, box: Box) -> dict[str, Any]:
    data = {
        "group": box.group,
        "values": _written(grid, box),
        "numbers": list(box.numbers),
        "below": box.below,
        "above": box.above,
        "outliers": list(box.outliers),
        "records": box.records,
        "flat": box.flat,
    }
    if box.intervals is not None:
        data["intervals"] = {name: list(ends) for name, ends in box.intervals._asdict().items()}
    return data


def _written(grid: Grid, box: Box) -> dict[str, Any]:
    """The five numbers for people; none where there are no records."""
    labels = [grid.label(number) for number in box.numbers]
    written = [label if isinstance(label, float) else label.isoformat() for label in labels]
    return dict(zip(NUMBERS, written, strict=True)) if box.defined else dict.fromkeys(NUMBERS)


def _check_curve(box: Box, curve: Curve, grid: Grid, column: str, *, selected: bool) -> None:
    """A box read off a curve must be that curve's, but for quartiles that were selected."""
    if (curve.grid, curve.column) != (grid, column):
        raise DataError("a curve of these boxplots is of another column or grid")
    expected = box_of(curve, box.group, (box.q1, box.median, box.q3) if selected else None)
    near = 1e-9 * (grid.high - grid.low)
    if not np.allclose(box.numbers, expected.numbers, rtol=0, atol=near):
        raise DataError("a box contradicts its curve: its five numbers must be those read off the curve")


def _box(grid: Grid, data: Any) -> Box:
    if not isinstance(data, dict) or any(name not in data for name in _BOX):
        raise DataError(f"each box must have {', '.join(_BOX)}")
    group, numbers, outliers, records = (data[name] for name in ("group", "numbers", "outliers", "records"))
    if not (group is None or isinstance(group, bool) or is_text(group) or is_number(group)):
        raise DataError("the group of a box must be a short text, a number, a truth value or null")
    if not isinstance(numbers, list) or len(numbers) != len(NUMBERS) or not all(map(is_number, numbers)):
        raise DataError("the numbers of a box must be its low, q1, median, q3 and high")
    ends = [grid.low, *map(float, numbers), grid.high]
    if ends != sorted(ends):
        raise DataError("the numbers of a box must lie in the bounds of the grid and not decrease")
    for name in ("below", "above"):
        if data[name] is not None and not (is_whole(data[name]) and data[name] >= 0):
            raise DataError(f"the field {quoted(name)} of a box must be a number of records or null")
    if not isinstance(outliers, list) or len(outliers) > 2 * SHOWN_OUTLIERS or not all(map(is_number, outliers)):
        raise DataError(f"the outliers of a box must be a list of at most {2 * SHOWN_OUTLIERS} numbers")
    if any(not grid.low <= value <= grid.high for value in outliers) or outliers != sorted(outliers):
        raise DataError("the outliers of a box must lie in the bounds of the grid and not decrease")
    if records is not None and not (is_number(records) and records >= 0):
        raise DataError("the records of a box must be a number of at least 0, or null")
    if not isinstance(data["flat"], bool):
        raise DataError("the field 'flat' of a box must be true or false")
    low, q1, median, q3, high = map(float, numbers)
    intervals = _intervals(grid, data["intervals"], (q1, median, q3)) if "intervals" in data else None
    box = Box(
        group,
        low,
        q1,
        median,
        q3,
        high,
        below=data["below"],
        above=data["above"],
        outliers=tuple(map(float, outliers)),
        records=None if records is None else float(records),
        flat=data["flat"],
        intervals=intervals,
    )
    try:
        written = _written(grid, box)
    except (ParameterError, OverflowError, ValueError):
        raise DataError("the numbers of a box are none that the grid's dates can write") from None
    if data["values"] != written:
        raise DataError("a box contradicts itself: its values must be those of its numbers")
    return box


def _intervals(grid: Grid, data: Any, numbers: tuple[float, float, float]) -> Intervals:
    """The intervals of a box; files of versions before there were any lack them."""
    if not isinstance(data, dict) or set(data) != set(Intervals._fields):
        raise DataError(f"the intervals of a box must be of {', '.join(Intervals._fields)}")
    results = []
    for name, number in zip(Intervals._fields, numbers, strict=True):
        ends = data[name]
        if not isinstance(ends, list) or len(ends) != 2 or not all(map(is_number, ends)):
            raise DataError(f"the interval of {name} must be two numbers")
        if not grid.low <= ends[0] <= number <= ends[1] <= grid.high:
            raise DataError(f"the interval of {name} must hold it, and lie in the bounds of the grid")
        results.append(Interval(float(ends[0]), float(ends[1])))
    return Intervals(*results)
