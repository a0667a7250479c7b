"""Scores and predicted probabilities against labels: the ROC curve, and Hosmer and Lemeshow's test."""

from __future__ import annotations

from typing import Any, Unpack

from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, Privacy
from ogive.records.missing_words import NaValues
from ogive.releasing.functions import LABEL, PROBABILITY, SCORE, declared, on_columns
from ogive.statistics.base import takes_options_of
from ogive.statistics.calibration.estimate import Calibration
from ogive.statistics.calibration.statistic import HosmerLemeshow, HosmerLemeshowOptions
from ogive.statistics.roc.estimate import RocEstimate
from ogive.statistics.roc.statistic import Roc, RocOptions
from ogive.trust import Central, TrustOf


@takes_options_of(Roc, RocOptions)
def roc(
    scores: Any,
    labels: Any,
    *,
    privacy: Privacy | None = None,
    adjacency: Adjacency = Adjacency.REPLACE,
    trust: TrustOf = Central,
    source: RandomSource | None = None,
    na_values: NaValues = (),
    **options: Unpack[RocOptions],
) -> RocEstimate:
    """Release the ROC curve of scores for two classes, with the area under it.

    Args:
        scores: Numbers or dates, shape (n,); one row per person.
        labels: Class of each record, shape (n,): numbers, truth values or text.
        privacy: The guarantee for both class curves and everything derived from them.
        adjacency: REPLACE (n is public) or ADD_OR_REMOVE (n is private).
        trust: Trust model: its type or name, such as `Local` or "local", or a `Simulation`.
        source: Source of the noise key; by default the operating system.
        na_values: Texts and numbers that mark a missing value of a measured column, besides words such as NA.

    Raises:
        ParameterError, DataError: as `release`.

    Privacy:
        `privacy` for the stated adjacency, under the trust model's assumption. The label is protected too, unless
        `public_labels`.

    Example:
        >>> import numpy as np, ogive
        >>> rng = np.random.default_rng(1)
        >>> sick = rng.random(20_000) < 0.3
        >>> risk = 1 / (1 + np.exp(-rng.normal(1.2 * sick)))
        >>> result = ogive.roc(risk, sick, bounds=(0, 1), privacy=ogive.PureDP(1))
        >>> bool(abs(result.auc - 0.80) < 0.02)
        True
    """
    table = {SCORE: scores, LABEL: labels}
    public = declared(LABEL, options.get("public_labels"), adjacency)
    return on_columns(Roc(SCORE, LABEL, **options), table, privacy, adjacency, trust, source, na_values, public=public)


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
        HosmerLemeshow(PROBABILITY, LABEL, **options), table, privacy, adjacency, trust, source, na_values
    )
