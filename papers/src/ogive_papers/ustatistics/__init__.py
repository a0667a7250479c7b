"""Bell, Bellet, Gascon and Kulkarni: Private Protocols for U-Statistics in the Local Model and Beyond."""

from ogive_papers.items import Item
from ogive_papers.ustatistics.auc_figures import FIGURE_3, FIGURE_5
from ogive_papers.ustatistics.generic_figures import FIGURE_6, FIGURE_7
from ogive_papers.ustatistics.kendall_figure import FIGURE_4
from ogive_papers.ustatistics.orders_table import TABLE_1

ITEMS: tuple[Item, ...] = (FIGURE_3, FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, TABLE_1)

__all__ = ["ITEMS"]
