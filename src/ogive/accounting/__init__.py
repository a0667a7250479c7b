"""What privacy losses add up to, and which guarantees imply which."""

from ogive.accounting.conversions import covers, delta_of, epsilon_of, gaussian_rho, pure_epsilon
from ogive.accounting.pricing import group_loss, larger_loss, loss_per_row, total_loss

__all__ = [
    "covers",
    "delta_of",
    "epsilon_of",
    "gaussian_rho",
    "group_loss",
    "larger_loss",
    "loss_per_row",
    "pure_epsilon",
    "total_loss",
]
