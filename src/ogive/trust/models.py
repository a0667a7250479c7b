"""The list of trust models: a model is one folder, or one file, and one line here."""

from ogive.trust.base import TrustModel
from ogive.trust.central import Central
from ogive.trust.clear import Clear
from ogive.trust.local.model import Local
from ogive.trust.pairs.model import Pairs
from ogive.trust.secagg.model import SecAgg
from ogive.trust.servers.model import Servers

TRUST_MODELS: tuple[type[TrustModel], ...] = (Central, Clear, Local, Pairs, SecAgg, Servers)
