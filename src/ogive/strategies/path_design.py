"""Choose the tree and the noise scale of path noise for a guarantee."""

from __future__ import annotations

from collections.abc import Callable

from ogive.errors import ParameterError
from ogive.noise import DiscreteGaussian, DiscreteLaplace, round_up_root, round_up_scale
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.path import PathNoise
from ogive.strategies.path_constants import shift_cost
from ogive.strategies.path_l2 import fine_bits, grid_squared_shift, squared_shift
from ogive.strategies.path_tree import PathTree, candidate_trees, uniform_tree


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
        privacy: What the whole answer may cost; Laplace noise for PureDP, Gaussian for zCDP.
        adjacency: Which data sets are adjacent.
        base: Children per block; None compares 2, 3, 4, 5, 8, 16 and base 2 with a wide top.
        root: Whether the top block carries noise; None compares both.
        constants: "exact", or "paper" for those of the paper: base 2, all levels, L + 1 terms to
            hide a replaced record and ceil((L + 1) / 2) to hide an added one; the price of such a
            strategy (`loss`) is then below `privacy`.
        gaussian: "fine" puts counts on a grid so fine that the noise is as small as with
            continuous Gaussian noise; "integer" adds whole numbers to counts and costs more.

    Returns:
        A strategy whose `loss(adjacency)` is at most `privacy`.

    Raises:
        ParameterError: an argument is out of range, or "paper" is asked together with a tree.
    """
    if constants not in ("exact", "paper"):
        raise ParameterError(f"constants must be exact or paper, got {constants!r}")
    if gaussian not in ("fine", "integer"):
        raise ParameterError(f"gaussian must be fine or integer, got {gaussian!r}")
    if constants == "paper":
        if base not in (None, 2) or root not in (None, True):
            raise ParameterError("the paper's constants are for base 2 with all levels; leave base and root out")
        tree = uniform_tree(size, 2)
        terms = tree.height + 1
        cost = terms if adjacency is Adjacency.REPLACE else -(-terms // 2)
        return PathNoise(tree, _law(privacy, cost))
    trees = candidate_trees(size, base=base, root=root)
    if isinstance(privacy, PureDP):
        tree = _best(trees, lambda tree: shift_cost(tree, adjacency) ** 2)
        return PathNoise(tree, _law(privacy, shift_cost(tree, adjacency)))
    if gaussian == "integer":
        tree = _best(trees, lambda tree: shift_cost(tree, adjacency))
        return PathNoise(tree, _law(privacy, shift_cost(tree, adjacency)))
    tree = _best(trees, lambda tree: squared_shift(tree, adjacency))
    bits = fine_bits(tree, adjacency)
    return PathNoise(tree, _law(privacy, grid_squared_shift(tree, adjacency, bits)), bits)


def _best(trees: tuple[PathTree, ...], squared_cost: Callable[[PathTree], float]) -> PathTree:
    """The tree of least variance per point; of equals the first."""
    return min(trees, key=lambda tree: round(tree.terms * squared_cost(tree), 9))


def _law(privacy: PureDP | ZeroConcentratedDP, cost: int) -> DiscreteLaplace | DiscreteGaussian:
    """Noise that hides integer shifts of L1 norm, or squared L2 norm, `cost`."""
    if isinstance(privacy, PureDP):
        return DiscreteLaplace(round_up_scale(cost / privacy.epsilon))
    return DiscreteGaussian(round_up_root(cost / (2 * privacy.rho)))
