"""One call on an array: a trusted curator releases one statistic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ogive.grids import Bound, Grid
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, Privacy
from ogive.releasing import release
from ogive.statistics.ecdf import DEFAULT_BINS, Ecdf
from ogive.statistics.quantiles import DECILES, Quantiles
from ogive.trust import Central

if TYPE_CHECKING:
    from ogive.statistics.curve import Curve
    from ogive.statistics.quantiles import QuantileEstimates
    from ogive.strategies import Strategy

COLUMN = "value"


def ecdf(
    values: Any,
    *,
    privacy: Privacy,
    bounds: tuple[Bound, Bound] | None = None,
    bins: int = DEFAULT_BINS,
    grid: Grid | str = "linear",
    adjacency: Adjacency = Adjacency.REPLACE,
    method: str | Strategy = "auto",
    smooth: str = "auto",
    missing: str = "refuse",
    source: RandomSource | None = None,
) -> Curve:
    """Release the whole distribution function of an array.

    Args:
        values: Numbers or dates, shape (n,); one row per person.
        privacy: The guarantee for the whole curve and everything read off it.
        bounds: Smallest and largest possible value, public; values outside are clipped.
        bins: Number of thresholds, 1 to 2^24.
        grid: "linear", "geometric", "integers", or a `Grid` instead of bounds and bins.
        adjacency: REPLACE (n is public) or ADD_OR_REMOVE (n is private).
        method: "auto", "path", "tree_ls", "hat_ls", "sqrt", or a designed strategy.
        smooth: "auto", "shrinkage", "least_squares", "least_absolute" or "isotonic".
        missing: "refuse", "low", "high", or "drop" (ADD_OR_REMOVE only).
        source: Where the noise key comes from; the operating system by default.

    Raises:
        ParameterError, DataError: as `release`.

    Privacy:
        `privacy` for the stated adjacency, under a trusted curator.

    Example:
        >>> import numpy as np, ogive
        >>> ages = np.random.default_rng(1).integers(18, 90, size=20_000)
        >>> curve = ogive.ecdf(ages, bounds=(0, 120), bins=120, privacy=ogive.PureDP(1))
        >>> bool(abs(curve(65) - np.mean(ages <= 65)) < 0.02)
        True
    """
    statistic = Ecdf(COLUMN, bounds, bins=bins, grid=grid, method=method, smooth=smooth, missing=missing)
    return release(statistic, trust=Central({COLUMN: values}), privacy=privacy, adjacency=adjacency, source=source)


def quantiles(
    values: Any,
    probabilities: Sequence[float] = DECILES,
    *,
    privacy: Privacy,
    bounds: tuple[Bound, Bound] | None = None,
    bins: int = DEFAULT_BINS,
    grid: Grid | str = "linear",
    adjacency: Adjacency = Adjacency.REPLACE,
    method: str | Strategy = "auto",
    missing: str = "refuse",
    source: RandomSource | None = None,
) -> QuantileEstimates:
    """Release quantiles of an array with simultaneous intervals.

    Args:
        values: Numbers or dates, shape (n,); one row per person.
        probabilities: Which quantiles, each in [0, 1]; nine deciles by default.
        privacy: The guarantee for all quantiles together, however many.
        bounds: Smallest and largest possible value, public; values outside are clipped.
        bins: Number of thresholds, 1 to 2^24.
        grid: "linear", "geometric", "integers", or a `Grid` instead of bounds and bins.
        adjacency: REPLACE (n is public) or ADD_OR_REMOVE (n is private).
        missing: "refuse", "low", "high", or "drop" (ADD_OR_REMOVE only).
        source: Where the noise key comes from; the operating system by default.
        method: "auto" (from a whole curve), "bisection" (opens only the points it visits), or a
            method or strategy as for `ecdf`.

    Raises:
        ParameterError, DataError: as `release`.

    Privacy:
        `privacy` for the stated adjacency, under a trusted curator.

    Example:
        >>> import numpy as np, ogive
        >>> incomes = np.random.default_rng(1).lognormal(10, 0.5, size=50_000)
        >>> result = ogive.quantiles(incomes, [0.5], bounds=(0, 200_000), privacy=ogive.PureDP(1))
        >>> bool(abs(result.values[0] / np.median(incomes) - 1) < 0.05)
        True
    """
    statistic = Quantiles(COLUMN, probabilities, bounds=bounds, bins=bins, grid=grid, method=method, missing=missing)
    return release(statistic, trust=Central({COLUMN: values}), privacy=privacy, adjacency=adjacency, source=source)
