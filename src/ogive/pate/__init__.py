"""Private aggregation of teacher ensembles (PATE): consensus labels, their privacy cost, and students.

Names load on first use, so costs can be computed without a learning library.
"""

from ogive.core.rooms import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
