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
from typing import NamedTuple

import numpy as np

from ogive.core.arrays import Float64

CENSORED, EVENT = 0, 1


class Measure(NamedTuple):
    """A function of the counts, its gradient in their shape, and whether it is a share of records or pairs."""

    value: float
    gradient: Float64
    share: bool = True


@dataclass(frozen=True, eq=False)
class Table:
    """Counts up to a horizon: the intervals up to it, and all later ones as one.

    Fields:
        counts: Of each interval, status and bin, exact or unbiased, shape (h + 1, 2, S).
        intervals: Intervals of the grid, with that of all later times.
    """

    counts: Float64
    intervals: int

    @staticmethod
    def until(counts: Float64, horizon: int) -> Table:
        """The counts of which the first `horizon` intervals are told apart."""
        return Table(np.concatenate([counts[:horizon], counts[horizon:].sum(axis=0)[None]]), len(counts))

    @cached_property
    def events(self) -> Float64:
        """Events of each interval up to the horizon, shape (h, S)."""
        return self.counts[:-1, EVENT]

    @cached_property
    def beyond(self) -> Float64:
        """Records of later intervals, shape (S,)."""
        result: Float64 = self.counts[-1].sum(axis=0)
        return result

    @cached_property
    def later(self) -> Float64:
        """Records that are known to be later than the events of each interval, shape (h, S)."""
        after = np.cumsum(self.counts.sum(axis=1)[::-1], axis=0)[::-1]
        result: Float64 = after[1:] + self.counts[:-1, CENSORED]
        return result

    @cached_property
    def at_risk(self) -> Float64:
        """Records of each interval and later ones, shape (h + 1,)."""
        result: Float64 = np.cumsum(self.counts.sum(axis=(1, 2))[::-1])[::-1]
        return result

    @cached_property
    def remaining(self) -> Float64:
        """Records at risk less the events of the interval, shape (h,)."""
        result: Float64 = self.at_risk[:-1] - self.events.sum(axis=1)
        return result

    @cached_property
    def uncensored(self) -> Float64:
        """The chance of not being censored before each interval, and up to the horizon, shape (h + 1,)."""
        return np.concatenate(([1.0], np.cumprod(_ratio(self.at_risk[1:], self.remaining))))

    def measure(self, value: float, direct: Float64, by_log: Float64, *, share: bool = True) -> Measure:
        """A measure from its gradient by the counts and by log G, shape (h + 1,), on all intervals of the grid."""
        later = np.cumsum(by_log[::-1])[::-1][1:]  # of log G_j for all j after interval i
        by_risk = np.zeros(len(self.counts))
        by_risk[1:] += _ratio(later, self.at_risk[1:])
        by_remaining = _ratio(later, self.remaining)
        by_risk[:-1] -= by_remaining
        gradient = direct + np.cumsum(by_risk)[:, None, None]
        gradient[:-1, EVENT] += by_remaining[:, None]
        repeats = np.ones(len(gradient), dtype=np.int64)
        repeats[-1] += self.intervals - len(gradient)
        return Measure(float(value), np.repeat(gradient, repeats, axis=0), share)

    def blank(self) -> tuple[Float64, Float64]:
        """Gradients of nothing, to be filled: by the counts, and by log G."""
        return np.zeros_like(self.counts), np.zeros(len(self.counts))


def concordance(table: Table, *, power: int, tied_noise: float | None = None) -> Measure:
    """Share of the pairs that are concordant, with weights 1 / G^power: Harrell's of power 0, Uno's of power 2.

    Two events of one interval are no pair; or, where the variance of the noise of their number is given, half a pair.
    """
    events, later = table.events, table.later
    sums = events.sum(axis=1)
    weights = table.uncensored[:-1] ** -power if power else np.ones(len(events))
    tied = np.zeros(len(events)) if tied_noise is None else (sums**2 - sums - tied_noise) / 2
    concordant = weights * ((events * _below(later)).sum(axis=1) + tied / 2)
    pairs = weights * (sums * later.sum(axis=1) + tied)
    total = pairs.sum()
    value = concordant.sum() / total
    direct, by_log = table.blank()
    scale = weights[:, None] / total
    by_later = scale * (_above(events) - value * sums[:, None])
    direct[:-1, EVENT] = scale * (_below(later) - value * later.sum(axis=1, keepdims=True))
    if tied_noise is not None:
        direct[:-1, EVENT] += scale * ((sums - 0.5) * (0.5 - value))[:, None]
    direct[1:] += np.cumsum(by_later, axis=0)[:, None]
    direct[:-1, CENSORED] += by_later
    by_log[:-1] = -power * (concordant - value * pairs) / total
    return table.measure(value, direct, by_log)


def area(table: Table) -> Measure:
    """Area below the cumulative and dynamic ROC curve at the horizon."""
    weights = 1.0 / table.uncensored[:-1]
    cases, controls = weights @ table.events, table.beyond
    value = float(cases @ _below(controls)) / (cases.sum() * controls.sum())
    by_cases = (_below(controls) / controls.sum() - value) / cases.sum()
    direct, by_log = table.blank()
    direct[:-1, EVENT] = weights[:, None] * by_cases
    direct[-1] = (_above(cases) / cases.sum() - value) / controls.sum()
    by_log[:-1] = -weights * (table.events @ by_cases)
    return table.measure(value, direct, by_log)


def brier(table: Table, predicted: Float64) -> Measure:
    """Weighted mean of squared distances between status at the horizon and what each bin predicts."""
    weights, records = 1.0 / table.uncensored, table.at_risk[0]
    parts = weights * np.append(table.events @ (1 - predicted) ** 2, table.beyond @ predicted**2) / records
    value = parts.sum()
    direct, by_log = table.blank()
    direct[:-1, EVENT] = weights[:-1, None] * (1 - predicted) ** 2 / records
    direct[-1] = weights[-1] * predicted**2 / records
    return table.measure(value, direct - value / records, by_log - parts, share=False)


def observed(table: Table, bins: slice) -> Measure:
    """Chance of an event up to the horizon of the records of some bins, by Kaplan and Meier."""
    events = table.events[:, bins].sum(axis=1)
    at_risk = np.cumsum(table.counts[:, :, bins].sum(axis=(1, 2))[::-1])[:0:-1]
    remaining = at_risk - events
    survival = np.prod(remaining / at_risk)
    direct, by_log = table.blank()
    by_risk = np.append(np.cumsum(survival * (1 / at_risk - 1 / remaining)), 0.0)
    by_risk[-1] = by_risk[-2]
    direct[:, :, bins] = by_risk[:, None, None]
    direct[:-1, EVENT, bins] += (survival / remaining)[:, None]
    return table.measure(1.0 - survival, direct, by_log)


def mean_prediction(table: Table, bins: slice, predicted: Float64) -> Measure:
    """Mean of what is predicted for the records of some bins."""
    counts = table.counts.sum(axis=(0, 1))[bins]
    value = counts @ predicted[bins] / counts.sum()
    direct, by_log = table.blank()
    direct[:, :, bins] = (predicted[bins] - value) / counts.sum()
    return table.measure(value, direct, by_log)


def gap(table: Table, bins: slice, predicted: Float64) -> Measure:
    """What is observed of the records of some bins, less what is predicted."""
    one, other = observed(table, bins), mean_prediction(table, bins, predicted)
    return Measure(one.value - other.value, one.gradient - other.gradient, share=False)


def _ratio(one: Float64, other: Float64) -> Float64:
    """One over the other; 0 where nothing of it is wanted."""
    return np.divide(one, other, out=np.zeros_like(one), where=(one != 0) & (other != 0))


def _below(counts: Float64) -> Float64:
    """Records of lower bins, and half of those of the same."""
    result: Float64 = np.cumsum(counts, axis=-1) - counts / 2
    return result


def _above(counts: Float64) -> Float64:
    """Records of higher bins, and half of those of the same."""
    return _below(counts[..., ::-1])[..., ::-1]
