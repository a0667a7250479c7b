"""How far two distribution functions lie apart: Kolmogorov-Smirnov, Earth Mover's and energy distance.

For distribution functions F and G on [low, high], both 0 below low and 1 from high on:

    ks     = sup |F - G|                      a share
    emd    = integral of |F - G|              in units of the axis: how far mass must be moved, on average
    energy = sqrt(2 integral of (F - G)^2)    in square roots of them: sqrt(2 E|X-Y| - E|X-X'| - E|Y-Y'|)

All three are metrics. `emd` scales with the axis and `energy` with its square root, so values on different axes do not
compare. Curves and samples are straight between finitely many points, and so is their difference between all
points of both: the sums below are exact there, where the difference jumps and where it changes its sign.

Source: Rizzo and Szekely 2016 for the energy distance; `scipy.stats` follows the same definitions.
"""

from __future__ import annotations

import dataclasses
import datetime
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.columns.axis import jumps, to_numbers
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64
from ogive.core.checks import among, any_whole, array_of
from ogive.errors import ParameterError
from ogive.provenance import publishable
from ogive.statistics.curve.base import CurveBase

# --- Curves, samples and known distributions as functions with knots

ACCURACY = 1e-9
"""How far, as a share, a known distribution may be from the lines that stand for it."""

_CELLS = 1024  # to begin with
_MOST_CELLS = 1 << 21
_PROBES = (0.5, 0.3819660113, 0.7236067977)
_SMALLEST = 1e-18  # beside zero floats get ever finer: a cell of this part of the axis is small enough


@dataclass(frozen=True, eq=False)
class Piecewise:
    """A distribution function: 0 below its first knot, straight between knots, 1 from the last on.

    Fields:
        knots: Strictly increasing, shape (m,).
        left: Limit from below at each knot, shape (m,); the first is 0.
        right: Value at each knot, shape (m,); the last is 1.
    """

    knots: Float64
    left: Float64
    right: Float64

    def at(self, places: Float64) -> tuple[Float64, Float64]:
        """Limit from below and value at each place, each of the shape of `places`."""
        before = np.searchsorted(self.knots, places, side="right") - 1
        inside = (before >= 0) & (before < len(self.knots) - 1)
        cell = np.clip(before, 0, max(len(self.knots) - 2, 0))
        values = np.where(before < 0, 0.0, 1.0)
        if len(self.knots) > 1:
            low, high = self.knots[cell], self.knots[cell + 1]
            share = (places - low) / (high - low)
            line = self.right[cell] + share * (self.left[cell + 1] - self.right[cell])
            values = np.where(inside, line, values)
        here = self.knots[np.clip(before, 0, None)] == places
        knot = np.clip(before, 0, None)
        return np.where(here, self.left[knot], values), np.where(here, self.right[knot], values)

    def quantile(self, shares: Float64) -> Float64:
        """First place at which the function reaches each share in (0, 1), same shape."""
        places, values = np.repeat(self.knots, 2), np.stack((self.left, self.right), axis=1).ravel()
        after = np.clip(np.searchsorted(values, shares, side="left"), 1, len(values) - 1)
        rise = values[after] - values[after - 1]
        part = (shares - values[after - 1]) / np.where(rise > 0, rise, 1.0)
        return np.asarray(places[after - 1] + np.clip(part, 0, 1) * (places[after] - places[after - 1]))


@dataclass(frozen=True)
class Axis:
    """What two functions have in common.

    Fields:
        unit: "number", "date" or "datetime".
        low, high: Where both are 0 and 1; None where samples are taken as they are.
    """

    unit: str
    low: float | None = None
    high: float | None = None

    def numbers(self, values: Any) -> Float64:
        """Values of a sample as numbers of the axis, clipped to its bounds, sorted."""
        try:
            array = array_of(values)
            if array.ndim != 1 or not array.size:
                raise ParameterError(f"a sample must be a list of at least one value, got shape {array.shape}")
            numbers = to_numbers(Grid("linear", 0.0, 1.0, 1, self.unit), array)
        except ParameterError as problem:
            if "missing date" in str(problem) or "NaN" in str(problem):
                raise ParameterError("a sample to compare with must have no missing values; leave them out") from None
            raise
        if self.unit != "number" and array.dtype.kind in "iuf":
            raise ParameterError("numbers and dates do not compare; give both in one kind")
        if self.low is None and not np.isfinite(numbers).all():
            raise ParameterError("a sample with infinite values needs bounds to which they are clipped")
        return np.sort(numbers if self.low is None else np.clip(numbers, self.low, self.high))


def axis_of(a: Any, b: Any, bounds: tuple[Any, Any] | None) -> Axis:
    """The axis on which two things can be compared."""
    known = [Axis(item.grid.unit, item.grid.low, item.grid.high) for item in (a, b) if isinstance(item, CurveBase)]
    if bounds is not None:
        if not isinstance(bounds, tuple | list) or len(bounds) != 2:
            raise ParameterError("`bounds` must be the two ends of the axis, for example `bounds=(0, 120)`")
        ends = Grid.linear(*bounds, bins=1)
        known.append(Axis(ends.unit, ends.low, ends.high))
    for other in known[1:]:
        if other != known[0]:
            raise ParameterError(f"these have different bounds and do not compare: {_words(known[0])}, {_words(other)}")
    if known:
        return known[0]
    if any(is_known(item) for item in (a, b)):
        raise ParameterError("a known distribution needs bounds to be compared within, for example `bounds=(0, 120)`")
    units = {_unit(item) for item in (a, b)}
    if len(units) > 1 and "number" in units:
        raise ParameterError("numbers and dates do not compare; give both in one kind")
    return Axis("datetime" if "datetime" in units else units.pop())


def _words(axis: Axis) -> str:
    grid = Grid("linear", axis.low or 0.0, axis.high or 0.0, 1, axis.unit)
    return f"{grid.label(grid.low)} to {grid.label(grid.high)}"


def _unit(sample: Any) -> str:
    """The kind of the values of a sample, by its type or its first value."""
    array = array_of(sample)
    if array.dtype.kind == "M":
        return "date" if array.dtype == np.dtype("datetime64[D]") else "datetime"
    first = array.ravel()[0] if array.size and array.dtype == object else None
    if isinstance(first, datetime.datetime):
        return "datetime"
    return "date" if isinstance(first, datetime.date) else "number"


def is_known(item: Any) -> bool:
    """Whether this is a known distribution: it has a `cdf` method, or is a function."""
    return not isinstance(item, CurveBase) and (callable(getattr(item, "cdf", None)) or callable(item))


def form(item: Any, axis: Axis, between: str | None) -> Piecewise:
    """A curve, sample or known distribution as a function that is straight between its knots."""
    if isinstance(item, CurveBase):
        return of_curve(item, between)
    if is_known(item):
        return of_known(item.cdf if hasattr(item, "cdf") else item, axis)
    numbers = axis.numbers(item)
    knots, last = np.unique(numbers, return_index=True)
    right = np.append(last[1:], len(numbers)) / len(numbers)
    return steps(knots, right)


def steps(knots: Float64, right: Float64) -> Piecewise:
    """A function that keeps its value between knots."""
    return Piecewise(knots, np.concatenate(([0.0], right[:-1])), right)


def of_curve(curve: CurveBase, between: str | None) -> Piecewise:
    """What a curve says, with its mass on thresholds ("steps") or even within bins ("lines").

    By default what its grid means: on integers and dates there is nothing between two values.
    """
    curve.check_defined()
    grid = curve.grid
    if between is None:
        between = "steps" if grid.kind == "integers" or grid.unit == "date" else "lines"
    places = jumps(grid) if between == "steps" else grid.thresholds
    knots, last = np.unique(places[::-1], return_index=True)
    right = curve.probabilities[::-1][last]
    if between == "steps":
        return steps(knots, right)
    if grid.low < knots[0]:
        knots, right = np.concatenate(([grid.low], knots)), np.concatenate(([0.0], right))
    left = right.copy()
    left[0] = 0.0  # where the first threshold is the lower bound itself, its bin is a point
    return Piecewise(knots, left, right)


def of_known(function: Callable[[Any], Any], axis: Axis) -> Piecewise:
    """Lines that follow a known distribution to within `ACCURACY`, its jumps as jumps.

    Cells are halved, down to neighboring floats where it jumps, until three places within each lie on its line. A
    cell over which the function rises by less than the accuracy cannot hide anything, since it does not decrease.
    """
    low, high = float(axis.low or 0.0), float(axis.high or 0.0)
    knots = np.linspace(low, high, _CELLS + 1)
    values = _ask(function, knots)
    start, end = knots[:-1], knots[1:]
    low_values, high_values = values[:-1], values[1:]
    done: list[tuple[Float64, ...]] = []
    cells = 0
    while len(start):
        inside = [_ask(function, start + part * (end - start)) for part in _PROBES]
        for value in inside:
            if np.any(value < low_values - ACCURACY) or np.any(value > high_values + ACCURACY):
                raise ParameterError("a distribution function must not decrease")
        gaps = [
            np.abs(v - low_values - part * (high_values - low_values)) for part, v in zip(_PROBES, inside, strict=True)
        ]
        rough = np.maximum.reduce(gaps) > ACCURACY / 2
        middle = np.where((start < 0) & (end > 0), 0.0, start + (end - start) / 2)
        tiny = (middle <= start) | (middle >= end) | (end - start <= _SMALLEST * (high - low))
        split = rough & ~tiny
        done.append((start[~split], end[~split], low_values[~split], high_values[~split], tiny[~split]))
        cells += int((~split).sum())
        if cells + 2 * int(split.sum()) > _MOST_CELLS:
            raise ParameterError("this function has too many jumps to be compared; give a sample of it instead")
        middle = middle[split]
        between = _ask(function, middle)
        start, end = np.concatenate((start[split], middle)), np.concatenate((middle, end[split]))
        low_values, high_values = (
            np.concatenate((low_values[split], between)),
            np.concatenate((between, high_values[split])),
        )
    starts, ends, first, last, jump = (np.concatenate(parts) for parts in zip(*done, strict=True))
    order = np.argsort(starts)
    starts, ends, first, last, jump = (part[order] for part in (starts, ends, first, last, jump))
    knots = np.append(starts, ends[-1])
    right = np.append(first, 1.0)
    left = np.append(0.0, last)
    # a jump lies at the upper end of a cell too small to halve, exactly: functions continue from the right
    left[1:][jump] = first[jump]
    return Piecewise(knots, left, right)


def _ask_singly(function: Callable[[Any], Any], places: Float64) -> Float64:
    """Evaluate a function place by place, for functions that take one number at a time."""
    try:
        return np.array([float(function(place)) for place in places.tolist()])
    except (TypeError, ValueError):
        raise ParameterError("a distribution function must take one number and return one") from None


def _ask(function: Callable[[Any], Any], places: Float64) -> Float64:
    if not places.size:
        return places
    try:
        values = np.asarray(function(places), dtype=np.float64)
        if values.shape != places.shape:
            raise TypeError
    except (TypeError, ValueError):
        values = _ask_singly(function, places)
    if not np.all((values >= -ACCURACY) & (values <= 1 + ACCURACY)):
        raise ParameterError("a distribution function must lie between 0 and 1 within the bounds")
    return np.clip(values, 0.0, 1.0)


def may_be_shown(other: Any) -> bool:
    """Whether what a curve is compared with may be published: a private release, or a known distribution."""
    return publishable(other.provenance) if isinstance(other, CurveBase) else is_known(other)


def quantile_pairs(curve: CurveBase, other: Any, points: Any) -> tuple[Float64, Float64]:
    """Quantiles of a curve and of another distribution at shares (i - 1/2) / points, as numbers of the grid."""
    any_whole(points, "points", 1, 10_000)
    axis = axis_of(curve, other, None)
    shares = (np.arange(points) + 0.5) / points
    return form(curve, axis, None).quantile(shares), form(other, axis, None).quantile(shares)


@dataclass(frozen=True)
class Distances:
    """Three distances between two distribution functions; each is 0 only if they are equal.

    Fields:
        ks: Kolmogorov-Smirnov distance: largest difference, a share in [0, 1].
        emd: Earth mover's distance: area between the two, in units of the axis.
        energy: Energy distance, in square roots of these units.
        unit: "days" on an axis of dates or times, "" on one of numbers.
        populations: What is known of the distance between the populations, where a confidence level was given.
    """

    ks: float
    emd: float
    energy: float
    unit: str = ""
    populations: Separation | None = None

    def __str__(self) -> str:
        """All three in one line, and what is known of populations in another."""
        after = f" {self.unit}" if self.unit else ""
        root = f" sqrt({self.unit})" if self.unit else ""
        line = f"KS {self.ks:.4g}, Earth Mover's {self.emd:.4g}{after}, energy {self.energy:.4g}{root}"
        return line if self.populations is None else f"{line}\n{self.populations}{after}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        more = {} if self.populations is None else {"populations": self.populations.to_dict()}
        return {"ks": self.ks, "emd": self.emd, "energy": self.energy, "unit": self.unit, **more}


@dataclass(frozen=True)
class Separation:
    """How far two populations lie apart.

    Fields:
        ks, emd: Intervals of both distances that hold together with the confidence level.
        confidence_level: Their level.
        p_value: Of the hypothesis that both have one distribution.
        at_most: Whether the p-value is at most that, since no band of a higher level is known.
    """

    ks: tuple[float, float]
    emd: tuple[float, float]
    confidence_level: float
    p_value: float
    at_most: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        level = {"confidence_level": self.confidence_level, "p_value": self.p_value, "at_most": self.at_most}
        return {"ks": list(self.ks), "emd": list(self.emd), **level}

    def __str__(self) -> str:
        """One line."""
        sign = "<=" if self.at_most else "="
        return (
            f"populations, {100 * self.confidence_level:.6g} %: KS {self.ks[0]:.3g} to {self.ks[1]:.3g}; "
            f"no difference: p {sign} {self.p_value:.2g}; Earth Mover's {self.emd[0]:.3g} to {self.emd[1]:.3g}"
        )


_LEAST = 1e-4
"""The smallest probability of error of a band."""

_HALVINGS = 20


def separation(a: Any, b: Any, confidence_level: float, axis: Axis, between: str | None) -> Separation:
    """Intervals of the distances of populations, and a test of whether there is any, from simultaneous bands.

    Each band of k fails with probability (1 - confidence_level) / k, so what follows from all of them holds with the
    confidence level, also where both are of the same records. The p-value is the smallest probability of error at which
    no distribution lies in both bands.
    """
    private = sum(isinstance(each, CurveBase) for each in (a, b))

    def gaps(error: float) -> tuple[Float64, float, Float64, Float64]:
        """Knots, the least largest distance at one of them, and the least and most distances between neighbors."""
        ends = [_ends(each, error / private, axis, between) for each in (a, b)]
        knots = np.unique(np.concatenate([each.places for each in ends]))
        (low, here, high), (other_low, other_here, other_high) = (each.at(knots) for each in ends)
        least = float(np.max(np.maximum(low - other_here, other_low - here), initial=0.0))
        within = np.maximum(0.0, np.maximum(low - other_high, other_low - high))
        return knots, least, within, np.maximum(high - other_low, other_high - low)

    knots, least, within, most = gaps(1 - confidence_level)
    widths = np.diff(knots) / _scale(axis.unit)
    low, high = math.log(private * _LEAST), 0.0
    at_most = gaps(private * _LEAST)[1] > 0
    for _ in range(0 if at_most else _HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if gaps(math.exp(middle))[1] > 0 else (middle, high)
    return Separation(
        (least, float(most.max())),
        (float(widths @ within[:-1]), float(widths @ most[:-1])),
        confidence_level,
        private * _LEAST if at_most else math.exp(high),
        at_most,
    )


@dataclass(frozen=True, eq=False)
class _Ends:
    """Functions that hold a distribution function, which is 0 before the first place.

    Fields:
        places: Not decreasing, shape (m,).
        low: Lower end from each place to the next.
        here: Upper end at each place.
        high: Upper end from each place to the next.
    """

    places: Float64
    low: Float64
    here: Float64
    high: Float64

    def at(self, knots: Float64) -> tuple[Float64, Float64, Float64]:
        """The lower end from each knot to the next, and the upper ones at it and to the next."""
        before = np.searchsorted(self.places, knots, side="right")
        low, high = (np.append(0.0, values)[before] for values in (self.low, self.high))
        exact = np.isin(knots, self.places)
        return low, np.where(exact, np.append(0.0, self.here)[before], high), high


def _ends(item: Any, error: float, axis: Axis, between: str | None) -> _Ends:
    """The ends of a band of a curve; a sample or a known distribution is exact but for what rises between its knots."""
    if not isinstance(item, CurveBase):
        function = form(item, axis, between)
        high = np.append(np.maximum(function.right[:-1], function.left[1:]), 1.0)
        return _Ends(function.knots, function.right, function.right, high)
    band, grid = item.band(1 - error), item.grid
    if between == "steps" or (between is None and (grid.kind == "integers" or grid.unit == "date")):
        return _Ends(jumps(grid), band.low, band.high, band.high)
    low, high = np.append(0.0, band.low), np.append(band.high, 1.0)
    return _Ends(
        np.append(min(grid.low, grid.thresholds[0]), grid.thresholds), low, np.append(high[0], band.high), high
    )


def _scale(unit: str) -> float:
    """Units of the axis in one of those that distances are stated in."""
    return {"number": 1.0, "date": 1.0}.get(unit, 86_400e6)


def distances(
    a: Any,
    b: Any,
    *,
    bounds: tuple[Any, Any] | None = None,
    between: str | None = None,
    confidence_level: float | None = None,
) -> Distances:
    """Compare two distribution functions.

    Each may be a released or exact `Curve`, a sample (an array of numbers or dates: its empirical distribution
    function), or a known distribution: anything with a `cdf` method, as those of scipy.stats, or a function. A known
    distribution is approximated by straight lines to within 1e-9 of a share. On an axis of dates its argument is in
    days, on an axis of times in microseconds, since 1970-01-01.

    Values outside the bounds count as clipped to them, as in a release.

    Args:
        a: The first distribution.
        b: The second distribution.
        bounds: Ends of the axis; those of a curve by default. Required for two known distributions, or a known one and
            a sample. Without bounds, samples are not clipped.
        between: Interpolation of a curve between thresholds: "steps" (constant: all mass lies on thresholds) or
            "lines" (linear: mass is uniform within a bin). By default "steps" on grids of integers and of dates, else
            "lines".
        confidence_level: Of intervals of `ks` and `emd` between the populations, at most 0.9999, or 0.9998 for two
            curves. They come with a test of whether the populations are equal, and hold whether the curves are of the
            same records or of others. None: no intervals.

    Raises:
        ParameterError: the two are on different axes, bounds are missing or differ, a value is missing, a function is
            not a distribution function, a curve is not defined, or intervals are wanted and none of the two is a curve.

    Privacy:
        Post-processing if both are released or public. With a sample of private records the result is not private.

    Example:
        >>> print(distances([0.0], [1.0]))
        KS 1, Earth Mover's 1, energy 1.414
    """
    if between is not None:
        among(between, "between", ("steps", "lines"))
    axis = axis_of(a, b, bounds)
    first, second = (form(item, axis, between) for item in (a, b))
    result = compare(first, second, unit=axis.unit)
    if confidence_level is None:
        return result
    if not any(isinstance(item, CurveBase) for item in (a, b)):
        raise ParameterError("intervals of distances need a released curve, whose band says what noise and sampling do")
    return dataclasses.replace(result, populations=separation(a, b, confidence_level, axis, between))


def compare(first: Piecewise, second: Piecewise, *, unit: str = "number") -> Distances:
    """The distances of two functions that are straight between their knots."""
    knots = np.union1d(first.knots, second.knots)
    one, two = first.at(knots), second.at(knots)
    left, right = one[0] - two[0], one[1] - two[1]
    start, end, widths = right[:-1], left[1:], np.diff(knots)
    size = np.abs(start) + np.abs(end)
    crossing = (start * end < 0) & (size > 0)
    area = np.where(crossing, (start**2 + end**2) / (2 * np.where(size > 0, size, 1)), size / 2)
    squares = (start**2 + start * end + end**2) / 3
    scale = _scale(unit)
    return Distances(
        ks=float(max(np.abs(left).max(), np.abs(right).max())),
        emd=float(widths @ area) / scale,
        energy=math.sqrt(max(0.0, 2 * float(widths @ squares) / scale)),
        unit="" if unit == "number" else "days",
    )
