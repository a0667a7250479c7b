"""Quantiles of an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from ogive.functions.calling import COLUMN, on_columns
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, Privacy
from ogive.records.missing_words import NaValues
from ogive.statistics.options import takes_options_of
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.quantiles.statistic import DECILES, Quantiles, QuantilesOptions
from ogive.trust import Central, TrustOf


@takes_options_of(Quantiles, QuantilesOptions)
def quantiles(
    values: Any,
    probabilities: Sequence[float] = DECILES,
    *,
    privacy: Privacy | None = None,
    adjacency: Adjacency = Adjacency.REPLACE,
    trust: TrustOf = Central,
    source: RandomSource | None = None,
    na_values: NaValues = (),
    **options: Unpack[QuantilesOptions],
) -> QuantileEstimates:
    """Release quantiles of an array with simultaneous intervals.

    Args:
        values: Numbers or dates, shape (n,); one row per person.
        probabilities: Probabilities of the quantiles, each in [0, 1]; by default the nine deciles.
        privacy: The guarantee for all quantiles together.
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
        >>> result = ogive.quantiles(incomes, [0.5], bounds=(0, 200_000), privacy=ogive.PureDP(1))
        >>> bool(abs(result.values[0] / np.median(incomes) - 1) < 0.05)
        True
    """
    return on_columns(
        Quantiles(COLUMN, probabilities, **options),
        {COLUMN: values},
        privacy=privacy,
        adjacency=adjacency,
        trust=trust,
        source=source,
        na_values=na_values,
    )
