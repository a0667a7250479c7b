"""What can be asked of records. A statistic is one file and one line in `STATISTICS`."""

from typing import Any

from ogive.statistics.base import Estimate, Statistic, Terms
from ogive.statistics.bounds import Bounds
from ogive.statistics.boxplot import Boxplot
from ogive.statistics.calibration import HosmerLemeshow
from ogive.statistics.ecdf import Ecdf
from ogive.statistics.labels import Labels
from ogive.statistics.quantiles import Quantiles
from ogive.statistics.roc import Roc
from ogive.statistics.ustatistic import Ustatistic

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
