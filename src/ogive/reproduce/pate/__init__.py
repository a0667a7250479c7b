"""Papernot, Song, Mironov, Raghunathan, Talwar and Erlingsson: Scalable Private Learning with PATE."""

from ogive.reproduce.items import Item
from ogive.reproduce.pate.consensus_figures import FIGURE_1, FIGURE_5
from ogive.reproduce.pate.ensembles_figure import FIGURE_4
from ogive.reproduce.pate.prices_table import TABLE_1
from ogive.reproduce.pate.sanitized_table import TABLE_2

ITEMS: tuple[Item, ...] = (FIGURE_1, FIGURE_4, FIGURE_5, TABLE_1, TABLE_2)

__all__ = ["ITEMS"]
