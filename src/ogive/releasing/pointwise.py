"""A distribution function whose points are opened one at a time, priced once.

Whoever needs only a few points of a curve, chosen as one goes, need not publish the others.
Every point has the noise of its path through a tree of blocks (`design_path`); a block's noise
is drawn once and shared by all points under it, so any set of points, chosen adaptively, costs
what the whole curve costs. The answers can be stopped and resumed: a small state file, as
secret as the data, holds the noise key and a digest of the data it belongs to, and, under servers
that verify uploads, the points in the order in which they were asked for: whoever goes on asks
the same once more, so that no material of a verification is used for anything else.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ogive.accounting import covers
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import among, array_of
from ogive.core.files import check_writable, locked, write_atomically
from ogive.errors import BudgetError, DataError, ParameterError, ReleaseMismatchError, UnsupportedError, plain, quoted
from ogive.noise import SystemSource
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, Privacy, check_adjacency, check_privacy, privacy_from_dict
from ogive.queries import Answer, CurveQuery
from ogive.releasing.release import Payment, unit_of
from ogive.statistics.base import describe
from ogive.statistics.curve.readings import bisect_points
from ogive.statistics.ecdf.statistic import Ecdf
from ogive.statistics.methods.base import CurveMethod
from ogive.statistics.methods.choose import as_method, choose
from ogive.strategies import Pointwise, Strategy, strategy_from_dict
from ogive.strategies.smoothing import SMOOTHINGS, Smoothing, unsmoothable
from ogive.strategies.smoothing import smooth as smooth_answer
from ogive.trust.base import Opening, TrustModel, check_trust

if TYPE_CHECKING:
    from ogive.ledger import Account

SCHEMA = "ogive.pointwise/2"
NAME = "pointwise"
"""Of this release in a ledger."""


class PointwiseCurve:
    """A curve under path noise whose points are opened on request.

    Create one with `open` or `resume`.
    """

    def __init__(
        self, query: CurveQuery, opening: Opening[Any], privacy: Privacy, adjacency: Adjacency, *, state: Path | None
    ) -> None:
        self._query = query
        self._opening = opening
        self._path = state
        self._asked: list[list[int]] = []
        self._cut_off = False
        self._one = Lock()
        self.privacy = privacy
        self.adjacency = adjacency

    @classmethod
    def open(
        cls,
        statistic: Ecdf,
        *,
        trust: TrustModel,
        privacy: Privacy,
        adjacency: Adjacency = Adjacency.REPLACE,
        state: str | Path | None = None,
        ledger: Account | None = None,
        source: RandomSource | None = None,
    ) -> Self:
        """Start a release; nothing is published yet, but the whole of `privacy` is charged.

        With a ledger the charge and the encrypted noise key are stored before this returns. The same curve of the same
        records can then be opened again at no cost and with the same noise, with or without a state file.

        Args:
            statistic: Column and grid; the method must be "auto", "path" or a pointwise strategy.
            trust: Trust model that holds the records.
            privacy: The guarantee for all points together, however many are opened.
            adjacency: Which data sets are adjacent.
            state: File for the state that `resume` needs, readable by its owner only and as secret as the data. It is
                written before the first answer. None keeps the state in memory.
            ledger: The account to charge, from `Ledger.account`; None records no charge.
            source: Source of the noise key; by default the operating system.

        Raises:
            ParameterError: the method does not allow single points, or the state file exists, or the trust model
                requires a state file.
            BudgetError: a strategy that the user designed costs more than `privacy`, or the account has not enough
                left.
            UnsupportedError: the trust model cannot serve single points.
            LedgerError: the ledger cannot be read or written, or has another privacy unit.
            ReleaseMismatchError: the account was charged for this curve on other records, or the curve must be resumed
                from its state file.
        """
        check_privacy(privacy)
        check_trust(trust, what="PointwiseCurve.open")
        adjacency = check_adjacency(adjacency)
        binning = statistic.binning()
        method = "path" if statistic.method == "auto" else as_method(statistic.method)
        if isinstance(method, CurveMethod):
            raise ParameterError(f"method {quoted(method.name)} cannot be opened at single points; use `method='path'`")
        unit = unit_of(trust, adjacency, ledger)
        strategy = choose(binning.grid.bins, privacy, adjacency, method, lambda _: None, rows=unit.max_rows_per_person)
        if not isinstance(strategy, Pointwise):
            raise ParameterError(
                f"method {quoted(strategy.name)} cannot be opened at single points; use `method='path'`"
            )
        query = CurveQuery(binning, strategy)
        reason = trust.refusal(query)
        if reason is not None:
            raise UnsupportedError(reason)
        loss = query.price(unit)
        if not covers(privacy, loss):
            raise BudgetError(f"the curve would cost {loss}, more than the privacy guarantee {privacy}")
        path = None if state is None else Path(state)
        if path is not None:
            check_writable(path)
            if path.exists():
                raise ParameterError(
                    f"{plain(path)} exists and is not replaced; name another file, or resume the curve from it"
                )
        fresh = trust.open(adjacency, source=source if source is not None else SystemSource())
        if ledger is not None and fresh.replayed and path is None:
            raise ParameterError("this trust model needs a state file to continue a release; name one with `state=`")
        account = ledger if trust.private else None
        payment = Payment(account, {**describe(statistic), "name": NAME}, NAME, privacy, unit, trust, batch=None)
        opening = payment.pay(loss, query, fresh)
        if opening is not fresh and opening.replayed:
            raise ReleaseMismatchError("the account paid for this curve before; resume it from its state file")
        curve = cls(query, opening, privacy, adjacency, state=path)
        curve._write(replace=False)
        return curve

    @classmethod
    def resume(cls, state: str | Path, *, trust: TrustModel) -> Self:
        """Continue a release: the same points get the same answers.

        Raises:
            DataError: the state file cannot be read or is damaged.
            ReleaseMismatchError: the records, grid, strategy or adjacency differ from those of the release.
        """
        check_trust(trust, what="PointwiseCurve.resume")
        path = Path(state)
        try:
            data = json.loads(path.read_bytes())
            if data["schema"] != SCHEMA:
                raise DataError(
                    f"{plain(path)} has schema {quoted(data['schema'])}; this version reads {quoted(SCHEMA)}"
                )
            binning = Binning.from_dict(data)
            query = CurveQuery(binning, strategy_from_dict(data["strategy"]))
            adjacency = Adjacency(data["adjacency"])
            privacy = privacy_from_dict(data["privacy"])
            secret, mark = bytes.fromhex(data["secret"]), bytes.fromhex(data["mark"])
            stored = _checked(data["asked"], binning.grid)
        except OSError as problem:
            raise DataError(f"cannot read {plain(path)}: {os.strerror(problem.errno or 0)}") from None
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as problem:
            if isinstance(problem, DataError):
                raise
            raise DataError(f"{plain(path)} is not the state of a pointwise release, or is damaged") from None
        opening = trust.resume(adjacency, secret=secret)
        if not hmac.compare_digest(mark, _mark(opening.context(query), privacy, secret)):
            raise ReleaseMismatchError(
                f"{plain(path)} belongs to a release of other records, grid, strategy or price; open a new release "
                "for these"
            )
        curve = cls(query, opening, privacy, adjacency, state=path)
        curve._asked = stored
        # in the same order, before anything else is asked
        for points in stored:
            opening.answer(curve._opened(points))
        return curve

    def _opened(self, points: list[int]) -> CurveQuery:
        """The question for some points."""
        if points and not 0 <= points[0] <= points[-1] < self.grid.bins:
            raise ParameterError(f"`points` must be from 0 to {self.grid.bins - 1}")
        return CurveQuery(self._query.binning, self.strategy, tuple(points))

    def _record(self, points: list[int]) -> None:
        """Put points on record before they are asked for."""
        with contextlib.nullcontext() if self._path is None else locked(self._path):
            if self._path is not None and _asked(self._path) != self._asked:
                raise ReleaseMismatchError(
                    f"{plain(self._path)} belongs to a release that another process continues; resume it again"
                )
            self._cut_off = True  # until there is an answer: whoever resumes asks this first
            self._asked.append(points)
            self._write(replace=True)

    def _write(self, *, replace: bool) -> None:
        if self._path is not None:
            write_atomically(self._path, json.dumps(self._state()).encode(), mode=0o600, replace=replace)

    def _state(self) -> dict[str, Any]:
        binning = self._query.binning
        return {
            "schema": SCHEMA,
            **binning.to_dict(),
            "strategy": self._query.strategy.to_dict(),
            "adjacency": self.adjacency.value,
            "privacy": self.privacy.to_dict(),
            "secret": self._opening.secret.hex(),
            "mark": _mark(self._opening.context(self._query), self.privacy, self._opening.secret).hex(),
            "asked": self._asked,
        }

    @property
    def grid(self) -> Grid:
        """The public thresholds."""
        return self._query.binning.grid

    @property
    def strategy(self) -> Strategy:
        """The path noise of the release."""
        return self._query.strategy

    def counts(self, points: ArrayLike) -> Float64:
        """Unbiased numbers of records at or below some thresholds.

        Args:
            points: 0-based numbers of thresholds, shape (k,).

        Returns:
            Noisy counts, shape (k,). Repeated requests for a point return the same number.

        Raises:
            ParameterError: a point is not on the grid, or the state file cannot be locked.
            ReleaseMismatchError: the release must be resumed, because a request was interrupted or another process
                continued it.
        """
        return self._ask(points)[0]

    def _ask(self, points: ArrayLike) -> tuple[Float64, int | None]:
        """Noisy counts, and the number of records where that is public."""
        distinct, where, answer = self._answered(points)
        strategy = self.strategy
        assert isinstance(strategy, Pointwise)
        # the public total would help only where the last point is among these, and make answers depend on that
        return strategy.estimate_at(answer.values, distinct, None)[where], answer.total

    def _answered(self, points: ArrayLike) -> tuple[Int64, Int64, Answer]:
        """The distinct points in order, the place of each wanted one among them, and their answer."""
        wanted = np.atleast_1d(array_of(points))
        if wanted.size and not np.issubdtype(wanted.dtype, np.integer):
            raise ParameterError(f"points are numbers of thresholds, 0 to {self.grid.bins - 1}, got {quoted(points)}")
        distinct, where = np.unique(wanted.astype(np.int64), return_inverse=True)
        query = self._opened(distinct.tolist())
        with self._one:
            if self._cut_off:
                raise ReleaseMismatchError(
                    "an earlier question of this curve was cut off, and no other must come before its answer; "
                    "resume the curve from its state, or open a new one"
                )
            if self._opening.takes(query):
                self._record(distinct.tolist())
            answer = self._opening.answer(query)
            self._cut_off = False
        return distinct, where, answer

    def shares(self, points: ArrayLike) -> Float64:
        """`counts` as shares of all records, or of their noisy number if it is private.

        The shares are neither clipped nor monotone; see `smoothed`.
        """
        counts, total = self._ask(points)
        shares: Float64 = counts / self._records(total)
        return shares

    def _records(self, total: int | None) -> float:
        """What counts are divided by: the number of records, or the noisy one, which this opens; at least 1."""
        return max(1.0, float(self.counts([self.grid.bins - 1])[0]) if total is None else float(total))

    def smoothed(self, points: ArrayLike, *, smooth: Smoothing = "least_squares", anchor: bool = True) -> Float64:
        """Shares of all records at or below some thresholds that never decrease, from at least 0 to at most 1.

        Only these points are opened and made monotone, so which ones are asked for is part of what the result is: the
        values differ from those of a larger set of points, and so do those of a point that is asked for with others.
        Where the number of records is private, the shares are of the noisy number and may exceed 1.

        Args:
            points: 0-based numbers of thresholds, shape (k,), at least one.
            smooth: "least_squares" (the valid values nearest in the norm of the noise), "least_absolute",
                "isotonic" or "shrinkage".
            anchor: Whether the last threshold, where it is among the points, is given the public number of records
                exactly; False uses that number as an upper bound alone, as the paper does.

        Returns:
            Shares, shape (k,), in the order requested.

        Raises:
            ParameterError: a point is not on the grid, or there is none, or the smoothing does not exist.
            UnsupportedError: the smoothing is not offered for path noise.

        Privacy:
            Post-processing of the answers.

        Source:
            Barczewski, Mawass and Ramon, Eq. 3, with the points as their set B.
        """
        among(smooth, "smooth", SMOOTHINGS)
        reason = unsmoothable(self.strategy, smooth)
        if reason is not None:
            raise UnsupportedError(reason)
        distinct, where, answer = self._answered(points)
        if not distinct.size:
            raise ParameterError("`points` must name at least one threshold to smooth")
        counts = smooth_answer(
            self.strategy, answer.values, total=answer.total, kind=smooth, points=distinct, anchor=anchor
        )
        shares: Float64 = counts[where] / self._records(answer.total)
        return shares

    def __call__(self, t: Any) -> float:
        """Noisy share of records at or below t, read at the largest threshold that does not exceed t."""
        number = self.grid.number(t)
        point = int(np.searchsorted(self.grid.thresholds, number, side="right")) - 1
        return 0.0 if point < 0 else float(self.shares([point])[0])

    def quantile(
        self, probabilities: ArrayLike, *, points: ArrayLike | None = None, smooth: Smoothing | None = None
    ) -> list[Any]:
        """Thresholds at which the curve reaches the probabilities, by bisection.

        At most ceil(log2 N) points are opened per probability. Answers to increasing probabilities are made monotone.
        With `points` or `smooth` the bisection reads the smoothed curve, see `smoothed`: on the given points, all of
        which are opened, or else on those that a bisection of the unsmoothed curve visits.

        Args:
            probabilities: Probabilities, each in [0, 1], shape (k,).
            points: 0-based numbers of thresholds on which the curve is smoothed; the last threshold, at which every
                curve is 1, may always be a result.
            smooth: How it is smoothed; "least_squares" by default where points are given.

        Returns:
            Thresholds in the user's units, in the order requested.

        Raises:
            ParameterError: a probability is outside [0, 1], a point is not on the grid, or there is no such smoothing.

        Source:
            The paper's Algorithm 1.
        """
        targets = np.atleast_1d(np.asarray(probabilities, dtype=np.float64))
        if not np.all((targets >= 0) & (targets <= 1)):
            raise ParameterError("`probabilities` must be in [0, 1]")
        order, last = np.argsort(targets, kind="stable"), self.grid.bins - 1
        result = np.empty(targets.size, dtype=np.int64)
        visited: list[Int64] = []
        if points is None:
            result[order] = self._crossings(targets[order], self.shares, self.grid.bins, visited)
        if points is not None or smooth is not None:
            chosen = np.unique(np.concatenate(visited or [np.array([last])]) if points is None else np.asarray(points))
            shares = self.smoothed(chosen, smooth=smooth or "least_squares")
            inner = chosen[chosen < last]
            places = self._crossings(targets[order], lambda wanted: shares[wanted], inner.size + 1, [])
            result[order] = np.append(inner, last)[places]
        return [self.grid.label(self.grid.thresholds[point]) for point in result]

    @staticmethod
    def _crossings(targets: Float64, evaluate: Callable[[Int64], Float64], size: int, visited: list[Int64]) -> Int64:
        """The first of `size` points that reaches each of some increasing targets, not decreasing."""
        search = bisect_points(targets, size=size)
        try:
            wanted = next(search)
            while True:
                visited.append(wanted)
                wanted = search.send(evaluate(wanted))
        except StopIteration as stop:
            reached: Int64 = np.maximum.accumulate(stop.value)
            return reached


def _mark(context: bytes, privacy: Privacy, secret: bytes) -> bytes:
    """Keyed digest of a context and its price, so that the file alone lets nobody check guesses at the data."""
    return hmac.new(secret, context + json.dumps(privacy.to_dict(), sort_keys=True).encode(), hashlib.sha256).digest()


def _checked(numbers: Any, grid: Grid) -> list[list[int]]:
    """The points of a state file, checked."""
    if not isinstance(numbers, list):
        raise ValueError
    for points in numbers:
        if not isinstance(points, list) or any(type(point) is not int for point in points):
            raise ValueError
        if points != sorted(set(points)) or (points and not 0 <= points[0] <= points[-1] < grid.bins):
            raise ValueError
    return numbers


def _asked(path: Path) -> object:
    """The points on record."""
    try:
        return json.loads(path.read_bytes())["asked"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise DataError(
            f"cannot read {plain(path)}, the state of this release, which keeps what is asked for"
        ) from None
