"""The chapter of quantiles, which has the parts of a distribution function's."""

from __future__ import annotations

import dataclasses

from ogive.html.chapter import Chapter
from ogive.statistics.curve.chapter import batch_of, chapter_of
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.curve.figures import Figures, QuantileRow, exact_quantile, exact_shares, read_curve
from ogive.statistics.quantiles.estimate import QuantileEstimates


def chapter(estimate: QuantileEstimates, truth: Curve | None) -> Chapter:
    """What quantiles say, with the whole curve where there is one.

    Args:
        estimate: As released.
        truth: An exact curve on the same thresholds, or None.

    Raises:
        ParameterError: the truth is private or on other thresholds.
    """
    exact = exact_shares(estimate, truth)
    ends = zip(estimate.probabilities, estimate.numbers, estimate.low, estimate.high, strict=True)
    rows = tuple(
        QuantileRow(share, number, low, high, exact_quantile(estimate.grid, exact, share))
        for share, number, low, high in ends
    )
    source, level = estimate.provenance, estimate.confidence_level
    assert source is not None
    figures = Figures(estimate.column, estimate.grid, source, rows, truth=exact)
    if estimate.curve is not None:
        return chapter_of(read_curve(figures, estimate.curve, level), batch_of(source))
    return chapter_of(dataclasses.replace(figures, total=source.total, confidence_level=level), batch_of(source))
