"""Running totals of a stream under continual observation."""

from ogive.core.rooms import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
