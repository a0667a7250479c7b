"""A kernel between cells: mean, half-way value and half-range, from what the kernel knows in closed form.

A kernel brings `cell_means` and `cell_extremes`; everything else is the same for all of them. Several columns are put
together as the domain numbers them, last column fastest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from ogive.arrays import Float64
from ogive.checks import among
from ogive.columns import Column, Domain
from ogive.kernels.base import MATRICES
from ogive.kernels.cells import MOST_SYMBOLS, domain_nodes, widths
from ogive.parameters import plain_fields


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
    """A kernel that its name and its fields fix."""

    name: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kernel": self.name, **plain_fields(self)}


class Indicator(Named):
    """A kernel that says whether something is so of two records, 1 or 0; ties may count a part."""

    def range(self, columns: Domain) -> tuple[float, float]:
        """From 0 to 1."""
        return 0.0, 1.0

    def lipschitz(self, columns: Domain) -> float | None:
        """None: the kernel is not continuous."""
        return None


def check_matrix(columns: Domain, kind: str) -> None:
    """Refuse an unknown kind, and domains whose matrices do not fit into memory.

    Raises:
        ParameterError: either.
    """
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
