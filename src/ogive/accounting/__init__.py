"""What privacy losses add up to, and which guarantees imply which."""

from ogive.accounting.conversions import covers, delta_of, epsilon_of, gaussian_rho, pure_epsilon
from ogive.accounting.pricing import total_loss

__all__ = ["covers", "delta_of", "epsilon_of", "gaussian_rho", "pure_epsilon", "total_loss"]
