"""When Algorithms 3 to 5 bound what they should: critical points, preconditions and condition C6.

All of it follows from public numbers: noise, order, classes and teachers. Where a condition fails, Algorithm 4 may give
less than the local sensitivity, and the range maximum of `ogive.pate.sensitivity.ranges` takes its place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ogive.pate.costs.gnmax import GnmaxBound
from ogive.pate.sensitivity.neighbours import log_neighbour_bounds

_POINTS = 4000
_REACH = 6.0
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Landmarks:
    """Critical points of one cost of GNMax, with its plateau.

    Fields:
        bound: The cost: beta rises in q below q0 and is order / sigma^2 from q0 on.
        classes: At least 2.
        log_q0: log q0.
        log_q1: log B_L(q0): from here on a neighbour may reach q0.
        log_q2: log B_U(q0): up to here a neighbour may come below q0.
        plateau: Local sensitivity between q1 and q0: the larger of beta(q0) - beta(q1), with the jump that beta may
            have at q0, and beta(q1) - beta(B_L(q1)).
    """

    bound: GnmaxBound
    classes: int
    log_q0: float
    log_q1: float
    log_q2: float
    plateau: float

    def unmet(self, log_unanimous: float) -> str | None:
        """Why Algorithms 3 to 5 do not hold, in words; None where they do.

        Args:
            log_unanimous: Log chance of losing the plurality where all teachers agree.
        """
        if not self.reached(log_unanimous):
            return "even unanimous votes cost what the noise alone does"
        if self.log_q0 > math.log(0.5):
            return "the critical chance q0 is above 1/2"
        if self.log_q2 >= 0:
            return "a neighbour of the critical chance q0 has no bound below 1"
        if not check_c6(self.bound, self.classes):
            return "condition C6 fails: the cost does not rise ever faster up to q1"
        return None

    def reached(self, log_unanimous: float) -> bool:
        """Whether any votes cost less than the noise alone does."""
        return log_unanimous < self.log_q0


@lru_cache(maxsize=256)
def landmarks(bound: GnmaxBound, classes: int) -> Landmarks:
    """Find the critical points of a cost."""
    low, high = log_neighbour_bounds(bound.log_q0, bound.sigma, classes)
    lower, _ = log_neighbour_bounds(low, bound.sigma, classes)
    at_q1, below_q1 = bound.beta(np.array([low, lower]))
    plateau = max(bound.independent - at_q1, at_q1 - below_q1)
    return Landmarks(bound, classes, bound.log_q0, float(low), float(high), float(plateau))


@lru_cache(maxsize=256)
def check_c6(bound: GnmaxBound, classes: int) -> bool:
    """Whether beta(B_U(q)) - beta(q) never falls in q up to q1, on a dense grid in sqrt(-log q).

    The grid is global, which a local minimiser of the derivative is not; what lies beyond six times its start is
    negligible.
    """
    low, _ = log_neighbour_bounds(bound.log_q0, bound.sigma, classes)
    root = math.sqrt(-float(low))
    log_q = -(np.linspace(root, _REACH * root, _POINTS) ** 2)
    _, high = log_neighbour_bounds(log_q, bound.sigma, classes)
    # B_U(q1) is q0 up to rounding, and must not meet the jump there
    high = np.minimum(high, bound.log_q0 * (1 + _ROUNDING))
    rise = bound.beta(high) - bound.beta(log_q)
    return bool(np.all(np.diff(rise) <= _ROUNDING * rise.max()))
