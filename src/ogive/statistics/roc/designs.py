"""Which strategy serves the curves of two classes best at a given price.

Both classes are measured with the same strategy. `ClassCurvesQuery.price` alone states what a
strategy costs for both together; here strategies are designed so that this price is all of the grant:

    private labels, REPLACE    a record that changes its class leaves one histogram and joins the other.
                               Designed for added records at half the grant, and for replaced ones at all of it
    public labels, REPLACE     designed for replaced records at the whole grant
    ADD_OR_REMOVE              designed for added records at the whole grant

A design whose price is still above the grant is made again for proportionally less. The choice depends on
nothing that is read from records, so it costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from ogive.accounting import covers
from ogive.errors import ParameterError, ScaleError
from ogive.noise import too_much_noise
from ogive.privacy import Adjacency, Privacy, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import ClassCurvesQuery, class_curves_price
from ogive.statistics.curve.bands import upper_quantile
from ogive.statistics.ecdf.plan import simulations_for
from ogive.statistics.methods.choose import automatic, candidates, first_served, fitting, grants
from ogive.statistics.prediction import CONFIDENCE, Errors, Setting
from ogive.statistics.roc.area import KNOWN_SIZES, KNOWN_SUM, NOTHING_KNOWN, simulate_noise
from ogive.strategies import Strategy

Loss = PureDP | ZeroConcentratedDP

BudgetName = Literal["joint", "split"]
BUDGETS: tuple[BudgetName, ...] = get_args(BudgetName)
_ROOM = 1 - Fraction(1, 1 << 40)  # for scales that are rounded to other fractions the second time
_TRIES = 4


def class_variance(strategy: Strategy, unit: PrivacyUnit, public_labels: bool, budget: str) -> float:
    """Predicted mean squared error of a class's cumulative counts, before smoothing.

    A known size of the class takes c_i^2 / v out of the variance at point i, with c_i the covariance with the
    estimated size and v its variance. A known size of both classes together takes out half of that.
    """
    alone = float(strategy.variance(total_known=False).mean())
    if unit.adjacency is not Adjacency.REPLACE:
        return alone
    known = float(strategy.variance(total_known=True).mean())
    if public_labels:
        return known
    return alone if budget == "split" else (alone + known) / 2


@lru_cache(maxsize=64)
def class_candidates(
    size: int, privacy: Privacy, unit: PrivacyUnit, *, public_labels: bool, budget: str, method: str = "auto"
) -> tuple[Strategy, ...]:
    """Every strategy of a method of `Ecdf`, or of all for "auto", for which both classes fit the grant, best first."""
    results: list[Strategy] = []
    failed: list[tuple[Loss, ScaleError]] = []
    refused: ParameterError | None = None
    for grant in grants(privacy):
        for adjacency, share in _starts(unit, public_labels, budget):
            for name in automatic(size, adjacency) if method == "auto" else (method,):
                try:
                    results += _fitted(size, grant, name, adjacency, share, unit, public_labels)
                except ScaleError as error:
                    failed.append((grant, error))
                except ParameterError as error:
                    refused = error
    if not results and failed:
        raise too_much_noise(privacy, f"{size} threshold{'s' if size > 1 else ''} in two classes", failed)
    if not results:
        assert refused is not None
        raise refused
    unique = dict.fromkeys(results)
    return tuple(sorted(unique, key=lambda strategy: class_variance(strategy, unit, public_labels, budget)))


def _starts(unit: PrivacyUnit, public_labels: bool, budget: str) -> Iterator[tuple[Adjacency, Fraction]]:
    """Adjacencies and parts of the grant that strategies are designed for."""
    if budget == "split":
        yield unit.adjacency, Fraction(1, 2)
        return
    if unit.adjacency is Adjacency.REPLACE and not public_labels:
        yield Adjacency.ADD_OR_REMOVE, Fraction(1, 2)
    yield unit.adjacency, Fraction(1)


def _fitted(
    size: int, grant: Loss, method: str, adjacency: Adjacency, share: Fraction, unit: PrivacyUnit, public_labels: bool
) -> Iterator[Strategy]:
    """Designs of one method, for a part of the grant, or less where both classes would cost too much."""
    for _ in range(_TRIES):
        over: list[Fraction] = []
        for strategy in candidates(size, part_of(grant, share), adjacency, method, rows=unit.max_rows_per_person):
            price = class_curves_price(strategy, unit, public_labels=public_labels)
            if type(price) is not type(grant):
                continue  # a pure design for a concentrated grant comes with its own grant
            if covers(grant, price):
                yield strategy
            else:
                over.append(_amount(price) / _amount(grant))
        if not over:
            return
        share = share / max(over) * _ROOM


def part_of(grant: Loss, share: Fraction) -> Loss:
    """That share of a guarantee."""
    return PureDP(grant.epsilon * share) if isinstance(grant, PureDP) else ZeroConcentratedDP(grant.rho * share)


def _amount(loss: Loss) -> Fraction:
    return loss.epsilon if isinstance(loss, PureDP) else loss.rho


def choose_for_classes(
    size: int,
    privacy: Privacy,
    unit: PrivacyUnit,
    *,
    public_labels: bool,
    budget: str,
    method: str | Strategy,
    refusal: Callable[[Strategy], str | None],
) -> Strategy:
    """The strategy with the smallest predicted error for both classes that the trust model can serve.

    A designed strategy is taken as it is; `release` checks its price.
    """
    if not isinstance(method, str):
        return fitting(method, size)
    strategies = class_candidates(size, privacy, unit, public_labels=public_labels, budget=budget, method=method)
    return first_served(strategies, refusal)


# --- Errors that a design has, for a plan


def class_errors(query: ClassCurvesQuery, budget: str, setting: Setting) -> Errors:
    """Errors of the raw cumulative counts of one class, as shares of all records; both classes have the same law."""
    unit, strategy = setting.unit, query.strategy
    known = NOTHING_KNOWN
    if unit.adjacency is Adjacency.REPLACE:
        known = KNOWN_SIZES if query.public_labels else KNOWN_SUM if budget == "joint" else NOTHING_KNOWN
    noise = simulate_noise(
        strategy,
        np.zeros((2, strategy.size)),
        known=known,
        positive_when="high",
        simulations=simulations_for(strategy),
    )
    return Errors(
        {
            "rmse": math.sqrt(class_variance(strategy, unit, query.public_labels, budget)) / setting.records,
            "ks": min(1.0, float(np.mean(noise.maxima.either)) / setting.records),
            "ks_95": min(1.0, upper_quantile(noise.maxima.either, 1 - CONFIDENCE) / setting.records),
        }
    )
