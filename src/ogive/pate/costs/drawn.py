"""Scales and thresholds as they are drawn: integers take those that samplers accept, on the grid of the noise."""

from __future__ import annotations

from fractions import Fraction

from ogive.pate import asking
from ogive.pate.aggregators import ConfidentGNMax, GNMax
from ogive.pate.costs.exact import Check
from ogive.pate.costs.losing import SCALE_BITS, Noise

_VOTE = 2**SCALE_BITS


def drawn(aggregator: GNMax | ConfidentGNMax, noise: Noise) -> tuple[float, Check | None]:
    """Sigma of an answer's noise, and the check before it, both in votes.

    Args:
        aggregator: What is run.
        noise: Continuous noise has the stated scale; scaled noise has the next larger one that samplers accept, and
            its threshold is the next larger number of units.

    Raises:
        ParameterError: there is too little noise for integers to stand for continuous noise.
    """
    if isinstance(aggregator, GNMax):
        return _scale(aggregator.sigma, "sigma", noise), None
    threshold = aggregator.threshold
    if noise == "scaled":
        threshold = Fraction(asking.check(threshold, aggregator.sigma_1).threshold, _VOTE)
    check = Check(float(threshold), _scale(aggregator.sigma_1, "sigma_1", noise))
    return _scale(aggregator.sigma_2, "sigma_2", noise), check


def _scale(sigma: Fraction, name: str, noise: Noise) -> float:
    return float(asking.scaled(sigma, name).sigma / _VOTE if noise == "scaled" else sigma)
