"""Kernels of pairwise statistics, and the measures that are asked for by name."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
