"""Composition of privacy losses and conversion of guarantees.

Names load when they are first used, since people's own devices need a little of this, and numpy alone.
"""

from ogive.core.rooms import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
