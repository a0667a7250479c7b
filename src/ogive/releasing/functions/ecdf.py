"""The distribution function of an array."""

from __future__ import annotations

from typing import Any, Unpack

from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, Privacy
from ogive.records.missing_words import NaValues
from ogive.releasing.functions.calling import COLUMN
from ogive.releasing.release import on_columns
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.ecdf.statistic import Ecdf, EcdfOptions
from ogive.statistics.options import takes_options_of
from ogive.trust import Central, TrustOf


@takes_options_of(Ecdf, EcdfOptions)
def ecdf(
    values: Any,
    *,
    privacy: Privacy | None = None,
    adjacency: Adjacency = Adjacency.REPLACE,
    trust: TrustOf = Central,
    batch: str | None = None,
    source: RandomSource | None = None,
    na_values: NaValues = (),
    **options: Unpack[EcdfOptions],
) -> Curve:
    """Release the whole distribution function of an array.

    Args:
        values: Numbers or dates, shape (n,); one row per person.
        privacy: The guarantee for the whole curve and everything derived from it.
        adjacency: REPLACE (n is public) or ADD_OR_REMOVE (n is private).
        trust: Trust model: its type or name, such as `Local` or "local", or a `Simulation`.
        batch: Public name of these records, for merging curves.
        source: Source of the noise key; by default the operating system.
        na_values: Texts and numbers that mark a missing value of a measured column, besides words such as NA.

    Raises:
        ParameterError, DataError: as `release`.

    Privacy:
        `privacy` for the stated adjacency, under the trust model's assumption.

    Example:
        >>> import numpy as np, ogive
        >>> ages = np.random.default_rng(1).integers(18, 90, size=20_000)
        >>> curve = ogive.ecdf(ages, bounds=(0, 120), bins=120, privacy=ogive.PureDP(1))
        >>> bool(abs(curve(65) - np.mean(ages <= 65)) < 0.02)
        True
    """
    return on_columns(
        Ecdf(COLUMN, **options), {COLUMN: values}, privacy, adjacency, trust, source, na_values, batch=batch
    )
