"""The cells of a public domain as kernels see them, what a kernel is between two cells, and points of cells.

A cell is an interval of one column, or a box of several. Whole numbers, categories and labels are points, of width 0.
Cells of different symbols do not overlap, which is what the closed forms of kernels rest on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ogive.columns import Binning, Column, Domain
from ogive.core.arrays import Float64
from ogive.core.checks import among, plain_fields
from ogive.errors import ParameterError, quoted
from ogive.kernels.base import MATRICES

MOST_SYMBOLS = 1 << 13
"""Most symbols of a kernel's matrix: 8192 rows and columns take half a gigabyte."""


def check_count(columns: Domain, wanted: int, name: str) -> None:
    """Refuse another number of columns than the kernel looks at."""
    if len(columns.columns) != wanted:
        named = ", ".join(repr(column.column) for column in columns.columns)
        raise ParameterError(
            f"{name} looks at {wanted} {'column' if wanted == 1 else 'columns'}, got {len(columns.columns)}: {named}"
        )


def check_numbers(columns: Domain, name: str) -> None:
    """Refuse columns that have no distances."""
    for column in columns.columns:
        if not isinstance(column, Binning):
            raise ParameterError(
                f"{name} needs distances between values, but column {quoted(column.column)} has categories; "
                "give it bounds instead"
            )


def check_points(columns: Domain, name: str) -> None:
    """Refuse columns whose bins hold many values."""
    for column in columns.columns:
        if widths(column).any():
            raise ParameterError(
                f"{name} asks whether two values are the same, but a bin of column {quoted(column.column)} holds many; "
                "list its values, for example `categories=('a', 'b')`, or take a grid of integers"
            )


def check_label(column: Column) -> None:
    """Refuse anything but a label of two classes."""
    if column.size != 2 or column.cells()[0].tolist() != [0.0, 1.0]:
        raise ParameterError(f"column {quoted(column.column)} must have two classes, the positive one last")


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


# --- A kernel between cells: mean, half-way value and half-range, from what the kernel knows in closed form
#
# A kernel brings `cell_means` and `cell_extremes`; everything else is the same for all of them. Several columns are put
# together as the domain numbers them, last column fastest.


class Celled(ABC):
    """A kernel that knows its mean and its extremes over two cells, from which its matrices follow."""

    @abstractmethod
    def check(self, columns: Domain) -> None:
        """Refuse a domain."""

    @abstractmethod
    def __call__(self, left: Float64, right: Float64) -> Float64:
        """Values of f."""

    @abstractmethod
    def cell_means(self, columns: Domain) -> Float64:
        """Mean of f over two cells, shape (k, k)."""

    @abstractmethod
    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Least and largest value of f over two cells, each of shape (k, k)."""

    def matrix(self, columns: Domain, kind: str = "average") -> Float64:
        """A: f between symbols, shape (k, k), rows of the positive class; `kind` is one of `MATRICES`.

        Raises:
            ParameterError: the kernel cannot look at the domain, or it has too many symbols, or the kind is unknown.
        """
        check_matrix(columns, kind)
        self.check(columns)
        match kind:
            case "average":
                return self.cell_means(columns)
            case "midpoint":
                least, most = self.cell_extremes(columns)
                return (least + most) / 2
            case _:
                rows = domain_nodes(columns)
                return np.asarray(self(rows[:, None], rows[None]), dtype=np.float64)

    def spread(self, columns: Domain) -> Float64:
        """Delta: squared half-range of f over each pair of cells, shape (k, k)."""
        check_matrix(columns, "midpoint")
        self.check(columns)
        least, most = self.cell_extremes(columns)
        return np.asarray(((most - least) / 2) ** 2)


class Named(Celled):
    """A kernel that its name and its fields fix; of one sample, unless it says otherwise."""

    name: ClassVar[str]
    samples: ClassVar[int] = 1

    def lipschitz(self, columns: Domain) -> float | None:
        """None, for kernels that jump; others have a constant."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kernel": self.name, **plain_fields(self)}


class Indicator(Named):
    """A kernel that says whether something is so of two records, 1 or 0; ties may count a part."""

    def range(self, columns: Domain) -> tuple[float, float]:
        """From 0 to 1."""
        return 0.0, 1.0


def check_matrix(columns: Domain, kind: str) -> None:
    """Refuse an unknown kind, and domains whose matrices do not fit into memory."""
    among(kind, "matrix", MATRICES)
    columns.check_size(MOST_SYMBOLS)


def symmetrized(matrix: Float64) -> Float64:
    """The same matrix with the estimates of (i, j) and of (j, i) averaged."""
    return (matrix + matrix.T) / 2


def signs(column: Column) -> Float64:
    """Sign of i - j, shape (size, size): the mean of sign(x - y) over two cells."""
    size = column.size
    # every row is the one below, moved by a place
    differences = np.sign(np.arange(1 - size, size, dtype=np.float64))
    return np.array(np.lib.stride_tricks.sliding_window_view(differences, size)[:, ::-1])


def around(matrix: Float64, reach: Float64) -> tuple[Float64, Float64]:
    """A matrix less and more so much on the diagonal."""
    least, most = matrix, matrix.copy()
    diagonal = np.diag_indices_from(matrix)
    least[diagonal] -= reach
    most[diagonal] += reach
    return least, most


def sign_extremes(column: Column) -> tuple[Float64, Float64]:
    """Least and largest sign(x - y) over two cells; only values of one wide cell are free."""
    return around(signs(column), np.where(widths(column) > 0, 1.0, 0.0))


def apart(column: Column) -> Float64:
    """Mean of 1[x != y] over two cells, shape (size, size): 0 only within a point."""
    return 1.0 - np.diag((widths(column) == 0).astype(np.float64))


def apart_extremes(column: Column) -> tuple[Float64, Float64]:
    """Least and largest 1[x != y] over two cells."""
    return 1.0 - np.eye(column.size), apart(column)


def combined(parts: list[Float64]) -> Float64:
    """Products of matrices of single columns, as the domain numbers symbols."""
    product: Float64 = np.ones((1, 1))
    for part in parts:
        product = np.asarray(np.kron(product, part), dtype=np.float64)
    return product


# --- Kernels between cells without a closed form: points of cells, drawn once with a fixed public seed
#
# Every cell is hit by a Latin hypercube: of R points, each column has one in every R-th part of the cell. Points of the
# left and of the right cell are drawn independently. Only public cells are looked at, so nothing here costs privacy.

Function = Callable[[Float64, Float64], Float64]

_SEED = 20201
_FEWEST, _MOST = 16, 1024
_EVALUATIONS = 1 << 22
_SLOW_EVALUATIONS = 1 << 17
_TRIALS = 64
_FEWEST_TRIALS = 8


def draws(columns: Domain, *, slow: bool = False) -> int:
    """How many points a cell has: more for small domains, 16 to 1024; fewer for kernels called pair by pair."""
    evaluations = _SLOW_EVALUATIONS if slow else _EVALUATIONS
    return int(np.clip(evaluations // columns.size**2, _FEWEST, _MOST))


def sampled_means(kernel: Function, columns: Domain, *, slow: bool = False) -> tuple[Float64, Float64]:
    """Mean of a kernel over each pair of cells.

    Returns:
        Means and their standard errors, each of shape (k, k); exact, with errors of 0, where all cells are points. The
        errors are those of independent points, which are larger than those of a Latin hypercube. The
        matrix of means is as symmetric as the kernel, up to its errors.
    """
    lows, _ = boxes(columns)
    if are_points(columns):
        values = np.asarray(kernel(lows[:, None], lows[None]), dtype=np.float64)
        return values, np.zeros_like(values)
    count = draws(columns, slow=slow)
    mean, squares = np.zeros((2, len(lows), len(lows)))
    for number, (left, right) in enumerate(_hypercubes(columns, count), start=1):
        values = kernel(left[:, None], right[None])
        change = values - mean
        mean += change / number
        squares += change * (values - mean)
    return mean, np.sqrt(squares / (count * (count - 1)))


def trial_points(columns: Domain) -> Float64:
    """Public points that a function is tried on, shape (points, columns).

    All of a domain of up to 64 points, over and over to make at least 8; else 64, both bounds among them.
    """
    if are_points(columns) and columns.size <= _TRIALS:
        points = boxes(columns)[0]
        return np.tile(points, (-(-_FEWEST_TRIALS // len(points)), 1))
    generator = np.random.default_rng(_SEED)
    parts = []
    for column in columns.columns:
        lows, highs = column.cells()
        places = generator.integers(column.size, size=_TRIALS)
        shares = generator.random(_TRIALS)
        places[:2], shares[:2] = (0, column.size - 1), (0, 1)
        parts.append(lows[places] + (highs - lows)[places] * shares)
    return np.stack(parts, axis=-1)


def near_points(columns: Domain, points: Float64) -> Float64:
    """Points a thousandth of the way to another point, shape as `points`; columns of points stay as they are."""
    wide = np.array([widths(column).any() for column in columns.columns])
    return points + (np.roll(points, 1, axis=0) - points) * np.where(wide, 2.0**-10, 0.0)


def _hypercubes(columns: Domain, count: int) -> list[tuple[Float64, Float64]]:
    """Points of every cell, `count` times: left rows and right rows of shape (k, columns) each."""
    lows, highs = boxes(columns)
    generator = np.random.default_rng(_SEED)
    shape = (count, 2, lows.shape[1])
    order = generator.permuted(np.broadcast_to(np.arange(count)[:, None, None], shape), axis=0)
    shares = (order + generator.random(shape)) / count
    return [(lows + (highs - lows) * left, lows + (highs - lows) * right) for left, right in shares]
