"""Who holds the records. The list of models is `TRUST_MODELS`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
