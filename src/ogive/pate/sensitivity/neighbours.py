"""How far the chance of losing the plurality can move when one teacher changes its vote.

    B_U(q) = min((m-1)/2 erfc(erfcinv(2 q/(m-1)) - 1/sigma), 1)
    B_L(q) =     (m-1)/2 erfc(erfcinv(2 q/(m-1)) + 1/sigma)

Every gap between the first class and another changes by at most 2, which is 1/sigma in the argument of erfc;
`docs/proofs/pate_sensitivity.md` has the proof. Logs throughout: 5000 unanimous teachers have q far below the
smallest double.

Source: Papernot et al. 2018, proposition 27.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from ogive.arrays import Float64


def log_neighbour_bounds(log_q: Float64 | float, sigma: float, classes: int) -> tuple[Float64, Float64]:
    """Bound the chance q of losing the plurality at every neighbour of a histogram.

    Args:
        log_q: Natural log of q at the histogram, at most log(1 - 1/classes); any shape.
        sigma: Standard deviation of the noise of a count of votes.
        classes: At least 2.

    Returns:
        Natural logs of B_L(q) and B_U(q), the same shape.
    """
    rivals = math.log(classes - 1)
    place = ndtri_exp(np.asarray(log_q, np.float64) - rivals)
    shift = math.sqrt(2) / sigma
    low = rivals + log_ndtr(place - shift)
    high = np.minimum(rivals + log_ndtr(place + shift), 0.0)
    return np.asarray(low), np.asarray(high)
