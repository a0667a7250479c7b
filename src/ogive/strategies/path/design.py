"""Choose the tree and the noise scale of path noise for a guarantee."""

from __future__ import annotations

from ogive.checks import among
from ogive.errors import ParameterError
from ogive.noise import DiscreteGaussian, DiscreteLaplace, round_up_root, round_up_scale
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.base import check_privacy
from ogive.strategies.path.constants import shift_cost
from ogive.strategies.path.l2 import fine_bits, grid_squared_shift, squared_shift
from ogive.strategies.path.strategy import PathNoise
from ogive.strategies.path.tree import PathTree, candidate_trees, uniform_tree


def design_path(
    size: int,
    *,
    privacy: PureDP | ZeroConcentratedDP,
    adjacency: Adjacency,
    base: int | None = None,
    root: bool | None = None,
    constants: str = "exact",
    gaussian: str = "fine",
) -> PathNoise:
    """Design path noise of least variance for a guarantee.

    Args:
        size: Number of bins, N.
        privacy: Guarantee for the whole answer; Laplace noise for PureDP, Gaussian for zCDP.
        adjacency: Which data sets are adjacent.
        base: Children per block; None compares 2, 3, 4, 5, 8, 16 and base 2 with a wide top.
        root: Whether the top block carries noise; None compares both.
        constants: "exact", or "paper" for those of the paper: base 2, all levels, L + 1 terms to
            hide a replaced record and ceil((L + 1) / 2) to hide an added one; the price of such a
            strategy (`loss`) is then below `privacy`.
        gaussian: "fine" uses a fine grid, on which the noise is as small as continuous Gaussian noise; "integer" adds
            whole numbers to counts and needs more noise.

    Returns:
        A strategy whose `loss(adjacency)` is at most `privacy`.

    Raises:
        ParameterError: an argument is out of range, or "paper" is combined with a tree.
    """
    check_privacy(privacy, adjacency)
    among(constants, "constants", ("exact", "paper"))
    among(gaussian, "gaussian", ("fine", "integer"))
    if constants == "paper":
        if base not in (None, 2) or root not in (None, True):
            raise ParameterError("the paper's constants are for base 2 with all levels; leave base and root out")
        tree = uniform_tree(size, 2)
        terms = tree.height + 1
        cost = terms if adjacency is Adjacency.REPLACE else -(-terms // 2)
        return PathNoise(tree, _law(privacy, cost, 1))
    tree = best_tree(candidate_trees(size, base=base, root=root), privacy, adjacency, gaussian=gaussian)
    return PathNoise(tree, *path_noise_law(tree, privacy, adjacency, gaussian=gaussian))


def best_tree(
    trees: tuple[PathTree, ...],
    privacy: PureDP | ZeroConcentratedDP,
    adjacency: Adjacency,
    *,
    gaussian: str,
) -> PathTree:
    """The tree of least variance per point; of equals the first."""

    def variance(tree: PathTree) -> float:
        if isinstance(privacy, PureDP):
            return tree.terms * shift_cost(tree, adjacency) ** 2
        if gaussian == "integer":
            return tree.terms * shift_cost(tree, adjacency)
        return round(tree.terms * squared_shift(tree, adjacency), 9)

    return min(trees, key=variance)


def path_noise_law(
    tree: PathTree,
    privacy: PureDP | ZeroConcentratedDP,
    adjacency: Adjacency,
    *,
    gaussian: str = "fine",
    change: int = 1,
) -> tuple[DiscreteLaplace | DiscreteGaussian, int]:
    """Noise that hides changes of the counts by up to `change`, and the fractional bits of its grid.

    Args:
        tree: The blocks that carry noise.
        privacy: What the whole answer may cost.
        adjacency: Which points change together.
        gaussian: "fine" or "integer", as for `design_path`.
        change: Largest change of every point that changes; a whole number from 1 up.
    """
    cost = shift_cost(tree, adjacency)
    if isinstance(privacy, PureDP) or gaussian == "integer":
        return _law(privacy, cost, change), 0
    bits = fine_bits(tree, adjacency, change)
    squared = grid_squared_shift(tree, adjacency, change << bits)
    return DiscreteGaussian(round_up_root(squared / (2 * privacy.rho))), bits


def _law(privacy: PureDP | ZeroConcentratedDP, terms: int, change: int) -> DiscreteLaplace | DiscreteGaussian:
    """Noise for shifts of `terms` nodes by up to `change` each."""
    if isinstance(privacy, PureDP):
        return DiscreteLaplace(round_up_scale(terms * change / privacy.epsilon))
    return DiscreteGaussian(round_up_root(terms * change * change / (2 * privacy.rho)))
