"""Who holds the records. The list of models is `TRUST_MODELS`."""

from ogive.core.rooms import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
