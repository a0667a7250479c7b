"""Barczewski, Mawass and Ramon: Differentially Private Empirical Cumulative Distribution Functions."""

from ogive.reproduce.ecdf.inverse_figure import FIGURE_4
from ogive.reproduce.ecdf.runtime_figure import FIGURE_7
from ogive.reproduce.ecdf.smoothing_figures import FIGURE_2, FIGURE_3
from ogive.reproduce.ecdf.summary_table import TABLE_1
from ogive.reproduce.items import Item

ITEMS: tuple[Item, ...] = (FIGURE_2, FIGURE_3, FIGURE_4, FIGURE_7, TABLE_1)

__all__ = ["ITEMS"]
