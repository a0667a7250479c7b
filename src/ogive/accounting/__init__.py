"""What privacy losses add up to, and which guarantees imply which."""

from ogive.accounting.composition import at_least, compose
from ogive.accounting.conversions import covers, delta_of, epsilon_of, gaussian_rho, pure_epsilon
from ogive.accounting.filters import fits, mismatch, remaining
from ogive.accounting.pricing import group_loss, larger_loss, loss_per_row, total_loss

__all__ = [
    "at_least",
    "compose",
    "covers",
    "delta_of",
    "epsilon_of",
    "fits",
    "gaussian_rho",
    "group_loss",
    "larger_loss",
    "loss_per_row",
    "mismatch",
    "pure_epsilon",
    "remaining",
    "total_loss",
]
