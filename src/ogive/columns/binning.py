"""A column of numbers or dates on a grid."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.checks import among
from ogive.columns.values import is_value, text_field
from ogive.errors import ParameterError, quoted
from ogive.grids import Bound, Grid

MissingPolicy = Literal["refuse", "low", "high", "drop"]
MISSING_POLICIES: tuple[MissingPolicy, ...] = get_args(MissingPolicy)
OutsidePolicy = Literal["clip", "refuse"]
OUTSIDE_POLICIES: tuple[OutsidePolicy, ...] = get_args(OutsidePolicy)
FRACTION_POLICIES = ("up", "refuse")
Missing = MissingPolicy | Bound
"""What a missing value means: one of `MISSING_POLICIES`, or the public value that it is counted as."""


@dataclass(frozen=True)
class Binning:
    """How a record is mapped to a bin.

    Fields:
        column: Name of a numeric or temporal column.
        grid: Public thresholds.
        missing: What a missing value means: "refuse" (an error), "low" or "high" (counted at that
            bound), "drop" (not counted; only where the number of records is private), or a public value within the
            bounds, as which it is counted. Dates and times are held as ISO text.
        outside: What a value outside the grid's bounds means: "clip" (counted at the nearer bound) or
            "refuse" (an error).
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
        if not self._has_policy:
            object.__setattr__(self, "missing", self._public_value())

    @property
    def _has_policy(self) -> bool:
        return isinstance(self.missing, str) and self.missing in MISSING_POLICIES

    def _public_value(self) -> float | str:
        """The value that missing ones count as, in its one spelling."""
        try:
            value = self.grid.value(self.missing, "missing")
        except ParameterError:
            if not isinstance(self.missing, str) or is_value(self.missing):
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
        fractions = text_field(data, "fractions") if "fractions" in data else "up"
        missing = data.get("missing")
        if isinstance(missing, bool) or not isinstance(missing, str | int | float):
            raise ParameterError(f"a column's field 'missing' must be text or a number, got {quoted(missing)}")
        return Binning(text_field(data, "column"), grid, missing, text_field(data, "outside"), fractions)
