"""Papernot, Song, Mironov, Raghunathan, Talwar and Erlingsson: Scalable Private Learning with PATE."""

from ogive_papers.items import Item
from ogive_papers.pate.consensus_figures import FIGURE_1, FIGURE_5
from ogive_papers.pate.ensembles_figure import FIGURE_4
from ogive_papers.pate.prices_table import TABLE_1
from ogive_papers.pate.sanitized_table import TABLE_2

ITEMS: tuple[Item, ...] = (FIGURE_1, FIGURE_4, FIGURE_5, TABLE_1, TABLE_2)

__all__ = ["ITEMS"]
