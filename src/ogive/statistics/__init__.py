"""What can be asked of records. A statistic is one file and one line in `STATISTICS`."""

from typing import Any

from ogive.statistics.base import Estimate, Statistic, Terms
from ogive.statistics.bounds.statistic import Bounds
from ogive.statistics.boxplot.statistic import Boxplot
from ogive.statistics.calibration.statistic import HosmerLemeshow
from ogive.statistics.ecdf.statistic import Ecdf
from ogive.statistics.labels.statistic import Labels
from ogive.statistics.quantiles.statistic import Quantiles
from ogive.statistics.roc.statistic import Roc
from ogive.statistics.ustatistic.statistic import Ustatistic

STATISTICS: tuple[type[Statistic[Any]], ...] = (
    Ecdf,
    Quantiles,
    Boxplot,
    Roc,
    HosmerLemeshow,
    Bounds,
    Ustatistic,
    Labels,
)

__all__ = [
    "STATISTICS",
    "Bounds",
    "Boxplot",
    "Ecdf",
    "Estimate",
    "HosmerLemeshow",
    "Labels",
    "Quantiles",
    "Roc",
    "Statistic",
    "Terms",
    "Ustatistic",
]
