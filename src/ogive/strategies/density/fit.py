"""A smooth density fitted to noisy sums: a logistic Gaussian process, for one strength and smoothness of its prior.

    shares of groups   p = softmax(f),   f = polynomial of degree 2 + sum over k of c_k sqrt(2) cos(pi k t)
    prior              c_k normal with deviation tau k^-s; the polynomial's two coefficients of deviation 10
    fit                the largest product of prior and likelihood, by Gauss-Newton steps
    evidence           the probability of the measurements under the prior, by Laplace's approximation

Without the exponential the fit would be a smoothing spline; with it the density is positive, and a prior of one
smoothness suits both a peak and its tails.

Source:
    Leonard 1978; Tokdar and Ghosh 2007 (logistic Gaussian processes); MacKay 1992 (evidence).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ogive.arrays import Bool, Float64
from ogive.strategies.density.likelihood import Likelihood

TERMS = 96
_POLYNOMIAL = 10.0
_SMALLEST = 0.03  # terms of a smaller prior deviation are left out
_STEPS, _DONE = 40, 0.02
_SLOW = 0.3  # of the last gain: steps by an old curvature that gain less slowly than that are given up
_MOVED = 1.0  # gain of the objective after which the curvature is computed anew for the evidence


@dataclass(frozen=True)
class Prior:
    """How far log densities vary: deviation tau k^-s of the k-th cosine.

    Fields:
        smoothness: s.
        strength: tau.
    """

    smoothness: float
    strength: float


STIFF = Prior(3, 0.3)
PRIORS = (
    *(Prior(1, tau) for tau in (0.3, 1, 3, 10)),
    *(Prior(2, tau) for tau in (1, 3, 10, 30)),
    *(Prior(3, tau) for tau in (0.3, 1, 3, 10, 30, 0.02)),
)


@dataclass(frozen=True, eq=False)
class Smooth:
    """A fitted density, linearized: records in groups are about mass * shares + slopes @ (change of coefficients).

    Fields:
        prior: What was assumed.
        shares: Of each group, shape (G,).
        mass: Records of the smooth part.
        evidence: Logarithm, up to a constant of the measurements.
        coefficients: Of all terms, 0 where left out, shape (terms,).
        scaled: Coefficients of the terms kept, in prior deviations, shape (K,).
        slopes: Derivatives of the records by `scaled`, shape (G, K).
        pulled: The precision times the slopes, shape (G, K).
        factor: Cholesky factor of the curvature, shape (K, K).
        residual: What the measurements say against the fit, on average over a group, shape (G,).
    """

    prior: Prior
    shares: Float64
    mass: float
    evidence: float
    coefficients: Float64
    scaled: Float64
    slopes: Float64 = field(repr=False)
    pulled: Float64 = field(repr=False)
    factor: Float64 = field(repr=False)
    residual: Float64 = field(repr=False)


@lru_cache(maxsize=256)
def _terms(places: bytes, prior: Prior) -> tuple[Bool, Float64, Float64]:
    """Which terms are kept, their prior deviations, and their values at the groups times these, shape (G, K)."""
    t = np.frombuffer(places)
    k = np.arange(1, min(TERMS, len(t) - 1) + 1)
    deviations = np.concatenate([[_POLYNOMIAL] * 2, prior.strength * k ** -float(prior.smoothness)])
    values = np.column_stack([2 * t - 1, (2 * t - 1) ** 2, np.sqrt(2) * np.cos(np.pi * np.outer(t, k))])
    kept = deviations > _SMALLEST
    return kept, deviations[kept], values[:, kept] * deviations[kept]


def fit(likelihood: Likelihood, weighed: Float64, mass: float, prior: Prior, start: Float64 | None = None) -> Smooth:
    """Fit a density to what was measured.

    Args:
        likelihood: What was measured, and how noisily.
        weighed: b of the likelihood for the smooth part, on average over groups, shape (G,).
        mass: Its number of records.
        prior: Strength and smoothness.
        start: Coefficients of a fit with another prior, from which steps begin.

    Raises:
        LinAlgError: the noise is so small that the curvature cannot be factored.
    """
    from scipy.linalg import cho_factor, cho_solve  # slow to import

    kept, deviations, values = _terms(likelihood.middles.tobytes(), prior)
    precision, widths = likelihood.precision, likelihood.widths

    def at(scaled: Float64) -> tuple[float, Float64, Float64]:
        heights = values @ scaled
        shares = np.exp(heights - heights.max()) * widths
        shares /= shares.sum()
        met = mass * (precision @ shares)
        objective = mass * float(shares @ (met / 2 - weighed)) + float(scaled @ scaled) / 2
        return objective, shares, weighed - met

    def slopes_at(shares: Float64) -> tuple[Float64, Float64, Float64]:
        slopes = mass * shares[:, np.newaxis] * (values - shares @ values)
        pulled = precision @ slopes
        return slopes, pulled, slopes.T @ pulled + np.eye(values.shape[1])

    scaled = np.zeros(values.shape[1]) if start is None else start[kept] / deviations
    objective, shares, residual = at(scaled)
    linear, damping, gain, moved, fresh = slopes_at(shares), 0.0, 0.0, 0.0, True
    factor = cho_factor(linear[2])
    for _ in range(_STEPS):
        turned = shares * residual
        gradient = mass * (turned @ values - turned.sum() * (shares @ values)) - scaled
        tried = scaled + cho_solve(factor, gradient)
        found = at(tried)
        if not found[0] < objective:
            if fresh:  # too long a step: damp it, unless no step helps any more
                damping = max(8 * damping, 0.1)
                if damping > 1e6:
                    break
            else:
                linear, fresh, moved = slopes_at(shares), True, 0.0
            factor = cho_factor(linear[2] + damping * np.eye(len(scaled)))
            continue
        last, gain = gain, objective - found[0]
        scaled, (objective, shares, residual) = tried, found
        moved += gain
        if gain < _DONE:
            break
        if not fresh and gain > _SLOW * last:
            damping /= 8
            linear, fresh, moved = slopes_at(shares), True, 0.0
            factor = cho_factor(linear[2] + damping * np.eye(len(scaled)))
        else:
            fresh = False
    if moved > _MOVED:
        linear = slopes_at(shares)
    lower = np.asarray(np.linalg.cholesky(linear[2]), dtype=np.float64)
    coefficients = np.zeros(len(kept))
    coefficients[kept] = scaled * deviations
    return Smooth(
        prior=prior,
        shares=shares,
        mass=mass,
        evidence=-objective - float(np.log(np.diag(lower)).sum()),
        coefficients=coefficients,
        scaled=scaled,
        slopes=linear[0],
        pulled=linear[1],
        factor=lower,
        residual=residual,
    )
