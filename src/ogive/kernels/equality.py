"""Kernels that ask whether two records are the same: ties (of Kendall's tau-b and gamma) and collisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.columns import Domain
from ogive.errors import ParameterError, quoted
from ogive.kernels.cells import check_points
from ogive.kernels.counting import tied
from ogive.kernels.exact import BITS, COUNTS, Scale, paired_rows
from ogive.kernels.matrices import Indicator, apart, apart_extremes, combined


@dataclass(frozen=True)
class Untied(Indicator):
    """1 if two records differ in each of some columns, else 0; the denominator of tau-b and gamma.

    Fields:
        columns: Indices of one or two columns in the domain; the kernel ignores the others.

    Raises:
        ParameterError: there are no indices, more than two or equal ones, or one is not a whole number from 0.
    """

    columns: tuple[int, ...] = (0,)

    name: ClassVar[str] = "untied"
    samples: ClassVar[int] = 1

    def __post_init__(self) -> None:
        places = self.columns
        whole = isinstance(places, tuple) and all(type(place) is int and place >= 0 for place in places)
        if not whole or not 1 <= len(places) <= 2 or len(set(places)) < len(places):
            raise ParameterError(
                f"`columns` must be one or two different places of columns, 0 or more, got {quoted(places)}"
            )

    def check(self, columns: Domain) -> None:
        """Refuse a domain without these columns."""
        if max(self.columns) >= len(columns.columns):
            raise ParameterError(
                f"untied looks at column {max(self.columns)}, counted from 0, but there are {len(columns.columns)}"
            )

    def __call__(self, left: Float64, right: Float64) -> Float64:
        """1 for pairs that differ everywhere."""
        places = list(self.columns)
        return np.asarray(np.all(left[..., places] != right[..., places], axis=-1), dtype=np.float64)

    def cell_means(self, columns: Domain) -> Float64:
        """0 within a point of any of the columns, else 1."""
        return combined(
            [
                apart(column) if number in self.columns else np.ones((column.size, column.size))
                for number, column in enumerate(columns.columns)
            ]
        )

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """0 and 1 within a wide cell, else equal."""
        parts = []
        for number, column in enumerate(columns.columns):
            ones = np.ones((column.size, column.size))
            parts.append(apart_extremes(column) if number in self.columns else (ones, ones))
        return combined([least for least, _ in parts]), combined([most for _, most in parts])

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Share of pairs that differ in each of the columns."""
        rows = paired_rows(rows)
        records = len(rows)
        if max(self.columns) >= rows.shape[1]:
            raise ParameterError(f"`rows` must have more than {max(self.columns)} columns, got {rows.shape[1]}")
        return self._count(rows) / (records * (records - 1) // 2)

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Whole pairs."""
        return COUNTS

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Pairs that differ in each of the columns."""
        return self._count(rows)

    def _count(self, rows: Float64) -> int:
        chosen = [rows[:, place] for place in self.columns]
        untied = len(rows) * (len(rows) - 1) // 2 - sum(tied([column]) for column in chosen)
        return untied + tied(chosen) if len(chosen) > 1 else untied


@dataclass(frozen=True)
class Equal(Indicator):
    """1 if two records are equal in every column, else 0; its mean is the collision probability."""

    name: ClassVar[str] = "equal"
    samples: ClassVar[int] = 1

    def check(self, columns: Domain) -> None:
        """Refuse columns whose bins hold many values, since exact values would almost never be equal."""
        check_points(columns, "collision")

    def __call__(self, left: Float64, right: Float64) -> Float64:
        """1 for equal pairs."""
        return np.asarray(np.all(left == right, axis=-1), dtype=np.float64)

    def cell_means(self, columns: Domain) -> Float64:
        """The identity."""
        return np.eye(columns.size)

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """The identity, twice."""
        return np.eye(columns.size), np.eye(columns.size)

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Share of pairs that are equal."""
        rows = paired_rows(rows)
        records = len(rows)
        return tied(list(rows.T)) / (records * (records - 1) // 2)

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Whole pairs."""
        return COUNTS

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Pairs that are equal."""
        return tied(list(rows.T))
