"""One call on an array: one release by a trusted curator, or by whom a simulation puts in their place."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
