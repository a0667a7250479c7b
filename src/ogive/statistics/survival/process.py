"""The counting process behind survival estimates: numbers at risk, events, and how errors of both reach a function.

Bin j holds the times above threshold j - 1 and at most threshold j; d_j is its number of events, and Y_j the number at
risk, of all records whose time is above threshold j - 1. So a censored record of a bin counts as at risk throughout it.
Where records enter late, Y_j is the number of entries up to threshold j - 1, less that of times. With h_j = d_j / Y_j,

    S_k = prod of (1 - h_j)      H_k = sum of h_j      F_k = sum of S_{j-1} d_j' / Y_j   of the events d' of one cause

over the bins j up to k. Each function moves, to first order, by J_d (change of d) + J_Y (change of Y) with lower
triangular matrices J. Noise changes the cumulative counts of the classes, of which d and Y are differences, so that its
covariance is known exactly. Sampling changes d_j, with variance h_j (1 - h_j) Y_j, independently. Intervals and bands
are those of `docs/proofs/survival.md`.

Source:
    Kaplan and Meier 1958; Greenwood 1926; Aalen and Johansen 1978; Cutler and Ederer 1958 for the effective number.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, cast

import numpy as np

from ogive.core.arrays import Bool, Float32, Float64, Int64
from ogive.noise.laws import draw_public
from ogive.statistics.confidence import check_level, simulations_needed
from ogive.statistics.functionals import CLEAR, FEWEST, SIMULATIONS, noise_roots, wilson_ends
from ogive.strategies import Strategy

_SEED = 0x6F67697665
_MARGIN, _WIDER = 1.05, 1.02
"""By how much bands, and noisy intervals, are wider than the normal law asks: variances are estimates."""


class Ends(NamedTuple):
    """Lower and upper ends at every threshold, shape (m,) each."""

    low: Float64
    high: Float64


@lru_cache(maxsize=4)
def _draw(strategy: Any, simulations: int, place: int) -> Float32:
    """Noise of the cumulative counts of one class in imagined releases, shape (simulations, N)."""
    random = np.random.Generator(np.random.PCG64([_SEED, place]))
    parts = tuple(draw_public(level.law, (simulations, level.nodes), random) for level in strategy.levels)
    result: Float32 = strategy.estimate(strategy.spread(parts), None).astype(np.float32)
    result.flags.writeable = False
    return result


@dataclass(frozen=True, eq=False)
class Process:
    """Events of each cause and numbers at risk on the thresholds, from cumulative counts of the classes.

    Fields:
        cumulative: Of the censored, then of each cause, on one bin more than there are thresholds; shape (c, m + 1).
            Its last bin holds the times above the last threshold.
        strategy: What was measured of each class; None without noise.
        total: Number of all records where it is public.
        rows_of_one: Most records of one person, which may all be alike.
        entries: Cumulative counts of entries where records enter late, on the thresholds of `entry_places`.
        entry_strategy: What was measured of the entries.
    """

    cumulative: Float64
    strategy: Strategy | None
    total: int | None = None
    rows_of_one: int = 1
    entries: Float64 | None = None
    entry_strategy: Strategy | None = None

    @cached_property
    def records(self) -> float:
        """All records."""
        return float(self.cumulative[:, -1].sum()) if self.total is None else float(self.total)

    @cached_property
    def events(self) -> Float64:
        """Events of each cause in each bin, shape (causes, m)."""
        return np.diff(self.cumulative[1:, :-1], prepend=0.0)

    @cached_property
    def at_risk(self) -> Float64:
        """Records whose time is above the threshold before, shape (m,)."""
        left = self.cumulative[:, :-1].sum(axis=0)
        entered = self.records if self.entries is None else self.entries[self.entry_places[:-1]]
        return np.asarray(entered - np.concatenate(([0.0], left[:-1])))

    @cached_property
    def entry_places(self) -> Int64:
        """Where the entries before each bin are counted, and those before a bin beyond all; shape (m + 1,).

        The first bin counts its own entries where its start is no threshold of the entries.
        """
        size = self.cumulative.shape[1]
        shift = (size if self.entries is None else len(self.entries)) - size - 1
        return np.asarray(np.maximum(np.arange(size) + shift, 0))

    @cached_property
    def censored(self) -> Bool:
        """Whether records left in a bin without an event, which noise of three standard deviations would not show."""
        noise = 0.0
        if self.strategy is not None:
            noise = np.sqrt(np.square(np.diff(self._roots[0][:-1], axis=0, prepend=0.0)).sum(axis=1))
        return np.asarray(np.diff(self.cumulative[0, :-1], prepend=0.0) > np.maximum(3.0 * noise, 0.5))

    @cached_property
    def remaining(self) -> Float64:
        """Records at risk less the events of the bin, shape (m,)."""
        return np.asarray(self.at_risk - self.events.sum(axis=0))

    @property
    def strategies(self) -> list[Strategy]:
        """What was measured of each class, and of the entries; none without noise."""
        every = [*[self.strategy] * len(self.cumulative), self.entry_strategy]
        return [each for each in every if each is not None]

    @property
    def _roots(self) -> list[Float64]:
        return [noise_roots(cast(Hashable, each)) for each in self.strategies]

    @cached_property
    def _noise(self) -> tuple[Float64, Float64]:
        """Standard deviations of the noise of the numbers at risk, and of those less the events, shape (m,) each."""
        size = len(self.at_risk)
        if self.strategy is None:
            return np.zeros(size), np.zeros(size)
        roots, *_, last = self._roots
        ends = np.vstack([np.zeros(roots.shape[1]), roots[:size]])
        if self.total is None and self.entries is None:
            ends = roots[-1] - ends
        squares = np.square(ends).sum(axis=1)
        before, after, entered = squares[:-1], squares[1:], np.zeros(size)
        if self.entry_strategy is not None:
            entered = np.square(last[self.entry_places[:-1]]).sum(axis=1)
        classes = len(self.cumulative)
        return np.sqrt(before * classes + entered), np.sqrt(before + after * (classes - 1) + entered)

    @property
    def risk_noise(self) -> Float64:
        """Standard deviation of the noise of the numbers at risk, shape (m,)."""
        return self._noise[0]

    @cached_property
    def estimable(self) -> int:
        """How many thresholds the functions are estimable at: until noise may hide that anybody is at risk."""
        enough = self.at_risk > 0
        if self.strategy is not None:
            of_risk, of_remaining = (np.maximum(CLEAR * noise, FEWEST) for noise in self._noise)
            enough = (self.at_risk >= of_risk) & (self.remaining >= of_remaining)
        return int(np.logical_and.accumulate(enough).sum())

    # functions, at the first `estimable` thresholds

    @cached_property
    def hazard(self) -> Float64:
        """Share of those at risk that have an event, of each bin, shape (estimable,)."""
        return np.asarray(self.events[:, : self.estimable].sum(axis=0) / self.at_risk[: self.estimable])

    @cached_property
    def survival(self) -> Float64:
        """S at the thresholds, shape (estimable,)."""
        return np.asarray(np.cumprod(1.0 - self.hazard), dtype=np.float64)

    def _terms(self, cause: int) -> tuple[Float64, Float64]:
        """S before each bin, and what the bin adds to F of one cause."""
        before = np.concatenate(([1.0], self.survival[:-1]))[: self.estimable]
        return before, before * self.events[cause, : self.estimable] / self.at_risk[: self.estimable]

    def incidence(self, cause: int) -> Float64:
        """F of one cause at the thresholds, shape (estimable,)."""
        return np.cumsum(self._terms(cause)[1])

    # what changes of the counts do

    @cached_property
    def _steps(self) -> tuple[Float64, Float64]:
        """Changes of log S by a change of d_j and of Y_j, from bin j on."""
        at, remaining = self.at_risk[: self.estimable], np.maximum(self.remaining[: self.estimable], 1e-9)
        return -1.0 / remaining, 1.0 / remaining - 1.0 / at

    @property
    def _lower(self) -> Float64:
        return np.tril(np.ones((self.estimable, self.estimable)))

    def of_survival(self) -> Change:
        """How S changes."""
        by_event, by_risk = self._steps
        lower = self._lower * self.survival[:, None]
        return Change(self, [lower * by_event] * len(self.events), lower * by_risk)

    def of_hazard(self) -> Change:
        """How H changes."""
        at, lower = self.at_risk[: self.estimable], self._lower
        return Change(self, [lower / at] * len(self.events), lower * (-self.hazard / at))

    def of_incidence(self, cause: int) -> Change:
        """How F of one cause changes: by its own terms, and by S before each of them."""
        at, (before, terms), lower = self.at_risk[: self.estimable], self._terms(cause), self._lower
        # log S before bin j changes by the steps of earlier bins; the sum of terms after bin i and up to k
        total = np.cumsum(terms)
        later = np.tril(total[:, None] - total[None, :], -1)
        by_event, by_risk = self._steps
        own = lower * (before / at)
        events = [later * by_event + (own if each == cause else 0.0) for each in range(len(self.events))]
        return Change(self, events, later * by_risk - lower * (terms / at))


@dataclass(frozen=True, eq=False)
class Change:
    """How a function at the estimable thresholds changes, to first order.

    Fields:
        process: Of which it is a function.
        by_events: By the events of each cause, shape (estimable, estimable) each; or (1, estimable) of one number.
        by_risk: By the numbers at risk.
    """

    process: Process
    by_events: Sequence[Float64]
    by_risk: Float64

    def along(self, weights: Float64) -> Change:
        """How a weighted sum of the function's values changes."""
        return Change(self.process, [weights[None] @ each for each in self.by_events], weights[None] @ self.by_risk)

    def _by_counts(self) -> list[Float64]:
        """By the cumulative counts of the censored, each cause and the entries, shape (rows, their thresholds) each."""
        process, estimable = self.process, self.by_risk.shape[1]
        entries, before = process.entries, max(estimable - 1, 0)
        # Y_j = all, or all that entered, - those at or below threshold j - 1, for every class alike
        shared = np.zeros((len(self.by_risk), len(process.at_risk) + 1))
        shared[:, :before] -= self.by_risk[:, 1:]
        if process.total is None and entries is None:
            shared[:, -1] += self.by_risk.sum(axis=1)
        results = [shared]
        for each in self.by_events:
            own = shared.copy()
            own[:, :estimable] += each
            own[:, :before] -= each[:, 1:]
            results.append(own)
        if entries is not None:
            entered = np.zeros((len(entries), len(self.by_risk)))
            np.add.at(entered, process.entry_places[:estimable], self.by_risk.T)
            results.append(entered.T)
        return results

    @cached_property
    def noise(self) -> Float64:
        """Variance of the noise, shape (rows,)."""
        if self.process.strategy is None:
            return np.zeros(len(self.by_risk))
        changes = zip(self._by_counts(), self.process._roots, strict=True)
        return np.asarray(np.sum([np.square(each @ root).sum(axis=1) for each, root in changes], axis=0))

    @property
    def covariance(self) -> Float64:
        """Covariance of the noise of all rows, shape (rows, rows)."""
        if self.process.strategy is None:
            return np.zeros((len(self.by_risk), len(self.by_risk)))
        parts = [each @ root for each, root in zip(self._by_counts(), self.process._roots, strict=True)]
        return np.asarray(np.sum([part @ part.T for part in parts], axis=0))

    @cached_property
    def _multinomial(self) -> tuple[Float64, Float64]:
        """Events of each cause and records at risk, at least 0, shape (causes, estimable) and (estimable,)."""
        process, estimable = self.process, self.process.estimable
        return np.maximum(process.events[:, :estimable], 0.0), np.maximum(process.at_risk[:estimable], 1e-9)

    @cached_property
    def sampling(self) -> Float64:
        """Variance of the sampling error, shape (rows,)."""
        events, at = self._multinomial
        mean, squares = (
            np.sum([change**power * count for change, count in zip(self.by_events, events, strict=True)], axis=0)
            for power in (1, 2)
        )
        return np.asarray(self.process.rows_of_one * np.maximum((squares - mean**2 / at).sum(axis=1), 0.0))

    @cached_property
    def deviations(self) -> Float64:
        """Standard deviations of noise and sampling together, shape (rows,)."""
        return np.sqrt(self.noise + self.sampling)

    def largest(self, level: float) -> Float64:
        """Largest standardized error of each of many imagined releases, enough for a quantile of that level."""
        process, strategies = self.process, self.process.strategies
        nodes = len(self.by_risk) * len(process.cumulative)
        nodes += sum(part.nodes for strategy in strategies for part in strategy.levels)
        simulations = simulations_needed(check_level(level), share=Fraction(1), nodes=nodes, usual=SIMULATIONS)
        random = np.random.Generator(np.random.PCG64(_SEED))
        events, at = self._multinomial
        errors = np.zeros((simulations, len(self.by_risk)), dtype=np.float32)
        for place, (weights, strategy) in enumerate(zip(self._by_counts(), strategies, strict=False)):
            errors += _draw(cast(Hashable, strategy), simulations, place) @ weights.T.astype(np.float32)
        # events of a bin are multinomial: independent ones, as skew as they are, less their share of the bin's sum
        total = events.sum(axis=0)
        short = (1.0 - np.sqrt(np.maximum(1.0 - total / at, 0.0))) / np.maximum(total, 1e-9)
        scale = math.sqrt(process.rows_of_one)
        pull = sum(change * count for change, count in zip(self.by_events, events, strict=True)) * short
        for change, count in zip(self.by_events, events, strict=True):
            skew = scale * (1.0 - 2.0 * np.minimum(total / at, 1.0)) / np.sqrt(np.maximum(count, 1e-3)) / 6.0
            spread = scale * np.sqrt(count / (1.0 + 2.0 * skew**2))
            deviates = random.standard_normal((simulations, events.shape[1]), dtype=np.float32)
            deviates += (skew * (deviates**2 - 1.0)).astype(np.float32)
            errors += deviates @ (spread * (change - pull)).T.astype(np.float32)
        known = self.deviations > 0
        if not known.any():
            return np.zeros(simulations)
        return np.asarray(_MARGIN * np.abs(errors[:, known] / self.deviations[known]).max(axis=1))


def probability_ends(values: Float64, change: Change, z: float) -> Ends:
    """Ends for probabilities at the estimable thresholds, of Wilson's kind, between 0 and 1."""
    process, noise = change.process, change.noise
    at = process.at_risk[: process.estimable]
    if process.strategy is not None:
        z *= _WIDER
        ratio = process.risk_noise[: process.estimable] / at
        ratio = ratio if process.entries is None else np.maximum.accumulate(ratio)
        noise = noise * (1.0 + 8.0 * ratio**2)  # the variance of 1 / Y to second order
    inside = np.clip(values, 1e-12, 1 - 1e-12)
    most = np.full_like(values, max(process.records, 1.0) / process.rows_of_one)
    at = at if process.entries is None else np.minimum.accumulate(at)  # more may be at risk later than at first
    fewest = np.minimum(np.maximum(at / process.rows_of_one, 1.0), most)
    with np.errstate(divide="ignore"):
        like = inside * (1 - inside) / change.sampling
    return Ends(*wilson_ends(values, z * z / np.clip(like, fewest, most), z * z * noise))


def whole(ends: Ends, size: int, *, falling: bool, together: bool) -> Ends:
    """Ends at all thresholds; beyond the last one that is estimable, a monotone function keeps one of its ends."""
    estimable = len(ends.low)
    low, high = np.zeros(size), np.ones(size)
    low[:estimable], high[:estimable] = ends
    one, other = (np.minimum, np.maximum) if falling else (np.maximum, np.minimum)
    forward, backward = (high, low) if falling else (low, high)
    if estimable:
        forward[estimable:] = forward[estimable - 1]
    if together:  # all ends hold at once, so that each limits its neighbors
        forward[:] = one.accumulate(forward)
        backward[:] = other.accumulate(backward[::-1])[::-1]
    return Ends(low, np.maximum(low, high))


def weighted_log_rank(processes: Sequence[Process], weights: str) -> tuple[Float64, Float64, Float64]:
    """Observed less expected events of each group, and its covariances by sampling without a difference and by noise.

    Shapes are (groups,) and (groups, groups). The sum over all groups is 0.
    """
    size = min(each.estimable for each in processes)
    events = np.stack([each.events.sum(axis=0)[:size] for each in processes])
    risk = np.stack([each.at_risk[:size] for each in processes])
    at, total = risk.sum(axis=0), events.sum(axis=0)
    w = {"log-rank": np.ones(size), "gehan": at, "tarone-ware": np.sqrt(np.maximum(at, 0.0))}[weights]
    shares = risk / at
    spread = w**2 * np.maximum(total, 0.0) * np.clip((at - total) / np.maximum(at - 1, 1.0), 0.0, 1.0)
    sampling = np.diag(shares @ spread) - (shares * spread) @ shares.T
    noise = np.zeros_like(sampling)
    for own, process in zip(np.eye(len(processes))[:, :, None], processes, strict=True):
        pull = w * (own - shares)
        noise += Change(process, [pull] * len(process.events), -pull * total / at).covariance
    return np.asarray(np.sum(w * (events - shares * total), axis=1)), sampling, noise
