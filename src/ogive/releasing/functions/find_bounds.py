"""Bounds of an array with unknown range."""

from __future__ import annotations

from typing import Any, Unpack

from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, Privacy
from ogive.records.missing_words import NaValues
from ogive.releasing.functions.calling import COLUMN, on_columns
from ogive.statistics.bounds.estimate import BoundsEstimate
from ogive.statistics.bounds.statistic import Bounds, BoundsOptions
from ogive.statistics.options import takes_options_of
from ogive.trust import Central, TrustOf


@takes_options_of(Bounds, BoundsOptions)
def find_bounds(
    values: Any,
    *,
    privacy: Privacy | None = None,
    adjacency: Adjacency = Adjacency.REPLACE,
    trust: TrustOf = Central,
    source: RandomSource | None = None,
    na_values: NaValues = (),
    **options: Unpack[BoundsOptions],
) -> BoundsEstimate:
    """Find bounds of an array with unknown range, at a privacy cost.

    Args:
        values: Numbers, shape (n,); one row per person.
        privacy: The guarantee for the bounds; later releases within the bounds cost extra.
        adjacency: REPLACE (n is public) or ADD_OR_REMOVE (n is private).
        trust: Trust model: its type or name, such as `Local` or "local", or a `Simulation`.
        source: Source of the noise key; by default the operating system.
        na_values: Texts and numbers that mark a missing value of a measured column, besides words such as NA.

    Raises:
        ParameterError, DataError: as `release`.

    Privacy:
        `privacy` for the stated adjacency, under the trust model's assumption.

    Example:
        >>> import numpy as np, ogive
        >>> incomes = np.random.default_rng(1).lognormal(10, 0.5, size=50_000)
        >>> found = ogive.find_bounds(incomes, privacy=ogive.PureDP(1))
        >>> bool(0 < found.low < np.quantile(incomes, 0.01) and np.quantile(incomes, 0.99) < found.high < 2**20)
        True
    """
    return on_columns(
        Bounds(COLUMN, **options),
        {COLUMN: values},
        privacy=privacy,
        adjacency=adjacency,
        trust=trust,
        source=source,
        na_values=na_values,
    )
