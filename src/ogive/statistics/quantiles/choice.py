"""Whether "auto" selects a few quantiles or reads them off a curve, from public quantities alone.

Both errors are predicted in ranks, each with what its intervals cost: that of a selection from its law (`expected`),
that of a curve from the variance of the best unbiased strategy. A selection is asked for its first question on the
given terms and gets no answer, so the noise that is compared is that of a release. `benchmarks/few_quantiles.py`
measures what the choice takes.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Generator
from typing import Any, Literal

from ogive.columns import Binning
from ogive.errors import OgiveError
from ogive.queries import JointQuantilesQuery, Query
from ogive.statistics.base import Terms
from ogive.statistics.methods.unbiased import mean_variance
from ogive.statistics.quantiles.expected import joint_ranks_off, smallest_part
from ogive.statistics.quantiles.joint import unbiased_strategy

Few = Literal["selected", "curve"]
Selection = Literal["exponential", "joint"]
Ask = Callable[[Selection, Terms], Generator[Query, Any, Any]]

_SMOOTHED = 0.6
"""What smoothing leaves of a curve's error at its quantiles, on average over smooth and lumpy records."""

_MEAN_OF_NORMAL = math.sqrt(2 / math.pi)

_MOST_QUICK = 6
"""Quantiles that are always drawn quickly."""

MOST_OF_UNKNOWN = 5
"""Quantiles that are selected where the number of records is neither public nor guessed: more of them are drawn slowly
if there are few records."""


def selection(binning: Binning, quantiles: int, ask: Ask, *, guess: int | None, terms: Terms) -> Selection | None:
    """The method that selects the quantiles, or None where they had better be read off a curve, or must be.

    Args:
        binning: Column and grid.
        quantiles: How many are wanted.
        ask: Starts a selection on terms.
        guess: A public guess of the number of records.
        terms: What all of it may cost together.
    """
    if not terms.private or terms.groups != 1:  # of groups, curves with all quantiles are compared
        return None
    records = terms.records if terms.records is not None else guess
    if records is None and quantiles > MOST_OF_UNKNOWN:
        return None
    try:
        joint = next(ask("joint", _quiet(terms)))
        assert isinstance(joint, JointQuantilesQuery)
        if records is not None and _slow(joint, records):
            return None
        if joint_ranks_off(joint, records).mean >= _curve_off(binning, terms):
            return None
        if quantiles > 1 or records is None or not _crowded(joint, records, terms):
            return "joint"
    except OgiveError:
        return None
    try:
        next(ask("exponential", _quiet(terms)))
    except OgiveError:  # a probability that is no short fraction in decimals
        return "joint"
    return "exponential"


def _slow(query: JointQuantilesQuery, records: int) -> bool:
    """Whether drawing may take seconds: many quantiles are proposed that are not in order, or lie among empty bins."""
    beyond = len(query.probabilities) - _MOST_QUICK
    return query.free_total and smallest_part(query, records) < beyond / 2 * math.log(query.binning.grid.bins)


def _crowded(query: JointQuantilesQuery, records: int, terms: Terms) -> bool:
    """Whether bins are so wide that a selection often finds the very one: there a noisy maximum errs less."""
    return records > query.binning.grid.bins * joint_ranks_off(query).mean / 4


def _quiet(terms: Terms) -> Terms:
    """The terms of a trial: nobody is told of a price, and no records are looked at."""
    return dataclasses.replace(terms, simulations=0, announce=lambda loss: None, preflight=lambda query: None)


def _curve_off(binning: Binning, terms: Terms) -> float:
    """By how many records a quantile is off that is read off a curve, on average."""
    strategy = unbiased_strategy(binning, terms)
    return _SMOOTHED * _MEAN_OF_NORMAL * math.sqrt(mean_variance(strategy, terms.adjacency))
