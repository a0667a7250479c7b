"""The price of publishing a number with Gaussian noise scaled to its smooth sensitivity, and rules of thumb.

F + SS sigma_SS N(0, 1), where SS bounds the local sensitivity of F and changes by at most a factor e^b between
neighbours, has at order lam exactly the Renyi cost of `gnss_rdp`; `docs/proofs/pate_sensitivity.md` has the proof. The
formula that Papernot et al. 2018 print as Theorem 6 is smaller than the truth for the parameters they use, and is
here for reproduction only.
"""

from __future__ import annotations

import math

from ogive.errors import ParameterError

SMOOTHNESS_TIMES_ORDER = 0.35
"""Near the optimum under the right cost on real votes of several data sets."""

SCALE_FACTOR = 2.0
"""Smallest total plus two standard deviations on real votes."""


def gnss_rdp(order: float, smoothness: float, scale: float) -> float:
    """Renyi cost of a release with noise of `scale` times a smooth sensitivity, in both directions.

    Args:
        order: Renyi order lam.
        smoothness: b of the smooth sensitivity, above 0.
        scale: sigma_SS, the noise's standard deviation in units of the smooth sensitivity; above 0.

    Returns:
        The largest Renyi divergence between two such releases; the bound is attained.

    Raises:
        ParameterError: smoothness or scale is not above 0, or not 1 < order < 1 / (1 - e^(-2 smoothness)).
    """
    check_smoothness(order, smoothness)
    check_scale(scale)
    left = _left(order, smoothness)
    # 1 - lam + lam e^{-2b} = e^{-2b} (lam - (lam - 1) e^{2b}), written to keep digits where b is small
    spread = -2 * smoothness + math.log(left)
    return order / (2 * scale**2 * left) - (order * smoothness + spread / 2) / (order - 1)


def gnss_rdp_printed(order: float, smoothness: float, scale: float) -> float:
    """Theorem 6 of Papernot et al. 2018 as printed. FALSE where order * smoothness is above about 1/4.

    For tables that show the paper's numbers beside the right ones; no release may be priced by it.

    Raises:
        ParameterError: smoothness or scale is not above 0, or not 1 < order < 1 / (2 smoothness).
    """
    if not (smoothness > 0 and 1 < order < 1 / (2 * smoothness)):
        raise ParameterError(
            f"the printed formula needs 1 < order < 1 / (2 smoothness), got order {order:g}, smoothness {smoothness:g}"
        )
    check_scale(scale)
    shift = order * math.exp(2 * smoothness) / scale**2
    return shift + (smoothness * order - math.log(1 - 2 * order * smoothness) / 2) / (order - 1)


def limit_rdp(order: float, tau: float) -> float:
    """Renyi cost of publishing log SS + b tau N(0, 1): log SS changes by at most b between neighbours."""
    return order / (2 * tau**2)


def check_smoothness(order: float, smoothness: float) -> None:
    """Refuse a smoothness for which noise at this order has no finite cost.

    Raises:
        ParameterError: smoothness is not above 0, or not 1 < order < 1 / (1 - e^(-2 smoothness)).
    """
    if not 0 < smoothness < math.inf:
        raise ParameterError(f"`smoothness` must be above 0, got {smoothness:g}")
    largest = -1 / math.expm1(-2 * smoothness)
    if not 1 < order < largest:
        raise ParameterError(
            f"`order` must be above 1 and below 1 / (1 - e^(-2 smoothness)) = {largest:.6g}, got {order:g}"
        )


def check_scale(scale: float) -> None:
    """Refuse noise of no or infinite width.

    Raises:
        ParameterError: scale is not above 0.
    """
    if not 0 < scale < math.inf:
        raise ParameterError(f"`scale` must be above 0, got {scale:g}")


def rule_of_order(planned_epsilon: float, target_delta: float) -> float:
    """The order at which half of a planned epsilon goes to delta, to the nearest half.

    Privacy:
        Plan epsilon from public numbers: an order that was chosen on the votes tells of them.
    """
    return max(1.5, round(2 * (1 + 2 * math.log(1 / target_delta) / planned_epsilon)) / 2)


def rule_of_smoothness(order: float) -> float:
    """Smoothness 0.35 / order."""
    return SMOOTHNESS_TIMES_ORDER / order


def rule_of_scale(order: float, smoothness: float, planned_epsilon: float, *, factor: float = SCALE_FACTOR) -> float:
    """Width of the noise whose cost is in proportion to a planned epsilon.

    factor * sqrt((order + 1) / epsilon) is the paper's rule, with factors 2 to 4; sqrt(kappa) keeps what it aims at
    under the right cost.

    Raises:
        ParameterError: see `gnss_rdp`.
    """
    check_smoothness(order, smoothness)
    kappa = order / (2 * (order + 1) * _left(order, smoothness))
    return factor * math.sqrt((order + 1) / planned_epsilon * kappa)


def _left(order: float, smoothness: float) -> float:
    """Lam - (lam - 1) e^{2b}, in (0, 1]."""
    return 1 - (order - 1) * math.expm1(2 * smoothness)
