"""How much each of several binary randomized responses of one person may tell.

A response that tells the truth with probability e^x / (1 + e^x) is x-DP. What `reports` of them cost together is known
exactly (Kairouz, Oh and Viswanath 2015): any mechanisms that are x-DP each are together (epsilon, delta)-DP with

    delta = sum over j of C(reports, j) [e^((reports - j) x) - e^(epsilon + j x)]_+ / (1 + e^x)^reports,

and randomized responses themselves with no less. Owners need this to know how to answer, so it uses nothing but Python.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from ogive.core.checks import among, whole
from ogive.errors import ParameterError
from ogive.privacy import Rational, exact

RULES = ("basic", "advanced", "exact")
"""Names of the composition rules."""

MOST_REPORTS = 1000
"""Most reports of one person."""

# relative room for the rounding of floating point, far above its error for so few reports
_ROOM = 1e-9
_UNIT = Fraction(1, 10**14)
_LARGEST_EPSILON = 500
_LEAST_DELTA = Fraction(1, 10**290)
_BISECTIONS = 100


def per_report_epsilon(epsilon: Rational, delta: Rational, reports: int, rule: str) -> Fraction:
    """The epsilon of each of several reports of one person that satisfy (epsilon, delta) together; rounded down.

    Args:
        epsilon: Epsilon of all reports together, above 0 and at most 500.
        delta: Delta of all reports together, at least 0 and below 1; with 0 only "basic" and "exact" apply, and they
            agree.
        reports: Number of reports, from 1 to 1000.
        rule: "basic" divides epsilon; "advanced" is the rule of Bell, Bellet, Gascon and Kulkarni (2020) under the
            condition for its validity; "exact" is the largest that satisfies the guarantee, never less than either.

    Raises:
        ParameterError: an argument is out of range, or the advanced rule gives no guarantee at this epsilon and delta.

    Source:
        `docs/proofs/hierarchy.md`; Kairouz, Oh and Viswanath 2015, Theorem 3.3 (basic and exact); Dwork, Rothblum and
        Vadhan 2010 (advanced).

    Example:
        >>> round(float(per_report_epsilon(1, 1e-8, 16, "exact")), 6)
        0.062525
    """
    total, slack = exact(epsilon, "epsilon"), exact(delta, "delta")
    if not 0 < total <= _LARGEST_EPSILON:
        raise ParameterError(f"`epsilon` must be above 0 and at most {_LARGEST_EPSILON}, got {epsilon}")
    if slack != 0 and not _LEAST_DELTA <= slack < 1:
        raise ParameterError(f"`delta` must be 0, or from 1e-290 to below 1, got {delta}")
    whole(reports, "reports", 1, MOST_REPORTS)
    among(rule, "composition", RULES)
    if rule == "basic":
        return total / reports
    return _advanced(total, slack, reports) if rule == "advanced" else _exact(total, slack, reports)


def responses_delta(epsilon: Fraction, per_report: Fraction, reports: int) -> float:
    """The least delta with which this many randomized responses together are (epsilon, delta)-DP; rounded up."""
    own = float(per_report)
    log_all = reports * (own + math.log1p(math.exp(-own)))
    terms: list[float] = []
    for lies in range(reports + 1):
        # e^((reports - lies) own) - e^(epsilon + lies own) has the sign of this, known exactly
        gap = (reports - 2 * lies) * per_report - epsilon
        if gap <= 0:
            break
        log_term = _log_binomial(reports, lies) + (reports - lies) * own - log_all
        terms.append(math.exp(log_term) * -math.expm1(-float(gap)))
    return min(1.0, math.fsum(terms) * (1 + _ROOM))


def _advanced(epsilon: Fraction, delta: Fraction, reports: int) -> Fraction:
    if delta == 0:
        raise ParameterError("advanced composition needs a delta above 0; use `composition='basic'`")
    factor = 1 + math.sqrt(2 * (math.log(delta.denominator) - math.log(delta.numerator)))
    if epsilon > Fraction(factor * math.log(2) * (1 - _ROOM)):
        raise ParameterError(
            f"advanced composition is proved for epsilon up to {factor * math.log(2):.4g} at this delta, "
            f"got {float(epsilon):g}; use `composition='exact'`"
        )
    return epsilon / Fraction(factor * math.sqrt(reports) * (1 + _ROOM))


@lru_cache(maxsize=256)
def _exact(epsilon: Fraction, delta: Fraction, reports: int) -> Fraction:
    basic = epsilon / reports  # true for any delta, since epsilons add up
    if delta == 0:
        return basic
    low = high = basic
    while responses_delta(epsilon, high, reports) <= delta:
        low, high = high, 2 * high
    for _ in range(_BISECTIONS):
        middle = Fraction(float((low + high) / 2))
        if not low < middle < high:
            break
        if responses_delta(epsilon, middle, reports) <= delta:
            low = middle
        else:
            high = middle
    # so short a number comes out the same on an owner's device and at the aggregator, whatever their last bits
    return max(basic, low // _UNIT * _UNIT)


@lru_cache(maxsize=4096)
def _log_binomial(count: int, part: int) -> float:
    return math.log(math.comb(count, part))
