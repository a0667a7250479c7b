"""Who holds the records. A trust model is one file and one line in `TRUST_MODELS`."""

from ogive.trust.base import Opening, TrustModel
from ogive.trust.central import Central
from ogive.trust.clear import Clear
from ogive.trust.local.collected import Collected
from ogive.trust.local.model import Local
from ogive.trust.pairs.model import Pairs
from ogive.trust.secagg import SecAgg
from ogive.trust.servers import Servers
from ogive.trust.simulation import Simulation

TRUST_MODELS: tuple[type[TrustModel], ...] = (Central, Clear, Local, Pairs, SecAgg, Servers)

__all__ = [
    "TRUST_MODELS",
    "Central",
    "Clear",
    "Collected",
    "Local",
    "Opening",
    "Pairs",
    "SecAgg",
    "Servers",
    "Simulation",
    "TrustModel",
]
