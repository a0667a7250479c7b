"""What every kernel of a pairwise statistic and every measure can do: exact sums over pairs, and cells of a domain.

A kernel f(x, y) looks at two records, each a row of numbers (of one column or of several). Its U-statistic is its
mean over all pairs of different records. A `Measure` is what people ask for by name: a function of one or of a few
such means, Kendall's tau-b say. Kernels are frozen plain data and know nothing of privacy.

Two-sample kernels look at one record of each of two classes, and their first argument is of the positive class.

A cell is an interval of one column, or a box of several. Whole numbers, categories and labels are points, of width 0.
Cells of different symbols do not overlap, which is what the closed forms of kernels rest on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from ogive.columns import Binning, Column, Domain
from ogive.core.arrays import Bool, Float64, Int64
from ogive.core.checks import KeptByType, Range, among, array_of, plain_fields, refuse_masked, whole
from ogive.errors import DataError, ParameterError, quoted

# --- Sums of kernels over pairs as whole numbers, with the most that one record can change them
#
# A curator adds integer noise, so it needs the exact integer that it is added to. Each pair's value is `zero + unit *
# whole`; kernels that compare say 0, 1 or -1 anyway, the others round once, to 2^-bits of their range.
#
# When one of n records is replaced, only its n - 1 pairs change, each by at most `swing` steps: the pair's other record
# stays the same. So the sum changes by at most (n - 1) swing. In a two-sample kernel a record has as many partners as
# the other class has records.

BITS = 20
"""Fractional bits that values are rounded to by default."""

MAX_BITS = 30
MOST_RECORDS = 3_000_000_000
"""Their ordered pairs are below 2^63."""

# so that a piece of pairs fits a processor's cache, and a piece on which a function fails is soon divided
_BLOCK = 96
_DOT_BLOCK = 4096


@dataclass(frozen=True)
class Scale:
    """Public scaling of a kernel's values to whole numbers.

    Fields:
        unit: Size of one step, above 0.
        zero: The kernel's value at the whole number 0.
        swing: Largest change of a pair's number, in steps, when one of its records is replaced.
    """

    unit: Fraction
    zero: Fraction
    swing: int

    def sensitivity(self, partners: int) -> int:
        """Largest change of the sum when a record in this many pairs is replaced."""
        return self.swing * partners

    def mean(self, total: int, pairs: int) -> float:
        """The kernel's mean over pairs, from the sum of their whole numbers."""
        return float(self.zero + self.unit * Fraction(total, pairs))


COUNTS = Scale(Fraction(1), Fraction(0), 1)
HALVES = Scale(Fraction(1, 2), Fraction(0), 2)
SIGNS = Scale(Fraction(1), Fraction(0), 2)


def numerator(
    kernel: Kernel, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None
) -> tuple[int, Fraction]:
    """Exact sum over all pairs, in whole units, and the unit; the kernel's `scale` also has the value of zero."""
    return kernel.pair_sum(rows, columns, bits=bits, classes=classes), kernel.scale(columns, bits).unit


def check_bits(bits: int) -> int:
    """The number of bits, if it is one."""
    return whole(bits, "bits", 1, MAX_BITS)


def pairs_of(records: int) -> int:
    """How many pairs there are of this many records."""
    return records * (records - 1) // 2


def check_records(records: int) -> None:
    """Refuse more records than `MOST_RECORDS`, since counts of their pairs may not fit into 64 bits."""
    # how many there are may be private
    Range(0, records).check(MOST_RECORDS, f"pairs of more than {MOST_RECORDS} records cannot be counted; take a sample")


def finite_rows(rows: ArrayLike, columns: int | None = None) -> Float64:
    """Rows of finite numbers, shape (n, columns), from whatever was given as such."""
    refuse_masked(rows)
    try:
        result = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("`rows` must be numbers, as many in each row") from None
    if result.ndim != 2:
        advice = "; numpy.reshape(rows, (-1, 1)) makes rows of one column" if result.ndim == 1 else ""
        raise ParameterError(f"`rows` must be of shape (records, columns), got shape {result.shape}{advice}")
    if columns is not None and result.shape[1] != columns:
        raise ParameterError(f"`rows` must have {columns} column{'s' * (columns != 1)}, got {result.shape[1]}")
    wrong = np.flatnonzero(~np.isfinite(result).all(axis=1))
    if wrong.size:
        raise DataError(f"row {int(wrong[0])}, counted from 0, has a number that is not finite; leave such rows out")
    return result


def paired_rows(rows: ArrayLike, columns: int | None = None) -> Float64:
    """The same, if they make a pair."""
    result = finite_rows(rows, columns)
    if len(result) < 2:
        raise DataError(f"a mean over pairs needs at least two records, got {len(result)}")
    return result


def split_classes(rows: Float64, classes: Int64 | None) -> tuple[Float64, Float64]:
    """Rows of the positive and of the negative class."""
    classes = None if classes is None else array_of(classes)
    if classes is None or classes.shape != rows.shape[:1] or not np.isin(classes, (0, 1)).all():
        raise ParameterError("a kernel of two samples needs the class of each record, 0 or 1")
    positives, negatives = rows[classes == 1], rows[classes == 0]
    for name, part in (("positive", positives), ("negative", negatives)):
        if not len(part):
            raise DataError(f"the {name} class has no record; a two-sample statistic needs one of each")
    return positives, negatives


def steps(rows: Float64, columns: Domain, bits: int) -> Int64:
    """Values of one column of numbers in whole steps of 2^-bits of its bounds, shape (n,), from 0 to 2^bits."""
    check_records(len(rows))
    grid = column_of(columns).grid
    shares = (np.clip(rows[:, 0], grid.low, grid.high) - grid.low) / (grid.high - grid.low)
    return np.rint(shares * (1 << check_bits(bits))).astype(np.int64)


def step(columns: Domain, bits: int) -> Fraction:
    """Size of one of `steps`."""
    grid = column_of(columns).grid
    return (Fraction(grid.high) - Fraction(grid.low)) / (1 << check_bits(bits))


def column_of(columns: Domain) -> Binning:
    """The only column, of numbers."""
    (column,) = columns.columns
    assert isinstance(column, Binning)
    return column


def exact_dot(left: Int64, right: Int64) -> int:
    """Sum of products of numbers below 2^33 and numbers in 0..2^30, without overflow."""
    total = 0
    for start in range(0, len(left), _DOT_BLOCK):
        part, other = left[start : start + _DOT_BLOCK], right[start : start + _DOT_BLOCK]
        total += (int(part @ (other >> 15)) << 15) + int(part @ (other & 0x7FFF))
    return total


def blocks_of_pairs(kernel: Callable[[Float64, Float64], Float64], rows: Float64) -> Iterator[tuple[Float64, Bool]]:
    """Values of all pairs i < j in square pieces: values and which of them are such pairs; O(n^2) time."""
    for start in range(0, len(rows), _BLOCK):
        left = rows[start : start + _BLOCK]
        for begin in range(start, len(rows), _BLOCK):
            right = rows[begin : begin + _BLOCK]
            values = np.broadcast_to(kernel(left[:, None], right[None]), (len(left), len(right)))
            first = np.arange(start, start + len(left))[:, None]
            yield values, first < np.arange(begin, begin + len(right))


def blocked_mean(kernel: Callable[[Float64, Float64], Float64], rows: Float64) -> float:
    """Mean over all pairs, one by one."""
    rows = paired_rows(rows)
    total = sum(float(values[pairs].sum()) for values, pairs in blocks_of_pairs(kernel, rows))
    return total / pairs_of(len(rows))


def rounded_scale(low: float, high: float, bits: int) -> Scale:
    """Values rounded to 2^-bits of their range."""
    width = Fraction(high) - Fraction(low)
    return Scale(width / (1 << check_bits(bits)), Fraction(low), 1 << bits)


def rounded_sum(
    kernel: Callable[[Float64, Float64], Float64], rows: Float64, low: float, high: float, bits: int
) -> int:
    """Sum over all pairs of values rounded to 2^-bits of their range; values outside are clipped to it."""
    most = 1 << check_bits(bits)
    total = 0
    for values, pairs in blocks_of_pairs(kernel, rows):
        whole = np.rint((np.clip(values[pairs], low, high) - low) / (high - low) * most)
        total += int(whole.astype(np.int64).sum())
    return total


# --- Kernels and measures

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

    @property
    def samples(self) -> int:
        """Number of classes from which a tuple of records comes: 1 for an ordinary kernel, 2 for a two-sample one."""

    def check(self, columns: Domain) -> None:
        """Refuse a domain on which the kernel is not defined.

        Raises:
            ParameterError: the number of columns is wrong, or a column has no order or no distance.
        """

    def __call__(self, left: Float64, right: Float64) -> Float64:
        """Values of f, rows against rows, shape (...), from (..., columns) each, which broadcast."""

    def range(self, columns: Domain) -> tuple[float, float]:
        """Smallest and largest value on the domain."""

    def lipschitz(self, columns: Domain) -> float | None:
        """Lipschitz constant of f in one argument; None if f is not continuous."""

    def matrix(self, columns: Domain, kind: str = "average") -> Float64:
        """A: f between symbols, shape (k, k), symmetric unless two-sample; `kind` is one of `MATRICES`."""

    def spread(self, columns: Domain) -> Float64:
        """Delta: squared half-range of f over each pair of symbols, shape (k, k)."""

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """The U-statistic of exact rows, shape (n, columns), in O(n log n) where the kernel allows it.

        Two-sample kernels take the class of each row, 0 or 1.

        Raises:
            ParameterError: rows are of another shape, or classes are missing.
            DataError: there are too few rows, or a number is not finite, or a class is empty.
        """

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Scaling of a pair's value to a whole number, so that a curator can add integer noise to the sum.

        Args:
            columns: The public domain.
            bits: Fractional bits to which values are rounded, as parts of the range, 1 to 30; kernels that count do
                not round.
        """

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Exact sum of the whole numbers of `scale` over all pairs.

        Privacy:
            Replacing one record changes it by at most `scale.sensitivity(partners)`. Each of n records has n - 1
            partners; in two samples, as many as the other class has records.
        """

    def to_dict(self) -> dict[str, Any]:
        """Plain data of the kernel; `kernel_from_dict` inverts it, except for functions."""


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

    @property
    def name(self) -> str:
        """As in `Ustatistic(kernel=...)` and on the command line."""

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Kernels whose means determine the measure; at least one."""

    def check(self, columns: Domain) -> None:
        """Refuse a domain on which the measure is not defined.

        Raises:
            ParameterError: it does not.
        """

    def of(self, means: Float64, *, columns: Domain, records: int | None) -> Value:
        """The measure of its kernels' means, shape (kernels,).

        Args:
            means: U-statistics, possibly noisy.
            columns: The public domain.
            records: Number of records, if known, for small-sample factors.
        """

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """The measure of exact rows, without privacy; NaN where it is not defined.

        Raises:
            ParameterError: rows are of another shape, or classes are missing.
            DataError: there are too few rows, or a number is not finite, or a class is empty.
        """

    def to_dict(self) -> dict[str, Any]:
        """Plain data of the measure; `measure_from_dict` inverts it, except for functions."""


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
