"""What privacy losses add up to, and which guarantees imply which."""

from ogive.accounting.composition import at_least, compose
from ogive.accounting.conversions import covers, delta_of, epsilon_of, gaussian_rho, pure_epsilon
from ogive.accounting.filters import as_gaussian, fits, mismatch, remaining
from ogive.accounting.gaussian import (
    delta_of_gaussian,
    discrete_loss,
    epsilon_of_gaussian,
    filled,
    gaussian_grant,
    gaussian_mu,
)
from ogive.accounting.pricing import as_concentrated, group_loss, larger_loss, loss_per_row, total_loss

__all__ = [
    "as_concentrated",
    "as_gaussian",
    "at_least",
    "compose",
    "covers",
    "delta_of",
    "delta_of_gaussian",
    "discrete_loss",
    "epsilon_of",
    "epsilon_of_gaussian",
    "filled",
    "fits",
    "gaussian_grant",
    "gaussian_mu",
    "gaussian_rho",
    "group_loss",
    "larger_loss",
    "loss_per_row",
    "mismatch",
    "pure_epsilon",
    "remaining",
    "total_loss",
]
