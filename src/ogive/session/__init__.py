"""One data set, one budget: the friendly face of releases that are paid from an account."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
