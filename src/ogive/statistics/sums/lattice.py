"""Values as whole numbers: a public lattice between two bounds, to whose places values are rounded."""

from __future__ import annotations

import datetime
import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ogive.columns import LONGEST_LABEL, Binning, LabelValue, Missing, storable
from ogive.columns.grids import Bound, Grid
from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.local.oracles import RandomizedResponse
from ogive.privacy import Adjacency, Rational, exact
from ogive.provenance import Provenance
from ogive.queries import CuratorQuery, Weights
from ogive.statistics.plain_json import (
    Codec,
    Fields,
    Read,
    check_query,
    is_number,
    is_text,
    is_whole,
    noise_law,
    read_exact,
)
from ogive.statistics.sums import measured as sums
from ogive.statistics.sums.measured import FORMS, Measured
from ogive.strategies.counts import MOST_BITS

TOTAL = Weights(slope=1)
"""The sum of the places alone."""


MOST_STEPS = 10_000
"""Steps of a lattice whose step nobody named, at most."""

MOST_NAMED = 1 << 16
"""Steps of a lattice whose step somebody named, at most."""


@dataclass(frozen=True)
class Lattice:
    """Evenly spaced numbers from one bound to the other; a value counts as the one that is nearest.

    Fields:
        low, high: The bounds, exact; values outside count as the nearer one.
    """

    low: Fraction
    high: Fraction
    steps: int

    @staticmethod
    def of(bounds: tuple[Bound, Bound] | None, step: Rational | None) -> Lattice:
        """The lattice that a user described.

        Without a step it is the smallest of 1, 2, 5, 10, ... and 0.5, 0.2, 0.1, ... with at most `MOST_STEPS` steps
        between the bounds.
        """
        if not isinstance(bounds, tuple | list) or len(bounds) != 2:
            raise ParameterError(
                "say which values are possible, for example `bounds=(0, 120)`; bounds are public, never read from "
                "records"
            )
        low, high = (exact(_number(bound), "bounds") for bound in bounds)
        if not low < high:
            raise ParameterError(
                f"the lower bound must be below the upper bound, got {quoted(bounds[0])} and {quoted(bounds[1])}"
            )
        if step is None:
            return Lattice(low, high, math.ceil((high - low) / usual_step(high - low)))
        wanted = exact(step, "step")
        if not 0 < wanted <= high - low:
            raise ParameterError(f"`step` must be above 0 and at most {float(high - low):g}, got {quoted(step)}")
        steps = math.ceil((high - low) / wanted)
        if steps > MOST_NAMED:
            raise ParameterError(
                f"`step` must be at least {float((high - low) / MOST_NAMED):.3g}, a 65536th of the range, "
                f"got {quoted(step)}"
            )
        return Lattice(low, high, steps)

    @property
    def step(self) -> Fraction:
        """Distance of neighbors."""
        return (self.high - self.low) / self.steps

    def grid(self) -> Grid:
        """A grid with a bin around each number of the lattice."""
        half = self.step / 2
        low, high = float(self.low - half), float(self.high + half)
        try:
            return Grid.linear(low, high, bins=self.steps + 1)
        except ParameterError:
            width, least = self.high - self.low, 2 * Fraction(math.ulp(max(abs(low), abs(high))))
            if self.step >= least:
                raise
        if width >= 3 * least:
            helps = f"use a larger step, such as `step={float(usual_step(width, int(width / least))):g}`"
        else:
            helps = "take a number near them away from the values and from `bounds`"
        raise ParameterError(
            f"steps of {float(self.step):g} between {float(self.low)} and {float(self.high)} are finer than floating "
            f"point; {helps}",
            parameter="step",
        )

    def binning(self, column: str, missing: Missing) -> Binning:
        """The values of a column on that grid."""
        grid = self.grid()
        try:
            return Binning(column, grid, missing)
        except ParameterError as problem:
            # the grid is wider than the bounds, which are what its user knows
            bounds = f"{float(self.low):g} to {float(self.high):g}"
            raise ParameterError(problem.marked.replace(grid.span, bounds), parameter=problem.parameter) from None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact."""
        return {"low": str(self.low), "high": str(self.high), "steps": self.steps}


def _number(bound: Bound) -> Rational:
    if isinstance(bound, datetime.date) or (isinstance(bound, str) and _is_date(bound)):
        raise ParameterError(
            f"`bounds` of a mean or sum must be two numbers, got the date {quoted(str(bound))}; of dates and times "
            "release the median instead, as a quantile: `probabilities=0.5`"
        )
    if isinstance(bound, bool) or not isinstance(bound, int | float | str | Fraction):
        raise ParameterError(f"`bounds` must be two numbers, got {quoted(bound)}")
    return bound


def _is_date(text: str) -> bool:
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        return False
    return not text.isdecimal()


@functools.lru_cache(maxsize=1024)
def usual_step(width: Fraction, most: int = MOST_STEPS) -> Fraction:
    """The smallest of ..., 0.1, 0.2, 0.5, 1, 2, 5, 10, ... that divides a width into at most so many steps."""
    power = math.floor(math.log10(width / most)) - 1
    candidates = (Fraction(digit) * Fraction(10) ** (power + tens) for tens in range(4) for digit in (1, 2, 5))
    return next(step for step in candidates if width <= most * step)


# --- How what was measured for a number or a table is written as JSON, and read from strangers

_PARTS = ("form", "values", "noise", "bits", "weights", "epsilon", "adjacency", "total")
_WEIGHTS = ("count", "slope", "shift", "square")
_LARGEST_WEIGHT = 1 << 34
MEAN, SUM = "ogive.mean/1", "ogive.sum/1"


def check_cost(provenance: Provenance | None, query: CuratorQuery | None, measured: Measured, known: Fields) -> None:
    """Refuse an estimate whose stated price is below that of its noise."""
    if measured.epsilon is None:
        check_query(provenance, query, measured.adjacency)
    elif provenance is not None and provenance.privacy is None:
        raise DataError(f"{known.what} contradicts itself: it is from reports, and has no guarantee")


def _missing(known: Fields, name: str, _: Read) -> Any:
    value = known.data[name]
    if not (is_text(value) or is_number(value)):
        raise DataError(f"the field 'missing' of {known.what} must be a short text or a number")
    return value


def read_values(data: Any, known: Fields) -> tuple[LabelValue, ...]:
    """Values of a column."""
    if (
        not isinstance(data, list)
        or not data
        or not all(isinstance(each, LabelValue) and storable(each) for each in data)
    ):
        raise DataError(
            f"the values of {known.what} must be numbers, truth values or texts of at most {LONGEST_LABEL} characters"
        )
    return tuple(data)


VALUES = Codec(list, lambda known, name, _: read_values(known.data[name], known), {"type": "array", "minItems": 1})


def _lattice(known: Fields, name: str, _: Read) -> Lattice:
    data = known.data[name]
    fits = isinstance(data, dict) and set(data) == {"low", "high", "steps"}
    if not fits or not is_whole(data["steps"]) or not 1 <= data["steps"] <= MOST_NAMED + 1:
        raise DataError(f"the lattice of {known.what} must have low, high, and steps from 1 to {MOST_NAMED + 1}")
    low, high = (read_exact(data[name], f"the bounds of {known.what}") for name in ("low", "high"))
    if not low < high:
        raise DataError(f"the lower bound of {known.what} must be below the upper bound")
    return Lattice(low, high, data["steps"])


def _measured(known: Fields, name: str, read: Read) -> Measured:
    result = read_measured(known.data[name], known, last=read["lattice"].steps if "lattice" in read else 1)
    _check_length(result, known)
    return result


def read_measured(
    data: Any, known: Fields, *, size: int = 2, last: int = 1, forms: tuple[str, ...] = FORMS
) -> Measured:
    """What was measured, from plain data, which need not be trusted."""
    if not isinstance(data, dict) or set(data) != set(_PARTS):
        raise DataError(f"what was measured of {known.what} must have {', '.join(_PARTS)}")
    fields = Fields(data, known.what)
    form, values, weights = fields.text("form"), data["values"], data["weights"]
    if form not in forms:
        raise DataError(f"the form of {known.what} must be one of {', '.join(forms)}, got {quoted(form)}")
    if not isinstance(values, list) or not values or not all(map(is_whole, values)):
        raise DataError(f"the measured values of {known.what} must be a list of whole numbers")
    adjacency, total = fields.adjacency(), fields.total()
    epsilon = None
    if form in ("reports", "unary"):
        epsilon = _epsilon(data["epsilon"], known)
        _check_reports(form, values, size, total, known)
    if (weights is not None) != (form == "moments") or (data["epsilon"] is not None) != (form in ("reports", "unary")):
        raise DataError(f"sums of {known.what} have weights, and reports have an epsilon")
    if (total is None) != (adjacency is Adjacency.ADD_OR_REMOVE):
        raise DataError(f"the total of {known.what} is known under REPLACE alone")
    return Measured(
        form,
        tuple(values),
        noise_law(data["noise"], known.what),
        adjacency,
        total,
        bits=fields.whole("bits", 0, MOST_BITS),
        weights=None if weights is None else _weights(weights, known, last),
        epsilon=epsilon,
    )


def _check_reports(form: str, values: list[int], size: int, total: int | None, known: Fields) -> None:
    """Refuse what no reports of so many places add up to."""
    if form == "reports" and (len(values) != size or min(values) < 0 or total != sum(values) or not total):
        numbers = "two numbers" if size == 2 else f"{size} numbers"
        raise DataError(f"the reports of {known.what} must be {numbers} that add up to the total")
    if form == "unary" and (len(values) != size + 1 or min(values) < 0 or max(values) != total or total != values[-1]):
        raise DataError(f"the reports of {known.what} must be {size} numbers of at most the total, then the total")


def _check_length(result: Measured, known: Fields) -> None:
    """Refuse values that are not as many as were measured, or that the number cannot be read off."""
    check_number_of_values(result, known)
    by_weights = result.weights is not None and not result.weights.count
    if result.form == "cells" and known.data["schema"] in (MEAN, SUM):
        raise DataError(f"{known.what} is not read off counts of two cells")
    if by_weights and result.total is None and known.data["schema"] != SUM:
        raise DataError(f"{known.what} lacks the number of records")


def read_table(data: Any, known: Fields, size: int) -> Measured:
    """What was measured of a table of so many cells."""
    result = read_measured(data, known, size=size, forms=(*FORMS, "unary"))
    if result.weights is not None and (size > 2 or result.total is None or result.weights != TOTAL):
        raise DataError(f"{known.what} of {size} cells, or of a private number of records, is not read off one sum")
    check_number_of_values(result, known, size)
    return result


def check_number_of_values(result: Measured, known: Fields, size: int = 2) -> None:
    """Refuse values that are not as many as were measured of so many places."""
    needed = size + (result.form == "unary") if result.weights is None else result.weights.sums
    if len(result.values) != needed:
        raise DataError(f"the measured values of {known.what} must be {needed}")


def _weights(data: Any, known: Fields, last: int) -> Weights:
    fits = isinstance(data, dict) and set(data) == set(_WEIGHTS)
    if not fits or not all(is_whole(each) and abs(each) <= _LARGEST_WEIGHT for each in data.values()):
        raise DataError(f"the weights of {known.what} must be whole numbers by the names {', '.join(_WEIGHTS)}")
    try:
        weights = Weights(**data)
        weights.check(last)
    except ParameterError as problem:
        raise DataError(f"the weights of {known.what}: {plain(problem)}") from None
    if not weights.slope:
        raise DataError(f"the weights of {known.what} lack a slope")
    return weights


def _epsilon(data: Any, known: Fields) -> Fraction:
    epsilon = read_exact(data, f"the epsilon of {known.what}")
    try:
        return RandomizedResponse(2, epsilon).epsilon
    except ParameterError as problem:
        raise DataError(f"the reports of {known.what}: {plain(problem)}") from None


MEASURED = Codec(sums.to_dict, _measured)
MISSING = Codec(lambda value: value, _missing)
LATTICE = Codec(lambda lattice: lattice.to_dict(), _lattice)
