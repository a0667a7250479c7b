"""Kernels of statistics of pairs, and named measures."""

from ogive.rooms import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
