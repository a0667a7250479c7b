"""Which unbiased strategies can serve a curve at a given price, and which is best.

The choice depends on the grid's size, the privacy, the adjacency and what the trust model
can do, never on the records, so it costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, get_args

from ogive.accounting import gaussian_rho, loss_per_row, pure_epsilon
from ogive.core.checks import among
from ogive.errors import ParameterError, ScaleError, UnsupportedError, quoted
from ogive.noise import too_much_noise
from ogive.privacy import Adjacency, ApproxDP, Privacy, PureDP, ZeroConcentratedDP
from ogive.strategies import (
    design_hats,
    design_path,
    design_ring,
    design_square_root,
    design_symmetric_root,
    design_tree,
)

if TYPE_CHECKING:
    from ogive.strategies import Strategy

UnbiasedMethod = Literal["path", "tree_ls", "hat_ls", "sqrt", "symmetric", "ring"]
UnbiasedName = Literal["auto", UnbiasedMethod]
UNBIASED_METHODS: tuple[UnbiasedMethod, ...] = get_args(UnbiasedMethod)
"""Methods that measure every threshold without bias; `ogive.statistics.methods.choose.METHODS` has all methods."""

Design = Callable[..., "Strategy"]
_PURE: dict[str, Design] = {"path": design_path, "tree_ls": design_tree, "hat_ls": design_hats}
_GAUSSIAN: dict[str, Design] = {
    **_PURE,
    "sqrt": design_square_root,
    "symmetric": design_symmetric_root,
    "ring": design_ring,
}
_BEST_UNDER = {"symmetric": Adjacency.ADD_OR_REMOVE, "ring": Adjacency.REPLACE}
"""Under which adjacency `auto` designs a method; under the other one `sqrt` has less variance."""
LARGEST_AUTOMATIC = 1 << 18
"""Thresholds up to which `auto` designs them; above, designs take seconds, and gain 3 percent."""

# Below it the pure guarantee would need noise of a scale above 2^47, whatever is measured.
_LEAST_RHO = Fraction(1, 1 << 95)


def grants(privacy: Privacy) -> tuple[PureDP | ZeroConcentratedDP, ...]:
    """The pure and the concentrated guarantees that imply the wanted one."""
    match privacy:
        case PureDP():
            return (privacy,)
        case ZeroConcentratedDP():
            return (privacy,) if privacy.rho < _LEAST_RHO else (privacy, pure_epsilon(privacy))
        case ApproxDP():
            return (gaussian_rho(privacy), pure_epsilon(privacy))


@lru_cache(maxsize=128)
def candidates(
    size: int, privacy: Privacy, adjacency: Adjacency, method: str = "auto", *, rows: int = 1
) -> tuple[Strategy, ...]:
    """Every strategy of that method (or all) that meets the guarantee, best predicted error first.

    Strategies that would need more noise than can be drawn are left out.
    """
    among(method, "method", ("auto", *UNBIASED_METHODS))
    results: list[Strategy] = []
    failed: list[tuple[PureDP | ZeroConcentratedDP, ScaleError]] = []
    for grant in grants(privacy):
        designs = _PURE if isinstance(grant, PureDP) else _GAUSSIAN
        wanted = automatic(size, adjacency) if method == "auto" else (method,)
        for name in (name for name in designs if name in wanted):
            try:
                results.append(designs[name](size, privacy=loss_per_row(grant, rows), adjacency=adjacency))
            except ScaleError as error:
                failed.append((grant, error))
    if failed and not results:
        raise too_much_noise(privacy, f"{size} threshold{'s' if size > 1 else ''}", failed)
    if not results:
        raise ParameterError(
            f"method {quoted(method)} cannot give {privacy} with Gaussian noise; use `ZeroConcentratedDP` or "
            "`ApproxDP`, or use `method='auto'`"
        )
    return tuple(sorted(results, key=lambda strategy: mean_variance(strategy, adjacency)))


def automatic(size: int, adjacency: Adjacency) -> tuple[UnbiasedMethod, ...]:
    """The methods among which "auto" looks for the least variance."""
    return tuple(
        name
        for name in UNBIASED_METHODS
        if name not in _BEST_UNDER or (adjacency is _BEST_UNDER[name] and size <= LARGEST_AUTOMATIC)
    )


def mean_variance(strategy: Strategy, adjacency: Adjacency) -> float:
    """Predicted mean squared error of the unsmoothed cumulative counts."""
    return float(strategy.variance(total_known=adjacency is Adjacency.REPLACE).mean())


def choose(
    size: int,
    privacy: Privacy,
    adjacency: Adjacency,
    method: str | Strategy,
    refusal: Callable[[Strategy], str | None],
    *,
    rows: int = 1,
) -> Strategy:
    """The strategy with the smallest predicted error that the trust model can serve."""
    if not isinstance(method, str):
        return fitting(method, size)
    return first_served(candidates(size, privacy, adjacency, method, rows=rows), refusal)


def fitting(strategy: Strategy, size: int) -> Strategy:
    """A designed strategy as it is."""
    if strategy.size != size:
        raise ParameterError(f"the strategy covers {strategy.size} thresholds but the grid has {size}")
    return strategy


def first_served(strategies: Iterable[Strategy], refusal: Callable[[Strategy], str | None]) -> Strategy:
    """The first strategy that the trust model can serve."""
    reason: str | None = None
    for strategy in strategies:
        reason = refusal(strategy)
        if reason is None:
            return strategy
    raise UnsupportedError(str(reason))
