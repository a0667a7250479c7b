"""Which estimates a report can show: for each type, what makes its chapter. A new kind is one file and one line."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from ogive.errors import ParameterError
from ogive.html.chapter import Chapter
from ogive.statistics.bounds.chapter import limits_chapter
from ogive.statistics.bounds.estimate import BoundsEstimate
from ogive.statistics.boxplot.chapter import boxplot_chapter
from ogive.statistics.boxplot.estimate import Boxplots
from ogive.statistics.calibration.chapter import calibration_chapter
from ogive.statistics.calibration.estimate import Calibration
from ogive.statistics.curve.chapter import distribution_chapter
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.labels.chapter import labels_chapter
from ogive.statistics.labels.estimate import LabelsEstimate
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.roc.chapter import discrimination_chapter
from ogive.statistics.roc.estimate import RocEstimate
from ogive.statistics.ustatistic.chapter import pairs_chapter
from ogive.statistics.ustatistic.estimate import UstatisticEstimate

KINDS: dict[type, Callable[[Any, Any], Chapter]] = {
    Curve: distribution_chapter,
    QuantileEstimates: distribution_chapter,
    RocEstimate: discrimination_chapter,
    Calibration: calibration_chapter,
    BoundsEstimate: limits_chapter,
    Boxplots: boxplot_chapter,
    UstatisticEstimate: pairs_chapter,
    LabelsEstimate: labels_chapter,
}
"""For each type of estimate the function that reads a chapter off one, and off the truth where that is shown."""


def chapter_of(estimate: Any, truth: Any = None) -> Chapter:
    """What a report says of one estimate.

    Args:
        estimate: As released, with its provenance.
        truth: The same without noise, released under the trust model clear; or None.

    Raises:
        ParameterError: the estimate is of no kind that a report shows or was never released, or the truth does not fit.
    """
    make = KINDS.get(type(estimate))
    if make is None:
        names = ", ".join(kind.__name__ for kind in KINDS)
        raise ParameterError(f"a report shows {names}; got {type(estimate).__name__}")
    if estimate.provenance is None:
        what = getattr(estimate, "column", type(estimate).__name__)
        raise ParameterError(f"{what} was never released, so its price is unknown; report what release returns")
    return dataclasses.replace(make(estimate, truth), schema=estimate.schema)
