"""Measures of a risk score for a time to an event, as functions of counts of (interval of time, status, bin of score).

Events come before censorings of the same interval, as Kaplan and Meier take them. With Y_j the records of interval j
and later ones, and R_j those of them without an event in interval j, the chance of not being censored before interval j
is G_j = prod of Y_{i+1} / R_i over i < j. A pair is an event and a record that is known to be later: of a later
interval, or censored in the same. Every function returns its value and its gradient by the counts, of which the part
that runs through G is the same for all. Definitions and proofs are in `docs/proofs/concordance.md`.

Source:
    Harrell, Lee and Mark 1996; Uno, Cai, Pencina, D'Agostino and Wei 2011; Uno, Cai, Tian and Wei 2007 and Hung and
    Chiang 2010 for areas; Graf, Schmoor, Sauerbrei and Schumacher 1999 for the Brier score.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ogive.core.arrays import Float64

CENSORED, EVENT = 0, 1
_OF_PAIRS = 4.0


class Measure(NamedTuple):
    """A function of the counts.

    Fields:
        value: Its value.
        gradient: Its gradient, in the shape of the counts.
        records: Of a share, of how many independent records one could have its sampling error at most; 0 of what is no
            share.
    """

    value: float
    gradient: Float64
    records: float = 0.0


@dataclass(frozen=True, eq=False)
class Table:
    """Counts up to a horizon: the intervals up to it, and all later ones as one.

    Fields:
        counts: Of each interval, status and bin, exact or unbiased, shape (h + 1, 2, S).
        repeated: How many intervals of the grid the last one stands for.
    """

    counts: Float64
    repeated: int

    @staticmethod
    def until(counts: Float64, horizon: int) -> Table:
        """The counts of which the first `horizon` intervals are told apart."""
        return Table(np.concatenate([counts[:horizon], counts[horizon:].sum(axis=0)[None]]), len(counts) - horizon)

    @cached_property
    def events(self) -> Float64:
        """Events of each interval up to the horizon, shape (h, S)."""
        return self.counts[:-1, EVENT]

    @cached_property
    def later(self) -> Float64:
        """Records that are known to be later than the events of each interval, shape (h, S)."""
        after = np.cumsum(self.counts.sum(axis=1)[::-1], axis=0)[::-1]
        return np.asarray(after[1:] + self.counts[:-1, CENSORED])

    @cached_property
    def at_risk(self) -> Float64:
        """Records of each interval and later ones, shape (h + 1,)."""
        return np.asarray(np.cumsum(self.counts.sum(axis=(1, 2))[::-1])[::-1])

    @cached_property
    def remaining(self) -> Float64:
        """Records at risk less the events of the interval, shape (h,)."""
        return np.asarray(self.at_risk[:-1] - self.events.sum(axis=1))

    @cached_property
    def uncensored(self) -> Float64:
        """The chance of not being censored before each interval, and up to the horizon, shape (h + 1,)."""
        return np.concatenate(([1.0], np.cumprod(_ratio(self.at_risk[1:], self.remaining))))

    def measure(
        self,
        value: float,
        by_log: Any = (0.0,),
        *,
        events: Any = 0.0,
        censored: Any = 0.0,
        beyond: Any = 0.0,
        every: Any = 0.0,
        records: float = 0.0,
    ) -> Measure:
        """A measure from its gradients by log G, and by cells of the intervals, of later ones, or of both alike."""
        gradient = np.zeros_like(self.counts) + every
        gradient[:-1, EVENT] += events
        gradient[:-1, CENSORED] += censored
        gradient[-1] += beyond
        later = np.cumsum(np.broadcast_to(by_log, len(self.counts))[::-1])[::-1][1:]  # of log G_j after interval i
        by_remaining = _ratio(later, self.remaining)
        by_risk = np.append(0.0, _ratio(later, self.at_risk[1:])) - np.append(by_remaining, 0.0)
        gradient += np.cumsum(by_risk)[:, None, None]
        gradient[:-1, EVENT] += by_remaining[:, None]
        return Measure(float(value), np.concatenate([gradient[:-1], [gradient[-1]] * self.repeated]), float(records))


def concordance(table: Table, *, power: int, tied_noise: float | None = None) -> Measure:
    """Share of the pairs that are concordant, with weights 1 / G^power: Harrell's of power 0, Uno's of power 2.

    Two events of one interval are no pair; or, where the variance of the noise of their number is given, half a pair.
    """
    events, later, sums = table.events, table.later, table.events.sum(axis=1)
    weights = table.uncensored[:-1] ** -power if power else np.ones(len(events))
    tied = np.zeros(len(events)) if tied_noise is None else (sums**2 - sums - tied_noise) / 2
    counted = np.minimum(np.cumsum(sums), later.sum(axis=1)).max()  # of the rarer side, where most are compared
    concordant = weights * ((events * _below(later)).sum(axis=1) + tied / 2)
    pairs = weights * (sums * later.sum(axis=1) + tied)
    if pairs.sum() <= 0:
        return table.measure(np.nan)
    value, scale = concordant.sum() / pairs.sum(), weights[:, None] / pairs.sum()
    by_later = scale * (_above(events) - value * sums[:, None])
    by_events = _below(later) - value * later.sum(axis=1, keepdims=True)
    if tied_noise is not None:
        by_events += ((sums - 0.5) * (0.5 - value))[:, None]
    return table.measure(
        value,
        np.append(-power * (concordant - value * pairs) / pairs.sum(), 0.0),
        events=scale * by_events,
        censored=by_later,
        every=np.vstack([np.zeros_like(by_later[:1]), np.cumsum(by_later, axis=0)])[:, None],
        records=_OF_PAIRS * max(counted, 1.0),
    )


def area(table: Table) -> Measure:
    """Area below the cumulative and dynamic ROC curve at the horizon."""
    weights = 1.0 / table.uncensored[:-1]
    cases, controls = weights @ table.events, table.counts[-1].sum(axis=0)
    value = float(cases @ _below(controls)) / (cases.sum() * controls.sum())
    by_cases = (_below(controls) / controls.sum() - value) / cases.sum()
    by_controls = (_above(cases) / cases.sum() - value) / controls.sum()
    by_log = np.append(-weights * (table.events @ by_cases), 0.0)
    records = _OF_PAIRS * max(min(table.events.sum(), controls.sum()), 1.0)
    return table.measure(value, by_log, events=weights[:, None] * by_cases, beyond=by_controls, records=records)


def brier(table: Table, predicted: Float64) -> Measure:
    """Weighted mean of squared distances between status at the horizon and what each bin predicts."""
    squares = np.stack([(1 - predicted) ** 2, predicted**2])
    weights = 1.0 / (table.uncensored * table.at_risk[0])
    parts = weights * np.append(table.events @ squares[0], table.counts[-1].sum(axis=0) @ squares[1])
    return table.measure(
        parts.sum(),
        -parts,
        events=weights[:-1, None] * squares[0],
        beyond=weights[-1] * squares[1],
        every=-parts.sum() / table.at_risk[0],
    )


def observed(table: Table, bins: slice) -> Measure:
    """Chance of an event up to the horizon of the records of some bins, by Kaplan and Meier."""
    inside = np.zeros(table.counts.shape[-1])
    inside[bins] = 1.0
    events = table.events @ inside
    at_risk = np.cumsum((table.counts.sum(axis=1) @ inside)[::-1])[:0:-1]
    remaining = at_risk - events
    survival = np.prod(remaining / at_risk)
    by_risk = np.cumsum(survival * (1 / at_risk - 1 / remaining))
    every = np.append(by_risk, by_risk[-1])[:, None, None] * inside
    by_events, records = (survival / remaining)[:, None] * inside, max(table.counts[:, :, bins].sum(), 1.0)
    return table.measure(1.0 - survival, events=by_events, every=every, records=records)


def mean_prediction(table: Table, bins: slice, predicted: Float64) -> Measure:
    """Mean of what is predicted for the records of some bins."""
    counts = np.zeros_like(predicted)
    counts[bins] = table.counts.sum(axis=(0, 1))[bins]
    value = counts @ predicted / counts.sum()
    by_bins = np.zeros_like(predicted)
    by_bins[bins] = (predicted[bins] - value) / counts.sum()
    return table.measure(value, every=by_bins)


def gap(table: Table, bins: slice, predicted: Float64) -> Measure:
    """What is observed of the records of some bins, less what is predicted."""
    one, other = observed(table, bins), mean_prediction(table, bins, predicted)
    return Measure(one.value - other.value, one.gradient - other.gradient)


def _ratio(one: Float64, other: Float64) -> Float64:
    """One over the other; 0 where nothing of it is wanted."""
    return np.divide(one, other, out=np.zeros_like(one), where=(one != 0) & (other != 0))


def _below(counts: Float64) -> Float64:
    """Records of lower bins, and half of those of the same."""
    return np.asarray(np.cumsum(counts, axis=-1) - counts / 2)


def _above(counts: Float64) -> Float64:
    """Records of higher bins, and half of those of the same."""
    return _below(counts[..., ::-1])[..., ::-1]
