"""A curve of a histogram whose noise somebody else added, such as what a DAP collection results in."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ogive import columns, noise, privacy, provenance, queries
from ogive.columns.grids import Bound, Grid, GridName
from ogive.core.checks import array_of, whole
from ogive.errors import ParameterError
from ogive.noise.base import Law
from ogive.statistics.base import Terms
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.ecdf.statistic import make_grid
from ogive.statistics.methods.base import curve_from
from ogive.strategies.tree import LeastSquaresTree

TRUST = "servers"
MOST_PARTIES = 16
_MOST_COUNT = 1 << 53
_RELEASE_ID_DIGITS = 32


def curve_from_counts(
    counts: ArrayLike,
    *,
    bounds: tuple[Bound, Bound] | None = None,
    grid: Grid | GridName = "linear",
    scale: privacy.Rational | None = None,
    sigma: privacy.Rational | None = None,
    parties: int = 2,
    total: int | None = None,
    adjacency: privacy.Adjacency = privacy.Adjacency.ADD_OR_REMOVE,
    column: str = "value",
    batch: str | None = None,
) -> Curve:
    """Make a distribution function of noisy counts that others released, such as the result of a DAP collection.

    The counts are those of disjoint bins, in each of which every record counts once at most (in DAP, `Prio3Histogram`),
    and each party added independent noise of one law to every count, as the parties state. Nothing of this can
    be verified from the counts; the curve says so.

    Args:
        counts: Noisy counts of the bins, whole numbers, shape (N,); they may be negative.
        bounds: Smallest and largest possible value, between which the bins lie; needed unless `grid` is a Grid.
        grid: "linear", "geometric", "integers", for dates "days" and so on, or a `Grid` of N bins.
        scale: Scale of each party's discrete Laplace noise.
        sigma: Standard deviation of each party's discrete Gaussian noise, instead of a scale.
        parties: How many parties added noise; both aggregators in DAP.
        total: The exact number of records, where it is public; under `REPLACE` alone.
        adjacency: Which data sets the noise hides from each other.
        column: What was counted.
        batch: Public name of these records, for merging curves.

    Returns:
        A curve with bands, quantiles and intervals that count the noise of all parties.

    Raises:
        ParameterError: an argument is out of range, or arguments do not fit each other.

    Privacy:
        Post-processing. The price that the curve states follows from the stated noise of one party, which has to be
        honest.

    Source:
        The mean of independent noisy counts and its covariance; RFC drafts on distributed aggregation (DAP) and
        verifiable distributed aggregation functions (VDAF) for what is counted.

    Example:
        >>> import ogive
        >>> curve = ogive.curve_from_counts([103, 251, 402, 198, 51], bounds=(0, 50), scale=2)
        >>> curve.quantile(0.5)
        30.0
    """
    values = _whole_counts(counts)
    adjacency = privacy.check_adjacency(adjacency)
    whole(parties, "parties", 1, MOST_PARTIES)
    if (adjacency is privacy.Adjacency.REPLACE) != (total is not None):
        raise ParameterError("`total` is the number of records where it is public, which is so under REPLACE alone")
    if total is not None:
        whole(total, "total", 1, _MOST_COUNT)
    points = make_grid(bounds, values.size, grid)
    if points.bins != values.size:
        raise ParameterError(f"the grid has {points.bins} bins, and there are {values.size} counts")
    law, price = _noise(scale, sigma, changed=2 if adjacency is privacy.Adjacency.REPLACE else 1)
    strategy = LeastSquaresTree(values.size, (1,), (law,))
    answer = queries.Answer(values, None if total is None else (total,), adding=parties)
    unit = privacy.PrivacyUnit(adjacency)
    terms = Terms(price, unit, lambda query: None)
    curve = curve_from(answer, columns.Binning(column, points), strategy, terms, "auto")
    digest = hashlib.sha256(
        b"ogive noisy counts\n" + values.astype("<i8").tobytes() + repr((strategy, parties)).encode()
    )
    return curve.with_provenance(
        provenance.Provenance(
            release_id=digest.hexdigest()[:_RELEASE_ID_DIGITS],
            statistic="ecdf",
            method=strategy.name,
            privacy=price,
            price=price,
            adjacency=adjacency,
            trust=TRUST,
            assumption=_assumption(parties),
            total=total,
            batch=batch,
        )
    )


def _whole_counts(counts: ArrayLike) -> Any:
    """Counts as int64."""
    result = array_of(counts)
    if result.ndim != 1 or not result.size:
        raise ParameterError(f"`counts` must be a list of noisy counts, one for each bin, got shape {result.shape}")
    if result.dtype.kind == "f" and np.isfinite(result).all() and (result == np.round(result)).all():
        result = result.astype(np.int64)
    if result.dtype.kind not in "iu" or int(np.abs(result).max()) > _MOST_COUNT:
        raise ParameterError("`counts` must be whole numbers, as both aggregators' shares add up to")
    return result.astype(np.int64)


def _noise(scale: Any, sigma: Any, *, changed: int) -> tuple[Law, privacy.PureDP | privacy.ZeroConcentratedDP]:
    """The law of one party's noise, and what it costs where so many counts change by one."""
    if (scale is None) == (sigma is None):
        raise ParameterError(
            "state the noise of each party: `scale` of discrete Laplace or `sigma` of discrete Gaussian"
        )
    if scale is not None:
        value = privacy.exact(scale, "scale")
        if value <= 0:
            raise ParameterError(f"`scale` must be above 0, got {scale}")
        return noise.DiscreteLaplace(noise.round_up_scale(value)), privacy.PureDP(changed / value)
    value = privacy.exact(sigma, "sigma")
    if value <= 0:
        raise ParameterError(f"`sigma` must be above 0, got {sigma}")
    return noise.DiscreteGaussian(noise.round_up_root(value**2)), privacy.ZeroConcentratedDP(
        Fraction(changed) / (2 * value**2)
    )


def _assumption(parties: int) -> str:
    adding = (
        "The party that added the noise states" if parties == 1 else f"The {parties} parties that added noise state"
    )
    return provenance.trust_statement(
        holds="Others collected and counted the records, and whoever gave these counts states how.",
        sees="Anyone who sees the counts learns what is published.",
        assumed=f"{adding} its law, and this cannot be verified from the counts. "
        "At least one of them is honest and keeps its noise secret. Each record counts in one bin at most.",
    )
