"""Tao and Sarwate: Differentially Private Distribution Estimation Using Functional Approximation."""

from ogive.reproduce.items import Item
from ogive.reproduce.projection.boxes_figure import FIGURE_4
from ogive.reproduce.projection.central_figures import FIGURE_2, FIGURE_D2
from ogive.reproduce.projection.parts_figures import FIGURE_3, FIGURE_D3, FIGURE_D4
from ogive.reproduce.projection.single_figures import FIGURE_1, FIGURE_D1

ITEMS: tuple[Item, ...] = (FIGURE_1, FIGURE_2, FIGURE_3, FIGURE_4, FIGURE_D1, FIGURE_D2, FIGURE_D3, FIGURE_D4)

__all__ = ["ITEMS"]
