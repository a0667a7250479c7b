"""Exact variance of a volume under the ROC surface of independent histograms.

The volume is a sum over chains of bins, one of each class, that never fall; m classes in a row in one bin weigh 1/m!.
Its square is a sum over pairs of chains, to which each class brings a factor of its own, of mean m_c m_c' + C_c for a
histogram with mean m_c and covariance C_c. Chains are followed class by class, by the bin that they are in and the
number of classes in a row that were in it; what the means alone give is left out at every step, so that nothing
cancels. Time is O(K^3 k^2).

Source: docs/proofs/hierarchy.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ogive.arrays import Float64

LARGEST = 4096
"""Most classes times bins: chains of ten classes in so many take 130 MB."""


def excess(means: Float64, covariances: Sequence[Float64]) -> float:
    """Mean of the squared volume of independent histograms less the squared volume of their means.

    Args:
        means: Of the shares of each class, lowest class first, shape (K, k).
        covariances: Of the shares of each class, shape (k, k) each. Where they are those of histograms it is the
            variance of the volume. With unbiased histograms as means and their covariances negated it is,
            on average, the squared volume of the true shares less that of the histograms.
    """
    bins = means.shape[1]
    # products of the means along one chain, and what covariances add to them along two
    chain, pair = np.ones((1, bins)), np.zeros((1, bins, 1, bins))
    for number, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
        if number:
            chain = _advanced(chain)
            pair = _advanced(_advanced(pair).transpose(2, 3, 0, 1))
        pair = pair * (np.outer(mean, mean) + covariance)[:, None]
        pair += np.multiply.outer(chain, chain) * covariance[:, None]
        chain = chain * mean
    return float(pair.sum())


def multinomial(shares: Float64, records: float) -> Float64:
    """Covariance of the shares of so many records that are drawn from a distribution, shape (k, k)."""
    return (np.diag(shares) - np.outer(shares, shares)) / records


def _advanced(chains: Float64) -> Float64:
    """Chains before their next class: it starts a new bin above, or joins the others in theirs.

    Args:
        chains: By the classes in a row, the bin, and whatever else, shape (runs, k, ...).
    """
    started = np.zeros_like(chains[:1])
    started[0, 1:] = np.cumsum(chains.sum(axis=0), axis=0)[:-1]
    rows = np.arange(2, len(chains) + 2).reshape(-1, *(1,) * (chains.ndim - 1))
    return np.concatenate([started, chains / rows])
