"""What a release would cost and how far off it would be, predicted before anything is spent."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
