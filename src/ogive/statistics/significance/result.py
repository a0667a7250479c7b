"""The result of a hypothesis test that knows the noise of the release, and its p-value."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from ogive.core.arrays import Float64
from ogive.core.checks import among
from ogive.errors import ParameterError
from ogive.provenance import Provenance
from ogive.statistics.base import Shown

Alternative = Literal["two-sided", "greater", "less"]
ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)


@dataclass(frozen=True, repr=False)
class HypothesisTest(Shown):
    """A test of one hypothesis, computed from a released estimate at no further cost.

    Fields:
        hypothesis: The null hypothesis, as a clause.
        name: What the statistic is, for example "AUC".
        statistic: The number that is compared with `expected`; NaN where noise leaves none.
        expected: Its value under the null hypothesis.
        standard_error: Standard deviation of the statistic under the null hypothesis, with sampling and noise.
        p_value: Probability, under the null hypothesis, of a statistic at least as far from `expected`; NaN where there
            is no statistic.
        alternative: "two-sided", or "greater" or "less" than expected.
        method: What the p-value counts, as a sentence.
        provenance: Of the estimate; None where it was not released.
    """

    hypothesis: str
    name: str
    statistic: float
    expected: float
    standard_error: float
    p_value: float
    alternative: Alternative
    method: str
    provenance: Provenance | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        among(self.alternative, "alternative", ALTERNATIVES)
        if not (math.isnan(self.p_value) or 0 <= self.p_value <= 1):
            raise ParameterError(f"a p-value is between 0 and 1, got {self.p_value}")

    @property
    def defined(self) -> bool:
        """Whether there is a statistic."""
        return not math.isnan(self.p_value)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"


def check_independent_records(provenance: Provenance | None) -> None:
    """Refuse to test records of which several may be of one person."""
    if provenance is not None and provenance.max_rows_per_person > 1:
        raise ParameterError(
            f"a test needs independent records, and this release kept up to {provenance.max_rows_per_person} of each "
            "person; release with `max_rows_per_person=1`"
        )


def testable(provenance: Provenance | None) -> bool:
    """Whether records are independent as far as the release says."""
    return provenance is None or provenance.max_rows_per_person == 1


# --- P-values
#
# Let D be the distance of a statistic from its value under the null hypothesis. There D = S + E, with S normal of a
# known standard deviation and E the noise, of which there are R draws E_1, ..., E_R. The p-value
#
#     p = (1 + a + sum over r of P(|S + E_r| >= |D|)) / (R + 1)
#
# averages the exact tail of S over the draws, and is never 0. Up to `a` unknown quantities, such as the size of a
# class, were replaced by the worst of a range that is as wide as the largest of their errors in the same R draws; one
# more draw exceeds that with a chance of 1 / (R + 1), which the p-value pays (Berger and Boos).
#
# Source:
#     Berger and Boos 1994, P values maximized over a confidence set for the nuisance parameter.


def p_value(
    distance: float, sampling: float, noise: Float64 | None, alternative: Alternative, *, bounded: int = 0
) -> float:
    """Probability of a statistic at least as far from its expected value as this one."""
    if math.isnan(distance):
        return math.nan
    if noise is None:
        return _tail(distance, sampling, np.zeros(1), alternative)
    mean = _tail(distance, sampling, noise, alternative)
    return min(1.0, (1 + bounded + mean * len(noise)) / (len(noise) + 1))


def _tail(distance: float, sampling: float, noise: Float64, alternative: Alternative) -> float:
    """Mean over the draws of the chance that sampling and noise together are as far out."""
    reach = abs(distance) if alternative == "two-sided" else distance if alternative == "greater" else -distance
    moved = -noise if alternative == "less" else noise
    if sampling <= 0:
        beyond = moved >= reach
        if alternative == "two-sided":
            beyond = beyond | (-moved >= reach)
        return float(beyond.mean())
    from scipy.special import ndtr  # slow to import, and what only asks for a statistic does without

    found = ndtr((moved - reach) / sampling)
    if alternative == "two-sided":
        found = np.minimum(found + ndtr((-moved - reach) / sampling), 1.0)
    return float(found.mean())
