"""Tables of records, read column by column and turned into exact bin counts.

`Records` loads when it is used: what reads a few values of Python, `plain`, needs no Arrow.
"""

from ogive.core.rooms import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
