"""A durable list of what was spent on which data: reserve before noise is drawn, then record."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
