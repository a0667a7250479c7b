"""The local model: owners randomize their own values, an aggregator adds reports up.

What owners need (`Randomizer`, the oracles and the domain) uses numpy alone, besides lazy_loader, which is pure Python,
so that it can be shipped to devices; the rest loads when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
