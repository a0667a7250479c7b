"""Private aggregation of teacher ensembles (PATE): consensus labels, their privacy cost, and students.

Names load on first use, so costs can be computed without a learning library.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
