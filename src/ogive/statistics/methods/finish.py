"""From noisy measurements to a curve: post-processing, the same for every method."""

from __future__ import annotations

from collections.abc import Generator

from ogive.columns import Binning
from ogive.errors import UnsupportedError
from ogive.queries import Answer, CurveQuery, Query
from ogive.statistics.base import Terms
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.methods.base import CurveTask
from ogive.strategies import Strategy
from ogive.strategies.base import approximates
from ogive.strategies.smoothing import default_smoothing, smooth, unsmoothable


def curve_from(answer: Answer, binning: Binning, strategy: Strategy, terms: Terms, smoothing: str) -> Curve:
    """Turn noisy measurements into a curve; post-processing.

    What was paid for is never lost: where a solver cannot certify its result, or a strategy has a shape that
    it refuses, the curve is made valid by isotonic regression, and says so. Without noise (trust model clear) the
    curve of a strategy that approximates is made valid all the same.
    """
    kind = default_smoothing(strategy) if smoothing == "auto" else smoothing
    strategy = answer.noise_of(strategy)
    raw = cumulative = strategy.estimate(answer.values, answer.total)
    rough = answer.noisy or approximates(strategy)
    if rough:
        try:
            cumulative = smooth(strategy, answer.values, total=answer.total, kind=kind)
        except (ArithmeticError, UnsupportedError):
            kind = "isotonic"
            cumulative = smooth(strategy, answer.values, total=answer.total, kind=kind)
    return Curve(
        grid=binning.grid,
        cumulative=cumulative,
        raw=raw,
        strategy=strategy if answer.noisy else None,
        adjacency=terms.adjacency,
        total=answer.total,
        smoothing=kind if rough else "none",
        column=binning.column,
        measured=answer.values if answer.noisy and approximates(strategy) else None,
    )


def measured_once(strategy: Strategy, task: CurveTask) -> Generator[Query, Answer, Curve]:
    """Ask one query for a whole strategy and turn the answer into a curve.

    Raises:
        UnsupportedError: the smoothing or the trust model does not go with the strategy.
    """
    query = CurveQuery(task.binning, strategy)
    reason = unsmoothable(strategy, task.smooth) or task.terms.refusal(query)
    if reason is not None:
        raise UnsupportedError(reason)
    answer = yield query
    return curve_from(answer, task.binning, strategy, task.terms, task.smooth)
