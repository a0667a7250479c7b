"""The exact Renyi cost of a step with Gaussian noise: the output laws at the votes and at every neighbour of them.

For continuous noise; for the integers that are deployed an upper bound that is hardly above, from the same integrals.

Class i wins with chance

    p_i(n) = integral of phi((x - n_i) / sigma) prod_{j != i} Phi((x - n_j) / sigma) dx / sigma,

and a neighbour n - e_a + e_c changes two factors of the integrand. So with E_i the integrand at n, and the ratios of
factors shifted by one vote as weights, the chances at all m (m - 1) neighbours are sums of products on one grid,
which follows the mass of each class wherever it lies (a losing class's is half a gap from its own count). The sums
are spectrally accurate: with a step of a tenth of sigma their relative error is about e^(-200 pi^2 / m).

With a check the step has classes + 1 outcomes: no answer, or the check passed and a class. Chances and costs keep
their relative precision: the first class's chance is the complement of the others, and a sum near 1 is added up as
what it gains.

Source:
    Specification of the law: Papernot et al. 2018, Section 4.1; the cost and its precision: docs/proofs/pate_costs.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ogive.arrays import Float64, Int64
from ogive.checks import array_of
from ogive.errors import UnsupportedError
from ogive.pate.costs.integer_noise import tails_of_check
from ogive.pate.costs.largest_divergence import most_divergent
from ogive.pate.costs.losing import check_scale
from ogive.pate.costs.orders import check_orders
from ogive.pate.costs.output_laws import SIDE, Tables

MOST_CLASSES = 60
"""Most classes whose neighbours are all visited; the work grows with the cube of the classes."""

LEAST_SIGMA = 0.25
"""Least noise: below it one vote moves the law by more than floating point can hold."""

_LARGEST_RATIO = 600.0


class Check(NamedTuple):
    """A threshold check before an answer: votes that the highest count must reach with noise of sigma_1."""

    threshold: float
    sigma_1: float


def is_feasible(teachers: int, classes: int, sigma: float) -> bool:
    """Whether exact costs can be computed; depends on public numbers only."""
    far = (teachers + SIDE * sigma) / sigma**2
    return classes <= MOST_CLASSES and sigma >= LEAST_SIGMA and far <= _LARGEST_RATIO


def rdp_exact(
    votes: ArrayLike,
    sigma: float,
    orders: ArrayLike,
    *,
    check: Check | None = None,
    two_sided: bool = False,
    unit: float = 0.0,
) -> Float64:
    """Largest Renyi divergence from the output law at the votes to that at a neighbour.

    Exact for continuous noise. For discrete Gaussian noise on a grid, the first of equal counts winning, it is an
    upper bound, above the exact cost by some units of a vote, relatively: about 0.0001 at 2^-16 and sigma 40.

    Args:
        votes: Whole counts, shape (queries, classes), each row with the same sum.
        sigma: Standard deviation of the noise of every count.
        orders: Increasing orders above 1.
        check: The threshold check of the step, if there is one.
        two_sided: Whether divergences from neighbours to the votes count too.
        unit: Grid of the noise in votes, 2^-16 as deployed; 0 for continuous noise.

    Returns:
        Shape (queries, orders).

    Raises:
        ParameterError: sigma or an order is out of range.
        UnsupportedError: more than `MOST_CLASSES` classes, or too little noise for so many teachers.

    Privacy:
        From the data set held to every neighbour (and back). The costs depend on private votes, and no smooth bound
        on their sensitivity is known: they must not be published.
    """
    counts = array_of(votes, np.int64)
    grid = check_orders(orders)
    tables = _tables(counts, sigma, unit)
    ordered, places = np.unique(-np.sort(-counts, axis=1), axis=0, return_inverse=True)
    found = np.zeros((ordered.shape[0], grid.size))
    if ordered.size:
        heights = np.arange(-1, int(ordered.max()) + 2)
        if check is None:
            tails = np.repeat([[0], [-np.inf], [0], [0]], heights.size, axis=1)
        else:
            tails = tails_of_check(heights, check.threshold, check.sigma_1, unit=unit)
        most_divergent(ordered, tables, tails, grid, two_sided, found)
    return found[places.reshape(-1)]


def _tables(counts: Int64, sigma: float, unit: float) -> Tables:
    check_scale(sigma, "sigma")
    classes = counts.shape[1]
    teachers = int(counts[0].sum()) if counts.shape[0] else 0
    if classes > MOST_CLASSES:
        raise UnsupportedError(f"exact costs are for at most {MOST_CLASSES} classes, got {classes}; use mode joint")
    if not is_feasible(teachers, classes, sigma):
        least = max(LEAST_SIGMA, _least_sigma(teachers))
        raise UnsupportedError(
            f"exact costs of {teachers} teachers need sigma of at least {least:.3g}, got {sigma:g}; use mode joint"
        )
    return Tables.make(teachers, sigma, float(unit))


def _least_sigma(teachers: int) -> float:
    """The root of teachers + SIDE sigma = `_LARGEST_RATIO` sigma^2."""
    return (SIDE + math.sqrt(SIDE**2 + 4 * _LARGEST_RATIO * teachers)) / (2 * _LARGEST_RATIO)
