"""Kernels of statistics of pairs, and named measures."""

from ogive.core.rooms import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
