"""Public grids of thresholds on which a distribution function is released, and columns of numbers on them.

A grid is chosen before looking at the records. Values are clipped to `[low, high]`,
then a record falls into bin i (0-based) when `thresholds[i-1] < value <= thresholds[i]`;
bin 0 also holds `low` itself. The last threshold is `high`, so F(high) = 1.

Dates and times are numbers inside: days or microseconds since 1970-01-01. `unit` says
which, and `label` turns a number back into what the user wrote.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import itertools
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from ogive.columns import categories
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import among, any_whole
from ogive.errors import ParameterError, plain, quoted

EPOCH = datetime.date(1970, 1, 1)
EPOCH_TIME = datetime.datetime(1970, 1, 1)
MICROSECONDS_PER_DAY = 86_400_000_000
MICROSECONDS_PER_HOUR = 3_600_000_000
GridName = Literal["linear", "geometric", "integers", "hours", "days", "weeks", "months"]
GRIDS: tuple[GridName, ...] = get_args(GridName)
"""Words for the grids that bounds and a number of bins describe."""
MAX_BINS = 1 << 24
MAX_WHOLE = 1 << 53
FIRST_SUNDAY = 3
"""Days from 1970-01-01 to a Sunday."""

Bound = float | int | str | datetime.date | datetime.datetime


def _number(value: Any, name: str) -> tuple[float, str]:
    """A value as (number, unit); unit is "number", "date" or "datetime". The name is what messages call it."""
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            value = float(value)
    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value) if len(value) > 10 else datetime.date.fromisoformat(value)
        except ValueError:
            raise ParameterError(f"{name} must be a number or an ISO date, got {quoted(value)}") from None
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        return float((value - EPOCH_TIME) // datetime.timedelta(microseconds=1)), "datetime"
    if isinstance(value, datetime.date):
        return float((value - EPOCH).days), "date"
    try:
        if isinstance(value, np.ndarray) and value.ndim:
            raise TypeError  # numpy before 2.4 takes an array of one number for that number
        number = float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be a number or a date, got {quoted(value)}") from None
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ParameterError(f"{name} must be finite, got {quoted(value)}")
    return number, "number"


def _interval(low: Bound, high: Bound) -> tuple[float, float, str]:
    first, unit = _number(low, "`bounds`: the lower bound")
    last, other = _number(high, "`bounds`: the upper bound")
    if unit != other:
        raise ParameterError(f"`bounds` must be of one kind, got {quoted(low)} ({unit}) and {quoted(high)} ({other})")
    if not first < last:
        raise ParameterError(
            f"`bounds`: the lower bound must be below the upper bound, got {quoted(low)} and {quoted(high)}"
        )
    if math.isinf(last - first):
        raise ParameterError(f"`bounds` {quoted(low)} and {quoted(high)} are too far apart for floating point")
    return first, last, unit


def _check_bins(bins: Any) -> int:
    return any_whole(bins, "bins", 1, MAX_BINS)


def _ending(unit: str, first: float, last: float, ends: Any) -> Grid:
    """A grid of these thresholds, and of the upper bound after them."""
    listed = (*(float(end) for end in ends if first <= end < last), last)
    return Grid("explicit", first, last, len(listed), unit, listed)


_GUESSED_FROM = 256  # values, fewer than which are found by bisection as fast
_MOVES = 4  # a guess is off by one at most but on grids whose thresholds are a few floats apart


@dataclass(frozen=True)
class Grid:
    """Increasing public thresholds. Create one with `linear`, `geometric`, `integers`, `calendar` or `explicit`.

    Fields:
        kind: "linear", "geometric", "integers" or "explicit".
        low, high: Bounds to which values are clipped; `high` is the last threshold.
        bins: Number of thresholds.
        unit: "number", "date" (days) or "datetime" (microseconds).
        listed: The thresholds of an explicit grid, else empty.
    """

    kind: str
    low: float
    high: float
    bins: int
    unit: str = "number"
    listed: tuple[float, ...] = ()

    @staticmethod
    def linear(low: Bound, high: Bound, *, bins: int) -> Grid:
        """Thresholds `low + i (high - low) / bins` for i = 1..bins.

        Raises:
            ParameterError: bounds are reversed, equal, infinite or of two kinds, or bins < 1.
        """
        first, last, unit = _interval(low, high)
        return Grid("linear", first, last, _check_bins(bins), unit)._checked()

    @staticmethod
    def geometric(low: Bound, high: Bound, *, bins: int) -> Grid:
        """Thresholds with a constant ratio, `low (high / low)^(i / bins)`.

        Raises:
            ParameterError: as `linear`, or the lower bound is not above 0, or the bounds are dates.
        """
        first, last, unit = _interval(low, high)
        if unit != "number" or first <= 0:
            raise ParameterError(f"a geometric grid needs `bounds` above 0, got {quoted(low)} and {quoted(high)}")
        if math.isinf(last / first):
            raise ParameterError(f"`bounds` {quoted(low)} and {quoted(high)} are too far apart for floating point")
        return Grid("geometric", first, last, _check_bins(bins), unit)._checked()

    @staticmethod
    def integers(low: Bound, high: Bound) -> Grid:
        """Every whole number from low to high, or every day for dates.

        Raises:
            ParameterError: bounds are not whole, or as `linear`.
        """
        first, last, unit = _interval(low, high)
        if unit == "datetime" or first != math.floor(first) or last != math.floor(last):
            raise ParameterError(f"a grid of integers needs whole bounds, got {quoted(low)} and {quoted(high)}")
        if max(-first, last) > MAX_WHOLE:
            raise ParameterError(f"a grid of integers needs bounds up to 2^53, got {quoted(low)} and {quoted(high)}")
        return Grid("integers", first, last, _check_bins(int(last - first) + 1), unit)

    @staticmethod
    def calendar(low: Bound, high: Bound, *, every: str) -> Grid:
        """Thresholds at the ends of hours, days, weeks or months.

        The first and the last period end at the bounds. Thresholds of hours are times. The others are dates, and a
        time counts on its day. Hours and days are in UTC if bounds or times have a time zone.

        Args:
            low: First possible day or time.
            high: Last possible day or time; a date includes all hours of its day.
            every: "hours", "days", "weeks" (from Monday to Sunday) or "months".

        Raises:
            ParameterError: the bounds are numbers or not increasing, or `every` is none of these words.
        """
        among(every, "every", GRIDS[3:])
        first, last, unit = _interval(low, high)
        if unit == "number":
            raise ParameterError(f"a grid of {every} needs dates or times as bounds, got {quoted(low)}, {quoted(high)}")
        if every == "hours":
            if unit == "date":
                first, last = first * MICROSECONDS_PER_DAY, (last + 1) * MICROSECONDS_PER_DAY - 1
            hours = first // MICROSECONDS_PER_HOUR, last // MICROSECONDS_PER_HOUR
            _check_bins(int(hours[1] - hours[0]) + 1)
            ends = np.arange(hours[0] + 1, hours[1] + 1) * MICROSECONDS_PER_HOUR - 1
            return _ending("datetime", first, last, ends)
        if unit == "datetime":
            first, last = first // MICROSECONDS_PER_DAY, last // MICROSECONDS_PER_DAY
        _check_bins(int(last - first) + 1)
        if every == "days":
            return Grid("integers", first, last, int(last - first) + 1, "date")
        if every == "weeks":
            return _ending("date", first, last, np.arange(first + (FIRST_SUNDAY - first) % 7, last, 7))
        months = np.array([first, last]).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
        starts = np.arange(months[0] + 1, months[1] + 1).astype("datetime64[M]").astype("datetime64[D]")
        return _ending("date", first, last, starts.astype(np.int64) - 1)

    @staticmethod
    def explicit(thresholds: Iterable[Bound], *, low: Bound | None = None) -> Grid:
        """The given thresholds, strictly increasing.

        Args:
            thresholds: Numbers or dates of one kind.
            low: Smallest possible value, at most the first threshold; by default that threshold, so
                that everything at or below it falls into the first bin.

        Raises:
            ParameterError: the thresholds are empty, not finite, of two kinds or not increasing.
        """
        try:
            thresholds = [] if isinstance(thresholds, str) else list(thresholds)
        except TypeError:
            raise ParameterError(f"a grid needs a list of thresholds, got {quoted(thresholds)}") from None
        if not thresholds:
            raise ParameterError("a grid needs at least one threshold, got none")
        pairs = [_number(value, f"threshold {i + 1}") for i, value in enumerate(thresholds)]
        if low is not None:
            pairs.insert(0, _number(low, "`low`"))
        if len({unit for _, unit in pairs}) > 1:
            raise ParameterError("`thresholds` must be of one kind, got numbers and dates together")
        values = [value for value, _ in pairs[(low is not None) :]]
        for i, (before, after) in enumerate(itertools.pairwise(values)):
            if not before < after:
                raise ParameterError(
                    f"`thresholds` must increase, but number {i + 2} ({after:g}) "
                    f"does not exceed number {i + 1} ({before:g})"
                )
        if pairs[0][0] > values[0]:
            raise ParameterError(f"the lower bound {quoted(low)} must not exceed the first threshold {values[0]:g}")
        _check_bins(len(values))
        return Grid("explicit", pairs[0][0], values[-1], len(values), pairs[0][1], tuple(values))

    def _checked(self) -> Grid:
        """Refuse a grid so fine that two thresholds are the same float."""
        thresholds = self.thresholds
        if thresholds[0] <= self.low or np.any(np.diff(thresholds) <= 0):
            raise ParameterError(
                f"{self.bins} bins between {quoted(self.low)} and {quoted(self.high)} are finer than floating "
                "point; use fewer bins"
            )
        return self

    @cached_property
    def thresholds(self) -> Float64:
        """The thresholds tau_1 < ... < tau_N, shape (bins,), read-only."""
        steps = np.arange(1, self.bins + 1, dtype=np.float64)
        match self.kind:
            case "linear":
                values = self.low + (self.high - self.low) * (steps / self.bins)
            case "geometric":
                values = self.low * (self.high / self.low) ** (steps / self.bins)
            case "integers":
                values = self.low + (steps - 1.0)
            case _:
                values = np.array(self.listed)
        values[-1] = self.high
        values.flags.writeable = False
        return values

    @property
    def nodes(self) -> Float64:
        """Points to which values are rounded at random without bias; shape (bins,).

        The first is `low` and the last `high`; their spacing is that of the thresholds.

        Raises:
            ParameterError: there is only one bin, or the thresholds are explicit and `low` is not the first.
        """
        if self.bins < 2:
            raise ParameterError("randomized rounding needs at least 2 bins")
        steps = np.arange(self.bins, dtype=np.float64) / (self.bins - 1)
        match self.kind:
            case "linear":
                values = self.low + (self.high - self.low) * steps
            case "geometric":
                values = self.low * (self.high / self.low) ** steps
            case "integers":
                return self.thresholds
            case _:
                if self.low != self.listed[0]:
                    raise ParameterError(
                        "randomized rounding needs listed thresholds of which the first is the lower bound"
                    )
                return self.thresholds
        values[-1] = self.high
        return values

    def bin_of(self, values: Float64) -> Int64:
        """0-based bin of each value after clipping, same shape. NaN is not allowed."""
        clipped = np.clip(values, self.low, self.high)
        if self.per_unit > 0 and clipped.size >= _GUESSED_FROM:
            result = self._guessed(clipped)
            if result is not None:
                return result
        return np.searchsorted(self.thresholds, clipped, side="left").astype(np.int64)

    @cached_property
    def per_unit(self) -> float:
        """Bins per unit of an even grid; 0 where bins must be searched for."""
        first, last = float(self.thresholds[0]), float(self.thresholds[-1])
        if self.kind in ("linear", "integers") and first < last:
            per_unit = (self.bins - 1) / (last - first)
            if per_unit < math.inf:  # else the grid is so narrow that the arithmetic overflows
                return per_unit
        return 0.0

    def _guessed(self, clipped: Float64) -> Int64 | None:
        """Bins by arithmetic, moved to where the comparisons with the thresholds hold; None where that takes long.

        A bin is right if its threshold is at or above the value and the one before it is below.
        """
        thresholds = self.thresholds
        result: Int64 = ((clipped - thresholds[0]) * self.per_unit).astype(np.int64)
        result += 1
        np.clip(result, 0, self.bins - 1, out=result)
        for _ in range(_MOVES):
            above = thresholds[result] < clipped
            below = (thresholds[result - 1] >= clipped) & (result > 0)
            if not (above.any() or below.any()):
                return result
            result += above
            result -= below
        return None

    def number(self, value: Any) -> float:
        """A value in the user's units as a number of this grid; on a grid of dates a time counts as its day.

        Raises:
            ParameterError: the value is of another kind than the grid's bounds.
        """
        number, unit = _number(value, "the value")
        if unit == "number" or unit == self.unit:
            return number
        if unit == "date" and self.unit == "datetime":
            return number * MICROSECONDS_PER_DAY
        if unit == "datetime" and self.unit == "date":
            return number // MICROSECONDS_PER_DAY
        raise ParameterError(f"{quoted(value)} is a {unit}, but the grid holds {self.unit}s")

    def value(self, value: Any, name: str) -> float:
        """A public value of the grid's column, as a number of the grid.

        Args:
            value: A number within the bounds, or a date or time if the bounds are dates or times.
            name: Name of the parameter, for the error message.

        Raises:
            ParameterError: the value is of another kind than the bounds, or outside them.
        """
        number, unit = (math.nan, "truth value") if isinstance(value, bool) else _number(value, f"`{name}`")
        if unit == "date" and self.unit == "datetime":
            number, unit = number * MICROSECONDS_PER_DAY, "datetime"
        if unit != self.unit:
            raise ParameterError(f"`{name}` must be a {self.unit} as the bounds are, got {quoted(value)}")
        if not self.low <= number <= self.high:
            raise ParameterError(f"`{name}` must lie within the bounds, {self.span}, got {quoted(value)}")
        return number

    @property
    def span(self) -> str:
        """The bounds as text, for example "0 to 120" or "2020-01-01 to 2025-12-31"."""
        bounds = (self.label(self.low), self.label(self.high))
        return " to ".join(f"{bound:g}" if isinstance(bound, float) else str(bound) for bound in bounds)

    @property
    def spacing(self) -> str:
        """How the thresholds follow each other, for people: as `kind`, or "hours", "days", "weeks" or "months"."""
        if self.unit == "date" and self.kind == "integers":
            return "days"
        if self.unit == "number" or self.kind != "explicit" or self.bins == 1:
            return self.kind
        for every in ("hours",) if self.unit == "datetime" else ("weeks", "months"):
            with contextlib.suppress(ParameterError):
                if Grid.calendar(self.label(self.low), self.label(self.high), every=every) == self:
                    return every
        return self.kind

    def label(self, number: float) -> Any:
        """A number of this grid in the user's units: a float, a date or a datetime."""
        if not math.isfinite(number) or self.unit == "number":
            return float(number)
        if self.unit == "date":
            return EPOCH + datetime.timedelta(days=math.floor(number))
        return EPOCH_TIME + datetime.timedelta(microseconds=round(number))

    def to_dict(self) -> dict[str, Any]:
        """Plain data; dates are days, and times microseconds, since 1970-01-01."""
        data: dict[str, Any] = {
            "kind": self.kind,
            "low": self.low,
            "high": self.high,
            "bins": self.bins,
            "unit": self.unit,
        }
        if self.listed:
            data["thresholds"] = list(self.listed)
        return data

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Grid:
        """Rebuild a grid from `to_dict`.

        Raises:
            ParameterError: a field is missing or out of range.
        """
        try:
            low, high, bins, unit = float(data["low"]), float(data["high"]), data["bins"], data["unit"]
            kind, listed = data["kind"], tuple(float(value) for value in data.get("thresholds", ()))
        except (KeyError, TypeError, ValueError) as problem:
            raise ParameterError(f"not a grid: {plain(problem)}") from None
        if not (math.isfinite(low) and math.isfinite(high)):
            raise ParameterError(f"a grid's bounds must be finite, got {low} and {high}")
        if unit not in ("number", "date", "datetime"):
            raise ParameterError("the unit of a grid must be number, date or datetime")
        match kind:
            case "linear":
                grid = Grid.linear(low, high, bins=bins)
            case "geometric":
                grid = Grid.geometric(low, high, bins=bins)
            case "integers":
                grid = Grid.integers(int(low), int(high))
            case "explicit":
                grid = Grid.explicit(listed, low=low)
            case _:
                raise ParameterError("unknown kind of grid; it must be linear, geometric, integers or explicit")
        if (grid.low, grid.high, grid.bins) != (low, high, bins):
            raise ParameterError("not a grid: its bounds, bins and thresholds are inconsistent")
        return Grid(grid.kind, grid.low, grid.high, grid.bins, unit, grid.listed)


# --- A column of numbers or dates on a grid

MissingPolicy = Literal["refuse", "low", "high", "drop"]
MISSING_POLICIES: tuple[MissingPolicy, ...] = get_args(MissingPolicy)
OutsidePolicy = Literal["clip", "refuse"]
OUTSIDE_POLICIES = (*get_args(OutsidePolicy), "censor")
FRACTION_POLICIES = ("up", "refuse")
FAR = 1e6
"""Lengths of a follow-up that no time exceeds."""
Missing = MissingPolicy | Bound
"""What a missing value means: one of `MISSING_POLICIES`, or the public value that it is counted as."""


# --- Columns whose names say that they tell people apart

_PEOPLE = "person|patient|participant|subject|respondent|user|customer|client|member|employee|student|pupil|donor"
_NUMBERS = "id|no|nr|nbr|num|number|key|code|uuid|identifier"
_ALONE = "person|patient|participant|subject|user"
_PERSON = re.compile(
    rf"(?:{_ALONE}|(?:{_PEOPLE})s?[ _.-]?(?:{_NUMBERS})|(?:{_NUMBERS})[ _.-](?:{_PEOPLE}))", re.IGNORECASE
)


def of_people(name: str) -> bool:
    """Whether a column's name says that it tells people apart. Whether anybody has several records is in the data."""
    return _PERSON.fullmatch(name) is not None


def identifies(name: str) -> bool:
    """Whether a column's name says that it tells people or records apart."""
    return of_people(name) or name.casefold() in ("id", "uuid", "identifier", "rowid", "row_id", "record_id", "index")


@dataclass(frozen=True)
class Binning:
    """How a record is mapped to a bin.

    Fields:
        column: Name of a numeric or temporal column.
        grid: Public thresholds.
        missing: What a missing value means: "refuse" (an error), "low" or "high" (counted at that
            bound), "drop" (not counted; only where the number of records is private), or a public value within the
            bounds, as which it is counted. Dates and times are held as ISO text.
        outside: What a value outside the grid's bounds means: "clip" (counted at the nearer bound), "refuse" (an
            error), or "censor", for times to an event: above the bounds as "clip", below them an error.
        fractions: What a value between two whole numbers means on a grid of integers: "up" (counted at the next
            whole number, as a distribution function counts it) or "refuse" (an error: it has no place there).
    """

    kind: ClassVar[str] = "binning"
    """In digests and stored files, whatever the class is called."""

    column: str
    grid: Grid
    missing: Missing = "refuse"
    outside: str = "clip"
    fractions: str = "up"

    def __post_init__(self) -> None:
        among(self.outside, "outside", OUTSIDE_POLICIES)
        among(self.fractions, "fractions", FRACTION_POLICIES)
        if self.fractions == "refuse" and self.grid.kind != "integers":
            raise ParameterError("only a grid of integers can refuse fractions; leave out `fractions='refuse'`")
        if not isinstance(self.missing, str) or self.missing not in MISSING_POLICIES:
            object.__setattr__(self, "missing", self._public_value())

    def _public_value(self) -> float | str:
        """The value that missing ones count as, in its one spelling."""
        try:
            value = self.grid.value(self.missing, "missing")
        except ParameterError:
            if not isinstance(self.missing, str) or categories.is_value(self.missing):
                raise
            raise ParameterError(
                "`missing` must be refuse, low, high, drop, or a public value that replaces them, got "
                f"{quoted(self.missing)}"
            ) from None
        if self.holds_fractions(np.array([value])):
            raise ParameterError(f"`missing` must be a whole number for this column, got {quoted(self.missing)}")
        label = self.grid.label(value)
        return label if isinstance(label, float) else str(label.isoformat())

    @property
    def substitute(self) -> float | None:
        """The number of the grid that a missing value counts as; None where it is refused or dropped."""
        match self.missing:
            case "refuse" | "drop":
                return None
            case "low":
                return self.grid.low
            case "high":
                return self.grid.high
        return self.grid.value(self.missing, "missing")

    @property
    def reached(self) -> int:
        """How many thresholds values may reach; reports of times have others beyond, which fill a hierarchy up."""
        spans = self.grid.thresholds - self.grid.low
        far = np.flatnonzero((spans[1:] > FAR * spans[:-1]) & (spans[:-1] > 0))
        return int(far[0]) + 1 if self.outside == "censor" and len(far) else self.grid.bins

    def on(self, grid: Grid) -> Binning:
        """The column of imagined records, of which none is missing, on a grid that may have other bounds."""
        missing = self.missing if self.substitute is None else "low"
        return dataclasses.replace(self, grid=grid, missing=missing)

    @property
    def shape(self) -> tuple[int, ...]:
        """Records per bin: (N,)."""
        return (self.grid.bins,)

    def records(self, sums: Int64) -> int:
        """How many records were counted."""
        return int(sums.sum())

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        data = {"column": self.column, "grid": self.grid.to_dict(), "missing": self.missing, "outside": self.outside}
        return data if self.fractions == "up" else {**data, "fractions": self.fractions}

    @property
    def size(self) -> int:
        """Number of bins."""
        return self.grid.bins

    def symbols(self, values: Float64) -> Int64:
        """0-based bin of each number of the grid, which is not NaN; values outside are clipped."""
        return self.grid.bin_of(values)

    def holds_fractions(self, values: Float64) -> bool:
        """Whether some of these numbers, which may be NaN or infinite, are fractions that the column refuses."""
        return self.fractions == "refuse" and bool((np.floor(values) < values).any())

    def cells(self) -> tuple[Float64, Float64]:
        """Smallest and largest number in each bin, each of shape (bins,); the same for whole numbers."""
        highs = self.grid.thresholds
        if self.grid.kind == "integers":
            return highs, highs
        return np.concatenate([[self.grid.low], highs[:-1]]), highs

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Binning:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is missing or out of range.
        """
        grid = Grid.from_dict(data.get("grid") or {})
        fractions = categories.text_field(data, "fractions") if "fractions" in data else "up"
        missing = data.get("missing")
        if isinstance(missing, bool) or not isinstance(missing, str | int | float):
            raise ParameterError(f"a column's field 'missing' must be text or a number, got {quoted(missing)}")
        return Binning(
            categories.text_field(data, "column"), grid, missing, categories.text_field(data, "outside"), fractions
        )


Column = Binning | categories.Categories | categories.Label | categories.Listed | categories.Membership
"""A column whose values are declared."""
ReadColumn = Column | categories.OpenCategories
"""A column of which an aggregate reads the values."""


def may_drop(column: ReadColumn) -> bool:
    """Whether records with a missing value, or one that is not declared, are not counted."""
    if isinstance(column, categories.Listed):
        return "drop" in (column.other, column.missing)
    return isinstance(column, Binning | categories.Membership | categories.OpenCategories) and column.missing == "drop"


# --- Several columns side by side, and what the columns of a table hold

MAX_GROUPS = 1000


def _none_known(columns: Sequence[str]) -> Sequence[str]:
    """Which columns have missing values, where the table is not read for it."""
    return ()


def _no_remedy(column: str) -> str:
    """Nothing: the table's numbers have a type."""
    return ""


@dataclass(frozen=True)
class Schema:
    """What the columns of a table hold, which is public.

    Fields:
        kind: Of a column: "numbers", "truth values", "dates", "times", "text", "no values at all", or others. Of a text
            file this reads cells.
        guessed: Whether kinds are guessed from the cells, since the table declares none.
        person: The column that identifies the person; None where a person has one record.
        with_missing: Which of some columns have missing values, as far as the table can be read for it. This is secret,
            and may only tell more of what a refusal of missing values tells anyway.
        number_remedy: What makes numbers of a column of text whose cells look like numbers with decimal commas, or with
            points between thousands, as its kind is guessed; nothing for others.
    """

    columns: tuple[str, ...]
    kind: Callable[[str], str]
    guessed: bool
    person: str | None = None
    with_missing: Callable[[Sequence[str]], Sequence[str]] = _none_known
    number_remedy: Callable[[str], str] = _no_remedy


@dataclass(frozen=True)
class Domain:
    """Several columns side by side; a symbol is one combination of their bins and categories.

    Symbols are numbered with the last column fastest: of two columns of sizes (a, b), `i * b + j`.

    Fields:
        columns: At least one; no two of one name.

    Raises:
        ParameterError: there is no column, or one twice.
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        if not self.columns:
            raise ParameterError("name at least one column")
        names = [column.column for column in self.columns]
        twice = next((name for number, name in enumerate(names) if name in names[:number]), None)
        if twice is not None:
            raise ParameterError(f"each column must be named once, but {quoted(twice)} is named twice")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Symbols of each column."""
        return tuple(column.size for column in self.columns)

    @cached_property
    def size(self) -> int:
        """Symbols of all columns together, k."""
        return math.prod(self.sizes)

    def check_size(self, most: int = categories.MAX_SYMBOLS) -> int:
        """The number of symbols, if it is not too large to be held in an array.

        Raises:
            ParameterError: it is.
        """
        if self.size > most:
            raise ParameterError(f"the columns have {self.size} combinations of bins, more than {most}; use fewer bins")
        return self.size

    def symbols(self, rows: Float64) -> Int64:
        """Symbol of each row of numbers, shape (n,) from (n, columns), in 0..size-1; no NaN."""
        first, *others = self.columns
        result = first.symbols(rows[:, 0])
        for number, column in enumerate(others, 1):
            result = result * column.size + column.symbols(rows[:, number])
        return result

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"columns": [{"type": column.kind, **column.to_dict()} for column in self.columns]}

    @staticmethod
    def from_dict(data: Any) -> Domain:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is missing or out of range.
        """
        columns = data.get("columns") if isinstance(data, dict) else None
        if not isinstance(columns, list) or not all(isinstance(each, dict) for each in columns):
            raise ParameterError("a domain must be an object with a list of columns")
        kinds: dict[Any, Any] = {
            column.kind: column
            for column in (Binning, categories.Categories, categories.Label, categories.Listed, categories.Membership)
        }
        unknown = [each for each in columns if str(each.get("type")) not in kinds]
        if unknown:
            raise ParameterError(
                f"a column's type must be {', '.join(kinds)}, got {quoted(str(unknown[0].get('type'))[:40])}"
            )
        return Domain(tuple(kinds[each["type"]].from_dict(each) for each in columns))
