"""The local model: owners randomize their own values, and an aggregator adds up their reports.

The code for owners (`Randomizer`, the oracles and the domain) needs only numpy, so it can run on
devices. The rest loads on first use.
"""

from ogive.core.rooms import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
