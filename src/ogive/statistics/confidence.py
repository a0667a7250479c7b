"""What confidence intervals hold, which levels can be served, and how many simulations they take.

A quantile that leaves a tail a needs 1 / a simulations. Up to 0.9999 that is affordable on grids of ordinary size; on
very large ones the highest level is lower. What is not affordable is refused at once: no bound that needs no simulation
is known that would not be many times as wide.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal, get_args

from ogive.errors import ParameterError
from ogive.privacy import exact

Target = Literal["population", "sample"]
"""Whose value an interval holds: that of the population which the records were drawn from, or that of the records."""
TARGETS: tuple[Target, ...] = get_args(Target)

MOST_CONFIDENCE = Fraction(9999, 10_000)
MOST_VALUES = 400_000_000  # simulated noise values, about ten seconds, unless the usual simulations take more


def check_level(confidence_level: Any) -> Fraction:
    """Return a confidence level as an exact number."""
    level = exact(confidence_level, "confidence_level")
    if not 0 < level <= MOST_CONFIDENCE:
        raise ParameterError(
            f"`confidence_level` must be above 0 and at most {float(MOST_CONFIDENCE):g}, got {confidence_level}"
        )
    return level


def simulations_needed(level: Fraction, *, share: Fraction, nodes: int, usual: int) -> int:
    """Number of simulations from which a quantile for a share of the error probability can be read."""
    needed = math.ceil(1 / (share * (1 - level)))
    affordable = max(usual, MOST_VALUES // nodes)
    if needed > affordable:
        most = math.floor((1 - 1 / (share * affordable)) * 10_000) / 10_000
        raise ParameterError(
            f"`confidence_level` must be at most {most:g} on this many thresholds, got {float(level):g}; use fewer bins"
        )
    return max(usual, needed)
