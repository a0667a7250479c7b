"""Barczewski, Mawass and Ramon: Differentially Private Empirical Cumulative Distribution Functions."""

from ogive.reproduce.ecdf.calibration_figures import FIGURE_6, FIGURE_10
from ogive.reproduce.ecdf.inverse_figure import FIGURE_4
from ogive.reproduce.ecdf.roc_figure import FIGURE_5
from ogive.reproduce.ecdf.roc_pictures import FIGURE_1, FIGURE_8, FIGURE_9
from ogive.reproduce.ecdf.runtime_figure import FIGURE_7
from ogive.reproduce.ecdf.smoothing_figures import FIGURE_2, FIGURE_3
from ogive.reproduce.ecdf.summary_table import TABLE_1
from ogive.reproduce.items import Item

ITEMS: tuple[Item, ...] = (
    FIGURE_1,
    FIGURE_2,
    FIGURE_3,
    FIGURE_4,
    FIGURE_5,
    FIGURE_6,
    FIGURE_7,
    FIGURE_8,
    FIGURE_9,
    FIGURE_10,
    TABLE_1,
)

__all__ = ["ITEMS"]
