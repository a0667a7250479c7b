"""The local model: owners randomize their own values, and an aggregator adds up their reports.

The code for owners (`Randomizer`, the oracles and the domain) needs only numpy and lazy_loader, so it can run on
devices. The rest loads on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
