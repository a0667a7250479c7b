"""The smallest guarantee whose predicted error is small enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ogive.core.checks import Progress, among
from ogive.errors import ParameterError, ScaleError, quoted
from ogive.privacy import Adjacency, ApproxDP, Privacy, PureDP, Rational, ZeroConcentratedDP
from ogive.releasing.planning.predict import Planned, Planner
from ogive.releasing.planning.rows import listed, metrics_of, named
from ogive.statistics.base import Statistic, innermost
from ogive.trust import Central

KINDS = ("pure", "zcdp", "approx")
LOWEST, HIGHEST = -12, 4  # powers of ten between which a loss is sought
_START = 0  # a loss of 1
_MOST_TRIALS = 20  # for progress; most searches try five to ten guarantees
_PER_DECADE = 900  # decimals of three digits


def required_privacy(
    statistic: Statistic[Any],
    *,
    records: int,
    error: Mapping[str, float],
    kind: str = "pure",
    delta: Rational | None = None,
    adjacency: Adjacency = Adjacency.REPLACE,
    person: str | None = None,
    max_rows_per_person: int = 1,
    trust: Planned = Central,
    public: Sequence[str] | str = (),
    like: Any = None,
    positive_share: float | None = None,
    auc: float | None = None,
    runs: int | None = None,
    progress: Progress | None = None,
) -> Privacy:
    """Find the smallest guarantee whose predicted error is at most a given one.

    Args:
        statistic: The statistic to plan, with its own method; "auto" is the best one.
        records: Number of records, or a guess if it is private.
        error: One name and the largest acceptable value, for example {"ks": 0.01}. The names are those of a plan's
            errors (rmse, ks, ks_95, band, and with simulated releases auc and others) or the headings of their
            columns.
        kind: "pure", "zcdp", or "approx", which needs delta.
        delta: Delta of an approximate guarantee.
        adjacency: Which data sets would be adjacent.
        person: Column with the person's identifier.
        max_rows_per_person: How many of a person's records would be kept.
        trust: Trust model, as for `plan`.
        public: Public columns, as for `release`.
        like: Public or synthetic records to simulate on, as for `plan`.
        positive_share: Share of positive records, as for `plan`.
        auc: AUC of the scores, as for `plan`.
        runs: Number of releases to simulate for each guarantee tried, if needed.
        progress: Called with the number of guarantees tried and the largest expected number.

    Returns:
        A guarantee of that kind, with its parameter rounded up to three significant digits.

    Raises:
        ParameterError: an argument is out of range, or no guarantee attains the error.

    Privacy:
        Reads no private records and costs nothing.
    """
    given_name, largest = _wanted(error)
    make = _maker(kind, delta)
    planner = Planner.of(
        statistic,
        records,
        adjacency,
        person,
        max_rows_per_person,
        trust,
        like,
        positive_share,
        auc,
        runs,
        public=public,
    )
    metrics = metrics_of(innermost(statistic).name)
    name = named(metrics, given_name)
    trials = 0

    def value(loss: Fraction) -> float:
        try:
            errors = planner.errors(planner.prediction(planner.statistic, make(loss)), wanted=name)
        except ScaleError:
            return math.inf  # more noise than can be drawn
        nonlocal trials
        trials += 1
        if progress is not None:
            progress(min(trials, _MOST_TRIALS), _MOST_TRIALS)
        if name not in errors:
            raise ParameterError(f"`error` must name one of {listed(metrics, errors)}, got {quoted(name)}")
        return errors[name]

    return make(_smallest(value, largest, name))


def _smallest(value: Callable[[Fraction], float], wanted: float, name: str) -> Fraction:
    """The smallest loss of three digits at which a falling error is at most the wanted one.

    Errors fall about like a power of the loss, so the search goes along a straight line in the
    logarithms, and halves the interval where that does not help.
    """
    errors: dict[int, float] = {}

    def met(step: int) -> bool:
        if step not in errors:
            errors[step] = value(_loss(step))
        return errors[step] <= wanted

    lowest, highest = LOWEST * _PER_DECADE, HIGHEST * _PER_DECADE
    low = high = _START
    reach = 32
    while met(low) and low > lowest:
        high, low, reach = low, max(lowest, min(low - reach, _along_line(errors, low, wanted))), 2 * reach
    while not met(high):
        if high == highest:
            raise ParameterError(
                f"no guarantee up to {float(_loss(high)):g} brings {name} to {wanted:g}: with almost no noise it would "
                f"still be {errors[high]:.3g}; ask for a larger error or plan for more records"
            )
        low, high, reach = high, min(highest, max(high + reach, _along_line(errors, high, wanted))), 2 * reach
    if met(low):
        return _loss(low)
    halve = False
    while high - low > 1:
        middle = (low + high) // 2 if halve else _between(low, high, errors, wanted)
        before = high - low
        low, high = (low, middle) if met(middle) else (middle, high)
        halve = high - low > before / 2
    return _loss(high)


def _along_line(errors: Mapping[int, float], step: int, wanted: float) -> int:
    """Where the error would be as wanted if it fell like 1 / loss."""
    error = errors[step]
    if not 0 < error < math.inf:
        return step
    return _nearest(float(_loss(step)) * min(1e3, max(1e-3, error / wanted)))


def _between(low: int, high: int, errors: Mapping[int, float], wanted: float) -> int:
    """Where a line through both ends meets the wanted error, strictly between them."""
    above, below = errors[low], errors[high]
    middle = (low + high) // 2
    if 0 < below < above < math.inf:
        share = math.log(above / wanted) / math.log(above / below)
        ends = math.log(_loss(low)), math.log(_loss(high))
        middle = _nearest(math.exp(ends[0] + share * (ends[1] - ends[0])))
    return min(max(middle, low + 1), high - 1)


def _nearest(loss: float) -> int:
    """Number of the decimal of three digits at or above a loss."""
    power = math.floor(math.log10(loss))
    return power * _PER_DECADE + math.ceil(round(loss / 10.0**power * 100, 6)) - 100


def _loss(step: int) -> Fraction:
    """The decimal of three digits with this number; 0 is 1.00."""
    power, digits = divmod(step, _PER_DECADE)
    return Fraction(f"{digits + 100}e{power - 2}")


def _wanted(error: Any) -> tuple[str, float]:
    if not isinstance(error, Mapping) or len(error) != 1:
        raise ParameterError(
            f'`error` must be one name and its largest value, for example {{"ks": 0.01}}, got {quoted(error)}'
        )
    [(name, value)] = error.items()
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ParameterError(f"the wanted error must be a number above 0, got {quoted(value)}")
    return str(name), float(value)


def _maker(kind: str, delta: Rational | None) -> Callable[[Fraction], Privacy]:
    among(kind, "kind", KINDS)
    if (kind == "approx") != (delta is not None):
        raise ParameterError('`delta` belongs to `kind="approx"`, which needs it, for example `delta="1e-6"`')
    if kind == "zcdp":
        return ZeroConcentratedDP
    if delta is None:
        return PureDP
    return lambda epsilon: ApproxDP(epsilon, delta)
