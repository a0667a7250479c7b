"""A durable list of what was spent on which data: reserve before noise is drawn, then record."""

from ogive.core.rooms import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
