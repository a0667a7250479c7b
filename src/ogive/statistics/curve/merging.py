"""Curves of different people made one: sites that each released theirs, or months that came one after the other.

Every batch is measured once, with noise of its own. Cumulative counts of different people add up before they are
smoothed, noise included, and the sum is smoothed: smoothing first would bias it. No records are read again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from ogive.errors import ParameterError, plain, quoted
from ogive.privacy import Rational, exact
from ogive.provenance import CLEAR
from ogive.statistics.curve.base import MOST_BATCHES, Batch, CurveBase, find_overlap, merged_provenance
from ogive.strategies.base import Strategy, approximates
from ogive.strategies.composed import SummedApproximations, SummedStrategies, added_up, unlike
from ogive.strategies.counts import OpenedThresholds
from ogive.strategies.smoothing import smooth_sum

_OPTIONS = ("basis", "degree", "noise", "constants", "groups")
_NEAR_ONE = Fraction(1, 10**9)

CurveT = TypeVar("CurveT", bound=CurveBase)


def merge(*curves: CurveT, weights: Sequence[Rational] | None = None) -> CurveT:
    """Add up released curves of disjoint groups of people.

    Args:
        curves: Two or more curves on the same thresholds, of one column, for the same privacy unit.
        weights: Share of each curve in a mixture; shares are at least 0 and add up to 1. By default the batches count
            by their numbers of records. With weights, counts are scaled to the number of all records, which must be
            public.

    Returns:
        A curve with the added noise of the batches, the list of `batches` and a provenance of its own.

    Raises:
        ParameterError: a batch would count twice, the curves do not match, or the weights are invalid.

    Privacy:
        Post-processing. If no person is in two batches, all batches together cost each person no more than the most
        expensive one (parallel composition). For a person in several batches their costs add up.

    Source:
        Tao and Sarwate 2025, sections on decentralized and newly collected data.

    Example:
        >>> import numpy as np, ogive
        >>> months = [np.random.default_rng(month).normal(50, 10, size=5_000) for month in range(3)]
        >>> released = [ogive.ecdf(month, bounds=(0, 100), privacy=ogive.PureDP(1)) for month in months]
        >>> everyone = ogive.merge(*released)
        >>> everyone.total, len(everyone.batches), str(everyone.provenance.privacy)
        (15000, 3, 'epsilon = 1')
    """
    _check_curves(curves)
    batches = tuple(batch for curve in curves for batch in curve.batches)
    _check_batches(batches)
    shares = None if weights is None else _shares(weights, curves)
    total = None if curves[0].total is None else sum(curve.total or 0 for curve in curves)
    factors = np.ones(len(curves))
    if shares is not None and total is not None:
        factors = np.array([float(w * total / (curve.total or 1)) for w, curve in zip(shares, curves, strict=True)])
    raw = np.sum([factor * curve.raw for factor, curve in zip(factors, curves, strict=True)], axis=0)
    strategy, measured = _added(curves, shares)
    if strategy is None:
        cumulative, smoothing = raw, "none"
    else:
        cumulative, smoothing = smooth_sum(strategy, raw, total=total)
    first = curves[0]
    return type(first)(
        grid=first.grid,
        cumulative=cumulative,
        raw=raw,
        strategy=strategy,
        adjacency=first.adjacency,
        total=total,
        smoothing=smoothing,
        column=first.column,
        provenance=merged_provenance([_released(curve) for curve in curves], batches, total, shares),
        measured=measured,
        merged=batches,
        people=first.people,
    )


def _check_curves(curves: Sequence[Any]) -> None:
    others = [type(curve).__name__ for curve in curves if not isinstance(curve, CurveBase)]
    if others or len(curves) < 2:
        raise ParameterError(f"give two or more released curves to merge, got {others[0] if others else len(curves)}")
    first = curves[0]
    for number, curve in enumerate(curves, 1):
        if curve.provenance is None:
            raise ParameterError(f"curve {number} was never released, so nobody knows who is in it")
        if not curve.defined:
            raise ParameterError(f"curve {number} is not defined, since noise leaves no records; leave it out")
        if isinstance(curve.strategy, SummedStrategies) and curve.strategy.weights is not None:
            raise ParameterError(f"curve {number} is a mixture of shares, not of counts; merge its batches anew")
        reason = _difference(first, curve)
        if reason is not None:
            raise ParameterError(f"curves 1 and {number} do not add up: {reason}")


def _difference(one: CurveBase, other: CurveBase) -> str | None:
    """Why two curves are not of one kind, or None if they are."""
    mine, its = _released(one), _released(other)
    if (mine.trust == CLEAR) is not (its.trust == CLEAR) or one.private is not other.private:
        return "one is private and the other is exact"
    if one.grid != other.grid:
        return "sites with different bounds or thresholds; release all on one public grid"
    if one.column != other.column:
        return (
            f"columns {quoted(one.column)} and {quoted(other.column)}; give the column one name before it is released"
        )
    if one.people is not other.people:
        return "one counts people and the other rows"
    if one.adjacency is not other.adjacency or mine.adjacency is not its.adjacency:
        return f"adjacency {mine.adjacency.value} and {its.adjacency.value}; release all under one"
    if mine.unit != its.unit:
        return f"different privacy units ({mine.unit.words}; {its.unit.words}); release all for one"
    if mine.where != its.where:
        return f"records where {plain(mine.where or 'true')} and where {plain(its.where or 'true')}; release alike ones"
    if (one.total is None) is not (other.total is None):
        return "the number of records is public in one and private in the other"
    if one.strategy is None or other.strategy is None:
        return None
    return _unlike(one.strategy, other.strategy)


def _unlike(one: Strategy, other: Strategy) -> str | None:
    ours, theirs = (each.parts[0] if isinstance(each, SummedApproximations) else each for each in (one, other))
    if approximates(ours) is not approximates(theirs):
        return f"methods {ours.name} and {theirs.name}, of which one only approximates; release all by one method"
    if not approximates(ours) or (ours.name == theirs.name and not unlike(ours, theirs)):
        return None
    if isinstance(ours, OpenedThresholds) or isinstance(theirs, OpenedThresholds):
        return (
            "method adaptive looks at thresholds of its own in every release; release all by another, such as histogram"
        )
    forms = (
        " ".join([each.name, *(f"{name} {getattr(each, name)}" for name in _OPTIONS if hasattr(each, name))])
        for each in (ours, theirs)
    )
    return (
        f"sites with different bases, degrees or forms of noise ({'; '.join(forms)}); "
        "release all by one method with all its options, such as the degree, said"
    )


def _check_batches(batches: Sequence[Batch]) -> None:
    if len(batches) > MOST_BATCHES:
        raise ParameterError(f"at most {MOST_BATCHES} batches make one curve, got {len(batches)}")
    for number, batch in enumerate(batches):
        for known in batches[:number]:
            if batch.release_id == known.release_id:
                raise ParameterError(f"the batch {quoted(batch.words)} was counted before: it is the same release")
            if batch.name is not None and batch.name == known.name:
                raise ParameterError(
                    f"a batch named {quoted(batch.name)} was counted before; the same people would count twice"
                )
    overlap = find_overlap(batches)
    if overlap is not None:
        one, other = overlap
        raise ParameterError(
            f"one account paid for {quoted(one.words)} and {quoted(other.words)}, and not as two of its declared "
            "parts; the same people would count twice"
        )


def _shares(weights: Sequence[Rational], curves: Sequence[CurveBase]) -> tuple[Fraction, ...]:
    """Weights as exact numbers that add up to 1."""
    try:
        given = () if isinstance(weights, str | bytes | Set | Mapping) else tuple(weights)
    except TypeError:
        given = ()
    if len(given) != len(curves):
        got = f"{len(given)} of them" if given else type(weights).__name__
        raise ParameterError(f"`weights` must be one number for each of the {len(curves)} curves, got {got}")
    exactly = [exact(weight, "a weight") for weight in given]
    if min(exactly) < 0:
        raise ParameterError(f"`weights` must be at least 0, got {float(min(exactly)):g}")
    whole = sum(exactly, Fraction(0))
    if abs(whole - 1) > _NEAR_ONE:
        raise ParameterError(f"`weights` must add up to 1, got {float(whole):.10g}")
    for number, curve in enumerate(curves, 1):
        if curve.total is None:
            raise ParameterError(
                "weights need public numbers of records (`adjacency REPLACE`); without weights counts are added up"
            )
        if curve.strategy is None or approximates(curve.strategy):
            what = "exact" if curve.strategy is None else f"an approximation ({curve.strategy.name})"
            raise ParameterError(f"weights are for noisy curves without bias, and curve {number} is {what}")
    return tuple(weight / whole for weight in exactly)


def _added(curves: Sequence[CurveBase], shares: tuple[Fraction, ...] | None) -> tuple[Strategy | None, Any]:
    """The strategy that the sum has, and what it measured."""
    strategies = [curve.strategy for curve in curves if curve.strategy is not None]
    if not strategies:
        return None, None
    if not approximates(strategies[0]):
        totals = None if shares is None else tuple(curve.total or 0 for curve in curves)
        return SummedStrategies(tuple(strategies), shares, totals), None
    result = SummedApproximations(tuple(strategies))
    most = max(map(_bits, strategies))
    measured, shifts = [], []
    for number, curve in enumerate(curves, 1):
        if curve.measured is None:
            raise ParameterError(f"curve {number} was kept without its measurements, so it cannot be added to others")
        assert curve.strategy is not None
        measured.append(curve.measured)
        shifts.append(most - _bits(curve.strategy))
    return result, added_up(measured, shifts)


def _bits(strategy: Any) -> int:
    part = strategy.finest if isinstance(strategy, SummedApproximations) else strategy
    return int(getattr(part, "bits", 0))


def _released(curve: CurveBase) -> Any:
    assert curve.provenance is not None
    return curve.provenance
