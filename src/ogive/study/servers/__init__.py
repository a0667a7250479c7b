"""Studies of people who upload shares once and leave, and of the servers that answer."""

from ogive.core.rooms import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
