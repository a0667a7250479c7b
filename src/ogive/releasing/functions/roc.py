"""The ROC curve of two arrays."""

from __future__ import annotations

from typing import Any, Unpack

from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, Privacy
from ogive.records.missing_words import NaValues
from ogive.releasing.functions.calling import LABEL, SCORE, declared, on_columns
from ogive.statistics.options import takes_options_of
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
    return on_columns(
        Roc(SCORE, LABEL, **options),
        table,
        privacy=privacy,
        adjacency=adjacency,
        trust=trust,
        source=source,
        na_values=na_values,
        public=public,
    )
