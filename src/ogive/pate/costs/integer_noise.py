"""How far the chances under integer noise may be from those under continuous noise of the same scale.

Noise is discrete Gaussian on a grid of `unit` votes, and the first of equal counts wins. Then the chance that class i
wins lies between its continuous chances at one unit less and one unit more of its own votes. The log of a continuous
chance is concave in the votes, so that its slope, and with it what a unit changes, is at most what a whole vote
changes; and the slope changes by at most 1 / sigma^2 from one vote to the next.

Source: docs/proofs/pate_costs.md, Section 8.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ogive.arrays import Float64
from ogive.compiling import njit
from ogive.pate.costs.output_laws import Tables
from ogive.pate.costs.threshold import check_tails


def tails_of_check(highest: ArrayLike, threshold: float, sigma_1: float, *, unit: float) -> Float64:
    """A check's ln Pr[pass], ln Pr[refuse], and how far integer noise may move each; shape (4, counts).

    Args:
        highest: Whole counts.
        threshold: Votes that the count must reach with noise.
        sigma_1: Of the check's noise, in votes; at least 1000 units.
        unit: Grid of the noise in votes; 0 for continuous noise.

    Raises:
        ParameterError: sigma_1 or threshold is out of range.
    """
    reached = unit * math.ceil(threshold / unit) - unit / 2 if unit else threshold
    log_pass, log_refuse = check_tails(highest, reached, sigma_1)
    distance = (np.asarray(highest, dtype=np.float64) - reached) / sigma_1
    bound = (distance**2 + 3) * (unit / sigma_1) ** 2 / 11
    # the likelier tail is the complement of the other
    likelier = np.exp(-np.abs(log_pass - log_refuse))
    passes, refuses = (np.where(log > math.log(0.5), bound * likelier, bound) for log in (log_pass, log_refuse))
    return np.stack([log_pass, log_refuse, passes, refuses])


@njit(error_model="numpy")
def lifts_of_classes(here: Float64, giver: Float64, tables: Tables) -> Float64:
    """How far ln of a class's chance may be off, at the votes and at every neighbour; by distinct counts.

    Args:
        here: ln of the chances.
        giver: Of a class that gives a vote, [a, c] to one of count c: at most what it has when it loses a vote.
        tables: Of the noise.
    """
    found = np.empty(here.size)
    for which in range(here.size):
        slope = max(here[which] - giver[which].max(), 0.0)
        found[which] = tables.unit * (slope + tables.bend)
    return found


@njit(error_model="numpy")
def lift_of_complement(logs: Float64, others: Float64, counts: Float64, lifts: Float64, lead: int, size: int) -> float:
    """The same of the first class, whose chance is what the others leave, at the votes and at one neighbour.

    Args:
        logs: ln of the outcomes' chances at the votes.
        others: At the neighbour.
        counts: How many classes are alike.
        lifts: How far each may be off.
        lead: Which outcome is the first class.
        size: How many outcomes there are.
    """
    moved_here, moved_there = 0.0, 0.0
    for outcome in range(size):
        if outcome != lead:
            moved = counts[outcome] * np.expm1(lifts[outcome])
            moved_here += moved * np.exp(logs[outcome])
            moved_there += moved * np.exp(others[outcome])
    share = max(moved_here * np.exp(-logs[lead]), moved_there * np.exp(-others[lead]))
    lift = float(lifts[lead])
    return min(lift, -math.log1p(-share)) if share < 1 else lift
