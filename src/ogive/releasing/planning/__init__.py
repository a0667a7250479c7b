"""What a release would cost and how far off it would be, predicted before anything is spent."""

from ogive.core.rooms import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
