"""Values as whole numbers: a public lattice between two bounds, to whose places values are rounded."""

from __future__ import annotations

import datetime
import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ogive.columns import Binning, Missing
from ogive.columns.grids import Bound, Grid
from ogive.errors import ParameterError, quoted
from ogive.privacy import Rational, exact

MOST_STEPS = 10_000
"""Steps of a lattice whose step nobody named, at most."""

MOST_NAMED = 1 << 16
"""Steps of a lattice whose step somebody named, at most."""


@dataclass(frozen=True)
class Lattice:
    """Evenly spaced numbers from one bound to the other; a value counts as the one that is nearest.

    Fields:
        low, high: The bounds, exact; values outside count as the nearer one.
        steps: How many steps there are between them, M.
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
