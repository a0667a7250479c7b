"""What privacy losses add up to, and which guarantees imply which.

Names load when they are first used, since people's own devices need a little of this and numpy alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ogive.accounting.composition import at_least, compose
    from ogive.accounting.conversions import (
        covers,
        delta_of,
        epsilon_of,
        gaussian_rho,
        in_terms_of,
        least_epsilon,
        pure_epsilon,
    )
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
    from ogive.accounting.randomized_responses import per_report_epsilon
    from ogive.accounting.shuffling import shuffled_epsilon

_HOME = {
    "as_concentrated": "pricing",
    "as_gaussian": "filters",
    "at_least": "composition",
    "compose": "composition",
    "covers": "conversions",
    "delta_of": "conversions",
    "delta_of_gaussian": "gaussian",
    "discrete_loss": "gaussian",
    "epsilon_of": "conversions",
    "epsilon_of_gaussian": "gaussian",
    "filled": "gaussian",
    "fits": "filters",
    "gaussian_grant": "gaussian",
    "gaussian_mu": "gaussian",
    "gaussian_rho": "conversions",
    "group_loss": "pricing",
    "in_terms_of": "conversions",
    "larger_loss": "pricing",
    "least_epsilon": "conversions",
    "loss_per_row": "pricing",
    "mismatch": "filters",
    "per_report_epsilon": "randomized_responses",
    "pure_epsilon": "conversions",
    "remaining": "filters",
    "shuffled_epsilon": "shuffling",
    "total_loss": "pricing",
}

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
    "in_terms_of",
    "larger_loss",
    "least_epsilon",
    "loss_per_row",
    "mismatch",
    "per_report_epsilon",
    "pure_epsilon",
    "remaining",
    "shuffled_epsilon",
    "total_loss",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"ogive.accounting.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
