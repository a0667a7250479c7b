"""Barczewski, Mawass and Ramon: Differentially Private Empirical Cumulative Distribution Functions."""

from ogive_papers.ecdf.calibration_figures import FIGURE_6, FIGURE_10
from ogive_papers.ecdf.inverse_figure import FIGURE_4
from ogive_papers.ecdf.roc_figure import FIGURE_5
from ogive_papers.ecdf.roc_pictures import FIGURE_1, FIGURE_8, FIGURE_9
from ogive_papers.ecdf.runtime_figure import FIGURE_7
from ogive_papers.ecdf.smoothing_figures import FIGURE_2, FIGURE_3
from ogive_papers.ecdf.summary_table import TABLE_1
from ogive_papers.items import Item

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
