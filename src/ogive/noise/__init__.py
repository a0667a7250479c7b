"""Exact integer noise: laws, random sources, and the noise of a release's nodes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
