"""One data set, one budget: the friendly face of releases that are paid from an account."""

from ogive.core.rooms import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
