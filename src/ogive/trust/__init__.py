"""Who holds the records. A trust model is one file and one line in `TRUST_MODELS`."""

from ogive.trust.base import Opening, TrustModel
from ogive.trust.central import Central
from ogive.trust.clear import Clear

TRUST_MODELS: tuple[type[TrustModel], ...] = (Central, Clear)

__all__ = ["TRUST_MODELS", "Central", "Clear", "Opening", "TrustModel"]
