"""Hosmer and Lemeshow's test of two arrays."""

from __future__ import annotations

from typing import Any, Unpack

from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, Privacy
from ogive.records.missing_words import NaValues
from ogive.releasing.functions.calling import LABEL, PROBABILITY, on_columns
from ogive.statistics.calibration.estimate import Calibration
from ogive.statistics.calibration.statistic import HosmerLemeshow, HosmerLemeshowOptions
from ogive.statistics.options import takes_options_of
from ogive.trust import Central, TrustOf


@takes_options_of(HosmerLemeshow, HosmerLemeshowOptions)
def hosmer_lemeshow(
    probabilities: Any,
    labels: Any,
    *,
    privacy: Privacy | None = None,
    adjacency: Adjacency = Adjacency.REPLACE,
    trust: TrustOf = Central,
    source: RandomSource | None = None,
    na_values: NaValues = (),
    **options: Unpack[HosmerLemeshowOptions],
) -> Calibration:
    """Release Hosmer and Lemeshow's test of predicted probabilities against labels, with its groups.

    Args:
        probabilities: Predicted probabilities of the positive class, in [0, 1], shape (n,); one row per person. The
            model that made them must be fixed before these records are seen.
        labels: Numbers, truth values or texts of two classes, shape (n,).
        privacy: The guarantee for everything that is published.
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
        >>> rng = np.random.default_rng(1)
        >>> predicted = rng.beta(1, 6, size=20_000)
        >>> fit = ogive.hosmer_lemeshow(predicted, rng.random(20_000) < predicted**2, privacy=ogive.PureDP(1))
        >>> fit.p_value < 0.01, len(fit.groups)
        (True, 10)
    """
    table = {PROBABILITY: probabilities, LABEL: labels}
    return on_columns(
        HosmerLemeshow(PROBABILITY, LABEL, **options),
        table,
        privacy=privacy,
        adjacency=adjacency,
        trust=trust,
        source=source,
        na_values=na_values,
    )
