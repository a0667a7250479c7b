"""A kernel that somebody wrote as a function of two records.

Nothing is known of it but what it says on public points, its range, and perhaps a Lipschitz constant. So its means over
cells are estimates, by Latin hypercubes with a fixed public seed. Its extremes are bounds: what the constant leaves
around the middles of two cells, or the whole range where there is no constant. Between points everything is exact.

On public points a function that fails is an error. On records it must not be: whoever sees the error learns of a record
without noise. There a pair on which the function raises, or gives no number, counts as the lower bound, and no other
pair has another value for it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ogive.columns import Domain
from ogive.core.arrays import Float64, Int64
from ogive.errors import ParameterError, plain, quoted
from ogive.kernels import base

_SPOTS = 6
_LONGEST_TEXT = 200


@dataclass(frozen=True)
class FunctionKernel(base.Celled):
    """A symmetric, bounded function of two records.

    For one column the function gets two floats; for several, two arrays with a number for each column. It is called
    with larger arrays instead if that gives the same values (`lambda x, y: abs(x - y)`, `lambda a, b: (a[0] > b[0]) ==
    (a[1] > b[1])`), else once for every pair, which is slow. Categories are given as indices in their list.

    Fields:
        function: Function of two records; it must be symmetric.
        name: Name in results.
        bounds: Smallest and largest value. Values outside are clipped. A value that is not a number, or a pair for
            which the function raises an error, counts as the lower bound. The stated privacy therefore holds for every
            function that depends only on its two records, has no state and terminates.
        constant: Lipschitz constant: largest change of the function per unit of (Euclidean) distance of one argument;
            None if unknown.
        circuit: The function as a circuit, for pairs of people, on `ogive.crypto.circuits` numbers in steps of 2^-k of
            the bounds of their columns (or category indices). It returns a bit, for the smallest or largest value, or
            a number in steps of 2^-k of the range. It is compared with the function on public points.

    Raises:
        ParameterError: the bounds are not two finite numbers in order, or the constant is not above 0.
    """

    function: Callable[[Any, Any], Any]
    name: str
    bounds: tuple[float, float]
    constant: float | None = None
    circuit: Callable[..., Any] | None = None

    samples: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ParameterError(f"`function` must be a function of two records, got {type(self.function).__name__}")
        if not isinstance(self.name, str) or not self.name:
            raise ParameterError("name a function, so that results can say what they are of")
        try:
            low, high = (float(bound) for bound in self.bounds)
        except (TypeError, ValueError):
            raise ParameterError(f"the range of a function must be two numbers, got {quoted(self.bounds)}") from None
        if not (low < high and math.isfinite(low) and math.isfinite(high) and math.isfinite(high - low)):
            raise ParameterError(
                f"the range of a function must be two finite numbers in order, got {quoted(self.bounds)}"
            )
        object.__setattr__(self, "bounds", (low, high))
        if self.circuit is not None and not callable(self.circuit):
            raise ParameterError(f"`circuit` must be a function of two numbers, got {type(self.circuit).__name__}")
        if self.constant is not None and not 0 < self.constant < math.inf:
            raise ParameterError(f"a Lipschitz constant must be above 0 and finite, got {quoted(self.constant)}")

    def check(self, columns: Domain) -> None:
        """Test the function on public points of the domain: all pairs, if the domain has at most 64 points.

        Raises:
            ParameterError: the function raises an error, is not symmetric, leaves its range, or violates its Lipschitz
                constant.
        """
        points = base.trial_points(columns)
        tried = points if self.constant is None else np.concatenate([points, base.near_points(columns, points)])
        try:
            values = self._one_by_one(*_against(tried, points))
        except Exception as problem:
            raise self._failed(problem, shown=True) from None
        low, high = self.bounds
        slack = 1e-9 * (high - low)
        if np.isnan(values).any():
            raise ParameterError(f"{self.name} gives values that are not numbers on the domain")
        if not (np.all(values >= low - slack) and np.all(values <= high + slack)):
            raise ParameterError(f"{self.name} leaves its range {low:g} to {high:g} on the domain; state a wider range")
        if np.any(np.abs(values[: len(points)] - values[: len(points)].T) > slack):
            raise ParameterError(f"{self.name} is not symmetric: f(x, y) differs from f(y, x); symmetrize it")
        if self.constant is not None:
            self._check_constant(self.constant, tried, points, values)

    def _check_constant(self, constant: float, tried: Float64, points: Float64, values: Float64) -> None:
        """Refuse a Lipschitz constant that values of tried rows against points refute; points are the first tried."""
        distances = np.linalg.norm(tried[:, None] - points, axis=-1)
        changes = np.abs(values[:, None] - values[: len(points)]).max(axis=-1)
        place = int(np.argmax(changes - constant * distances))
        change, distance = float(changes.flat[place]), float(distances.flat[place])
        if change > constant * distance + 1e-9 * (self.bounds[1] - self.bounds[0]):
            raise ParameterError(
                f"{self.name} changes by {change:.3g} where an argument changes by {distance:.3g}, which its Lipschitz "
                f"constant {constant:g} does not allow; state a larger one, or none"
            )

    def __call__(self, left: Float64, right: Float64) -> Float64:
        """Values, moved into the range."""
        rows = [np.reshape(side, (-1, side.shape[-1])) for side in (left, right)]
        shape = np.broadcast_shapes(left.shape, right.shape)
        left, right = np.broadcast_to(left, shape), np.broadcast_to(right, shape)
        pairs = math.prod(shape[:-1])
        if pairs < 2:
            return self._moved(self._values(left, right, arrays=False))
        # a few pairs, and those of the least and the largest numbers, which are not alike if any are not
        spots = np.unravel_index(np.linspace(0, pairs - 1, _SPOTS).astype(np.int64), shape[:-1])
        low, high = (f([f(side, axis=0) for side in rows], axis=0) for f in (np.min, np.max))
        few = np.concatenate([left[spots], [low, high, low, high]])
        others = np.concatenate([right[spots], [low, low, high, high]])
        arrays = self._same_in_arrays(few, others)
        return self._moved(self._values(left, right, arrays=arrays))

    def _moved(self, values: Float64) -> Float64:
        return np.asarray(np.clip(np.where(np.isnan(values), self.bounds[0], values), *self.bounds))

    def _same_in_arrays(self, left: Float64, right: Float64) -> bool:
        """Whether arrays in the places of numbers give the same values."""
        result = self._tried_in_arrays(left, right)
        if result is None:
            return False
        expected = self._values(left, right, arrays=False)
        return np.allclose(result, expected, rtol=1e-9, atol=0, equal_nan=True)

    def _tried_in_arrays(self, left: Float64, right: Float64) -> Float64 | None:
        """A number for every pair, where the function gives that for arrays."""
        try:
            values = np.asarray(self.function(_columns(left), _columns(right)), dtype=np.float64)
        except KeyboardInterrupt:
            raise
        except BaseException:  # see `_pair_by_pair`
            return None
        return values if values.shape == left.shape[:-1] else None

    def _takes_arrays(self, columns: Domain) -> bool:
        """Whether it may be called with arrays on this domain, which public points alone decide."""
        points = base.trial_points(columns)
        return self._same_in_arrays(*_against(points, points))

    def _values(self, left: Float64, right: Float64, *, arrays: bool) -> Float64:
        try:
            if not arrays:
                return self._one_by_one(left, right)
            values = np.asarray(self.function(_columns(left), _columns(right)), dtype=np.float64)
        except Exception as problem:
            raise self._failed(problem) from None
        if values.shape != left.shape[:-1]:
            raise ParameterError(f"{self.name} gives an array of a wrong shape; it must give a number for every pair")
        return values

    def _one_by_one(self, left: Float64, right: Float64) -> Float64:
        function = self.function
        pairs = zip(_records(left), _records(right), strict=True)
        values = np.fromiter((float(function(x, y)) for x, y in pairs), np.float64, math.prod(left.shape[:-1]))
        return values.reshape(left.shape[:-1])

    def _of_records(self, left: Float64, right: Float64, *, arrays: bool) -> Float64:
        """Values of private records, moved into the range; of pairs on which the function fails, the lower bound."""
        with np.errstate(all="ignore"):
            return self._moved(self._in_pieces(left, right) if arrays else self._pair_by_pair(left, right))

    def _pair_by_pair(self, left: Float64, right: Float64) -> Float64:
        function, values = self.function, []
        for record in left:
            # copies, so that a function which changes what it is given changes nothing for other pairs
            for x, y in zip(_records(np.repeat(record, right.shape[1], axis=0)), _records(right.copy()), strict=True):
                try:
                    values.append(float(function(x, y)))
                except KeyboardInterrupt:
                    raise
                except BaseException:  # SystemExit of a function that looks at a record tells of it as well
                    values.append(math.nan)
        return np.array(values).reshape(len(left), right.shape[1])

    def _in_pieces(self, left: Float64, right: Float64) -> Float64:
        """Values by arrays, in pieces down to single pairs where it fails, NaN where it fails on a single pair.

        Arrays have one shape whatever the piece, and records outside of it are replaced by one of the piece: numbers
        may depend on the shape of arrays in their last digit, and so they depend on nothing but their own pair.
        """
        shape = (len(left), right.shape[1], left.shape[-1])
        whole = self._tried_in_arrays(np.broadcast_to(left, shape), np.broadcast_to(right, shape))
        if whole is not None:
            return whole
        values, pieces = np.full(shape[:2], math.nan), [(0, shape[0], 0, shape[1])]
        while pieces:
            top, bottom, start, end = pieces.pop()
            rows, columns = _within(top, bottom, shape[0]), _within(start, end, shape[1])
            some = np.broadcast_to(left[rows], shape), np.broadcast_to(right[:, columns], shape)
            result = self._tried_in_arrays(*some)
            if result is not None:
                values[top:bottom, start:end] = result[top:bottom, start:end]
            elif bottom - top > 1:
                middle = (top + bottom) // 2
                pieces += [(top, middle, start, end), (middle, bottom, start, end)]
            elif end - start > 1:
                middle = (start + end) // 2
                pieces += [(top, bottom, start, middle), (top, bottom, middle, end)]
        return values

    def _failed(self, problem: Exception, *, shown: bool = False) -> ParameterError:
        """What to raise; the problem's text is shown where all that it can quote is public."""
        text = plain(" ".join(str(problem).split())[:_LONGEST_TEXT])
        return ParameterError(
            f"{self.name} fails with {type(problem).__name__} on two records of the domain"
            f"{f' ({text})' if shown and text else ''}; it must take any two and give a number"
        )

    def range(self, columns: Domain) -> tuple[float, float]:
        """As stated."""
        return self.bounds

    def lipschitz(self, columns: Domain) -> float | None:
        """As stated."""
        return self.constant

    def cell_means(self, columns: Domain) -> Float64:
        """Estimated means over cells; see `sampled_means` for their error."""
        return base.sampled_means(self, columns, slow=not self._takes_arrays(columns))[0]

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Bounds: values between points; else what the Lipschitz constant leaves of the range, or all of it."""
        low, high = self.bounds
        if self.constant is None and not base.are_points(columns):
            return np.full((columns.size, columns.size), low), np.full((columns.size, columns.size), high)
        lows, highs = base.boxes(columns)
        middle, reach = lows + (highs - lows) / 2, (self.constant or 0.0) * np.linalg.norm(highs - lows, axis=1) / 2
        values, reach = base.symmetrized(self(middle[:, None], middle[None])), reach[:, None] + reach
        return np.maximum(values - reach, low), np.minimum(values + reach, high)

    def matrix(self, columns: Domain, kind: str = "average") -> Float64:
        """A; see `Kernel.matrix`."""
        return base.symmetrized(super().matrix(columns, kind))

    def digest(self, columns: Domain) -> str:
        """SHA-256 of the matrix of averages, which distinguishes functions of the same name."""
        return hashlib.sha256(self.matrix(columns).tobytes()).hexdigest()

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """The U-statistic of exact rows, pair by pair in O(n^2); pairs count as in `pair_sum`."""
        rows = base.paired_rows(rows)
        spots = rows[np.linspace(0, len(rows) - 1, _SPOTS).astype(np.int64)]
        try:
            arrays = self._same_in_arrays(*_against(spots, spots))
        except ParameterError:
            arrays = False
        return base.blocked_mean(lambda x, y: self._of_records(x, y, arrays=arrays), rows)

    def scale(self, columns: Domain, bits: int = base.BITS) -> base.Scale:
        """Steps of 2^-bits of the range."""
        return base.rounded_scale(*self.bounds, bits)

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = base.BITS, classes: Int64 | None = None) -> int:
        """Exact sum of rounded values, pair by pair in O(n^2).

        Privacy:
            Whether the function is called with arrays is decided on public points, so a record cannot affect the
            computation for other pairs. A pair for which the function raises an error counts as the lower bound. The
            function must depend only on its two records, have no state, and terminate.
        """
        arrays = self._takes_arrays(columns)
        return base.rounded_sum(lambda x, y: self._of_records(x, y, arrays=arrays), rows, *self.bounds, bits)

    def to_dict(self) -> dict[str, Any]:
        """Plain data with the name of the function, from which it cannot be rebuilt; see also `digest`."""
        return {"kernel": "function", "name": self.name, "bounds": list(self.bounds), "constant": self.constant}


def _within(start: int, end: int, size: int) -> Int64:
    """The places start..end - 1, and the first of them in all other places; shape (size,)."""
    places = np.arange(size)
    return np.where((places >= start) & (places < end), places, start)


def _columns(rows: Float64) -> Any:
    """What the function is called with: numbers of one column, or those of each column in turn."""
    return rows[..., 0] if rows.shape[-1] == 1 else np.moveaxis(rows, -1, 0)


def _records(rows: Float64) -> Any:
    """The same for one record after the other: floats if there is one column."""
    flat = rows.reshape(-1, rows.shape[-1])
    return flat[:, 0].tolist() if rows.shape[-1] == 1 else iter(flat)


def _against(left: Float64, right: Float64) -> tuple[Float64, Float64]:
    """Every row of one against every row of the other, each of shape (left, right, columns)."""
    shape = (len(left), len(right), left.shape[-1])
    return np.broadcast_to(left[:, None], shape), np.broadcast_to(right[None], shape)
