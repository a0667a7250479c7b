"""What every kernel of a pairwise statistic can do.

A kernel f(x, y) looks at two records, each a row of numbers (of one column or of several). Its U-statistic is its
mean over all pairs of different records. A `Measure` is what people ask for by name: a function of one or of a few
such means, Kendall's tau-b say. Kernels are frozen plain data and know nothing of privacy.

Two-sample kernels look at one record of each of two classes, and their first argument is of the positive class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from ogive.arrays import Float64, Int64
from ogive.columns import Domain
from ogive.interfaces import KeptByType
from ogive.kernels.exact import BITS, Scale

MatrixName = Literal["average", "midpoint", "nodes"]
MATRICES: tuple[MatrixName, ...] = get_args(MatrixName)
"""How a kernel is read off two bins: its mean over both, half-way between its extremes there, or its value at both
nodes of randomized rounding."""


@runtime_checkable
class Kernel(Protocol, metaclass=KeptByType):
    """Interface; frozen plain data with no subclass.

    `columns` is the public domain of the kernel's columns, in its order; for a two-sample kernel without the column of
    classes. Rows have shape (..., columns).
    """

    @property
    def name(self) -> str:
        """Short name, as in plain data."""
        ...

    @property
    def samples(self) -> int:
        """Number of classes from which a tuple of records comes: 1 for an ordinary kernel, 2 for a two-sample one."""
        ...

    def check(self, columns: Domain) -> None:
        """Refuse a domain on which the kernel is not defined.

        Raises:
            ParameterError: the number of columns is wrong, or a column has no order or no distance.
        """
        ...

    def __call__(self, left: Float64, right: Float64) -> Float64:
        """Values of f, rows against rows, shape (...), from (..., columns) each, which broadcast."""
        ...

    def range(self, columns: Domain) -> tuple[float, float]:
        """Smallest and largest value on the domain."""
        ...

    def lipschitz(self, columns: Domain) -> float | None:
        """Lipschitz constant of f in one argument; None if f is not continuous."""
        ...

    def matrix(self, columns: Domain, kind: str = "average") -> Float64:
        """A: f between symbols, shape (k, k), symmetric unless two-sample; `kind` is one of `MATRICES`."""
        ...

    def spread(self, columns: Domain) -> Float64:
        """Delta: squared half-range of f over each pair of symbols, shape (k, k)."""
        ...

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """The U-statistic of exact rows, shape (n, columns), in O(n log n) where the kernel allows it.

        Two-sample kernels take the class of each row, 0 or 1.

        Raises:
            ParameterError: rows are of another shape, or classes are missing.
            DataError: there are too few rows, or a number is not finite, or a class is empty.
        """
        ...

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Scaling of a pair's value to a whole number, so that a curator can add integer noise to the sum.

        Args:
            columns: The public domain.
            bits: Fractional bits to which values are rounded, as parts of the range, 1 to 30; kernels that count do
                not round.
        """
        ...

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Exact sum of the whole numbers of `scale` over all pairs.

        Privacy:
            Replacing one record changes it by at most `scale.sensitivity(partners)`. Each of n records has n - 1
            partners; in two samples, as many as the other class has records.
        """
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain data of the kernel; `kernel_from_dict` inverts it, except for functions."""
        ...


@dataclass(frozen=True)
class Value:
    """Value of a measure, with its derivatives in the means.

    Fields:
        value: The measure; NaN where it is not defined.
        gradient: Derivatives, shape (means,), for the standard error by the delta method.
        clipped: Whether a mean was clipped to the nearest value for which the measure is defined.
    """

    value: float
    gradient: Float64
    clipped: bool = False


@runtime_checkable
class Measure(Protocol, metaclass=KeptByType):
    """A measure with a name; interface, frozen plain data with no subclass."""

    def __hash__(self) -> int:
        """Of its fields, for caches."""
        ...

    @property
    def name(self) -> str:
        """As in `Ustatistic(kernel=...)` and on the command line."""
        ...

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Kernels whose means determine the measure; at least one."""
        ...

    def check(self, columns: Domain) -> None:
        """Refuse a domain on which the measure is not defined.

        Raises:
            ParameterError: it does not.
        """
        ...

    def of(self, means: Float64, *, columns: Domain, records: int | None) -> Value:
        """The measure of its kernels' means, shape (kernels,).

        Args:
            means: U-statistics, possibly noisy.
            columns: The public domain.
            records: Number of records, if known, for small-sample factors.
        """
        ...

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """The measure of exact rows, without privacy; NaN where it is not defined.

        Raises:
            ParameterError: rows are of another shape, or classes are missing.
            DataError: there are too few rows, or a number is not finite, or a class is empty.
        """
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain data of the measure; `measure_from_dict` inverts it, except for functions."""
        ...
