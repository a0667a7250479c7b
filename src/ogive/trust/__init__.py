"""Who holds the records. A trust model is one file and one line in `TRUST_MODELS`."""

from ogive.trust.base import Opening, TrustModel
from ogive.trust.central import Central
from ogive.trust.clear import Clear
from ogive.trust.collected import Collected
from ogive.trust.local import Local
from ogive.trust.secagg import SecAgg

TRUST_MODELS: tuple[type[TrustModel], ...] = (Central, Clear, Local, SecAgg)

ONE_TABLE: tuple[type[TrustModel], ...] = (Central, Clear, Local)
"""Those that are made of one table of records; the others need one table of each party."""

__all__ = ["ONE_TABLE", "TRUST_MODELS", "Central", "Clear", "Collected", "Local", "Opening", "SecAgg", "TrustModel"]
