"""Running totals of a stream, published after every element at one price for the whole stream.

Neighboring streams differ in one element. Methods, all with exact integer noise:

    path   noise on the blocks above each step: equal error at every step, memory O(log steps);
           PureDP, and zCDP for streams that do not react to what is published
    tree   noisy sums of completed blocks: memory O(log steps); PureDP and zCDP
    sqrt   square-root factorization: memory and time per step O(steps); zCDP

`auto` takes the one of least mean variance among those whose guarantee covers the stream;
sqrt only up to 2^16 steps, where it holds a megabyte and a step takes microseconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ogive.accounting import gaussian_rho
from ogive.errors import CopyError, DataError, ParameterError, RefusalError, ReleaseMismatchError, ScaleError, quoted
from ogive.noise import DerivedNodes, SystemSource, current_process, too_much_noise
from ogive.noise.base import RandomSource
from ogive.privacy import ApproxDP, Privacy, PureDP, Rational, ZeroConcentratedDP, exact
from ogive.streams.path import PathTotals
from ogive.streams.sqrt import SqrtTotals
from ogive.streams.stored import Elements, fields, key_of, pack, unpack, whole_number
from ogive.streams.tree import TreeTotals

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

MAX_STEPS = 1 << 40
MAX_AUTO_SQRT_STEPS = 1 << 16
METHODS = ("auto", "path", "tree", "sqrt")
_PIECE = 1 << 14
_FORMAT = "ogive running total 1"
_FIELDS = frozenset(("format", "parameters", "key", "taken", "total", "engine"))


class Engine(Protocol):
    """One way to publish totals of whole units; it does not check its input."""

    name: str

    @property
    def loss(self) -> PureDP | ZeroConcentratedDP:
        """What the whole stream costs."""
        ...

    @property
    def mean_variance(self) -> float:
        """Mean of `variance` over all steps."""
        ...

    def variance(self, taken: Int64) -> Float64:
        """Variance after each number of elements, in squared units, same shape."""
        ...

    def start(self, nodes: DerivedNodes) -> None:
        """Begin a stream."""
        ...

    def advance(self, first: int, total: int, values: Int64) -> Float64:
        """Take elements after `first` others whose sum is `total`; return the totals after each."""
        ...

    def state(self) -> dict[str, Any]:
        """Plain data from which to go on."""
        ...

    def restore(self, state: Any, elements: Elements) -> None:
        """Go on from a `state`, after these elements.

        Raises:
            ParameterError: it is no state after such elements.
        """
        ...


class RunningTotal:
    """Publish the noisy total of a stream after every element.

    A stream goes on in one place only: the totals of two copies have the same noise, so their difference would
    publish that of their elements exactly. Copying and pickling are refused, and so are elements in a forked
    process; `to_bytes` and `from_bytes` move a stream.

    Args:
        steps: Largest number of elements that will come, from 1 to 2^40; must be known.
        privacy: What publishing all totals may cost. ApproxDP is converted to zCDP.
        bound: Values above it are counted as it. The same for `low`, below.
        low: One element may change by `bound - low`, which the noise hides.
        resolution: Values are rounded to its multiples, which must include `bound` and `low`. None:
            values are whole numbers, others are refused.
        method: "auto", "path", "tree" or "sqrt".
        adaptive: True if later elements may depend on published totals; False allows path noise
            under zCDP, whose proof needs a stream that does not.
        source: Where the noise key comes from; the operating system by default.

    Raises:
        ParameterError: an argument is out of range, or the method lacks a guarantee for such a stream.
        ScaleError: the guarantee needs more noise than can be drawn.

    Privacy:
        Two streams are adjacent if they differ in one element. `loss` is the exact price.

    Source:
        Barczewski, Mawass and Ramon, Theorem 3 (path); Honaker 2015 (tree); Denisov et al. 2022,
        Fichtenberger, Henzinger and Upadhyay 2023 (sqrt).

    Example:
        >>> totals = RunningTotal(1000, privacy=PureDP(1))
        >>> noisy = totals.add(1)
        >>> totals.taken
        1
    """

    def __init__(
        self,
        steps: int,
        *,
        privacy: Privacy,
        bound: Rational = 1,
        low: Rational = 0,
        resolution: Rational | None = None,
        method: str = "auto",
        adaptive: bool = True,
        source: RandomSource | None = None,
    ) -> None:
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or not 1 <= steps <= MAX_STEPS:
            raise ParameterError(f"steps must be a whole number from 1 to 2^40, got {quoted(steps)}")
        if method not in METHODS:
            raise ParameterError(f"method must be one of {', '.join(METHODS)}, got {quoted(method)}")
        if not isinstance(privacy, PureDP | ZeroConcentratedDP | ApproxDP):
            raise ParameterError(f"privacy must be PureDP, ZeroConcentratedDP or ApproxDP, got {quoted(privacy)}")
        self.steps = int(steps)
        self.privacy = privacy
        self._rounds = resolution is not None
        self._unit = exact(1 if resolution is None else resolution, "resolution")
        if self._unit <= 0:
            raise ParameterError(f"resolution must be above 0, got {resolution}")
        self._low, self._high = self._in_units(low, "low"), self._in_units(bound, "bound")
        if self._low >= self._high:
            raise ParameterError(f"low must be below bound, got {low} and {bound}")
        if max(abs(self._low), abs(self._high)) * self.steps >= 1 << 53:
            raise ParameterError(
                "totals could reach 2^53 times the resolution; use fewer steps or a coarser resolution"
            )
        self._engine = self._choose(method, adaptive)
        self._parameters = {
            "steps": self.steps,
            "privacy": privacy.to_dict(),
            "low": self._low,
            "bound": self._high,
            "resolution": str(self._unit) if self._rounds else None,
            "method": self._engine.name,
        }
        self._taken, self._total = 0, 0
        self._begin((source or SystemSource()).key())

    @property
    def method(self) -> str:
        """The method in use: "path", "tree" or "sqrt"."""
        return self._engine.name

    @property
    def loss(self) -> PureDP | ZeroConcentratedDP:
        """What publishing all totals costs; at most `privacy`."""
        return self._engine.loss

    @property
    def taken(self) -> int:
        """Number of elements so far."""
        return self._taken

    def add(self, value: float) -> float:
        """Take one element and return the noisy total after it.

        Raises:
            DataError: the value is not a number, or not whole where no resolution was given.
            RefusalError: all steps are used up.
            CopyError: this process was forked from the stream's.
        """
        return float(self.add_many([value])[0])

    def add_many(self, values: ArrayLike) -> Float64:
        """Take elements in order and return the noisy totals after each, same shape (m,).

        Raises:
            DataError: a value is not a number, or not whole where no resolution was given.
            RefusalError: there are more elements than steps left. Nothing is taken then.
            CopyError: this process was forked from the stream's.
        """
        if current_process() != self._process:
            raise CopyError(
                "this running total belongs to another process, whose totals have the same noise; "
                "move it with to_bytes and from_bytes, and go on in one process only"
            )
        units = self._to_units(values)
        if self._taken + len(units) > self.steps:
            raise RefusalError(
                f"this running total was made for {self.steps} elements and holds {self._taken}; "
                f"{len(units)} more were given"
            )
        out = np.empty(len(units))
        for start in range(0, len(units), _PIECE):
            piece = units[start : start + _PIECE]
            out[start : start + len(piece)] = self._engine.advance(self._taken, self._total, piece)
            self._taken += len(piece)
            self._total += int(piece.sum())
        return out * float(self._unit)

    def variance(self, taken: ArrayLike) -> Any:
        """Variance of the noisy total after `taken` elements (1..steps); a float or an array of the same shape.

        Raises:
            ParameterError: a number of elements is outside 1..steps.
        """
        counts = np.asarray(taken)
        if not np.issubdtype(counts.dtype, np.integer) or counts.min() < 1 or counts.max() > self.steps:
            raise ParameterError(
                f"a number of elements must be a whole number from 1 to {self.steps}, got {quoted(taken)}"
            )
        variance = self._engine.variance(counts.astype(np.int64)) * float(self._unit) ** 2
        return variance if counts.ndim else float(variance)

    def to_bytes(self) -> bytes:
        """All that is needed to go on later; as secret as the stream.

        Save before publishing: going on from an older state with other elements would publish the
        difference of the two streams exactly. So would going on twice from one state, or here and from
        there: after `from_bytes`, only its stream may take elements.
        """
        content = {
            "format": _FORMAT,
            "parameters": self._parameters,
            "key": self._key.hex(),
            "taken": self._taken,
            "total": self._total,
            "engine": self._engine.state(),
        }
        return pack(content)

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        steps: int,
        *,
        privacy: Privacy,
        bound: Rational = 1,
        low: Rational = 0,
        resolution: Rational | None = None,
        method: str = "auto",
        adaptive: bool = True,
    ) -> RunningTotal:
        """Go on with a stream; the noise continues as if it had never stopped.

        Two streams from the same bytes have the same noise, and nothing here can notice: only one may go on.

        Args:
            data: From `to_bytes`.
            steps: As for the constructor, like all that follows.
            privacy: The guarantee the stream was started with.
            bound: Largest value.
            low: Smallest value.
            resolution: Grid of the values.
            method: How totals are published.
            adaptive: Whether elements depend on published totals.

        Raises:
            ParameterError: the bytes are damaged, or a field is missing, of another type or out of range.
            ReleaseMismatchError: they belong to a stream of other parameters.
        """
        content = unpack(data, _FIELDS, _FORMAT)
        resumed = cls(
            steps, privacy=privacy, bound=bound, low=low, resolution=resolution, method=method, adaptive=adaptive
        )
        saved = fields(content["parameters"], frozenset(resumed._parameters), "the parameters of a running total")
        for name, value in resumed._parameters.items():
            if json.dumps(saved[name], sort_keys=True) != json.dumps(value, sort_keys=True):
                stored = f"{saved[name]!r:.60}"
                raise ReleaseMismatchError(f"this running total was saved with {name} {stored}, not {value!r}")
        resumed._begin(key_of(content["key"]))
        low, high = resumed._low, resumed._high
        taken = whole_number(content["taken"], 0, resumed.steps, "taken")
        total = whole_number(content["total"], taken * low, taken * high, "total")
        resumed._engine.restore(content["engine"], Elements(taken, total, low, high))
        resumed._taken, resumed._total = taken, total
        return resumed

    def __copy__(self) -> NoReturn:
        _refuse_copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        _refuse_copy()

    def __reduce__(self) -> NoReturn:
        _refuse_copy()

    def _begin(self, key: bytes) -> None:
        self._key = key
        self._process = current_process()
        context = json.dumps(self._parameters, sort_keys=True).encode()
        self._engine.start(DerivedNodes(key, b"ogive running total\n" + context))

    def _choose(self, method: str, adaptive: bool) -> Engine:
        """The engine of a method, or for "auto" that of least mean variance."""
        privacy = gaussian_rho(self.privacy) if isinstance(self.privacy, ApproxDP) else self.privacy
        pure = isinstance(privacy, PureDP)
        change, largest = self._high - self._low, max(abs(self._low), abs(self._high))
        makers: dict[str, Callable[[], Engine]] = {
            "tree": lambda: TreeTotals(self.steps, privacy, change),
            "path": lambda: PathTotals(self.steps, privacy, change, largest),
            "sqrt": lambda: SqrtTotals(self.steps, privacy, change, largest),
        }
        if method == "path" and not pure and adaptive:
            raise ParameterError(
                "path noise under zCDP is proved only for streams that do not react to published totals; "
                "use method 'tree' or 'sqrt', or say adaptive=False"
            )
        wanted = {method} if method != "auto" else set(makers)
        if method == "auto" and (pure or self.steps > MAX_AUTO_SQRT_STEPS):
            wanted.remove("sqrt")
        if method == "auto" and adaptive and not pure:
            wanted.remove("path")
        engines: list[Engine] = []
        failed: list[tuple[PureDP | ZeroConcentratedDP, ScaleError]] = []
        for name in (name for name in makers if name in wanted):
            try:
                engines.append(makers[name]())
            except ScaleError as error:
                failed.append((privacy, error))
        if not engines:
            raise too_much_noise(self.privacy, f"{self.steps} step{'s' if self.steps > 1 else ''}", failed)
        return min(engines, key=lambda engine: engine.mean_variance)

    def _in_units(self, value: Rational, name: str) -> int:
        units: Fraction = exact(value, name) / self._unit
        if units.denominator != 1:
            grid = f"multiple of the resolution {self._unit}" if self._rounds else "whole number, or give a resolution"
            raise ParameterError(f"{name} must be a {grid}, got {value}")
        return int(units)

    def _to_units(self, values: ArrayLike) -> Int64:
        """Values as whole units within the bounds, shape (m,)."""
        array = np.asarray(values)
        if array.ndim != 1 or array.dtype.kind not in "buif":
            raise DataError(
                f"values must be a one-dimensional list of numbers, got {array.dtype} of shape {array.shape}"
            )
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise DataError(f"value {int(np.flatnonzero(np.isnan(array))[0]) + 1} is not a number")
        numbers = array.astype(np.float64) / float(self._unit)
        nearest = np.clip(np.rint(numbers), self._low, self._high)
        if not self._rounds and not np.all((numbers == np.rint(numbers)) | np.isinf(numbers)):
            raise DataError("values must be whole numbers; give a resolution to round others to its multiples")
        return nearest.astype(np.int64)


def _refuse_copy() -> NoReturn:
    raise CopyError(
        "a copy of a running total would have the same noise; "
        "move it with to_bytes and from_bytes, and go on in one place only"
    )
