"""What a check and an answer cost together: four ways to count, of which two are bounds.

- `joint`: the step as one mechanism with classes + 1 outcomes. A bound for every neighbour, from the data set held to
  it.
- `joint_two_sided`: the same, and from every neighbour to the data set held.
- `realised`: the check always, the answer where there was one. A bound on the realised loss at one order fixed
  before.
- `expected`: the paper's average over passing. Not a bound, since the log of a mean is not the mean of logs.

The votes enter as the highest count, which a teacher moves by at most 1, and as the cost of an answer.

Source:
    Papernot et al. 2018, Section 4.3; proofs: docs/proofs/pate_costs.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ogive.arrays import Float64
from ogive.errors import ParameterError
from ogive.pate.costs.losing import Noise
from ogive.pate.costs.orders import check_orders
from ogive.pate.costs.threshold import check_tails, gain


def joint(
    highest: ArrayLike,
    threshold: float,
    sigma_1: float,
    answers: ArrayLike,
    orders: ArrayLike,
    *,
    group: int = 1,
    noise: Noise = "continuous",
) -> Float64:
    """Renyi cost of each query, check and answer as one mechanism.

    Args:
        highest: Highest counts, shape (queries,).
        threshold: Votes that the count must reach with noise.
        sigma_1: Of the check's noise.
        answers: Bounds on what an answer costs, shape (queries, orders) or (orders,).
        orders: Increasing orders above 1.
        group: Number of teachers of one party.
        noise: Of the check.

    Returns:
        Shape (queries, orders).

    Privacy:
        From the data set held to every neighbour only. The costs depend on private votes.
    """
    return _largest(highest, threshold, sigma_1, answers, orders, moves=(-group, group), noise=noise)


def joint_two_sided(
    highest: ArrayLike,
    threshold: float,
    sigma_1: float,
    answers: ArrayLike,
    orders: ArrayLike,
    *,
    group: int = 1,
    noise: Noise = "continuous",
) -> Float64:
    """Renyi cost of each query that holds in both directions.

    Args:
        highest: As for `joint`.
        threshold: As for `joint`.
        sigma_1: As for `joint`.
        answers: Bounds on what an answer costs at the votes and at every neighbour of them: beta(B_U(q)).
        orders: As for `joint`.
        group: As for `joint`.
        noise: As for `joint`.

    Returns:
        Shape (queries, orders).

    Privacy:
        Between the data set held and every neighbour. The costs depend on private votes.
    """
    there = _largest(highest, threshold, sigma_1, answers, orders, moves=(-group, group), noise=noise)
    # the neighbour's highest count is any whole number in between
    moves = tuple(range(-group, group + 1))
    back = _largest(highest, threshold, sigma_1, answers, orders, moves=moves, noise=noise, reverse=True)
    return np.maximum(there, back)


def expected(check: Float64, log_pass: Float64, answers: Float64) -> Float64:
    """The paper's expected cost: what a check costs plus the chance of passing times what an answer costs."""
    return check + np.exp(log_pass)[:, None] * answers


def realised(check: Float64, answered: ArrayLike, answers: Float64) -> Float64:
    """What was paid: the check for each query, the answer where there was one."""
    return check + np.asarray(answered, dtype=bool)[:, None] * answers


def _largest(
    highest: ArrayLike,
    threshold: float,
    sigma_1: float,
    answers: ArrayLike,
    orders: ArrayLike,
    *,
    moves: tuple[int, ...],
    noise: Noise,
    reverse: bool = False,
) -> Float64:
    """The largest divergence over neighbours' highest counts, as 1 plus what each outcome gains, where it is small."""
    grid = check_orders(orders)
    counts = np.atleast_1d(np.asarray(highest, dtype=np.float64))
    paid = np.asarray(answers, dtype=np.float64) * (grid - 1)
    if paid.shape not in ((grid.size,), (counts.size, grid.size)):
        raise ParameterError(f"`answers` must have shape (queries, orders), got {np.shape(answers)}")
    values, places = np.unique(counts, return_inverse=True)
    found = np.zeros((counts.size, grid.size))
    for move in moves:
        here = check_tails(values, threshold, sigma_1, noise=noise)
        there = check_tails(values + move, threshold, sigma_1, noise=noise)
        if reverse:
            here, there = there, here
        passes, refuses = ((grid - 1) * (one - other)[:, None] for one, other in zip(here, there, strict=True))
        log_pass, log_refuse = here[0][:, None], here[1][:, None]
        refused = gain(log_refuse, refuses)
        power = passes[places] + paid
        logs = np.logaddexp((log_refuse + refuses)[places], log_pass[places] + power)
        # near 0 by the gains, elsewhere by the logs, which do not overflow
        small = logs < 0.5
        logs[small] = np.log1p(refused[places][small] + gain(log_pass[places], power)[small])
        np.maximum(found, logs / (grid - 1), out=found)
    return found
