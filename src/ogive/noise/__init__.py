"""Exact integer noise: laws, random sources, and the noise of a release's nodes."""

from ogive.core.rooms import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
