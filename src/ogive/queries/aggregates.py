"""Exact integers that a query needs of the records: sums over records, so parties can add theirs up.

An aggregate is plain data. `Records.aggregate` computes it; each adds one fixed contribution per
record, so the aggregate of all records is the sum of the aggregates of any division of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.errors import ParameterError
from ogive.grids import Grid

Int64 = NDArray[np.int64]

MISSING_POLICIES = ("refuse", "low", "high", "drop")
OUTSIDE_POLICIES = ("clip", "refuse")
MAX_FRACTIONAL_BITS = 30
MAX_GROUPS = 1000

LabelValue = bool | int | float | str

# what is released must be readable when it is stored
_LARGEST_LABEL = 1 << 62
_LONGEST_LABEL = 4000


@dataclass(frozen=True)
class Binning:
    """How one record becomes the number of a bin.

    Fields:
        column: Name of a numeric or temporal column.
        grid: Public thresholds.
        missing: What a missing value means: "refuse" (an error), "low" or "high" (counted at that
            bound), or "drop" (not counted; only where the number of records is private).
        outside: What a value outside the grid's bounds means: "clip" (counted at the nearer bound) or
            "refuse" (an error).
    """

    column: str
    grid: Grid
    missing: str = "refuse"
    outside: str = "clip"

    def __post_init__(self) -> None:
        if self.missing not in MISSING_POLICIES:
            raise ParameterError(f"missing must be one of {', '.join(MISSING_POLICIES)}, got {self.missing!r}")
        if self.outside not in OUTSIDE_POLICIES:
            raise ParameterError(f"outside must be one of {', '.join(OUTSIDE_POLICIES)}, got {self.outside!r}")

    @property
    def shape(self) -> tuple[int, ...]:
        """Records per bin: (N,)."""
        return (self.grid.bins,)

    def records(self, sums: Int64) -> int:
        """How many records were counted."""
        return int(sums.sum())

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"column": self.column, "grid": self.grid.to_dict(), "missing": self.missing, "outside": self.outside}


@dataclass(frozen=True)
class Label:
    """Which of two classes a record belongs to.

    Fields:
        column: Name of a column of numbers, truth values or text.
        positive: Values of the positive class, public.
        negative: Values of the negative class; None takes every other value, of which there may then be
            only one in the records. A value of neither class, and a missing one, is an error.

    Raises:
        ParameterError: a class has no value, or a value is in both, is not finite, or is too large to be stored.
    """

    column: str
    positive: tuple[LabelValue, ...] = (1,)
    negative: tuple[LabelValue, ...] | None = (0,)

    def __post_init__(self) -> None:
        if not isinstance(self.column, str):
            raise ParameterError(f"the label must be a column's name, got {self.column!r}")
        for name in ("positive", "negative"):
            values = getattr(self, name)
            if values is None and name == "negative":
                continue
            if not isinstance(values, tuple) or not values or not all(isinstance(v, LabelValue) for v in values):
                raise ParameterError(f"{name} must be the values of a class, for example ('yes',), got {values!r}")
            if not all(map(_storable, values)):
                raise ParameterError(
                    f"{name} must hold texts of at most {_LONGEST_LABEL} characters or numbers below 2^62 in size"
                )
        both = set(self.positive) & set(self.negative or ())
        if both:
            value = sorted(str(value).lower() if isinstance(value, bool) else repr(value) for value in both)[0]
            raise ParameterError(f"{value} cannot be in both classes")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        negative = None if self.negative is None else list(self.negative)
        return {"column": self.column, "positive": list(self.positive), "negative": negative}


def _storable(value: LabelValue) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST_LABEL
    return abs(value) < _LARGEST_LABEL  # NaN is not


@dataclass(frozen=True)
class ClassBinning:
    """Records per bin of a score, for each of two classes; sums have shape (2, N), the negative class first."""

    score: Binning
    label: Label

    def __post_init__(self) -> None:
        if self.score.missing == "drop":
            raise ParameterError("missing scores cannot be dropped; use missing='low', 'high' or 'refuse'")

    @property
    def shape(self) -> tuple[int, ...]:
        """(2, N)."""
        return (2, self.score.grid.bins)

    def records(self, sums: Int64) -> int:
        """How many records were counted."""
        return int(sums.sum())

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"score": self.score.to_dict(), "label": self.label.to_dict()}


@dataclass(frozen=True)
class GroupSums:
    """Sums per group of a predicted probability p and a label y, in fixed point; shape (4, Q).

    Rows: expected negatives (1 - p), expected positives p, observed negatives (1 - y), observed
    positives y. Each p is rounded once to a multiple of 2^-bits. The first two rows are in units of 2^-bits,
    the others in records.

    Fields:
        probability: Column of probabilities; its grid's thresholds are the upper ends of the groups, the
            last one 1, its lower bound 0.
        label: Which class a record belongs to.
        bits: Fractional bits of the expected sums, 0 to 30.
    """

    probability: Binning
    label: Label
    bits: int = 20

    def __post_init__(self) -> None:
        if isinstance(self.bits, bool) or not isinstance(self.bits, int) or not 0 <= self.bits <= MAX_FRACTIONAL_BITS:
            raise ParameterError(f"bits must be a whole number from 0 to {MAX_FRACTIONAL_BITS}, got {self.bits!r}")
        grid = self.probability.grid
        if grid.unit != "number" or grid.low != 0 or grid.high != 1:
            raise ParameterError("groups of probabilities must reach from 0 to 1")
        if self.probability.missing == "drop":
            raise ParameterError("missing probabilities cannot be dropped; use missing='low', 'high' or 'refuse'")

    @property
    def shape(self) -> tuple[int, ...]:
        """(4, Q)."""
        return (4, self.probability.grid.bins)

    def records(self, sums: Int64) -> int:
        """How many records were counted."""
        return int(sums[2:].sum())

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"probability": self.probability.to_dict(), "label": self.label.to_dict(), "bits": self.bits}


@dataclass(frozen=True)
class GroupBinning:
    """Records per bin of a column, for each of several declared groups; sums have shape (G, N).

    Fields:
        values: Column and thresholds, the same for all groups.
        by: Column that says which group a record belongs to: numbers, truth values or text.
        groups: The value of each group, public. A record of another group, or of none, is an error.

    Raises:
        ParameterError: there are no groups or too many, or two are the same, or one could not be stored.
    """

    values: Binning
    by: str
    groups: tuple[LabelValue, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.by, str):
            raise ParameterError(f"by must be a column's name, got {self.by!r}")
        if not isinstance(self.groups, tuple) or not all(isinstance(group, LabelValue) for group in self.groups):
            raise ParameterError(f"groups must be the values of column {self.by!r}, public, got {self.groups!r}")
        if not 1 <= len(self.groups) <= MAX_GROUPS:
            raise ParameterError(f"there must be 1 to {MAX_GROUPS} groups, got {len(self.groups)}")
        if not all(map(_storable, self.groups)):
            raise ParameterError(
                f"groups must be texts of at most {_LONGEST_LABEL} characters or numbers below 2^62 in size"
            )
        if len(set(self.groups)) < len(self.groups):
            twice = next(group for number, group in enumerate(self.groups) if group in self.groups[:number])
            raise ParameterError(f"each group must be named once, but {twice!r} is named twice")

    @property
    def shape(self) -> tuple[int, ...]:
        """(G, N)."""
        return (len(self.groups), self.values.grid.bins)

    def records(self, sums: Int64) -> int:
        """How many records were counted."""
        return int(sums.sum())

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"values": self.values.to_dict(), "by": self.by, "groups": list(self.groups)}


Aggregate = Binning | ClassBinning | GroupBinning | GroupSums
