"""Tao and Sarwate: Differentially Private Distribution Estimation Using Functional Approximation."""

from ogive_papers.items import Item
from ogive_papers.projection.boxes_figure import FIGURE_4
from ogive_papers.projection.central_figures import FIGURE_2, FIGURE_D2
from ogive_papers.projection.parts_figures import FIGURE_3, FIGURE_D3, FIGURE_D4
from ogive_papers.projection.single_figures import FIGURE_1, FIGURE_D1

ITEMS: tuple[Item, ...] = (FIGURE_1, FIGURE_2, FIGURE_3, FIGURE_4, FIGURE_D1, FIGURE_D2, FIGURE_D3, FIGURE_D4)

__all__ = ["ITEMS"]
