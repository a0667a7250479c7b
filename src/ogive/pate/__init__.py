"""Private aggregation of teacher ensembles: consensus labels, their true price, and students.

Names load when they are first used: prices need no learning library.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
