"""Public shapes of records that methods of measuring a pairwise statistic are compared on; no private data.

Every column has one of a few distributions over its bounds, any two columns have a Gaussian copula with
correlation 1/2, and records of the positive class have larger values. Where bins round values, there are shapes besides
that fill only a part of the bounds, whose order few bins cannot tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betaincinv, ndtr

from ogive.arrays import Float64, Int64
from ogive.columns import Binning, Categories, Column, Domain, Label
from ogive.kernels.base import Measure
from ogive.kernels.cells import widths

ROWS = 600
SHAPES = ((2.0, 5.0), (1.0, 1.0))
"""Parameters of the beta distributions that columns have."""

NARROW = ((2.0, 30.0), (40.0, 40.0))
"""The same of columns whose bins round: most values in a tenth of the bounds at one end, or a fifth in the middle."""

_SEED = 0x75737461


@dataclass(frozen=True, eq=False)
class Reference:
    """Imagined records of one shape.

    Fields:
        positions: Of every record in every column, in (0, 1), shape (rows, columns).
        classes: Class of every record, shape (rows,), in 0..number-1.
    """

    positions: Float64
    classes: Int64

    def rows(self, domain: Domain) -> Float64:
        """The records as numbers of a domain, shape (rows, columns)."""
        columns = [self._column(column, number) for number, column in enumerate(domain.columns)]
        return np.column_stack(columns).astype(np.float64)

    def _column(self, column: Column, number: int) -> Float64:
        positions = self.positions[:, number]
        if isinstance(column, Label):
            return np.minimum(self.classes, 1).astype(np.float64)
        if isinstance(column, Categories):
            return np.floor(positions * column.size)
        assert isinstance(column, Binning), "statistics of pairs have no other columns"
        grid = column.grid
        if grid.kind == "linear":
            return grid.low + positions * (grid.high - grid.low)
        if grid.kind == "geometric":
            ratio: Float64 = grid.low * (grid.high / grid.low) ** positions
            return ratio
        return grid.thresholds[np.floor(positions * grid.bins).astype(np.int64)]


@lru_cache(maxsize=16)
def references(columns: int, classes: int, rounding: tuple[bool, ...] = ()) -> tuple[Reference, ...]:
    """Imagined records of every shape, the same ones at all times.

    Args:
        columns: How many there are.
        classes: How many classes records have.
        rounding: Of every column whether bins round its values; shapes are then narrow in these besides.
    """
    rng = np.random.default_rng(_SEED)
    common, own = rng.standard_normal(ROWS), rng.standard_normal((columns, ROWS))
    hidden = common + rng.standard_normal(ROWS)
    places = np.searchsorted(np.quantile(hidden, np.arange(1, classes) / classes), hidden) if classes else None
    ranks = ndtr(np.sqrt(0.5) * (common + own))
    shapes = [(shape,) * columns for shape in SHAPES]
    if any(rounding):
        shapes += [tuple(shape if each else SHAPES[-1] for each in rounding) for shape in NARROW]
    return tuple(
        Reference(
            np.column_stack([_placed(*each) for each in zip(ranks, shape, strict=True)]),
            np.zeros(ROWS, dtype=np.int64) if places is None else places.astype(np.int64),
        )
        for shape in shapes
    )


def _placed(ranks: Float64, shape: tuple[float, float]) -> Float64:
    """Where a beta distribution has these ranks, below 1."""
    found: Float64 = np.clip(betaincinv(*shape, ranks), 0.0, np.nextafter(1.0, 0.0))
    return found


@dataclass(frozen=True, eq=False)
class ShapeMeans:
    """What a measure is on one shape: its exact means, and how it changes with them.

    Fields:
        means: Exact means of the kernels, shape (m,).
        gradient: Derivatives of the measure, shape (m,).
        rows: The records, for which the domain's number of bins does not matter.
        classes: Their classes.
    """

    means: Float64
    gradient: Float64
    rows: Float64
    classes: Int64


@lru_cache(maxsize=64)
def shape_means(measure: Measure, domain: Domain, classes: int) -> tuple[ShapeMeans, ...]:
    """A measure on every shape.

    Args:
        measure: What is asked.
        domain: Its kernels' columns, with any number of bins.
        classes: How many public classes there are, 0 for none.
    """
    found = []
    rounding = tuple(bool(widths(column).any()) for column in domain.columns)
    for reference in references(len(domain.columns), max(classes, 2), rounding):
        rows = reference.rows(domain)
        labels = reference.classes if classes else None
        means = np.array([kernel.exact(rows, labels) for kernel in measure.kernels])
        value = measure.of(means, columns=domain, records=ROWS)
        gradient = np.where(np.isfinite(value.gradient), value.gradient, 0.0)
        found.append(ShapeMeans(means, gradient, rows, reference.classes))
    return tuple(found)


def rounded_means(matrices: tuple[Float64, ...], symbols: Int64, classes: Int64 | None = None) -> Float64:
    """Means of kernels over imagined records that were rounded to bins, shape (m,)."""
    size = len(matrices[0])
    if classes is not None:
        ones, others = (np.bincount(symbols[classes == each], minlength=size) for each in (1, 0))
        found: Float64 = np.array([ones @ matrix @ others for matrix in matrices]) / (ones.sum() * others.sum())
        return found
    counts = np.bincount(symbols, minlength=size).astype(np.float64)
    rows = counts.sum()
    sums = [counts @ matrix @ counts - counts @ np.diag(matrix) for matrix in matrices]
    each: Float64 = np.array(sums) / (rows * (rows - 1))
    return each
