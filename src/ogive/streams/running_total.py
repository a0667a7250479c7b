"""Running totals of a stream, published after every element at one price for the whole stream.

Neighboring streams differ in one element. Methods, all with exact integer noise:

    path        noise on the blocks above each step: equal error at every step, memory O(log steps);
                PureDP, and zCDP for streams that do not react to what is published
    tree        noisy sums of completed blocks: memory O(log steps); PureDP and zCDP
    sqrt        square-root factorization: memory and time per step O(steps); zCDP
    hats        noise of overlapping hats, drawn ahead: memory O(steps), time per step O(1); PureDP
    sqrt_ahead  square-root factorization with noise drawn ahead: memory O(steps), time per step O(1); zCDP

Where the number of elements is not known:

    open_hats    hats that favor the first elements: memory O(2^22), time per step O(1); PureDP
    open_powers  a factorization that favors the first elements, drawn ahead in blocks; zCDP

`auto` takes the one of least mean variance among those whose guarantee covers the stream:
sqrt only up to 2^16 steps, where it holds a megabyte and a step takes microseconds, and sqrt_ahead
beyond; hats above 64 steps, below which it keeps the choice that there was before hats.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from ogive.accounting import gaussian_rho
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import Range, among, any_whole, array_of
from ogive.errors import CopyError, DataError, ParameterError, RefusalError, ReleaseMismatchError, ScaleError, quoted
from ogive.noise import DerivedNodes, SystemSource, current_process, too_much_noise
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, ApproxDP, Privacy, PrivacyUnit, PureDP, Rational, ZeroConcentratedDP, exact
from ogive.provenance import check_batch_name
from ogive.streams.ahead import MAX_STEPS as MAX_STEPS_AHEAD
from ogive.streams.ahead import HatTotals, PowerTotals
from ogive.streams.engines import (
    MAX_TOTAL,
    Elements,
    Engine,
    PathTotals,
    SqrtTotals,
    TreeTotals,
    fields,
    key_of,
    pack,
    unpack,
    whole_number,
)

if TYPE_CHECKING:
    from ogive.ledger import Account
    from ogive.ledger.account import Reservation

MAX_STEPS = 1 << 40
MAX_AUTO_SQRT_STEPS = 1 << 16
MAX_AUTO_WITHOUT_HATS = 1 << 6
NAME = "running_total"
"""Of this release in a ledger."""

OPEN_METHODS = ("open_hats", "open_powers")
"""For streams of unknown length."""
METHODS = ("auto", "path", "tree", "sqrt", "hats", "sqrt_ahead", *OPEN_METHODS)
_PIECE = 1 << 14
_FORMAT = "ogive running total 1"
_FIELDS = frozenset(("format", "parameters", "key", "taken", "total", "engine"))


class RunningTotal:
    """Publish the noisy total of a stream after every element.

    A stream continues in one place only. The totals of two copies would have the same noise, so their difference would
    reveal the difference of their elements exactly. Copying, pickling and adding elements in a forked process are
    refused; `to_bytes` and `from_bytes` move a stream.

    Args:
        steps: Largest number of elements, from 1 to 2^40. With None it need not be known: up to 2^22 elements, after
            each of which the error is near that of a stream whose length was known.
        privacy: The guarantee for all totals together. ApproxDP is converted to zCDP.
        bound: Larger values count as `bound`, values below `low` as `low`.
        low: Smallest value. The noise protects a change of one element by `bound - low`.
        resolution: Values are rounded to multiples of it; `bound` and `low` must be multiples. With None, values must
            be whole numbers.
        method: "auto", "path", "tree", "sqrt", "hats" or "sqrt_ahead"; without `steps` "auto", "open_hats" or
            "open_powers". A stream that was begun under another choice of "auto" keeps its method.
        adaptive: True if later elements may depend on published totals. False allows path noise under zCDP, which is
            proved for streams that do not.
        ledger: The account to charge, from `Ledger.account`; None records no charge. The charge is recorded before the
            first noise is drawn, and every call of `add` or `add_many` before its totals are published, so that an
            older state is refused.
        name: Public name of the stream, unique within the account; required with a ledger.
        source: Source of the noise key; by default the operating system.

    Raises:
        ParameterError: an argument is out of range, the method has no guarantee for such a stream, or a ledger is
            given without a name.
        ScaleError: the noise for the guarantee is larger than can be drawn.
        BudgetError: the account has too little left.
        LedgerError: the ledger cannot be read or written, or its privacy unit is not one element of a stream.

    Privacy:
        Two streams are adjacent if they differ in one element. `loss` is the exact price, also where elements depend on
        published totals, but for method "path" under zCDP.

    Source:
        Barczewski, Mawass and Ramon, Theorem 3 (path); Honaker 2015 (tree); Denisov et al. 2022,
        Fichtenberger, Henzinger and Upadhyay 2023 (sqrt, sqrt_ahead); see `ogive.streams.ahead` for streams of unknown
        length.

    Example:
        >>> totals = RunningTotal(1000, privacy=PureDP(1))
        >>> noisy = totals.add(1)
        >>> totals.taken
        1
    """

    def __init__(
        self,
        steps: int | None,
        *,
        privacy: Privacy,
        bound: Rational = 1,
        low: Rational = 0,
        resolution: Rational | None = None,
        method: str = "auto",
        adaptive: bool = True,
        ledger: Account | None = None,
        name: str | None = None,
        source: RandomSource | None = None,
    ) -> None:
        if name is not None and ledger is None:
            raise ParameterError("name tells streams of an account apart; leave it out, or say which with `ledger=`")
        self._prepare(steps, privacy, bound, low, resolution, method, adaptive, name)
        if ledger is not None and method == "auto":
            self._keep_method(ledger, adaptive)
        key = (source or SystemSource()).key()
        self._paid = None if ledger is None else self._pay(ledger, key)
        self._begin(key if self._paid is None else self._paid.secret)

    def _prepare(
        self,
        steps: int | None,
        privacy: Privacy,
        bound: Rational,
        low: Rational,
        resolution: Rational | None,
        method: str,
        adaptive: bool,
        name: str | None,
    ) -> None:
        """Check the parameters and choose the engine; no noise is drawn and nothing is paid."""
        self.steps = MAX_STEPS_AHEAD if steps is None else any_whole(steps, "steps", 1, MAX_STEPS)
        self._open = steps is None
        among(method, "method", METHODS)
        if method != "auto" and self._open != (method in OPEN_METHODS):
            raise ParameterError(
                f"method {method!r} must know the number of elements: say `steps`, or use method 'auto'"
                if self._open
                else f"method {method!r} is for streams of unknown length: say None for `steps`, or use method 'auto'"
            )
        if not isinstance(privacy, PureDP | ZeroConcentratedDP | ApproxDP):
            raise ParameterError(
                f"`privacy` must be `PureDP`, `ZeroConcentratedDP` or `ApproxDP`, got {quoted(privacy)}"
            )
        self.privacy = privacy
        self._rounds = resolution is not None
        self._unit = exact(1 if resolution is None else resolution, "resolution")
        if self._unit <= 0:
            raise ParameterError(f"`resolution` must be above 0, got {resolution}")
        self._low, self._high = self._in_units(low, "low"), self._in_units(bound, "bound")
        if self._low >= self._high:
            raise ParameterError(f"`low` must be below bound, got {low} and {bound}")
        refusal = "totals could reach 2^53 times the resolution; use fewer steps or a coarser resolution"
        (Range(self._low, self._high) * self.steps).check(MAX_TOTAL - 1, refusal, ParameterError)
        self._engine = self._choose(method, adaptive)
        self._parameters = {
            "steps": steps if steps is None else self.steps,
            "privacy": privacy.to_dict(),
            "low": self._low,
            "bound": self._high,
            "resolution": str(self._unit) if self._rounds else None,
            "method": self._engine.name,
        }
        if name is not None:
            # of a stream without one the parameters stay as they were, since its noise depends on them
            self._parameters["name"] = check_batch_name(name)
        self._taken, self._total = 0, 0

    @property
    def method(self) -> str:
        """The method in use, never "auto"."""
        return self._engine.name

    @property
    def loss(self) -> PureDP | ZeroConcentratedDP:
        """Exact price of publishing all totals; at most `privacy`."""
        return self._engine.loss

    @property
    def taken(self) -> int:
        """Number of elements so far."""
        return self._taken

    def add(self, value: float) -> float:
        """Add one element and return the noisy total.

        Raises:
            DataError: the value is not a number, or not whole although there is no resolution.
            RefusalError: all steps are used up.
            CopyError: this process was forked from the stream's.
        """
        return float(self.add_many([value])[0])

    def add_many(self, values: ArrayLike) -> Float64:
        """Add elements in order and return the noisy total after each, same shape (m,).

        Raises:
            DataError: a value is not a number, or not whole although there is no resolution.
            RefusalError: there are more elements than remaining steps; nothing is added.
            CopyError: this process was forked from the stream's.
            ReleaseMismatchError: the account records a later state of the stream, or other elements; nothing is added.
            LedgerError: the ledger cannot be written; nothing is added.
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
        if self._paid is not None and len(units):
            self._paid.advance_stream(self._taken, self._taken + len(units), units.astype("<i8").tobytes())
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
        counts = array_of(taken)
        if not np.issubdtype(counts.dtype, np.integer) or counts.min() < 1 or counts.max() > self.steps:
            raise ParameterError(
                f"a number of elements must be a whole number from 1 to {self.steps}, got {quoted(taken)}"
            )
        variance = self._engine.variance(counts.astype(np.int64)) * float(self._unit) ** 2
        return variance if counts.ndim else float(variance)

    def to_bytes(self) -> bytes:
        """State from which the stream can continue; as secret as the stream.

        Save the state before publishing. Continuing from an older state with other elements, or twice from the same
        state, would reveal the difference of the two streams exactly. After `from_bytes`, only the new object may take
        elements. A ledger that was charged for the stream refuses both.
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
        steps: int | None,
        *,
        privacy: Privacy,
        bound: Rational = 1,
        low: Rational = 0,
        resolution: Rational | None = None,
        method: str = "auto",
        adaptive: bool = True,
        ledger: Account | None = None,
        name: str | None = None,
    ) -> RunningTotal:
        """Continue a stream, with the noise of the uninterrupted stream.

        Two streams from the same bytes have the same noise, so only one may continue. Without a ledger this is not
        checked.

        Args:
            data: From `to_bytes`.
            steps: As for the constructor, like the following.
            privacy: The guarantee the stream was started with.
            bound: Largest value.
            low: Smallest value.
            resolution: Grid of the values.
            method: How totals are published.
            adaptive: Whether elements depend on published totals.
            ledger: The account that was charged for the stream, if any; it is not charged again.
            name: Name of the stream, if it has one.

        Raises:
            ParameterError: the bytes are damaged, or a field is missing, of another type or out of range.
            ReleaseMismatchError: the bytes belong to a stream with other parameters, or the account was not charged
                for it.
            LedgerError: the ledger cannot be read.
        """
        content = unpack(data, _FIELDS, _FORMAT)
        resumed = cls.__new__(cls)
        stated = content["parameters"] if isinstance(content["parameters"], dict) else {}
        if method == "auto" and isinstance(stated.get("method"), str) and stated["method"] in METHODS:
            method = stated["method"]
        resumed._prepare(steps, privacy, bound, low, resolution, method, adaptive, name)
        resumed._paid = None
        named = stated.get("name")
        if named is not None and name is None:
            raise ReleaseMismatchError(
                f"this running total was paid for from a ledger as {quoted(named)}; say that with "
                "`name=`, and the account with `ledger=`"
            )
        saved = fields(content["parameters"], frozenset(resumed._parameters), "the parameters of a running total")
        for field, value in resumed._parameters.items():
            if json.dumps(saved[field], sort_keys=True) != json.dumps(value, sort_keys=True):
                stored = f"{saved[field]!r:.60}"
                raise ReleaseMismatchError(f"this running total was saved with {field} {stored}, not {quoted(value)}")
        key = key_of(content["key"])
        if ledger is not None:
            resumed._paid = resumed._found(ledger)
            if resumed._paid is None or resumed._paid.secret != key:
                raise ReleaseMismatchError(
                    "the account did not pay for this running total, or its data set was updated since"
                )
        elif name is not None:
            raise ReleaseMismatchError("this running total was paid for from a ledger; say which with `ledger=`")
        resumed._begin(key)
        low, high = resumed._low, resumed._high
        taken = whole_number(content["taken"], 0, resumed.steps, "taken")
        total = whole_number(content["total"], taken * low, taken * high, "total")
        resumed._engine.restore(content["engine"], Elements(taken, total, low, high))
        resumed._taken, resumed._total = taken, total
        return resumed

    def _refuse_copy(self, *_: object) -> NoReturn:
        raise CopyError(
            "a copy of a running total would have the same noise; "
            "move it with to_bytes and from_bytes, and go on in one place only"
        )

    __copy__ = __deepcopy__ = __reduce__ = _refuse_copy

    def _keep_method(self, ledger: Account, adaptive: bool) -> None:
        """Take the method under which the account already pays for this stream, if there is one."""
        for method in (self.method, *self._covering(adaptive)):
            self._parameters["method"] = method
            if self._found(ledger) is not None:
                if method != self.method:
                    self._engine = self._choose(method, adaptive)
                return
        self._parameters["method"] = self.method

    def _question(self, ledger: Account) -> dict[str, Any]:
        """What the account pays for."""
        if self._parameters.get("name") is None:
            raise ParameterError("name the stream with `name=`, which tells it from others that the account pays for")
        unit = PrivacyUnit(Adjacency.REPLACE, public=ledger.unit.public)
        ledger.check_unit(unit)
        statistic = {"name": NAME, "column": self._parameters["name"], "stream": self._parameters}
        return {"statistic": statistic, "privacy": self.privacy.to_dict(), "unit": unit.to_dict(), "trust": "central"}

    def _pay(self, ledger: Account, key: bytes) -> Reservation:
        charge = self.privacy if type(self.loss) is type(self.privacy) else self.loss
        return ledger.reserve(self._question(ledger), statistic=NAME, charge=charge, secret=key)

    def _found(self, ledger: Account) -> Reservation | None:
        return ledger.reserved(self._question(ledger))

    def _begin(self, key: bytes) -> None:
        self._key = key
        self._process = current_process()
        context = json.dumps(self._parameters, sort_keys=True).encode()
        self._engine.start(DerivedNodes(key, b"ogive running total\n" + context))

    @property
    def _granted(self) -> PureDP | ZeroConcentratedDP:
        return gaussian_rho(self.privacy) if isinstance(self.privacy, ApproxDP) else self.privacy

    def _covering(self, adaptive: bool) -> list[str]:
        """Methods that "auto" chooses from: fit for so many steps, with a guarantee that covers the stream."""
        if self._open:
            return ["open_hats" if isinstance(self._granted, PureDP) else "open_powers"]
        if isinstance(self._granted, PureDP):
            quick = ["hats"] if MAX_AUTO_WITHOUT_HATS < self.steps <= MAX_STEPS_AHEAD else []
            return ["tree", "path", *quick]
        if self.steps <= MAX_AUTO_SQRT_STEPS:
            quick = ["sqrt"]
        else:
            quick = ["sqrt_ahead"] if self.steps <= MAX_STEPS_AHEAD else []
        return ["tree", *quick] if adaptive else ["tree", "path", *quick]

    def _choose(self, method: str, adaptive: bool) -> Engine:
        """The engine of a method, or for "auto" that of least mean variance."""
        privacy = self._granted
        change, largest = self._high - self._low, max(abs(self._low), abs(self._high))

        def engine(name: str) -> Engine:
            if name in ("path", "sqrt"):
                return (PathTotals if name == "path" else SqrtTotals)(self.steps, privacy, change, largest)
            if name == "tree":
                return TreeTotals(self.steps, privacy, change)
            kind = HatTotals if name in ("hats", "open_hats") else PowerTotals
            return kind(self.steps, privacy, change, name=name)

        if method == "path" and not isinstance(privacy, PureDP) and adaptive:
            raise ParameterError(
                "path noise under zCDP is proved only for streams that do not react to published totals; "
                "use method 'tree', 'sqrt' or 'sqrt_ahead', or say `adaptive=False`"
            )
        engines: list[Engine] = []
        failed: list[tuple[PureDP | ZeroConcentratedDP, ScaleError]] = []
        for name in self._covering(adaptive) if method == "auto" else [method]:
            try:
                engines.append(engine(name))
            except ScaleError as error:
                failed.append((privacy, error))
        if not engines:
            raise too_much_noise(self.privacy, f"{self.steps} step{'s' if self.steps > 1 else ''}", failed)
        return engines[0] if len(engines) == 1 else min(engines, key=lambda engine: engine.mean_variance)

    def _in_units(self, value: Rational, name: str) -> int:
        units: Fraction = exact(value, name) / self._unit
        if units.denominator != 1:
            grid = f"multiple of the resolution {self._unit}" if self._rounds else "whole number, or give a resolution"
            raise ParameterError(f"`{name}` must be a {grid}, got {value}")
        return int(units)

    def _to_units(self, values: ArrayLike) -> Int64:
        """Values as whole units within the bounds, shape (m,)."""
        array = array_of(values)
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
