"""One call on an array: one release by a trusted curator, or by whom a simulation puts in their place."""

from ogive.core.rooms import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
