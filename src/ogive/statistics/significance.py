"""The result of a hypothesis test that knows the noise of the release, and its p-value."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal, Unpack, get_args

import numpy as np

from ogive.core import digits
from ogive.core.arrays import Float64
from ogive.core.checks import among
from ogive.errors import ParameterError
from ogive.provenance import Provenance
from ogive.showing.pictures import Style, caption, intervals, lighten, new_axes
from ogive.showing.view import View
from ogive.statistics.base import Shown

Alternative = Literal["two-sided", "greater", "less"]
_DEVIATIONS = 2
_FAINT = 1e-15
"""A smaller p-value is shown as one below it."""
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
            is not a statistic.
        alternative: "two-sided", or "greater" or "less" than expected.
        method: What the p-value counts, as a sentence.
        provenance: Of the estimate; None where it was not released.
        p_value_is_bound: Whether `p_value` is the smallest that the simulation of the noise can show, so that the true
            one may be smaller.
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
    p_value_is_bound: bool = False

    def __post_init__(self) -> None:
        among(self.alternative, "alternative", ALTERNATIVES)
        if not (math.isnan(self.p_value) or 0 <= self.p_value <= 1):
            raise ParameterError(f"a p-value is between 0 and 1, got {self.p_value}")

    @property
    def defined(self) -> bool:
        """Whether there is a statistic."""
        return not math.isnan(self.p_value)

    def shown(self, digits_shown: int = 2) -> str:
        """The p-value beside its sign, for example "= 0.034", or "<= 0.0015" of a bound."""
        return digits.p_value(self.p_value, digits_shown, bound=self.p_value_is_bound)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"


class HypothesisTestView(View):
    """A test in some lines, and as the statistic beside where it lies under the null hypothesis."""

    estimate: HypothesisTest
    guarantee_first = True

    @property
    def title(self) -> str:
        """The hypothesis."""
        return f"Test of: {self.estimate.hypothesis}"

    @property
    def facts_width(self) -> int:  # type: ignore[override]
        """As wide as the longest name."""
        return 2 + max(len(name) for name, _ in [("privacy", ""), *self.facts])

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The statistic and the p-value, and what the p-value counts."""
        estimate = self.estimate
        if not estimate.defined:
            return [("p-value", "none, since noise or the records leave no statistic")]
        statistic, expected = (
            digits.number(each, estimate.standard_error) for each in (estimate.statistic, estimate.expected)
        )
        sides = "" if estimate.alternative == "two-sided" else f", alternative: {estimate.alternative}"
        return [
            (estimate.name, f"{statistic}, expected {expected}{sides}"),
            (
                "p-value",
                digits.p_value(estimate.p_value, 3, bound=estimate.p_value_is_bound, least=_FAINT).removeprefix("= "),
            ),
            ("method", estimate.method),
        ]

    @property
    def columns(self) -> dict[str, Any]:
        """The hypothesis, the statistic and the p-value."""
        numbers = ("statistic", "expected", "standard_error", "p_value", "p_value_is_bound", "alternative")
        return {name: [getattr(self.estimate, name)] for name in ("hypothesis", "name", *numbers)}

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        """Draw the expected value with two standard errors on each side, and a line at the statistic."""
        estimate = self.estimate
        if not estimate.defined or not math.isfinite(estimate.standard_error):
            raise ParameterError(f"there is no statistic to draw of the test of: {estimate.hypothesis}")
        axes = new_axes(ax, size=(7.2, 2.6))
        reach = _DEVIATIONS * estimate.standard_error
        ends = (estimate.expected - reach, estimate.expected + reach)
        intervals(axes, ["expected"], [estimate.expected], [ends], style)
        axes.axvline(estimate.statistic, color="0.3", linewidth=1, linestyle="--", zorder=0)
        axes.set_xlabel(f"{estimate.name}: dashed; expected with {_DEVIATIONS} standard errors: p {estimate.shown()}")
        caption(axes, self.title, estimate.caption, private=estimate.private)
        lighten(axes, grid="x")
        return axes


def brief(estimate: HypothesisTest) -> str:
    """The hypothesis and the p-value in a clause, for the text of an estimate."""
    if not estimate.defined:
        return f"{estimate.hypothesis}: not tested, since there is no statistic"
    counted = " (noise included)" if estimate.private else ""
    return f"{estimate.hypothesis}: p {estimate.shown()}{counted}"


def sentence(estimate: HypothesisTest) -> str:
    """The result as a sentence of a report."""
    if not estimate.defined:
        return f"Whether {estimate.hypothesis} was not tested, since there is no statistic."
    counted = ", with the noise counted" if estimate.private else ""
    return f"Test that {estimate.hypothesis}: p {estimate.shown()}{counted}."


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
    """Probability of a statistic at least as far from its expected value as this one, at least `smallest_p_value`."""
    if math.isnan(distance):
        return math.nan
    if noise is None:
        return _tail(distance, sampling, np.zeros(1), alternative)
    mean = _tail(distance, sampling, noise, alternative)
    return min(1.0, (1 + bounded + mean * len(noise)) / (len(noise) + 1))


def smallest_p_value(noise: Float64 | None, bounded: int = 0) -> float:
    """What no simulated p-value is below."""
    return 0.0 if noise is None else (1 + bounded) / (len(noise) + 1)


def exact_p_value(distance: float, normal: float, scales: Float64, alternative: Alternative) -> float:
    """The same of a normal error and Laplace ones with these scales, without a simulation."""
    if math.isnan(distance):
        return math.nan
    if alternative == "two-sided":
        return min(1.0, 2 * float(beyond(abs(distance), normal, scales)))
    return float(beyond(distance if alternative == "greater" else -distance, normal, scales))


def _tail(distance: float, sampling: float, noise: Float64, alternative: Alternative) -> float:
    """Mean over the draws of the chance that sampling and noise together are as far out."""
    reach = abs(distance) if alternative == "two-sided" else distance if alternative == "greater" else -distance
    moved = -noise if alternative == "less" else noise
    chances = beyond(reach - moved, sampling, _NOTHING)
    if alternative == "two-sided":
        chances = np.minimum(chances + beyond(reach + moved, sampling, _NOTHING), 1.0)
    return float(chances.mean())


# --- The tail of a normal error S of deviation s with Laplace parts
#
# With one of scale b, a = s^2 / 2b^2, Phi the distribution function of a standard normal variable and Q = 1 - Phi,
#
#     P(S + E > t) = Q(t / s) + (exp(a - t / b) Phi(t / s - s / b) - exp(a + t / b) Q(t / s + s / b)) / 2.
#
# The sum of Laplace variables of different scales b_j has the density sum of w_j (that of b_j), with w_j the product
# of b_j^2 / (b_j^2 - b_i^2) over i (partial fractions of the characteristic function). Scales that are nearly alike are
# moved apart, which makes the tail longer by a few parts in a thousand.

_APART, _NEGLIGIBLE, _NOTHING = 5e-4, 1e-3, np.zeros(1)


def beyond(t: Any, normal: Any, scales: Float64) -> Float64:
    """P(S + sum of E_j > t) of a normal error and of Laplace ones with `scales` along the last axis."""
    from scipy.special import log_ndtr, ndtr  # slow to import

    t, normal = np.asarray(t, dtype=float), np.asarray(normal, dtype=float)
    largest = scales.max(axis=-1, keepdims=True, initial=0.0)
    if not np.any(largest > _NEGLIGIBLE * normal[..., None]):
        scale = np.hypot(normal, math.sqrt(2) * np.sqrt(np.sum(scales**2, axis=-1)))
        return np.asarray(np.where(scale > 0, ndtr(-t / np.where(scale > 0, scale, 1.0)), t <= 0))
    apart = np.sort(np.maximum(scales, _NEGLIGIBLE * np.maximum(largest, 1e-300)), axis=-1)
    # weights of many scales are large and of both signs: these are moved farther apart
    step = 1 + max(_APART, 1e-12 ** (1 / max(apart.shape[-1] - 1, 1)) / 2)
    for j in range(1, apart.shape[-1]):
        apart[..., j] = np.maximum(apart[..., j], step * apart[..., j - 1])
    result = np.zeros(np.broadcast_shapes(t.shape, normal.shape, apart.shape[:-1]))
    for j in range(apart.shape[-1]):
        b, others = apart[..., j], np.delete(apart, j, axis=-1)
        weight = np.prod(1 / (1 - (others / b[..., None]) ** 2), axis=-1)
        if not np.any(normal):
            tail = np.exp(-np.abs(t) / b) / 2
            result += weight * np.where(t >= 0, tail, 1 - tail)
            continue
        s = np.maximum(normal, 1e-6 * b)
        z, ratio = t / s, s / b
        near = np.exp(ratio**2 / 2 - t / b + log_ndtr(z - ratio))
        far = np.exp(ratio**2 / 2 + t / b + log_ndtr(-z - ratio))
        result += weight * (ndtr(-z) + (near - far) / 2)
    return np.asarray(np.clip(result, 0.0, 1.0))


def laplace_sum_tail(t: float, normal: float, deviation: float) -> float:
    """A bound of P(S + E >= t) for E a sum of Laplace or normal variables, of which only the deviation is known.

    1 - a - b is at most (1 - a)(1 - b), so that the moment generating function of E is at most that of one Laplace
    variable of the same variance.
    """
    if t <= 0:
        return 1.0
    most = min(t / (normal**2 + deviation**2), math.sqrt(2) / deviation if deviation else math.inf)
    tried = (1 - np.geomspace(1e-6, 0.999, 400)) * most  # any argument gives a bound
    exponents = -tried * t + (tried * normal) ** 2 / 2 - np.log1p(-((tried * deviation) ** 2) / 2)
    return float(np.exp(min(exponents.min(), 0.0)))


def laplace_sum_reach(tail: float) -> float:
    """How many deviations such an E is at most on either side, except with that probability."""
    tried = np.arange(1.0, 60.0, 0.1)
    root = np.sqrt(1 + 2 * tried**2) - 1  # t times the best argument of the moment generating function
    bounds = 2 * tried**2 / root * np.exp(-root)
    return float(tried[np.argmax(bounds <= tail)]) if bounds[-1] <= tail else math.inf
