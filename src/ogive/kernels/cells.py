"""The cells of a public domain as kernels see them: widths, middles, nodes and boxes.

A cell is an interval of one column, or a box of several. Whole numbers, categories and labels are points, of width 0.
Cells of different symbols do not overlap, which is what the closed forms of kernels rest on.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Float64
from ogive.columns import Binning, Column, Domain
from ogive.errors import ParameterError, quoted

MOST_SYMBOLS = 1 << 13
"""Most symbols of a kernel's matrix: 8192 rows and columns take half a gigabyte."""


def check_count(columns: Domain, wanted: int, name: str) -> None:
    """Refuse another number of columns than the kernel looks at.

    Raises:
        ParameterError: there are more or fewer.
    """
    if len(columns.columns) != wanted:
        named = ", ".join(repr(column.column) for column in columns.columns)
        raise ParameterError(
            f"{name} looks at {wanted} {'column' if wanted == 1 else 'columns'}, got {len(columns.columns)}: {named}"
        )


def check_numbers(columns: Domain, name: str) -> None:
    """Refuse columns that have no distances.

    Raises:
        ParameterError: a column is of categories or labels.
    """
    for column in columns.columns:
        if not isinstance(column, Binning):
            raise ParameterError(
                f"{name} needs distances between values, but column {quoted(column.column)} has categories; "
                "give it bounds instead"
            )


def check_points(columns: Domain, name: str) -> None:
    """Refuse columns whose bins hold many values.

    Raises:
        ParameterError: a bin is wider than a point.
    """
    for column in columns.columns:
        if widths(column).any():
            raise ParameterError(
                f"{name} asks whether two values are the same, but a bin of column {quoted(column.column)} holds many; "
                "list its values, for example `categories=('a', 'b')`, or take a grid of integers"
            )


def middles(column: Column) -> Float64:
    """Middle of each cell, shape (size,)."""
    lows, highs = column.cells()
    return lows + (highs - lows) / 2


def widths(column: Column) -> Float64:
    """Width of each cell, shape (size,); 0 for points."""
    lows, highs = column.cells()
    return np.asarray(highs - lows)


def ends(column: Column) -> tuple[float, float]:
    """Smallest and largest number of a column."""
    lows, highs = column.cells()
    return float(lows[0]), float(highs[-1])


def column_nodes(column: Column) -> Float64:
    """Nodes of randomized rounding, shape (size,); categories and labels are their own nodes.

    Raises:
        ParameterError: the grid has no nodes; see `Grid.nodes`.
    """
    return column.grid.nodes if isinstance(column, Binning) else column.cells()[0]


def combinations(parts: list[Float64]) -> Float64:
    """Rows of one number from each part, last part fastest, shape (product of sizes, parts)."""
    grids = np.meshgrid(*parts, indexing="ij")
    return np.stack([grid.ravel() for grid in grids], axis=-1)


def domain_nodes(columns: Domain) -> Float64:
    """Row of nodes of each symbol, shape (k, columns); see `column_nodes`."""
    return combinations([column_nodes(column) for column in columns.columns])


def boxes(columns: Domain) -> tuple[Float64, Float64]:
    """Lowest and highest row of each symbol's cell, each of shape (k, columns)."""
    cells = [column.cells() for column in columns.columns]
    return combinations([lows for lows, _ in cells]), combinations([highs for _, highs in cells])


def are_points(columns: Domain) -> bool:
    """Whether every column is of points: whole numbers, categories or labels."""
    return not any(widths(column).any() for column in columns.columns)
