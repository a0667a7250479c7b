"""Tables of records, read column by column and turned into exact bin counts.

`Records` loads when it is used: what reads a few values of Python, `plain`, needs no Arrow.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
