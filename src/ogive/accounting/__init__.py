"""Composition of privacy losses and conversion of guarantees.

Names load when they are first used, since people's own devices need a little of this, numpy and lazy_loader alone.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
